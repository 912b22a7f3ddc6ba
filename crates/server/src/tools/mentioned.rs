//! The files that mention a name, which a server shall look at before it answers about a symbol of that name.

use std::path::Path;

use emend_workspace::WalkScope;
use emend_workspace::search::{FoundInFile, Replacement};

use super::Call;
use super::asked_servers::{self, Known, KnownFiles};
use crate::effects::Diagnostics as Servers;

/// Returns the files that mention a name as a word; `None` if there are too many to be counted.
pub(super) fn mentioned(call: &Call<'_>, name: &str) -> Option<Vec<FoundInFile>> {
    let replacement = Replacement {
        old: name,
        new: "",
        is_regex: false,
        whole_words: true,
        ignore_case: false,
        is_structure: false,
    };
    let scope = WalkScope { path: None, glob: None, cancelled: call.cancelled };
    call.workspace.files().places(&scope, &replacement).ok().map(|found| found.files)
}

/// Returns the files that a server shall look at before it answers: those that mention the name in its language.
pub(super) fn mentioning_files(
    call: &Call<'_>,
    servers: &Servers,
    path: &Path,
    file: Known,
    mentioned: &[FoundInFile],
) -> KnownFiles {
    let mut files = KnownFiles::default();
    files.add(path.to_owned(), file);
    for found in mentioned {
        let Ok(other) = call.workspace.roots().admit(&found.name).map(|other| other.absolute()) else {
            continue;
        };
        if other == path || !servers.are_alike(path, &other) {
            continue;
        }
        if let Ok(known) = asked_servers::read(call, &found.name)
            && !files.add(other, known)
        {
            break;
        }
    }
    files
}
