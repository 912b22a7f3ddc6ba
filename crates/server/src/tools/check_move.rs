//! Whether a change that a server proposes with the move of a file is one of a path, and does nothing else.
//!
//! As with a renaming ([`super::check_rename`]), a server that counts columns in other units names places that are a little
//! off. The words that go and come are known beforehand: those of the old and the new path.

use emend_lsp::TextChange;

use super::check_rename::{tokens, touched};
use super::symbol_address::is_of_word;
use crate::uri;

/// The words of paths of modules that no path of a file need have: those of Rust, and the name of a folder's own file.
const OWN: [&str; 5] = ["crate", "self", "super", "index", "mod"];
/// The endings of what is compiled, by which modules are named.
const ENDINGS: [&str; 4] = ["js", "jsx", "mjs", "cjs"];
/// The signs that a path may have wherever it stands.
const SIGNS: &str = "/\\.:-@~%";
/// The signs that it may also have between quotation marks, where they have no other meaning.
const QUOTED_SIGNS: &str = "#+$ ";

/// Returns whether the change gives a path another one, when a file moves from one path to another.
pub(super) fn is_of_path(text: &str, change: &TextChange, from: &str, to: &str) -> bool {
    let TextChange { range, new } = change;
    let around = touched(text, range);
    let old = &text[around.clone()];
    let new = format!("{}{new}{}", &text[around.start..range.start], &text[range.end..around.end]);
    // In a link, what is no letter may be written otherwise.
    let paths = [from, to].map(|path| (path, uri::encoded(path)));
    let of_paths: Vec<&str> = paths
        .iter()
        .flat_map(|(path, encoded)| tokens(path).chain(tokens(encoded)))
        .chain(OWN)
        .chain(ENDINGS)
        .collect();
    let is_sign = |token: &str, signs: &str| !token.starts_with(is_of_word) && signs.contains(token);
    // All that stands between quotation marks is a path, whatever it names.
    let before = text[..range.start].chars().next_back();
    let is_quoted = before == text[range.end..].chars().next()
        && matches!(before, Some('"' | '\'' | '`'))
        && !text[range.clone()].contains(['"', '\'', '`', '\n']);
    if is_quoted {
        let old: Vec<&str> = tokens(old).collect();
        let is_known = |token: &str| {
            is_sign(token, SIGNS)
                || is_sign(token, QUOTED_SIGNS)
                || of_paths.contains(&token)
                || old.contains(&token)
        };
        return tokens(&new).all(is_known);
    }
    // What else stands there stays as it is, in its order.
    rest(old, &of_paths) == rest(&new, &of_paths)
}

/// Returns what is no part of a path, in a text that has no quotation marks around it.
fn rest<'a>(text: &'a str, of_paths: &[&str]) -> Vec<&'a str> {
    let all: Vec<&str> = tokens(text).collect();
    let is_of_path = |at: usize| {
        let token = all[at];
        let (before, after) = (at.checked_sub(1).map(|before| all[before]), all.get(at + 1).copied());
        if token.starts_with(is_of_word) {
            return of_paths.contains(&token) && (!ENDINGS.contains(&token) || before == Some("."));
        }
        let is_beside =
            |other: Option<&str>| other.is_some_and(|other| other.starts_with(is_of_word) || other == ".");
        match token {
            // A comment begins with two of them in many languages, and between blanks they calculate.
            "/" | "-" => {
                [before, after].iter().all(|other| *other != Some(token))
                    && (is_beside(before) || is_beside(after))
            }
            // In a link, it stands for a byte; elsewhere it begins a comment, or calculates.
            "%" => after.is_some_and(|after| {
                after.len() >= 2 && after.bytes().take(2).all(|digit| digit.is_ascii_hexdigit())
            }),
            _ => SIGNS.contains(token),
        }
    };
    (0..all.len()).filter(|at| !is_of_path(*at)).map(|at| all[at]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(text: &str, old: &str, new: &str) -> bool {
        let start = text.find(old).expect("it stands there");
        let change = TextChange { range: start..start + old.len(), new: new.into() };
        is_of_path(text, &change, "src/shop/price.ts", "src/core/tariff.ts")
    }

    #[test]
    fn a_path_becomes_another() {
        for (text, old, new) in [
            ("import { a } from './price';", "./price", "../core/tariff"),
            ("import { a } from './price.js';", "./price.js", "../core/tariff.js"),
            ("import { a } from '@app/shop/price';", "@app/shop/price", "../core/tariff"),
            ("import { b } from './tax';", "./tax", "../shop/tax"),
            ("use crate::shop::price::Order;", "shop::price", "core::tariff"),
            ("use super::price::Order;", "super", "crate::core"),
            ("mod price;", "price", "tariff"),
            ("use price\nuse c\n", "use price\nuse c\n", "use tariff\nuse c\n"),
            ("import { a } from './price.js';", "./price.js", "../core/tariff.mjs"),
            ("from shop.price import a", "shop.price", "core.tariff"),
            ("see [it](../src/shop/price.ts)", "../src/shop/price.ts", "../src/core/tariff.ts"),
            ("see https://x.example/price", "https://x.example/price", "https://x.example/tariff"),
        ] {
            assert!(is(text, old, new), "{text}: {old} to {new}");
        }
    }

    #[test]
    fn a_link_may_write_a_path_otherwise() {
        let (text, old) = ("see [it](my%20notes.md)", "my%20notes.md");
        let start = text.find(old).expect("it stands there");
        let change = TextChange { range: start..start + old.len(), new: "a/our%20own%20notes.md".into() };
        assert!(is_of_path(text, &change, "my notes.md", "a/our own notes.md"));
        assert!(!is_of_path(text, &change, "my notes.md", "a/other.md"));
    }

    #[test]
    fn what_is_a_little_off_or_another_text_is_no_path() {
        for (text, old, new) in [
            ("import { a } from './price';", "'./pric", "../core/tariff"),
            ("import { a } from './price';", "/price'", "../core/tariff"),
            ("import { a } from './price';", "m './p", "../core/tariff"),
            ("mod price;", "rice;", "tariff"),
            ("mod price;", " pric", "tariff"),
            ("import { a } from './price';", "./price", "../core/tariff'; evil('"),
            ("import { a } from './price'; f('x')", "./price'; f('x", "./tariff"),
            ("use price;\nrun();\n", "use price;\nrun();\n", "use tariff;\n"),
            (
                "use price;\nuse tax;\nuse tax;\n",
                "use price;\nuse tax;\nuse tax;\n",
                "use tariff;\nuse tax;\n",
            ),
            ("use price;\na(b);\n", "use price;\na(b);\n", "use tariff;\nb(a);\n"),
            ("price", "price", "// price"),
            ("price", "price", "# price"),
            ("price + b", "price + b", "price - b"),
            ("price - b", "price - b", "price / b"),
            ("//price\nrun();\n", "//price\nrun();\n", "price\n//run();\n"),
            ("price", "price", "--price"),
            ("price", "price", "%price"),
            ("js.price", "js.price", "price"),
        ] {
            assert!(!is(text, old, new), "{text}: {old} to {new}");
        }
    }
}
