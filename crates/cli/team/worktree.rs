//! The folder of a tenant that is a worktree of a repository of git's, on a branch of the tenant's own.
//!
//! It is made under another name beside its place and put there once it is whole and the repository knows the place, so a
//! folder at its place is never half of one, whenever this process or git was killed. A file in the tenant's state folder is
//! locked meanwhile. What an attempt has left is cleared away by the next one.
//!
//! Git runs nothing of the repository's: no hook, no filter, no other program, and it fetches nothing. A repository whose
//! configuration could bring that in all the same is refused.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail, ensure};

use emend_filelock::Hold;
use emend_process::run::{Ended, Program, Ran};
use emend_process::search::Search;
use emend_team::TenantName;
use emend_workspace::make_private;

/// The time in which a worktree must be made.
const PATIENCE: Duration = Duration::from_secs(120);
/// The bytes that git may say.
const MOST: usize = 1024 * 1024;
/// The name of the file that is locked.
const LOCK: &str = "worktree";
/// The file in which the repository has the path of a worktree's `.git`, and its next content.
const PLACE: &str = "gitdir";
const NEXT_PLACE: &str = "gitdir.next";
/// The file that says that git must leave what it knows of a worktree.
const LOCKED: &str = "locked";
/// What stands behind the name of a tenant in that of a folder that is being made. No name of a tenant has it.
const SIGN: char = '+';

/// All variables of git's environment.
const ENVIRONMENT: [(&str, &str); 7] = [
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    // Older gits do not know that one, and the repository may allow a protocol of its own.
    ("GIT_ALLOW_PROTOCOL", ""),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C"),
];
/// The settings that hold whatever the repository says.
const SETTINGS: [&str; 6] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "protocol.allow=never",
    "submodule.recurse=false",
    "branch.autoSetupMerge=false",
    "worktree.useRelativePaths=false",
];

/// The settings that no other turns off: those that hold in the new worktree alone, and hooks of git 2.54 and newer.
const REFUSED: &str = "^(includeif|hook)\\.";

/// A worktree that is to be there.
struct Worktree<'a> {
    repository: &'a Path,
    /// The folder above it, without links.
    above: PathBuf,
    name: &'a TenantName,
    search: Search,
    git: PathBuf,
    until: Instant,
}

/// Makes the folder of a tenant as a worktree of a repository, unless it is there. `state` is the tenant's state folder,
/// which all servers have. Blocks.
pub(super) fn ensure_there(
    repository: &Path,
    folder: &Path,
    name: &TenantName,
    state: &Path,
) -> anyhow::Result<()> {
    if is_there(folder) {
        return Ok(());
    }
    check_branch(name)?;
    let above = folder.parent().context("it has no folder above it")?.canonicalize()?;
    let search = Search::new(None, &[&above]);
    let git = search.find("git").map_err(|why| anyhow!("git: {why}"))?;
    make_private(state)?;
    let lock = state.join(LOCK);
    let lock = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(lock)?;
    let until = Instant::now() + PATIENCE;
    ensure!(emend_filelock::lock(&lock, Hold::Alone, until)?, "another server has been at it for long");
    if is_there(folder) {
        // Another server was faster.
        return Ok(());
    }
    let worktree = Worktree { repository, above, name, search, git, until };
    worktree.refuse_settings()?;
    worktree.clear()?;
    worktree.make().inspect_err(|_| {
        if !is_there(folder) {
            // The next attempt would do it as well.
            let _ = worktree.clear();
        }
    })
}

impl Worktree<'_> {
    fn place(&self) -> PathBuf {
        self.above.join(self.name.as_str())
    }

    fn branch(&self) -> String {
        branch_of(self.name)
    }

    /// Makes it beside its place, and puts it there.
    fn make(&self) -> anyhow::Result<()> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|error| anyhow!("the system gave no random bytes: {error}"))?;
        // A git of a server that was killed may still be at one of an earlier attempt.
        let temporary = format!(".{}{SIGN}{:016x}", self.name, u64::from_le_bytes(random));
        let temporary = self.above.join(temporary);
        make_private(&temporary)?;
        let (branch, written) = (self.branch(), text(&temporary)?);
        let known = self.git(&["show-ref", "--verify", "--quiet", &format!("refs/heads/{branch}")])?;
        let filters = self.filters()?;
        let mut arguments: Vec<&str> = filters.iter().flat_map(|setting| ["-c", setting]).collect();
        arguments.extend(["worktree", "add", "--quiet"]);
        match known.ended {
            // Of a tenant that was there before.
            Ended::Exited(status) if status.success() => arguments.extend([written, &branch]),
            Ended::Exited(status) if status.code() == Some(1) => {
                arguments.extend(["-b", &branch, written, "HEAD"]);
            }
            _ => bail!("git show-ref: {}", known.why()),
        }
        self.git(&arguments)?.done().map_err(|why| anyhow!("git worktree add: {why}"))?;
        // Git does not sync what it checks out.
        #[cfg(target_os = "linux")]
        rustix::fs::syncfs(fs::File::open(&temporary)?)?;
        self.connect(&temporary)?;
        fs::rename(&temporary, self.place())?;
        if let Err(error) = sync_folder(&self.above) {
            // It is in its place, and whole. After a power loss it may be made again.
            tracing::warn!("{} cannot be synced: {error}", self.above.display());
        }
        Ok(())
    }

    /// Tells the repository where the worktree will be that is still beside its place. `git worktree repair` would do that
    /// afterwards, but it writes to the other worktrees, too.
    fn connect(&self, temporary: &Path) -> anyhow::Result<()> {
        let pointer = temporary.join(".git");
        let pointer = fs::read_to_string(&pointer)?;
        let own = pointer.strip_prefix("gitdir: ").context("git made no worktree")?;
        let own = Path::new(own.trim_end_matches('\n')).canonicalize()?;
        ensure!(
            own.parent() == Some(&*self.known()?.canonicalize()?)
                && written_place(&own)?.is_some_and(|place| place == temporary),
            "{} is not what the repository knows of it",
            own.display()
        );
        let next = own.join(NEXT_PLACE);
        let mut file = fs::File::create(&next)?;
        writeln!(file, "{}", text(&self.place().join(".git"))?)?;
        file.sync_all()?;
        fs::rename(next, own.join(PLACE))?;
        sync_folder(&own)?;
        Ok(())
    }

    /// Returns the folder in which the repository has what it knows of its worktrees.
    fn known(&self) -> anyhow::Result<PathBuf> {
        let common = self.git(&["rev-parse", "--path-format=absolute", "--git-common-dir"])?;
        let common = common.done().map_err(|why| anyhow!("git rev-parse: {why}"))?;
        Ok(Path::new(String::from_utf8(common)?.trim_end_matches('\n')).join("worktrees"))
    }

    /// Clears away what attempts have left, and what the repository knows of them, and of a worktree that is gone from the
    /// place. Nothing at the place is touched.
    fn clear(&self) -> anyhow::Result<()> {
        let temporary = format!(".{}{SIGN}", self.name);
        let is_temporary = |path: &Path| {
            let name = path.file_name().and_then(|name| name.to_str());
            path.parent() == Some(&*self.above) && name.is_some_and(|name| name.starts_with(&temporary))
        };
        for entry in fs::read_dir(&self.above)? {
            let path = entry?.path();
            if is_temporary(&path) {
                fs::remove_dir_all(&path)?;
            }
        }
        let place = self.place();
        for entry in or_none(fs::read_dir(self.known()?))?.into_iter().flatten() {
            let folder = entry?.path();
            let Some(written) = written_place(&folder)? else { continue };
            if written == place && !is_there(&place) {
                ensure!(
                    !is_there(&folder.join(LOCKED)),
                    "somebody has locked the worktree that was there: bring it back, or use 'git worktree unlock'"
                );
            } else if !is_temporary(&written) {
                continue;
            }
            fs::remove_dir_all(&folder)?;
        }
        Ok(())
    }

    /// Refuses a repository with settings that could have git run something whatever it is told.
    fn refuse_settings(&self) -> anyhow::Result<()> {
        if let Some(setting) = self.settings(REFUSED)?.first() {
            bail!(
                "the configuration of the repository has '{setting}', with which git might run a program; remove it there"
            );
        }
        Ok(())
    }

    /// Returns settings that turn each filter of the repository off: they would run programs.
    fn filters(&self) -> anyhow::Result<Vec<String>> {
        let off = |name: &str| -> anyhow::Result<String> {
            ensure!(!name.contains('='), "its filter '{name}' cannot be turned off");
            Ok(if name.ends_with(".required") { format!("{name}=false") } else { format!("{name}=") })
        };
        self.settings("^filter\\.")?.iter().map(|name| off(name)).collect()
    }

    /// Returns the names of the settings that match a pattern.
    fn settings(&self, pattern: &str) -> anyhow::Result<Vec<String>> {
        let found = self.git(&["config", "--null", "--name-only", "--get-regexp", pattern])?;
        if matches!(found.ended, Ended::Exited(status) if status.code() == Some(1)) {
            return Ok(Vec::new());
        }
        let names = String::from_utf8(found.done().map_err(|why| anyhow!("git config: {why}"))?)?;
        Ok(names.split_terminator('\0').map(str::to_owned).collect())
    }

    fn git(&self, arguments: &[&str]) -> anyhow::Result<Ran> {
        // No repository above this one is meant.
        let real = self.repository.canonicalize()?;
        let ceiling = real.parent().context("it is no repository")?;
        let environment: Vec<_> =
            ENVIRONMENT.into_iter().chain([("GIT_CEILING_DIRECTORIES", text(ceiling)?)]).collect();
        let settings = SETTINGS.into_iter().flat_map(|setting| ["-c", setting]);
        let arguments: Vec<String> = settings.chain(arguments.iter().copied()).map(str::to_owned).collect();
        let program = Program {
            path: &self.git,
            arguments: &arguments,
            folder: self.repository,
            search: &self.search,
            environment: Some(&environment),
            timeout: self.until.saturating_duration_since(Instant::now()),
            most: MOST,
            is_cut: false,
            leaves: false,
        };
        Ok(program.run(b"", &|| false))
    }
}

/// Returns the branch of a tenant.
fn branch_of(name: &TenantName) -> String {
    format!("emend/{name}")
}

/// Refuses names that git has for no branch.
fn check_branch(name: &TenantName) -> anyhow::Result<()> {
    let name = name.as_str();
    ensure!(
        !name.contains("..") && !name.to_ascii_lowercase().ends_with(".lock"),
        "git has no branch for the tenant '{name}': a name with '..' in it, or '.lock' at its end, is none"
    );
    Ok(())
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn text(path: &Path) -> anyhow::Result<&str> {
    path.to_str().with_context(|| format!("{} cannot be told to git", path.display()))
}

/// Returns the path of a worktree, as the repository has it in the folder of what it knows of it.
fn written_place(folder: &Path) -> io::Result<Option<PathBuf>> {
    let Some(written) = or_none(fs::read_to_string(folder.join(PLACE)))? else { return Ok(None) };
    Ok(Path::new(written.trim_end_matches('\n')).parent().map(Path::to_owned))
}

/// Makes the names in a folder durable, where that can be done.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { fs::File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Returns nothing for what is not there.
fn or_none<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_git_has_for_no_branch_is_refused() {
        let is_taken = |name: &str| check_branch(&TenantName::parse(name).unwrap()).is_ok();
        for good in ["red", "a.b", "ann@example.com", "a-", "_", "lock", "a.lock.b", "1@"] {
            assert!(is_taken(good), "{good}");
        }
        for bad in ["a..b", "a...b", "a.lock", "a.LOCK"] {
            assert!(!is_taken(bad), "{bad}");
        }
    }
}
