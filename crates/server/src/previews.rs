//! Previews: plans that are kept to be looked at before they are committed, each under an unguessable handle.
//!
//! A handle belongs to its owner and is valid for half an hour. Using it again returns the first outcome, so that a
//! retry after a lost response never edits twice. Another process may have made it, since the server was started again or
//! another one serves the client now: then it is planned anew.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use emend_threads::Mutex;
use emend_workspace::Preview;
use emend_workspace::problem::{Kind, Problem};

use crate::refused_hunks::RefusedHunks;
use crate::session::Owner;
use crate::wire::Outcome;

/// The time that a handle is valid.
const LIFETIME: Duration = Duration::from_secs(30 * 60);
/// The number of previews of an owner; the oldest is removed first.
const PREVIEWS_PER_OWNER: usize = 100;
/// The bytes of files that an owner's previews may hold; the newest preview is always kept.
const BYTES_PER_OWNER: usize = 256 * 1024 * 1024;

/// The store of previews.
#[derive(Debug)]
pub struct Previews {
    lifetime: Duration,
    bytes_per_owner: usize,
    /// By their handles and the keys of their owners: a person may look at a preview of a client, planned anew, on a page of this process.
    kept: Mutex<HashMap<PreviewKey, StoredPreview>>,
    /// The refused requests of which only some hunks are sent again.
    pub(crate) refused_hunks: RefusedHunks,
}

/// A handle, and the key of its owner.
type PreviewKey = (String, String);

#[derive(Debug)]
struct StoredPreview {
    born: Instant,
    /// The bytes of files that the plan holds until it is used.
    bytes: usize,
    state: Arc<Mutex<PreviewState>>,
}

impl StoredPreview {
    fn bytes(&self) -> usize {
        let is_used = self.state.try_lock().is_some_and(|state| !matches!(*state, PreviewState::Waiting(_)));
        if is_used { 0 } else { self.bytes }
    }
}

/// The state of a preview. The call that locks it applies the plan; a second call waits and gets the same outcome.
#[derive(Debug)]
pub enum PreviewState {
    /// The plan waits to be applied.
    Waiting(Box<Preview>),
    /// The plan was applied, with this outcome, as a whole or with these hunks only.
    Used(Box<Outcome>, Option<Vec<usize>>),
    /// Applying the plan failed and left neither a plan nor an outcome.
    Lost,
}

impl Default for Previews {
    fn default() -> Self {
        Self {
            lifetime: LIFETIME,
            bytes_per_owner: BYTES_PER_OWNER,
            kept: Mutex::default(),
            refused_hunks: RefusedHunks::default(),
        }
    }
}

impl Previews {
    /// Creates a store whose handles are valid for `lifetime`.
    #[must_use]
    pub fn with_lifetime(lifetime: Duration) -> Self {
        Self { lifetime, ..Self::default() }
    }

    /// Keeps a plan under a handle, see [`new_handle`].
    pub(crate) fn keep(&self, handle: &str, owner: &Owner, plan: Preview) {
        self.keep_in(&mut self.kept.lock(), handle, owner, plan);
    }

    /// Keeps the plan of a preview that another process has made, unless another call has done so meanwhile. Returns its state.
    pub(crate) fn take_over(
        &self,
        handle: &str,
        owner: &Owner,
        plan: Preview,
    ) -> Result<Arc<Mutex<PreviewState>>, Problem> {
        {
            let mut kept = self.kept.lock();
            if !kept.contains_key(&(handle.to_owned(), owner.key())) {
                self.keep_in(&mut kept, handle, owner, plan);
            }
        }
        self.find(owner, handle)
    }

    /// Returns whether the handle of a preview that was made then is still good.
    pub(crate) fn are_good_since(&self, made: SystemTime) -> bool {
        // The other process may have been on another machine, whose clock is ahead.
        made.elapsed().unwrap_or_default() < self.lifetime
    }

    fn keep_in(
        &self,
        kept: &mut HashMap<PreviewKey, StoredPreview>,
        handle: &str,
        owner: &Owner,
        plan: Preview,
    ) {
        kept.retain(|_, preview| preview.born.elapsed() < self.lifetime);
        let (bytes, key) = (plan.bytes(), owner.key());
        loop {
            let mine = kept.iter().filter(|((_, whose), _)| *whose == key);
            let held: usize = mine.clone().map(|(_, preview)| preview.bytes()).sum();
            let has_room = mine.clone().count() < PREVIEWS_PER_OWNER
                && held.saturating_add(bytes) <= self.bytes_per_owner;
            let oldest = mine.min_by_key(|(_, preview)| preview.born).map(|(oldest, _)| oldest.clone());
            match oldest.filter(|_| !has_room) {
                Some(oldest) => drop(kept.remove(&oldest)),
                None => break,
            }
        }
        let state = Arc::new(Mutex::new(PreviewState::Waiting(Box::new(plan))));
        kept.insert((handle.to_owned(), key), StoredPreview { born: Instant::now(), bytes, state });
    }

    /// Returns the state of the preview under this handle of the owner.
    pub fn find(&self, owner: &Owner, handle: &str) -> Result<Arc<Mutex<PreviewState>>, Problem> {
        let mut kept = self.kept.lock();
        kept.retain(|_, preview| preview.born.elapsed() < self.lifetime);
        kept.get(&(handle.trim().to_owned(), owner.key()))
            .map(|preview| Arc::clone(&preview.state))
            .ok_or_else(|| Problem::new(Kind::UnknownPreview))
    }
}

/// Creates a handle from 128 random bits.
pub(crate) fn new_handle() -> Result<String, Problem> {
    let mut random = [0u8; 16];
    getrandom::fill(&mut random).map_err(|error| {
        let message = format!("The system gave no random bytes: {error}. Nothing was changed.");
        Problem::new(Kind::IoError { message, states: Vec::new() })
    })?;
    let mut handle = String::from("preview-");
    for byte in random {
        let _ = write!(handle, "{byte:02x}");
    }
    Ok(handle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use emend_edit::patch::Patch;
    use emend_workspace::{EditContext, Origin, Request, RootSpec, Workspace, disk};

    fn preview(folder: &std::path::Path) -> Preview {
        let roots = [RootSpec { name: None, path: folder.join("ws") }];
        std::fs::create_dir(folder.join("ws")).unwrap();
        let state = Some(folder.join("state"));
        let workspace = Workspace::open(disk::for_this_machine(), &roots, state).unwrap();
        let patch = Patch::write("new.txt", "new\n".into());
        let versions = std::collections::BTreeMap::new();
        let request = Request { patch: &patch, versions: &versions };
        workspace.preview(&request, &EditContext::patient(&Mutex::default(), &Origin::default())).unwrap()
    }

    #[test]
    fn a_handle_is_good_for_its_lifetime_and_no_longer() {
        for (lifetime, is_good) in [(LIFETIME, true), (Duration::ZERO, false)] {
            let folder = tempfile::tempdir().unwrap();
            let previews = Previews::with_lifetime(lifetime);
            let handle = new_handle().unwrap();
            previews.keep(&handle, &Owner::Process, preview(folder.path()));
            assert_eq!(previews.find(&Owner::Process, &handle).is_ok(), is_good);
        }
    }

    #[test]
    fn the_oldest_go_where_all_of_an_owner_hold_too_much_and_the_newest_stays() {
        let previews = Previews { bytes_per_owner: 10, ..Previews::default() };
        let folders: Vec<_> = (0..4).map(|_| tempfile::tempdir().unwrap()).collect();
        let keep = |at: usize, owner: &Owner| {
            let handle = new_handle().unwrap();
            previews.keep(&handle, owner, preview(folders[at].path()));
            handle
        };
        let other = Owner::Principal(crate::principal::Principal::of_token("other"));
        let (first, second) = (keep(0, &Owner::Process), keep(1, &Owner::Process));
        let theirs = keep(2, &other);
        assert!(previews.find(&Owner::Process, &first).is_ok());
        // Each preview holds four bytes.
        let third = keep(3, &Owner::Process);
        assert!(previews.find(&Owner::Process, &first).is_err());
        for kept in [&second, &third] {
            assert!(previews.find(&Owner::Process, kept).is_ok());
        }
        assert!(previews.find(&other, &theirs).is_ok());
    }
}
