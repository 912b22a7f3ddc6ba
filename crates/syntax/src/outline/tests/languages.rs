//! What each language gives, in exact lines.

use super::check;

#[test]
fn rust_counts_modules_types_and_doc_comments() {
    let text = "\
//! The module.
use a::b;

/// A type.
#[derive(Debug)]

// A remark.
pub struct B<'a> {
    c: &'a str,
}

// Not this one.

impl<'a> fmt::Display for B<'a> {
    /// Does it.
    #[inline]
    fn c(&self) -> u8 { 1 } // trailing
    fn d() {
        fn inner() {}
    }
}

impl B<'_> { const E: u8 = 1; }
mod a {
    //! Inside.
    trait T { fn c(); }
    impl T for &[u8] { }
    #[cfg(test)] mod tests;
}
fn f() {} fn g() {}
macro_rules! m { () => {} }
extern \"C\" {
    fn from_c(a: u8);
}
static S: u8 = 1;
type Y = u8;
enum Z {
    /// One.
    One,
}";
    check(
        "a.rs",
        text,
        &[
            "struct B 4-10 @8",
            "impl fmt::Display for B 14-21",
            "  function B.c 15-17 @17",
            "  function B.d 18-20",
            "    function B.d.inner 19-19",
            "impl B 23-23",
            "  constant B.E 23-23 Shared",
            "module a 24-29",
            "  trait a.T 26-26",
            "    function a.T.c 26-26 Shared",
            "  impl T for &[u8] 27-27",
            "  module a.tests 28-28",
            "function f 30-30 Shared",
            "function g 30-30 Shared",
            "macro m 31-31",
            "function from_c 33-33",
            "constant S 35-35",
            "type Y 36-36",
            "enum Z 37-40",
        ],
    );
}

#[test]
fn python_counts_decorators_and_nested_classes() {
    let text = "\
import a

LIMIT: int = 3  # trailing
x, y = 1, 2

# What it is.
@dataclass
@other(
    1,
)
class A(Base):
    \"\"\"Doc.\"\"\"
    field = 1

    class B:
        @overload
        def c(self, a: int) -> int: ...
        @overload
        def c(self, a: str) -> str: ...
        def c(self, a):
            return a
            # the end

    # not above

    async def d(self):
        def inner():
            pass
        return inner


if a:
    def e(): pass
else:
    def e(): pass
type T = int
z = 1; w = 2
def last():
    pass";
    check(
        "a.py",
        text,
        &[
            "variable LIMIT 3-3",
            "class A 6-29 @11",
            "  class A.B 15-22",
            "    method A.B.c 16-17 @17",
            "    method A.B.c 18-19 @19",
            "    method A.B.c 20-22",
            "  method A.d 26-29",
            "    function A.d.inner 27-28",
            "function e 33-33",
            "function e 35-35",
            "type T 36-36",
            "variable z 37-37 Shared",
            "variable w 37-37 Shared",
            "function last 38-39",
        ],
    );
}

#[test]
fn typescript_counts_exports_overloads_and_namespaces() {
    let text = "\
import { a } from 'a';

/** What it does. */
export function f(a: string): string;
export function f(a: number): number;
export function f(a: any) {
    const inner = () => 1;
    const local = 2, lambda = () => 1;
    return a;
}

/**
 * A class.
 */
@Component({
    a: 1,
})
export abstract class A<T> extends B {
    private field = 1;
    handle = async (a: number) => {
        return a;
    };
    constructor(private b: C) { super(); }
    @Input() // one
    get x(): number { return 1; }
    set x(v) {}
    abstract y(): void;
    static async *#z() {}
}

export default class {
    m() {}
}
export interface I { a(): void; b: string }
type U = A | B;
export enum E { One }
export declare const D: number;
declare module 'm' {
    export function g(): void;
}
namespace N.M {
    export const h = function () {};
}
export const one = 1, two = 2;
const api = {
    get() {},
    put: async () => {},
    other: 1,
};
";
    check(
        "a.ts",
        text,
        &[
            "function f 3-4 @4",
            "function f 5-5",
            "function f 6-10",
            "  function f.inner 7-7",
            "  function f.lambda 8-8 Shared",
            "class A 12-29 @18",
            "  method A.handle 20-22",
            "  method A.constructor 23-23",
            "  method A.x 24-25 @25",
            "  method A.x 26-26",
            "  method A.y 27-27",
            "  method A.#z 28-28",
            "default default 31-33",
            "  method default.m 32-32",
            "interface I 34-34",
            "  method I.a 34-34 Shared",
            "type U 35-35",
            "enum E 36-36",
            "constant D 37-37",
            "module m 38-40",
            "  function m.g 39-39",
            "module N.M 41-43",
            "  function N.M.h 42-42",
            "constant one 44-44 Shared",
            "constant two 44-44 Shared",
            "constant api 45-49",
            "  method api.get 46-46",
            "  method api.put 47-47",
        ],
    );
}

#[test]
fn javascript_counts_functions_that_get_their_names_otherwise() {
    let text = "\
'use strict';
// A component.
export const App = ({ a }) => {
    const onClick = () => a();
    return <b onClick={onClick}>{a}</b>;
};
export default App;
function* g() {}
class A {
    static b = () => 1;
    async c() {}
    'd e'() {}
    [f]() {}
}
A.prototype.h = function () {
    return 1;
};
module.exports = {
    i() {},
};
exports.j = () => {};
var old = function () {};
export async function k() {}
export const l = memo(function inner() {});
if (x) { function m() {} }
";
    check(
        "a.jsx",
        text,
        &[
            "function App 2-6 @3",
            "  function App.onClick 4-4",
            "default default 7-7",
            "function g 8-8",
            "class A 9-14",
            "  method A.b 10-10",
            "  method A.c 11-11",
            "  method A.d e 12-12",
            "  method A.[f] 13-13",
            "function A.prototype.h 15-17",
            "constant module.exports 18-20",
            "  method module.exports.i 19-19",
            "function exports.j 21-21",
            "function old 22-22",
            "function k 23-23",
            "constant l 24-24",
            "function m 25-25 Shared",
        ],
    );
    check("b.mjs", "export default function () {\n}\n", &["default default 1-2"]);
    check(
        "c.js",
        "export default { a() {\n} };\n",
        &["default default 1-2", "  method default.a 1-2 Shared"],
    );
}

#[test]
fn go_counts_receivers() {
    let text = "\
package a

// Transport carries.
type Transport struct {
	a int
}

type (
	// B is one.
	B[T any] interface {
		Do() error
	}
	C = int
)

// Handle does it.
//
// At length.
func (t *Transport) Handle() error {
	const local = 1
	return nil
}
func (b List[T]) Len() int { return 0 }
func Top[T any](a T) {}

const (
	X, Y = iota, 2 // two
	Z    = 3
)
const Single = 1
var v, w = 1, 2
var (
	u = 1
)
";
    check(
        "a.go",
        text,
        &[
            "type Transport 3-6 @4",
            "type B 9-12 @10",
            "  method B.Do 11-11",
            "type C 13-13",
            "method Transport.Handle 16-22 @19",
            "method List.Len 23-23",
            "function Top 24-24",
            "constant X 27-27 Shared",
            "constant Y 27-27 Shared",
            "constant Z 28-28",
            "constant Single 30-30",
            "variable v 31-31 Shared",
            "variable w 31-31 Shared",
            "variable u 33-33",
        ],
    );
}

#[test]
fn java_counts_annotations_and_overloads() {
    let text = "\
package a;

/** Doc. */
@Entity
@Table(name = \"a\")
public class A<T> extends B {
    private static final int MAX = 1;
    private int field;
    static int B = 1, C;

    public A() {}

    @Override
    public String handle(int a) {
        return \"\";
    }

    // Another.
    public String handle(String a) { return a; }

    static class Inner { void m() {} }
    enum E { ONE; void n() {} }
    record R(int a) { R { } }
    interface I { int C = 1; void o(); }
    @interface An { String value(); }
}
";
    check(
        "A.java",
        text,
        &[
            "class A 3-26 @6",
            "  constant A.MAX 7-7",
            "  constant A.B 9-9 Shared",
            "  constant A.C 9-9 Shared",
            "  constructor A.A 11-11",
            "  method A.handle 13-16 @14",
            "  method A.handle 18-19 @19",
            "  class A.Inner 21-21",
            "    method A.Inner.m 21-21 Shared",
            "  enum A.E 22-22",
            "    method A.E.n 22-22 Shared",
            "  record A.R 23-23",
            "    constructor A.R.R 23-23 Shared",
            "  interface A.I 24-24",
            "    constant A.I.C 24-24 Shared",
            "    method A.I.o 24-24 Shared",
            "  annotation A.An 25-25",
            "    method A.An.value 25-25 Shared",
        ],
    );
}

#[test]
fn c_counts_prototypes_and_macros() {
    let text = "\
#ifndef A_H
#define A_H
#include <a.h>

/* The limit. */
#define LIMIT 3
#define MIN(a, b) \\
    ((a) < (b) ? (a) : (b))

struct point {
    int x;
};
typedef struct { int y; } other_t;
typedef int (*callback)(void);
enum colour { RED };
static const char *const names[] = { \"a\" };

int first(void);
int third(void), x;
char *second(int a);

/* First. */
static inline int first(void)
{
    int local = 1;
    return local;
}

char *second(int a) {
    return 0;
}
static char **words = 0;
#endif
int grid[2][2] = {{0}};
";
    check(
        "a.h",
        text,
        &[
            "macro LIMIT 5-6 @6",
            "macro MIN 7-8",
            "struct point 10-12",
            "type other_t 13-13",
            "type callback 14-14",
            "enum colour 15-15",
            "variable names 16-16",
            "prototype first 18-18",
            "prototype third 19-19 Shared",
            "prototype second 20-20",
            "function first 22-27 @23",
            "function second 29-31",
            "variable words 32-32",
            "variable grid 34-34",
        ],
    );
}

#[test]
fn bash_counts_functions() {
    let text = "\
#!/bin/bash
set -e
NAME=1
export PATH=a
readonly A=1 B

# Builds.
build() {
    local x=1
    cat <<EOF
not() { a
}
EOF
}

function deploy { build; }
function both() {
    inner() { :; }
}
";
    check(
        "a.sh",
        text,
        &[
            "variable NAME 3-3",
            "variable PATH 4-4",
            "variable A 5-5 Shared",
            "function build 7-14 @8",
            "function deploy 16-16",
            "function both 17-19",
            "  function both.inner 18-18",
        ],
    );
}
