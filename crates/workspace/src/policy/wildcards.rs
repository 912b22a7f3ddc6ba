//! The limits on the complexity of globs. The cost of matching grows with the number of wildcards, so a pattern with
//! many of them, which any repository can contain, would slow down every name; no honest one has so many.

/// The number of wildcards that a pattern may have.
const MOST: usize = 16;
/// The number of bytes that it may have.
const LONGEST: usize = 256;

/// Returns the reason why this pattern is too complex, if it is.
pub(crate) fn too_much(pattern: &str) -> Option<String> {
    if pattern.len() > LONGEST {
        return Some(format!("it has more than {LONGEST} bytes"));
    }
    (count(pattern) > MOST).then(|| format!("it has more than {MOST} wildcards"))
}

/// Returns the number of wildcards in a pattern; `**` is one.
fn count(pattern: &str) -> usize {
    let bytes = pattern.as_bytes();
    let is_wild = |at: usize| match bytes[at] {
        b'*' => at == 0 || bytes[at - 1] != b'*',
        byte => matches!(byte, b'?' | b'[' | b'{'),
    };
    (0..bytes.len()).filter(|&at| is_wild(at)).count()
}

/// Returns whether this pattern needs a state machine: it is more complex than a star before an extension, as in `*.o`.
pub(crate) fn is_costly(pattern: &str) -> bool {
    count(pattern.strip_prefix("*.").unwrap_or(pattern)) > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_people_write_are_matched() {
        for pattern in [
            "*.o",
            "[Dd]ebug/",
            "**/[Pp]ackages/**/*.[Cc]ache?",
            "log-[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9].*.txt",
            "src/**/*.{js,jsx,ts,tsx,json,css,html,md}",
        ] {
            assert_eq!(too_much(pattern), None, "{pattern}");
        }
        assert!(!is_costly("*.o") && !is_costly("target/") && is_costly("*.o*") && is_costly("a*"));
    }

    #[test]
    fn a_pattern_that_is_long_or_has_many_wildcards_is_not() {
        assert!(too_much(&"*a".repeat(17)).is_some() && too_much(&"*a".repeat(16)).is_none());
        assert!(too_much(&"a".repeat(257)).is_some() && too_much(&"a".repeat(256)).is_none());
    }
}
