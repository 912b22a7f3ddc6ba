//! Short names: FAT and NTFS give a file with a name longer than eight letters plus three a second name, by which it
//! can be opened too, such as `GIT-CR~1` for `.git-credentials` and `MCP_CO~1.JSO` for `mcp_config.json`.

/// Returns a glob for the short names of files that match this folded name or glob; `None` if it would match any short
/// name.
pub(super) fn short_names(name: &str) -> Option<String> {
    let name = name.trim_start_matches(['.', ' ']);
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let (start, is_all) = literal(stem, 6);
    let (ending, ends) = literal(ending, 3);
    if start.is_empty() && ending.is_empty() {
        return None;
    }
    let open = |is_all: bool| if is_all { "" } else { "*" };
    let ending = match name.contains('.') {
        true => format!(".{ending}{}", open(ends)),
        false => String::new(),
    };
    let any = open(is_all);
    let five = start.get(..5).unwrap_or(&start);
    let mut forms = vec![format!("{start}{any}~[0-9]{ending}"), format!("{five}{any}~[0-9][0-9]{ending}")];
    // After four similar names, NTFS uses two letters and a checksum of the long name.
    if let Some(two) = start.get(..2) {
        forms.push(format!("{two}{}~[0-9]{ending}", "[0-9a-f]".repeat(4)));
    }
    Some(forms.join(","))
}

/// Returns the first `most` letters of a part of a name, as the short form keeps them, and whether these are certain:
/// not if the part continues with a wildcard.
fn literal(part: &str, most: usize) -> (String, bool) {
    let mut kept = String::new();
    for letter in part.chars().filter(|letter| !matches!(letter, '.' | ' ')) {
        if kept.len() == most {
            break;
        }
        if !letter.is_ascii_alphanumeric() && !matches!(letter, '_' | '-') {
            return (kept, false);
        }
        kept.push(letter);
    }
    (kept, true)
}

/// Returns whether any of these names may be a short one.
pub(super) fn may_be_short(path: &str) -> bool {
    path.split('~').skip(1).any(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_of_a_name_is_its_beginning_and_that_of_its_ending() {
        let first = |name: &str| short_names(name).map(|all| all.split(',').next().unwrap().to_owned());
        for (name, short) in [
            (".git-credentials", "git-cr~[0-9]"),
            ("mcp_config.json", "mcp_co~[0-9].jso"),
            ("microsoft.powershell_profile.ps1", "micros~[0-9].ps1"),
            ("code - insiders", "code-i~[0-9]"),
            (".config", "config~[0-9]"),
            (".env*", "env*~[0-9]"),
            ("*.code-workspace", "*~[0-9].cod"),
            ("secret-plans*.md", "secret~[0-9].md"),
        ] {
            assert_eq!(first(name).as_deref(), Some(short), "{name}");
        }
        for any in ["*", "*.*", "?", "*.{key,pem}", "..."] {
            assert_eq!(short_names(any), None, "{any}");
        }
        assert_eq!(
            short_names(".git-credentials").unwrap(),
            "git-cr~[0-9],git-c~[0-9][0-9],gi[0-9a-f][0-9a-f][0-9a-f][0-9a-f]~[0-9]"
        );
    }

    #[test]
    fn a_short_name_has_a_number_behind_a_tilde() {
        assert!(may_be_short("a/git-cr~1/b") && may_be_short("a~~2.txt"));
        assert!(!may_be_short("main.c~") && !may_be_short("~/x") && !may_be_short("a1"));
    }
}
