//! Held plans that wait for a person's decision at a terminal, for clients that cannot ask.
//!
//! They are in the folder `approvals` of the user's state folder, for all workspaces, each under an id derived from its
//! digest. `ID` describes the plan for the person to read, and `ID.word` holds the decision. Both count only with the
//! user's seal. A yes is for one edit: it is removed before the edit begins, so that after a failed commit a person is
//! asked again. A no stands until it expires or the person decides otherwise.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cap_std::fs::Dir;
use serde::{Deserialize, Serialize};

use super::{AwaitingApproval, PlanDigest};
use crate::disk::sync_folder;
use crate::files::report::{ChangeKind, FileReport};
use crate::files::seal::Seal;
use crate::files::sealed_folder::{SealedFolder, is_being_written, is_fresh, names, now};

/// The name of the folder in the state folder.
const FOLDER: &str = "approvals";
/// The file name suffix of a decision.
const WORD: &str = ".word";
/// The number of digits of an id: few enough to type, because the whole digest is compared anyway.
const ID_DIGITS: usize = 12;

/// The limits on the number, size and age of what is stored.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// The time for which a plan waits and a decision is valid.
    age: Duration,
    /// The number of waiting plans.
    count: usize,
    /// Their total size in bytes.
    bytes: u64,
    /// The largest size of a diff: a person must be able to see all of it.
    diff: usize,
}

const LIMITS: Limits = Limits {
    age: Duration::from_secs(24 * 60 * 60),
    count: 100,
    bytes: 64 * 1024 * 1024,
    diff: 4 * 1024 * 1024,
};

/// The plans that wait for this user's decision.
#[derive(Debug)]
pub struct Approvals {
    folder: SealedFolder,
    limits: Limits,
}

/// A waiting plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Waiting {
    id: String,
    digest: String,
    /// The time of the request, in milliseconds since 1970.
    time: u64,
    /// The name that the client gives itself.
    pub client: String,
    /// The tool that it called.
    pub tool: String,
    /// The folder of the files.
    pub root: String,
    /// The rules that require approval.
    pub rules: Vec<String>,
    /// One line for each file with what would happen to it.
    pub files: Vec<String>,
    /// Notes worth knowing about the plan.
    pub notes: Vec<String>,
    /// The files, in the order of the diff.
    #[serde(default)]
    pub changes: Vec<WaitingFile>,
    /// The whole diff.
    pub diff: String,
    /// The decision, if there is one.
    #[serde(skip)]
    pub word: Option<PersonsDecision>,
}

impl Waiting {
    /// Returns the id by which a person names the plan.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the time of the request.
    #[must_use]
    pub fn time(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(self.time)
    }
}

/// The change of one file by a waiting plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WaitingFile {
    /// The name of the file.
    pub name: String,
    /// The kind of change.
    #[serde(with = "WrittenChange")]
    pub change: ChangeKind,
    /// The former name of a moved file.
    pub moved_from: Option<String>,
    /// The number of lines added.
    pub added: usize,
    /// The number of lines removed.
    pub removed: usize,
}

/// A [`ChangeKind`] as it is written down.
#[derive(Serialize, Deserialize)]
#[serde(remote = "ChangeKind", rename_all = "lowercase")]
enum WrittenChange {
    Create,
    Modify,
    Delete,
    Move,
}

impl WaitingFile {
    fn of(file: &FileReport) -> Self {
        let FileReport { name, change, moved_from, diff, .. } = file;
        let (name, moved_from) = (name.clone(), moved_from.clone());
        Self { name, change: *change, moved_from, added: diff.added, removed: diff.removed }
    }
}

/// A person's decision on a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PersonsDecision {
    /// The plan may be committed, once.
    Yes,
    /// The plan must not be committed.
    No,
}

#[derive(Serialize, Deserialize)]
struct Said {
    digest: String,
    time: u64,
    word: PersonsDecision,
    /// What the person says to the model.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    comment: String,
}

impl Approvals {
    /// Opens the waiting plans of this user; `None` without a key, because then no other process can have stored any.
    pub fn of_user(state: &Path) -> io::Result<Option<Self>> {
        let folder = SealedFolder::of_user(state, FOLDER)?;
        Ok(folder.map(|folder| Self { folder, limits: LIMITS }))
    }

    pub(crate) fn new(state: PathBuf, seal: Arc<Seal>) -> Self {
        Self { folder: SealedFolder::new(state, FOLDER, seal), limits: LIMITS }
    }

    /// Returns all waiting plans, oldest first.
    pub fn all(&self) -> io::Result<Vec<Waiting>> {
        let Some(dir) = self.folder.opened()? else { return Ok(Vec::new()) };
        let mut all: Vec<Waiting> =
            names(&dir)?.iter().filter_map(|name| self.read_waiting(&dir, name)).collect();
        all.sort_by_key(|waiting| waiting.time);
        Ok(all)
    }

    /// Returns the plan that waits under this id.
    pub fn find(&self, id: &str) -> io::Result<Option<Waiting>> {
        let is_id = id.len() == ID_DIGITS && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        let dir = if is_id { self.folder.opened()? } else { None };
        Ok(dir.and_then(|dir| self.read_waiting(&dir, &id.to_ascii_lowercase())))
    }

    /// Permits exactly this edit, once, with a comment for the model, which may be empty. Only a person who has seen all of it
    /// may decide this. It fails, as a denial does, if the edit was made or decided on since.
    pub fn allow(&self, waiting: &Waiting, comment: &str) -> io::Result<()> {
        self.say(waiting, PersonsDecision::Yes, comment)
    }

    /// Forbids exactly this edit, with a comment for the model, which may be empty.
    pub fn deny(&self, waiting: &Waiting, comment: &str) -> io::Result<()> {
        self.say(waiting, PersonsDecision::No, comment)
    }

    /// Stores a held plan with the notes on it. Returns its id, or why a person cannot be waited for.
    pub(crate) fn keep(&self, held: &AwaitingApproval, notes: Vec<String>) -> Result<String, String> {
        let diff = held.report.diff();
        if diff.len() > self.limits.diff {
            return Err(format!("its diff has {} bytes, too many to be read by a person", diff.len()));
        }
        let id = self.id_of(&held.digest);
        let kept = self.folder.made().and_then(|dir| {
            let others = self.others_than(&dir, &id)?;
            let waiting = Self::described(held, id.clone(), time_after(&others), notes, diff);
            self.make_room(&dir, others, &waiting.client);
            self.folder.write(&dir, &id, "waiting", &waiting)
        });
        kept.map(|()| id).map_err(|error| format!("what waits for one could not be written down: {error}"))
    }

    /// Describes a held plan for a person.
    fn described(
        held: &AwaitingApproval,
        id: String,
        time: u64,
        notes: Vec<String>,
        diff: String,
    ) -> Waiting {
        Waiting {
            id,
            digest: held.digest.hex(),
            time,
            client: held.origin.client.clone(),
            tool: held.origin.tool.clone(),
            root: held.root.display().to_string(),
            rules: held.rules(),
            files: held.files(),
            notes,
            changes: held.report.files.iter().map(WaitingFile::of).collect(),
            diff,
            word: None,
        }
    }

    /// Takes the decision on this plan, with the comment. That uses up a yes: the caller may commit, once.
    pub(crate) fn take(&self, plan: &PlanDigest) -> io::Result<Option<(PersonsDecision, String)>> {
        let Some(dir) = self.folder.opened()? else { return Ok(None) };
        let id = self.id_of(plan);
        let said = self.read_word(&dir, &id).filter(|said| said.digest == plan.hex());
        let word = said.map(|said| (said.word, said.comment));
        if !matches!(word, Some((PersonsDecision::Yes, _))) {
            return Ok(word);
        }
        match dir.remove_file(format!("{id}{WORD}")) {
            Ok(()) => {}
            // Another process has just taken it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        }
        let _ = dir.remove_file(&id);
        sync_folder(&dir)?;
        Ok(word)
    }

    /// Removes this plan, which needs no decision any more.
    pub(crate) fn forget(&self, plan: &PlanDigest) {
        if let Ok(Some(dir)) = self.folder.opened() {
            let id = self.id_of(plan);
            let _ = dir.remove_file(&id);
            let _ = dir.remove_file(format!("{id}{WORD}"));
        }
    }

    /// Returns the id of a plan: always the same for the same plan, and of use to this user alone.
    fn id_of(&self, plan: &PlanDigest) -> String {
        self.folder.seal.mark("approval", plan.hex().as_bytes())[..ID_DIGITS].to_owned()
    }

    fn say(&self, waiting: &Waiting, word: PersonsDecision, comment: &str) -> io::Result<()> {
        let waits = self.find(&waiting.id)?;
        if !waits.is_some_and(|waits| waits.digest == waiting.digest && waits.word == waiting.word) {
            return Err(io::Error::other("this edit was made or decided on elsewhere since it was shown"));
        }
        let comment = comment.trim().to_owned();
        let said = Said { digest: waiting.digest.clone(), time: now(), word, comment };
        let dir = self.folder.made()?;
        self.folder.write(&dir, &format!("{}{WORD}", waiting.id), "word", &said)
    }

    fn read_waiting(&self, dir: &Dir, name: &str) -> Option<Waiting> {
        let waiting: Waiting = self.folder.read(dir, name, "waiting")?;
        if waiting.id != name || !is_fresh(waiting.time, self.limits.age) {
            return None;
        }
        let said = self.read_word(dir, name).filter(|said| said.digest == waiting.digest);
        Some(Waiting { word: said.map(|said| said.word), ..waiting })
    }

    fn read_word(&self, dir: &Dir, id: &str) -> Option<Said> {
        let said: Option<Said> = self.folder.read(dir, &format!("{id}{WORD}"), "word");
        said.filter(|said| is_fresh(said.time, self.limits.age))
    }

    /// Removes expired plans, and returns the others beside this one, oldest first.
    fn others_than(&self, dir: &Dir, id: &str) -> io::Result<Vec<Held>> {
        let mut waiting = Vec::new();
        for name in names(dir)? {
            let counts = match name.strip_suffix(WORD) {
                Some(of) => self.read_word(dir, of).is_some(),
                None => match self.read_waiting(dir, &name) {
                    Some(read) => {
                        let bytes = dir.symlink_metadata(&name).map_or(0, |found| found.len());
                        waiting.push(Held {
                            time: read.time,
                            name: name.clone(),
                            client: read.client,
                            bytes,
                        });
                        true
                    }
                    None => is_being_written(dir, &name, self.limits.age),
                },
            };
            if !counts {
                let _ = dir.remove_file(&name);
            }
        }
        waiting.retain(|held| held.name != id);
        waiting.sort_by_key(|held| held.time);
        Ok(waiting)
    }

    /// Makes room for one more plan of a client. Where there are too many, it is who holds most whose oldest goes: one client
    /// alone cannot take the places of others.
    fn make_room(&self, dir: &Dir, mut waiting: Vec<Held>, client: &str) {
        loop {
            let bytes = waiting.iter().map(|held| held.bytes).sum::<u64>();
            let share: fn(&Held) -> u64 = match waiting.len() < self.limits.count {
                true if bytes <= self.limits.bytes => return,
                true => |held| held.bytes,
                false => |_| 1,
            };
            let mut shares = BTreeMap::from([(client.to_owned(), 1)]);
            for held in &waiting {
                *shares.entry(held.client.clone()).or_default() += share(held);
            }
            let most = shares.values().copied().max().unwrap_or_default();
            let Some(at) = waiting.iter().position(|held| shares.get(&held.client) == Some(&most)) else {
                return;
            };
            let _ = dir.remove_file(waiting.remove(at).name);
        }
    }
}

/// A plan that takes a place.
struct Held {
    time: u64,
    name: String,
    client: String,
    bytes: u64,
}

/// Returns the time of a plan that comes after all of these, so that two plans of one millisecond have an order.
fn time_after(waiting: &[Held]) -> u64 {
    waiting.last().map_or(0, |newest| newest.time + 1).max(now())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::files::history::Origin;
    use crate::files::report::Report;

    fn plan(digit: &str) -> PlanDigest {
        PlanDigest::from_hex(&digit.repeat(64)).unwrap()
    }

    fn held(plan: PlanDigest) -> AwaitingApproval {
        let report = Report {
            edit: None,
            files: Vec::new(),
            notes: Vec::new(),
            mtime_check_passed: None,
            is_recorded: false,
            fired: Vec::new(),
        };
        AwaitingApproval {
            digest: plan,
            problems: Vec::new(),
            report,
            origin: Origin::default(),
            root: PathBuf::new(),
        }
    }

    fn yes() -> Option<(PersonsDecision, String)> {
        Some((PersonsDecision::Yes, String::new()))
    }

    /// Returns the plans of a new user, and their state folder.
    fn user() -> (tempfile::TempDir, Approvals) {
        let folder = tempfile::tempdir().unwrap();
        let seal = Arc::new(Seal::of_user(Some(folder.path())).unwrap());
        let approvals = Approvals::new(folder.path().to_owned(), seal);
        (folder, approvals)
    }

    #[test]
    fn a_client_that_asks_again_and_again_takes_no_place_of_another() {
        let (_folder, approvals) = user();
        let approvals = Approvals { limits: Limits { count: 4, ..LIMITS }, ..approvals };
        let keep = |digit: &str, client: &str| {
            let origin = Origin { client: client.into(), ..Origin::default() };
            approvals.keep(&AwaitingApproval { origin, ..held(plan(digit)) }, Vec::new()).unwrap()
        };
        let quiet = keep("1", "quiet");
        let loud: Vec<String> = ["2", "3", "4", "5", "6"].iter().map(|digit| keep(digit, "loud")).collect();
        assert!(approvals.find(&quiet).unwrap().is_some());
        let left: Vec<bool> = loud.iter().map(|id| approvals.find(id).unwrap().is_some()).collect();
        assert_eq!(left, [false, false, true, true, true]);
        // Whoever comes now has a place at once.
        let third = keep("7", "third");
        let left: Vec<bool> = loud.iter().map(|id| approvals.find(id).unwrap().is_some()).collect();
        assert_eq!(left, [false, false, false, true, true]);
        assert!([&quiet, &third].iter().all(|id| approvals.find(id).unwrap().is_some()));
    }

    #[test]
    fn what_comes_later_is_later_however_fast_it_comes() {
        let (_folder, approvals) = user();
        let ids: Vec<String> =
            ["1", "2"].iter().map(|digit| approvals.keep(&held(plan(digit)), Vec::new()).unwrap()).collect();
        // Another process, whose clock is ahead, has written the first.
        let first = approvals.find(&ids[0]).unwrap().unwrap();
        let ahead = Waiting { time: now() + 60_000, ..first };
        approvals.folder.write(&approvals.folder.made().unwrap(), &ids[0], "waiting", &ahead).unwrap();
        approvals.keep(&held(plan("2")), Vec::new()).unwrap();
        let all: Vec<String> = approvals.all().unwrap().into_iter().map(|waiting| waiting.id).collect();
        assert_eq!(all, ids);
    }

    fn names_in(folder: &tempfile::TempDir) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder.path().join(FOLDER))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_yes_is_for_one_plan_and_for_one_time() {
        let (folder, approvals) = user();
        let id = approvals.keep(&held(plan("1")), Vec::new()).unwrap();
        assert_eq!(approvals.keep(&held(plan("1")), Vec::new()).unwrap(), id, "the same plan waits once");
        let other = approvals.keep(&held(plan("2")), Vec::new()).unwrap();
        assert_eq!(approvals.take(&plan("1")).unwrap(), None, "nobody has said anything");
        // Stands for another process of the same user.
        let person = Approvals::of_user(folder.path()).unwrap().unwrap();
        person.allow(&person.find(&id).unwrap().unwrap(), "").unwrap();
        assert_eq!(approvals.take(&plan("2")).unwrap(), None);
        assert_eq!(approvals.take(&plan("1")).unwrap(), yes());
        assert_eq!(approvals.take(&plan("1")).unwrap(), None);
        assert_eq!(names_in(&folder), [other]);
    }

    #[test]
    fn an_answer_counts_only_for_what_waits_as_it_was_shown() {
        let (folder, approvals) = user();
        let id = approvals.keep(&held(plan("1")), Vec::new()).unwrap();
        let shown = approvals.find(&id).unwrap().unwrap();
        approvals.allow(&shown, "").unwrap();
        // Somebody else's answer came first.
        assert!(approvals.deny(&shown, "").is_err() && approvals.allow(&shown, "").is_err());
        assert_eq!(approvals.take(&plan("1")).unwrap(), yes());
        // The edit was made: nothing waits any more that could be allowed a second time.
        assert!(approvals.allow(&shown, "").is_err());
        assert_eq!(approvals.take(&plan("1")).unwrap(), None);
        assert!(names_in(&folder).is_empty());
    }

    #[test]
    fn a_no_stands_until_the_person_says_otherwise() {
        let (_folder, approvals) = user();
        let id = approvals.keep(&held(plan("1")), Vec::new()).unwrap();
        let waiting = || approvals.find(&id).unwrap().unwrap();
        approvals.deny(&waiting(), " Not like this.\n").unwrap();
        assert_eq!(waiting().word, Some(PersonsDecision::No));
        for _ in 0..2 {
            assert_eq!(
                approvals.take(&plan("1")).unwrap(),
                Some((PersonsDecision::No, "Not like this.".into()))
            );
        }
        approvals.allow(&waiting(), "").unwrap();
        assert_eq!(waiting().word, Some(PersonsDecision::Yes));
        assert_eq!(approvals.take(&plan("1")).unwrap(), yes());
    }

    #[test]
    fn what_is_forged_or_copied_from_elsewhere_does_not_count() {
        let (folder, approvals) = user();
        let (id, other) = (
            approvals.keep(&held(plan("1")), Vec::new()).unwrap(),
            approvals.keep(&held(plan("2")), Vec::new()).unwrap(),
        );
        let at = |name: &str| folder.path().join(FOLDER).join(name);
        let word = |id: &str| at(&format!("{id}{WORD}"));
        // A decision sealed without the key.
        let json = format!("{{\"digest\":\"{}\",\"time\":{},\"word\":\"yes\"}}", plan("1").hex(), now());
        let seal = Seal::of_user(None).unwrap();
        let foreign = [seal.mark("word", json.as_bytes()), json.clone()].join("\n");
        for forged in [json.clone(), format!("{}\n{json}", "0".repeat(32)), foreign] {
            fs::write(word(&id), forged).unwrap();
            assert_eq!(approvals.take(&plan("1")).unwrap(), None);
        }
        // A waiting plan is no decision.
        fs::copy(at(&id), word(&id)).unwrap();
        assert_eq!(approvals.take(&plan("1")).unwrap(), None);
        // A decision on another plan.
        approvals.allow(&approvals.find(&other).unwrap().unwrap(), "").unwrap();
        fs::copy(word(&other), word(&id)).unwrap();
        assert_eq!(approvals.take(&plan("1")).unwrap(), None);
        // A waiting plan under a wrong id is not shown.
        fs::copy(at(&other), at(&id)).unwrap();
        assert!(approvals.find(&id).unwrap().is_none());
        // Another user's decision on the same plan.
        let (theirs, others) = user();
        let their_id = others.keep(&held(plan("1")), Vec::new()).unwrap();
        others.allow(&others.find(&their_id).unwrap().unwrap(), "").unwrap();
        assert_ne!(their_id, id);
        fs::copy(theirs.path().join(FOLDER).join(format!("{their_id}{WORD}")), word(&id)).unwrap();
        assert_eq!(approvals.take(&plan("1")).unwrap(), None);
    }

    #[test]
    fn what_is_too_old_does_not_count_and_goes() {
        let (folder, mut approvals) = user();
        for (digit, word) in [("1", PersonsDecision::Yes), ("2", PersonsDecision::No)] {
            let id = approvals.keep(&held(plan(digit)), Vec::new()).unwrap();
            approvals.say(&approvals.find(&id).unwrap().unwrap(), word, "").unwrap();
        }
        approvals.limits.age = Duration::ZERO;
        assert_eq!(approvals.take(&plan("1")).unwrap(), None);
        assert_eq!(approvals.take(&plan("2")).unwrap(), None);
        assert_eq!(approvals.all().unwrap().len(), 0);
        let id = approvals.keep(&held(plan("3")), Vec::new()).unwrap();
        assert_eq!(names_in(&folder), [id]);
    }

    #[test]
    fn only_so_many_wait_and_only_what_can_be_read() {
        let (_folder, mut approvals) = user();
        approvals.limits.count = 2;
        for digit in ["1", "2", "3"] {
            approvals.keep(&held(plan(digit)), Vec::new()).unwrap();
        }
        assert_eq!(approvals.all().unwrap().len(), 2);
        approvals.limits.bytes = 1;
        let id = approvals.keep(&held(plan("4")), Vec::new()).unwrap();
        let all = approvals.all().unwrap();
        assert_eq!(all.iter().map(Waiting::id).collect::<Vec<_>>(), [id]);
        assert!(approvals.find("../key").unwrap().is_none());
    }

    #[test]
    #[cfg(unix)]
    fn what_waits_is_for_this_user_alone() {
        use std::os::unix::fs::PermissionsExt;
        let (folder, approvals) = user();
        let id = approvals.keep(&held(plan("1")), Vec::new()).unwrap();
        approvals.allow(&approvals.find(&id).unwrap().unwrap(), "").unwrap();
        for name in names_in(&folder) {
            let mode = fs::metadata(folder.path().join(FOLDER).join(&name)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_folder_that_others_can_write_to_is_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let (folder, approvals) = user();
        approvals.keep(&held(plan("1")), Vec::new()).unwrap();
        let path = folder.path().join(FOLDER);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(approvals.take(&plan("1")).is_err());
        assert!(approvals.keep(&held(plan("2")), Vec::new()).is_err());
    }
}
