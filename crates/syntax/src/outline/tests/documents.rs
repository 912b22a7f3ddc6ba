//! What data, styles and texts give, in exact lines.

use super::check;

#[test]
fn json_has_keys_but_none_in_arrays() {
    let text = "\
{
  \"name\": \"a\",
  \"scripts\": {
    \"build\": \"b\",
    \"a.b\": { \"c\": 1, \"d\": 2 }
  },
  \"files\": [
    { \"no\": 1 }
  ]
}
";
    check(
        "package.json",
        text,
        &[
            "key name 2-2",
            "key scripts 3-6",
            "  key scripts.build 4-4",
            "  key scripts.a.b 5-5",
            "    key scripts.a.b.c 5-5 Shared",
            "    key scripts.a.b.d 5-5 Shared",
            "key files 7-9",
        ],
    );
    check("a.json", "[{\"a\": 1}]", &[]);
}

#[test]
fn toml_has_tables_and_keys() {
    let text = "\
# The package.
[package]
name = \"a\" # trailing
\"quoted key\" = 1

# What it needs.
[dependencies]
a = { version = \"1\", features = [\"b\"] }
c.d = 2
# Last of all.

# Tests.
[[bin]]
name = \"x\"
[[bin]]
name = \"y\"

[a.b.\"c d\"]
e = [
  1,
]
";
    check(
        "Cargo.toml",
        text,
        &[
            "table package 2-4 Comment",
            "  key package.name 3-3",
            "  key package.quoted key 4-4",
            "table dependencies 6-10 @7",
            "  key dependencies.a 8-8",
            "    key dependencies.a.version 8-8 Shared",
            "    key dependencies.a.features 8-8 Shared",
            "  key dependencies.c.d 9-9",
            "table bin 12-14 @13",
            "  key bin.name 14-14",
            "table bin 15-16",
            "  key bin.name 16-16",
            "table a.b.c d 18-21",
            "  key a.b.c d.e 19-21",
        ],
    );
}

#[test]
fn css_has_selectors() {
    let text = "\
@import 'a';
:root { --a: 1; }
/* Buttons. */
.btn,
.btn:hover > a {
    color: red;
    & .nested { color: blue; }
}
@media (min-width: 1px) and print {
    .btn { color: green; }
}
@keyframes spin { from { top: 0; } }
@font-face { font-family: a; }
.a {} #b {}
";
    check(
        "a.css",
        text,
        &[
            "rule :root 2-2",
            "rule .btn, .btn:hover > a 3-8 @4",
            "  rule .btn, .btn:hover > a.& .nested 7-7",
            "rule @media (min-width: 1px) and print 9-11",
            "  rule @media (min-width: 1px) and print..btn 10-10",
            "rule @keyframes spin 12-12",
            "rule @font-face 13-13",
            "rule .a 14-14 Shared",
            "rule #b 14-14 Shared",
        ],
    );
}

#[test]
fn markdown_has_sections() {
    let text = "\
---
title: x
---
# Title #

Text
----

## One

```sh
# not this
~~~
## nor this
```
   ### Indented
    # code

Two lines
of text
===

- item
---
> quoted
===
<!--
# hidden
-->
<div>
# hidden
</div>

### C# and `x.y`
last

#hashtag
## Two ##
#######
<https://a.b>
---
";
    check(
        "README.md",
        text,
        &[
            "heading Title 4-17",
            "  heading Title.Text 6-7",
            "  heading Title.One 9-17",
            "    heading Title.One.Indented 16-17",
            "heading Two lines of text 19-41",
            "  heading Two lines of text.C# and `x.y` 34-37",
            "  heading Two lines of text.Two 38-38",
            "  heading Two lines of text.####### <https://a.b> 39-41",
        ],
    );
}
