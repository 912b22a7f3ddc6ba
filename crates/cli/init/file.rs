//! A file of a client: read with care, shown before it is changed, and written as any other edit, which is then in the
//! history. The record of `init` has the old text; without a state folder, a copy beside the file has it.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use emend_server::approval::Decision;
use emend_server::effects::Effects;
use emend_server::local::{self, Made};
use emend_server::wire::{ApplyPatch, WriteFile};
use emend_workspace::edit::Version;
use emend_workspace::{RootSpec, Workspace, disk};

use super::NAME;
use super::entry::Unfit;
use crate::exit::Stop;
use crate::settings::without_links;

const BOM: &str = "\u{feff}";

/// A file as it was read.
pub(super) struct ClientFile {
    /// The path without links, as far as it exists. So the target of a link is changed, not the link.
    pub(super) path: PathBuf,
    /// The content of the file; `None` if there is no file.
    pub(super) text: Option<String>,
}

/// A file that was written, or deleted.
pub(super) struct Written {
    pub(super) made: Made,
    /// The copy of the old file.
    pub(super) copy: Option<PathBuf>,
    /// The folders that were made for it, the outermost first.
    pub(super) folders: Vec<PathBuf>,
}

impl ClientFile {
    /// Reads a file. One of a project must be inside the project.
    pub(super) fn read(file: &Path, project: Option<&Path>) -> Result<Self, Stop> {
        let file = without_links(file);
        // The project may come from a stranger, whose links must not decide what else we change.
        if project.is_some_and(|project| !file.starts_with(without_links(project))) {
            return Err(unfit(&file, None, "a link of the project leads to it, out of the project"));
        }
        // Reading from a pipe would block.
        if fs::metadata(&file).is_ok_and(|there| !there.is_file()) {
            return Err(unfit(&file, None, "it is no file"));
        }
        let text = match fs::read(&file) {
            Ok(bytes) => Some(String::from_utf8(bytes).map_err(|_| unfit(&file, None, "it is not UTF-8"))?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                return Err(Stop::Usage(anyhow::Error::new(error).context(format!("{}", file.display()))));
            }
        };
        Ok(Self { path: file, text })
    }

    pub(super) fn shown(&self) -> String {
        self.path.display().to_string()
    }

    /// The text without the mark at its beginning.
    pub(super) fn body(&self) -> &str {
        without_bom(self.text.as_deref().unwrap_or_default())
    }

    /// The whole text with this body.
    pub(super) fn with_body(&self, body: &str) -> String {
        let has_bom = self.text.as_ref().is_some_and(|text| text.starts_with(BOM));
        format!("{}{body}", if has_bom { BOM } else { "" })
    }

    /// The refusal of a file that cannot be changed.
    pub(super) fn unfit(&self, Unfit { line, what }: Unfit) -> Stop {
        unfit(&self.path, line, &what)
    }

    /// Previews the new content; `None` deletes the file. Creates no folder for it.
    pub(super) fn preview(&self, content: Option<&str>, state: Option<&Path>) -> Result<Made, Stop> {
        let root = self.path.ancestors().skip(1).find(|folder| folder.is_dir()).unwrap_or(Path::new("/"));
        let inside = self.path.strip_prefix(root).unwrap_or(&self.path);
        let name = self.name(inside.as_os_str())?;
        let workspace = open(root, state)?;
        Ok(match content {
            Some(content) => local::preview_write(&workspace, self.writing(name, content), NAME)?,
            None => local::preview_patch(&workspace, self.deletion(name)?, NAME)?,
        })
    }

    /// Writes the new content, or deletes the file.
    pub(super) fn write(
        &self,
        content: Option<&str>,
        keeps_copy: bool,
        state: Option<&Path>,
    ) -> Result<Written, Stop> {
        let (Some(folder), Some(name)) = (self.path.parent(), self.path.file_name()) else {
            return Err(Stop::usage(format!("{} is no file", self.shown())));
        };
        // The file's own folder is the root, since folders above it may hold the state folder or another user's files.
        let mut folders: Vec<PathBuf> =
            folder.ancestors().take_while(|folder| !folder.exists()).map(PathBuf::from).collect();
        folders.reverse();
        fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        let workspace = open(folder, state)?;
        let name = self.name(name)?;
        let copy = self.text.as_ref().filter(|_| keeps_copy).map(|_| back_up(&self.path)).transpose();
        let copy = copy.with_context(|| format!("{} cannot be copied", self.shown()))?;
        // Such files need approval. The user has just given it, at the prompt or with --yes.
        let approve = |_: &_| Decision::Approve;
        let made = match content {
            Some(content) => local::write_file(&workspace, self.writing(name, content), NAME, &approve),
            None => local::apply_patch(&workspace, &Effects::none(), self.deletion(name)?, NAME, &approve),
        };
        let made = made.inspect_err(|_| {
            if let Some(copy) = &copy {
                let _ = fs::remove_file(copy);
            }
        });
        Ok(Written { made: made?, copy, folders })
    }

    /// Takes back what was written.
    pub(super) fn undo(&self, written: &Written, state: Option<&Path>) -> Result<(), Stop> {
        let (Some(folder), Some(edit)) = (self.path.parent(), written.made.edit()) else { return Ok(()) };
        local::undo(&open(folder, state)?, &Effects::none(), edit, NAME, &|_| Decision::Approve)?;
        remove_leftovers(written.copy.as_deref(), &written.folders);
        Ok(())
    }

    fn name<'a>(&self, name: &'a OsStr) -> Result<&'a str, Stop> {
        name.to_str().ok_or_else(|| Stop::usage(format!("{} is not Unicode", self.shown())))
    }

    /// The version that was read. An edit is valid for that one alone.
    fn version(&self) -> Option<String> {
        self.text.as_ref().map(|text| Version::hash(text.as_bytes()).short())
    }

    fn writing(&self, name: &str, content: &str) -> WriteFile {
        WriteFile { path: name.to_owned(), content: content.to_owned(), version: self.version() }
    }

    fn deletion(&self, name: &str) -> Result<ApplyPatch, Stop> {
        let asked = serde_json::json!({
            "patch": format!("*** Begin Patch\n*** Delete File: {name}\n*** End Patch\n"),
            "format": "v4a",
            "versions": self.version().map(|version| serde_json::json!({name: version})),
        });
        Ok(serde_json::from_value(asked).context("the deletion is not understood")?)
    }
}

/// Removes what was made beside a file: its copies, and its folders if they are empty.
pub(super) fn remove_leftovers<'a>(copies: impl IntoIterator<Item = &'a Path>, folders: &[PathBuf]) {
    for copy in copies {
        let _ = fs::remove_file(copy);
    }
    for folder in folders.iter().rev() {
        let _ = fs::remove_dir(folder);
    }
}

pub(super) fn without_bom(text: &str) -> &str {
    text.trim_start_matches(BOM)
}

fn open(folder: &Path, state: Option<&Path>) -> Result<Workspace, Stop> {
    let spec = RootSpec { name: None, path: folder.to_owned() };
    Ok(Workspace::open(disk::for_this_machine(), &[spec], state.map(Path::to_owned))?)
}

fn unfit(file: &Path, line: Option<usize>, what: &str) -> Stop {
    let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
    let file = file.display();
    Stop::usage(format!("{file}{line}: {what}. Nothing was changed. Mend the file, then try again."))
}

/// Copies a file to a free name beside it. Nobody who cannot read the file can read the copy, since it may hold
/// secrets.
fn back_up(file: &Path) -> io::Result<PathBuf> {
    let name = file.file_name().unwrap_or_default();
    for number in 1.. {
        let mut backup = name.to_owned();
        backup.push(if number == 1 { ".before-emend".to_owned() } else { format!(".before-emend-{number}") });
        let backup = file.with_file_name(backup);
        match for_this_user_alone().open(&backup) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(copy) => {
                return match fill(file, copy) {
                    Ok(()) => Ok(backup),
                    Err(error) => {
                        let _ = fs::remove_file(&backup);
                        Err(error)
                    }
                };
            }
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Options to create a file that only this user can ever read.
fn for_this_user_alone() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Copies the content. Copies the mode only if everybody may read the file, because the group of the copy may differ.
fn fill(file: &Path, mut copy: fs::File) -> io::Result<()> {
    let mut file = fs::File::open(file)?;
    io::copy(&mut file, &mut copy)?;
    let permissions = file.metadata()?.permissions();
    #[cfg(unix)]
    let is_for_all = std::os::unix::fs::PermissionsExt::mode(&permissions) & 0o004 != 0;
    #[cfg(not(unix))]
    let is_for_all = true;
    if is_for_all {
        copy.set_permissions(permissions)?;
    }
    copy.sync_all()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn nobody_reads_the_copy_who_could_not_read_the_file() {
        for (mode, of_copy) in [(0o644, 0o644), (0o664, 0o664), (0o640, 0o600), (0o600, 0o600)] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("mcp.json");
            fs::write(&file, "{}\n").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            let copy = back_up(&file).unwrap();
            assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, of_copy);
            assert_eq!(fs::read_to_string(&copy).unwrap(), "{}\n");
            assert_ne!(back_up(&file).unwrap(), copy);
        }
    }
}
