//! The templates in `packaging`, filled in.
//!
//! `@VERSION@`, `@REPOSITORY@` and `@RELEASE@` (the address of the release's files) stand for themselves. Lines between
//! `#@IF TRIPLE` and `#@END` are there if the release has something for that system; in them `@NAME@`, `@URL@` and `@SHA256@`
//! are those of its archive.

use anyhow::{Context, Result, ensure};

/// An archive of a release, as templates name it.
pub(crate) struct Archive {
    pub(crate) triple: &'static str,
    /// Its file name without the ending, which is that of the folder in it.
    pub(crate) name: String,
    pub(crate) file: String,
    pub(crate) sha256: String,
}

/// What a release says of itself.
pub(crate) struct Release<'a> {
    pub(crate) version: &'a str,
    pub(crate) repository: &'a str,
    pub(crate) archives: &'a [Archive],
}

impl Release<'_> {
    /// The address of the release's files.
    pub(crate) fn address(&self) -> String {
        format!("{}/releases/download/v{}", self.repository, self.version)
    }

    /// Fills in a template. Outside of blocks, `of` is the archive that is meant.
    pub(crate) fn fill(&self, template: &str, of: Option<&Archive>) -> Result<String> {
        let mut filled = String::new();
        let mut block = None;
        for line in template.split_inclusive('\n') {
            match line.trim().strip_prefix("#@") {
                Some("END") => {
                    ensure!(block.take().is_some(), "#@END without #@IF");
                }
                Some(condition) => {
                    let triple = condition.strip_prefix("IF ").context("#@ is followed by IF or END")?;
                    ensure!(block.is_none(), "#@IF {triple} inside of another");
                    block = Some(self.archives.iter().find(|archive| archive.triple == triple));
                }
                None => match block {
                    Some(None) => {}
                    Some(archive) => filled.push_str(&self.line(line, archive)),
                    None => filled.push_str(&self.line(line, of)),
                },
            }
        }
        ensure!(block.is_none(), "#@IF without #@END");
        let left = filled.split('@').skip(1).find(|word| is_placeholder(word));
        ensure!(left.is_none(), "nothing is known for @{}@", left.unwrap_or_default());
        Ok(filled)
    }

    fn line(&self, line: &str, archive: Option<&Archive>) -> String {
        let address = self.address();
        let mut line = line
            .replace("@VERSION@", self.version)
            .replace("@REPOSITORY@", self.repository)
            .replace("@RELEASE@", &address);
        if let Some(Archive { name, file, sha256, .. }) = archive {
            line = line
                .replace("@NAME@", name)
                .replace("@URL@", &format!("{address}/{file}"))
                .replace("@SHA256@", sha256);
        }
        line
    }
}

fn is_placeholder(word: &str) -> bool {
    ["VERSION", "REPOSITORY", "RELEASE", "NAME", "URL", "SHA256"].contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(template: &str) -> Result<String> {
        let archives = [Archive {
            triple: "x86_64-apple-darwin",
            name: "emend-1-mac".into(),
            file: "emend-1-mac.tar.gz".into(),
            sha256: "ab".into(),
        }];
        let release = Release { version: "1", repository: "https://example.org/e", archives: &archives };
        release.fill(template, None)
    }

    #[test]
    fn a_block_is_there_for_what_was_built() {
        let template = "v@VERSION@\n  #@IF x86_64-apple-darwin\n  @URL@ @SHA256@ @NAME@\n  #@END\n\
                        #@IF aarch64-apple-darwin\n@URL@\n#@END\n@RELEASE@";
        let address = "https://example.org/e/releases/download/v1";
        let wanted = format!("v1\n  {address}/emend-1-mac.tar.gz ab emend-1-mac\n{address}");
        assert_eq!(fill(template).unwrap(), wanted);
        assert_eq!(fill("a@b.org @x@\n").unwrap(), "a@b.org @x@\n");
    }

    #[test]
    fn what_is_not_filled_in_is_an_error() {
        for template in ["@SHA256@", "#@IF x86_64-apple-darwin\n", "#@END\n", "#@OR x\n"] {
            assert!(fill(template).is_err(), "{template}");
        }
    }
}
