//! The workspaces of tenants, each opened when somebody of the tenant first calls. Nothing is shared between two: each has its
//! own server, state folder and history, and no two have a folder in common.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use anyhow::{Context, anyhow, bail, ensure};

use emend_server::principal::Principal;
use emend_server::{Effects, Emend};
use emend_team::TenantName;
use emend_threads::Mutex;
use emend_workspace::{RootSpec, Workspace};

use super::configuration::{Configuration, Tenant};
use super::event_sender::EventSender;
use super::worktree;
use crate::workspace::{Opened, OpeningFlags};

/// The most workspaces that are open at once. Of more, those that nobody uses are closed.
const MOST: usize = 512;

/// The current configuration, and the workspaces that are open under it.
pub(crate) struct Tenants {
    opening: OpeningFlags,
    state: PathBuf,
    /// The server of everybody, where there are no tenants.
    common: Option<OpenTenant>,
    configuration: Mutex<Arc<Configuration>>,
    open: Mutex<HashMap<String, Arc<Place>>>,
    folders: Mutex<Vec<TakenFolder>>,
    /// What sends the events of the tenants to the engine of several servers.
    events: Option<EventSender>,
}

/// Where the workspace of a tenant is, or is about to be. It is locked while the workspace is being opened.
type Place = Mutex<Option<OpenTenant>>;

/// A folder that belongs to a tenant, as long as its place is there.
struct TakenFolder {
    place: Weak<Place>,
    id: String,
    path: PathBuf,
}

/// An open workspace.
#[derive(Clone)]
pub(crate) struct OpenTenant {
    pub(crate) emend: Emend,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) effects: Arc<Effects>,
}

impl OpenTenant {
    pub(crate) fn new(opened: Opened) -> Self {
        let Opened { workspace, effects, apply_model } = opened;
        let emend = Emend::with_model(Ok(Arc::clone(&workspace)), Arc::clone(&effects), apply_model);
        Self { emend, workspace, effects }
    }
}

impl Tenants {
    pub(crate) fn new(
        opening: OpeningFlags,
        state: PathBuf,
        common: Option<OpenTenant>,
        configuration: Configuration,
        events: Option<EventSender>,
    ) -> Self {
        let configuration = Mutex::new(Arc::new(configuration));
        let (open, folders) = Default::default();
        let tenants = Self { opening, state, common, configuration, open, folders, events };
        if let Some(common) = &tenants.common {
            tenants.send_events("", common);
        }
        tenants
    }

    /// Has the events of an open workspace sent to the engine, if there is one.
    fn send_events(&self, id: &str, open: &OpenTenant) {
        if let Some(events) = &self.events {
            events.follow(id, &open.emend, open.workspace.event_log());
        }
    }

    /// Returns the current configuration.
    pub(crate) fn configuration(&self) -> Arc<Configuration> {
        Arc::clone(&self.configuration.lock())
    }

    /// Takes a new configuration, all of it at once. Returns the ids of the open tenants that it changes, which are closed.
    pub(crate) fn replace(&self, configuration: Configuration) -> anyhow::Result<Vec<String>> {
        let before = self.configuration();
        ensure!(
            before.settings.has_tenants() == configuration.settings.has_tenants(),
            "whether there are tenants can only change with a new start"
        );
        let configuration = Arc::new(configuration);
        // A tenant that is opened from now on is opened as this says; one that was begun before is among those that are open.
        *self.configuration.lock() = Arc::clone(&configuration);
        // What was begun in one that is closed is finished.
        let is_changed = |id: &String, _: &mut Arc<Place>| before.with_id(id) != configuration.with_id(id);
        Ok(self.open.lock().extract_if(is_changed).map(|(id, _)| id).collect())
    }

    /// Returns whether the workspace of a tenant is open. Where there are no tenants, that of all is.
    pub(crate) fn is_open(&self, id: &str) -> bool {
        self.common.is_some() || self.open.lock().contains_key(id)
    }

    /// Closes tenants that another server may have served meanwhile. What was begun in one is finished.
    pub(crate) fn close(&self, ids: &[String]) {
        let closed: Vec<_> = self.open.lock().extract_if(|id, _| ids.contains(id)).collect();
        // A workspace takes its time to end, and whoever is told of this has others to look after.
        std::thread::spawn(move || drop(closed));
    }

    /// Returns the server for a principal. Opens the workspace of their tenant if it is not open, which takes its time.
    pub(crate) fn server(&self, principal: &Principal) -> io::Result<Emend> {
        let open = match (principal.tenant(), &self.common) {
            (Some(id), None) => self.tenant(id).map_err(|error| {
                let is_crowded = |error: &io::Error| error.kind() == io::ErrorKind::ResourceBusy;
                match error.downcast_ref().is_some_and(is_crowded) {
                    true => io::Error::new(io::ErrorKind::ResourceBusy, format!("{error:#}")),
                    false => io::Error::other(format!("{error:#}")),
                }
            })?,
            (None, Some(common)) => common.clone(),
            _ => return Err(io::Error::other("its token names no tenant, or one that is not there")),
        };
        Ok(open.emend.for_kept_session_of(principal))
    }

    /// Returns all open workspaces.
    pub(crate) fn all(&self) -> Vec<OpenTenant> {
        let open: Vec<_> = self.open.lock().values().cloned().collect();
        // One that is being opened is none yet.
        let open = open.iter().filter_map(|open| open.try_lock()?.clone());
        self.common.iter().cloned().chain(open).collect()
    }

    fn tenant(&self, id: &str) -> anyhow::Result<OpenTenant> {
        let place = {
            let mut open = self.open.lock();
            match open.get(id) {
                Some(place) => Arc::clone(place),
                None => {
                    if open.len() >= MOST {
                        close_idle(&mut open);
                    }
                    if open.len() >= MOST {
                        bail!(io::Error::new(
                            io::ErrorKind::ResourceBusy,
                            "too many tenants are served at once"
                        ));
                    }
                    Arc::clone(open.entry(id.to_owned()).or_default())
                }
            }
        };
        // Who comes while it is opened waits for it.
        let mut opening = place.lock();
        if let Some(open) = &*opening {
            return Ok(open.clone());
        }
        match self.open_tenant(id, &place) {
            Ok(opened) => Ok(opening.insert(opened).clone()),
            Err(error) => {
                // After a change of the settings, another place may be there.
                let is_own = |_: &String, open: &mut Arc<Place>| Arc::ptr_eq(open, &place);
                self.open.lock().extract_if(is_own).for_each(drop);
                Err(error)
            }
        }
    }

    fn open_tenant(&self, id: &str, place: &Arc<Place>) -> anyhow::Result<OpenTenant> {
        let configuration = self.configuration();
        let tenant = configuration.with_id(id).context("there is no such tenant any more")?;
        let mut folders = Vec::new();
        let state = self.state_of(id, &tenant.name);
        for written in &tenant.folders.workspace {
            folders.push(real_folder(&RootSpec::parse(written).path, &tenant, &state)?);
        }
        {
            let mut taken = self.folders.lock();
            taken.retain(|taken| taken.place.strong_count() > 0);
            for folder in &folders {
                let is_others = |taken: &&TakenFolder| {
                    taken.id != id && (folder.starts_with(&taken.path) || taken.path.starts_with(folder))
                };
                // Whose it is, is told to the log of the server alone.
                if let Some(TakenFolder { id, .. }) = taken.iter().find(is_others) {
                    bail!("{} belongs to the tenant {id} already", folder.display());
                }
            }
            let take = |path| TakenFolder { place: Arc::downgrade(place), id: id.to_owned(), path };
            taken.extend(folders.into_iter().map(take));
        }
        let mut own = configuration.files.clone();
        own.extend(self.opening.files()?);
        let review = configuration.review_page();
        let (folders, is_read_only) = (&tenant.folders.workspace, tenant.folders.is_read_only);
        let opened = self.opening.open_tenant(folders, is_read_only, state, &own, review)?;
        let opened = OpenTenant::new(opened);
        self.send_events(id, &opened);
        Ok(opened)
    }

    /// Returns the state folder of a tenant. Whoever reads its name knows whose it is; the hash keeps equal names apart.
    fn state_of(&self, id: &str, name: &TenantName) -> PathBuf {
        let hash = blake3::hash(id.as_bytes()).to_hex();
        self.state.join("tenants").join(format!("{name}-{}", &hash[..16]))
    }
}

/// Closes the workspaces that nobody uses.
fn close_idle(open: &mut HashMap<String, Arc<Place>>) {
    open.retain(|_, place| {
        Arc::strong_count(place) > 1 || place.lock().as_ref().is_none_or(|open| !open.emend.is_idle())
    });
}

/// Returns the folder of a tenant without links, which is made if the tenant's are. The folder of a template must be there
/// under exactly the name of its tenant: neither a link nor other letters may lead to another's.
fn real_folder(path: &Path, tenant: &Tenant, state: &Path) -> anyhow::Result<PathBuf> {
    if let Some(repository) = &tenant.git {
        worktree::ensure_there(repository, path, &tenant.name, state).with_context(|| {
            format!("{} cannot be made as a worktree of {}", path.display(), repository.display())
        })?;
    } else if tenant.creates && !path.exists() {
        make(path).with_context(|| format!("{} cannot be made", path.display()))?;
    }
    let real = path.canonicalize().with_context(|| format!("{} cannot be opened", path.display()))?;
    let is_of_template = tenant.id != tenant.name.as_str();
    if is_of_template {
        let above = path.parent().ok_or_else(|| anyhow!("{} is no folder of a tenant", path.display()))?;
        ensure!(
            real == above.canonicalize()?.join(tenant.name.as_str()),
            "{} is a link, or has another name",
            path.display()
        );
    }
    Ok(real)
}

/// Makes a folder for this user alone. The folder above it must be there.
fn make(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}
