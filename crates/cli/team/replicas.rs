//! Several servers for the same tenants: which tenants this one serves, and the thread that keeps its leases.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow, ensure};

use emend_replicas::{Holder, Leases, Placed, Redis, RedisSettings, RedisStreams};
use emend_server::http::{Place, Placement, PlacementFigures, Placing};
use emend_team::ReplicaSettings;
use emend_workspace::Seal;

use super::disk_watch::DiskWatch;
use super::event_sender::EventSender;
use crate::http;

/// The environment variable with the address of this server, for settings that are the same for all.
const ADDRESS: &str = "EMEND_REPLICA_ADDRESS";

/// How long the disk may take for an answer, or as long as a lease lasts. After that the leases are renewed no more.
const LONGEST_ANSWER: Duration = Duration::from_secs(10);

/// The tenants of this server among several.
#[derive(Clone)]
pub(super) struct Replicas {
    leases: Arc<Leases>,
    holder: Holder,
    /// What all servers have in their state folder, by which they know each other. Who else can write to the engine has no tokens
    /// sent to an address of theirs.
    seal: Arc<Seal>,
    /// A file of this server in the state folder, which is written to see whether the disk answers.
    written: PathBuf,
    /// Whether the disk gives no answer.
    hangs: Arc<AtomicBool>,
    /// How long a lease lasts.
    time: Duration,
    /// Held by whoever asks the engine. One that gives no answer holds up one thread, not as many as there are requests.
    asking: Arc<tokio::sync::Mutex<()>>,
}

impl Replicas {
    /// Creates them as the settings say, without speaking to the engine yet. All servers have this state folder.
    pub(super) fn new(settings: &ReplicaSettings, state: &Path) -> anyhow::Result<Self> {
        let address = std::env::var(ADDRESS).ok().filter(|address| !address.is_empty());
        let address = address.or_else(|| settings.address.clone()).with_context(|| {
            format!("replicas: give 'address', or {ADDRESS}: where the other servers reach this one")
        })?;
        let has_port = address.rsplit_once(':').is_some_and(|(host, port)| {
            let is_plain = host.bytes().all(|byte| byte.is_ascii_graphic() && !b"/@?#".contains(&byte));
            !host.is_empty() && is_plain && port.parse::<u16>().is_ok_and(|port| port != 0)
        });
        ensure!(has_port, "replicas: '{address}' is no HOST:PORT");
        let engine = Redis::new(&engine_settings(settings)?).map_err(|why| wrong_engine(settings, &why))?;
        let mut run = [0; 16];
        getrandom::fill(&mut run).map_err(|error| anyhow!("the system gave no random bytes: {error}"))?;
        let seal = Seal::of_user(Some(state)).with_context(|| format!("replicas: {}", state.display()))?;
        ensure!(seal.is_kept(), "replicas: nothing can be kept in the state folder, {}", state.display());
        let run = format!("{:032x}", u128::from_le_bytes(run));
        let holder = Holder::new(&address, &run);
        let time = Duration::from_secs(settings.lease_seconds);
        let leases = Arc::new(Leases::new(Arc::new(engine), holder.clone(), time));
        let written = state.join(format!("server-{}", &blake3::hash(address.as_bytes()).to_hex()[..16]));
        let (seal, hangs, asking) = (Arc::new(seal), Arc::default(), Arc::default());
        Ok(Self { leases, holder, seal, written, hangs, time, asking })
    }

    /// Returns where the other servers reach this one.
    pub(super) fn address(&self) -> &str {
        self.holder.address()
    }

    /// Returns whether somebody can be served: the engine has given an answer of use, and the disk answers.
    pub(super) fn is_of_use(&self) -> bool {
        self.leases.has_answered() && !self.hangs.load(Ordering::Relaxed)
    }

    /// Renews the leases on a thread of its own, as long as the disk answers and until what this returns is dropped. Calls `lost` with the ids of tenants whose
    /// leases have lapsed, so that another server may have served them. Leases of tenants that are not open are given back.
    pub(super) fn keep(
        &self,
        is_open: impl Fn(&str) -> bool + Send + 'static,
        lost: impl Fn(&[String]) + Send + 'static,
    ) -> anyhow::Result<Sender<()>> {
        let (stop, stopped) = mpsc::channel();
        let leases = Arc::clone(&self.leases);
        let written = self.written.clone();
        let disk = DiskWatch::start(self.time / 3, move || write(&written))?;
        let (hangs, longest) = (Arc::clone(&self.hangs), self.time.max(LONGEST_ANSWER));
        let keep = move || {
            let (mut is_in_trouble, mut served) = (false, BTreeSet::new());
            loop {
                let now_hangs = !disk.answers_within(longest);
                if hangs.swap(now_hangs, Ordering::Relaxed) != now_hangs {
                    let what =
                        if now_hangs { "hangs: other servers get its tenants" } else { "answers again" };
                    tracing::warn!("the disk with the state folder {what}");
                }
                if now_hangs {
                    // When it answers again, what another server may have had is forgotten as after a pause.
                    match stopped.recv_timeout(leases.pause()) {
                        Err(RecvTimeoutError::Timeout) => continue,
                        _ => return,
                    }
                }
                let forget = |lapsed: &[String]| {
                    tracing::warn!(tenants = ?lapsed, "leases have lapsed: another server may serve these tenants now");
                    lost(lapsed);
                };
                // Where nothing is held, renewing says nothing of the engine.
                let renewed = leases.probe().and_then(|()| leases.renew(forget));
                match &renewed {
                    Ok(()) if is_in_trouble => tracing::info!("the engine of the replicas is of use again"),
                    Err(error) if !is_in_trouble => {
                        tracing::warn!(%error, "the engine of the replicas is of no use");
                    }
                    _ => {}
                }
                is_in_trouble = renewed.is_err();
                leases.give_back_unused(&is_open);
                let serves = leases.held();
                for tenant in serves.difference(&served) {
                    tracing::info!(tenant, "is served here from now on");
                }
                served = serves;
                if stopped.recv_timeout(leases.pause()) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        };
        thread::Builder::new().name("leases".into()).spawn(keep)?;
        Ok(stop)
    }

    /// Lets other servers have all tenants. Blocks.
    pub(super) fn end(&self) {
        self.leases.keep_only(&BTreeSet::new());
        let _ = std::fs::remove_file(&self.written);
    }
}

/// Writes a file, and waits until the disk has it.
fn write(file: &Path) -> io::Result<()> {
    let mut file = File::create(file)?;
    file.write_all(b"a server among several\n")?;
    file.sync_all()
}

/// Starts what sends events to the engine, if it is to have any, without speaking to it yet.
pub(super) fn event_sender(settings: &ReplicaSettings) -> anyhow::Result<Option<EventSender>> {
    if settings.events_kept == 0 {
        return Ok(None);
    }
    let streams =
        RedisStreams::new(&engine_settings(settings)?).map_err(|why| wrong_engine(settings, &why))?;
    let sender = EventSender::start(Arc::new(streams), settings.events_kept)?;
    Ok(Some(sender))
}

fn wrong_engine(settings: &ReplicaSettings, why: &str) -> anyhow::Error {
    // It may have a password in it.
    let has_scheme = settings.engine.contains("://");
    let hint = if has_scheme { "" } else { " (it must be an address such as redis://10.0.0.5:6379)" };
    anyhow!("replicas: engine: {why}{hint}")
}

/// Returns where the engine is, with its password.
fn engine_settings(settings: &ReplicaSettings) -> anyhow::Result<RedisSettings> {
    let password = settings
        .password_file
        .as_ref()
        .map(|file| {
            let text = http::read_secret(file)
                .with_context(|| format!("replicas: {} cannot be read", file.display()))?;
            anyhow::Ok(text.trim().to_owned())
        })
        .transpose()?;
    Ok(RedisSettings { url: settings.engine.clone(), password, prefix: settings.prefix.clone() })
}

/// What the proofs of servers are for.
const PURPOSE: &str = "a server among several";

/// Returns what a server proves: that it is at this address, to whoever has asked with this number.
fn proven(address: &str, number: &str) -> Vec<u8> {
    format!("{address} {number}").into_bytes()
}

impl Placement for Replicas {
    fn place<'a>(&'a self, tenant: Option<&'a str>) -> Placing<'a, Place> {
        Box::pin(async move {
            let tenant = id_of(tenant).to_owned();
            let turn = Arc::clone(&self.asking).lock_owned().await;
            let (leases, hangs) = (Arc::clone(&self.leases), Arc::clone(&self.hangs));
            let place = move || {
                // Who waits for its disk takes nothing new.
                let place = match hangs.load(Ordering::Relaxed) {
                    true if !leases.is_held(&tenant) => Placed::Nowhere,
                    _ => leases.place(&tenant),
                };
                // Also where the client has hung up: its thread is as busy.
                drop(turn);
                place
            };
            match tokio::task::spawn_blocking(place).await {
                Ok(Placed::Here) => Place::Here,
                // An earlier run at this address, whose lease has not lapsed yet.
                Ok(Placed::At(holder)) if holder.address() == self.address() => Place::Nowhere,
                Ok(Placed::At(holder)) => Place::At(holder.address().to_owned()),
                Ok(Placed::Nowhere) | Err(_) => Place::Nowhere,
            }
        })
    }

    fn prove(&self, number: &str) -> String {
        self.seal.mark(PURPOSE, &proven(self.address(), number))
    }

    fn is_proof(&self, address: &str, number: &str, proof: &str) -> bool {
        self.seal.holds(PURPOSE, &proven(address, number), proof)
    }

    fn is_here(&self, tenant: Option<&str>) -> bool {
        self.leases.is_held(id_of(tenant))
    }

    fn figures(&self) -> PlacementFigures {
        let (served, losses) = (self.leases.held().len(), self.leases.losses());
        PlacementFigures { served, losses, is_answered: self.leases.is_answered() }
    }

    fn keep_only<'a>(&'a self, tenants: &'a BTreeSet<Option<String>>) -> Placing<'a, ()> {
        let tenants = tenants.iter().map(|tenant| id_of(tenant.as_deref()).to_owned()).collect();
        let leases = Arc::clone(&self.leases);
        Box::pin(async move {
            tokio::task::spawn_blocking(move || leases.keep_only(&tenants)).await.ok();
        })
    }
}

/// Returns the id of a tenant. Where there are no tenants, all is one.
fn id_of(tenant: Option<&str>) -> &str {
    tenant.unwrap_or_default()
}
