//! Whether a change that a server proposes with the move of a file is one of a path, and does nothing else.
//!
//! As with a renaming ([`super::check_rename`]), a server that counts columns in other units names places that are a little
//! off. The words that go and come are known beforehand: those of the old and the new path.

use emend_lsp::TextChange;

use super::check_rename::{tokens, touched};
use super::symbol_address::is_of_word;

/// The words of paths of modules that no path of a file has.
const OWN: [&str; 5] = ["crate", "self", "super", "index", "mod"];
/// The signs that a path may have.
const SIGNS: &str = "/\\.:-@~#+$ ";

/// Returns whether the change gives a path another one, when a file moves from one path to another.
pub(super) fn is_of_path(text: &str, change: &TextChange, from: &str, to: &str) -> bool {
    let TextChange { range, new } = change;
    let around = touched(text, range);
    let old = &text[around.clone()];
    let new = format!("{}{new}{}", &text[around.start..range.start], &text[range.end..around.end]);
    let (old, new): (Vec<&str>, Vec<&str>) = (tokens(old).collect(), tokens(&new).collect());
    let of_paths: Vec<&str> = tokens(from).chain(tokens(to)).chain(OWN).collect();
    let is_known = |token: &&str, others: &[&str]| {
        let is_sign = !token.starts_with(is_of_word) && SIGNS.contains(*token);
        is_sign || of_paths.contains(token) || others.contains(token)
    };
    // All that stands between quotation marks is a path, whatever it names.
    let before = text[..range.start].chars().next_back();
    let is_quoted = before == text[range.end..].chars().next()
        && matches!(before, Some('"' | '\'' | '`'))
        && !text[range.clone()].contains(['"', '\'', '`', '\n']);
    (is_quoted || old.iter().all(|token| is_known(token, &new)))
        && new.iter().all(|token| is_known(token, &old))
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
        ] {
            assert!(is(text, old, new), "{text}: {old} to {new}");
        }
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
        ] {
            assert!(!is(text, old, new), "{text}: {old} to {new}");
        }
    }
}
