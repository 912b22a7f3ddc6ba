//! The run of a team's server: it opens, serves, reads its settings again, and ends.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow};
use tokio::runtime::Handle;
use tokio::sync::watch;

use emend_server::Emend;
use emend_server::http::tls::{Certificate, ReadCertificate, TlsListener};
use emend_server::http::{CookieKey, HttpServer, Limits};
use emend_workspace::Seal;

use super::authenticator::TeamAuthenticator;
use super::configuration::Configuration;
use super::replicas::{Replicas, event_sender};
use super::signing_in::TeamSignIn;
use super::tenants::{OpenTenant, Tenants};
use crate::exit::{Ended, Exit, Stop};
use crate::http::{self, Bound};
use crate::serve::{AFTER_SIGNAL, Arguments, LONGEST_OVER_HTTP, finish};
use crate::signals::StopRequests;
use crate::workspace::StartedBy;

/// How long the server waits at its end for events that the engine does not have yet.
const LAST_EVENTS: Duration = Duration::from_secs(2);

pub(crate) async fn run(arguments: &Arguments, file: &Path) -> Ended {
    let flags = &arguments.http;
    let tokens = flags.tokens_file();
    let (configuration, certificate) =
        Configuration::read(file, tokens.as_deref(), None).map_err(Stop::Usage)?;
    let opening = &arguments.opening;
    let common = match configuration.settings.has_tenants() {
        true if !arguments.workspaces.is_empty() => {
            return Err(Stop::usage(
                "--workspace cannot be taken: the tenants of --team have folders of their own",
            ));
        }
        true => None,
        false => {
            let opened = opening.open(&arguments.workspaces, StartedBy::Client, &configuration.files)?;
            Some(OpenTenant::new(opened?))
        }
    };
    let state =
        opening.own_state().ok_or_else(|| Stop::usage("there is no home folder: give --state-dir"))?;
    let metrics = configuration.settings.metrics;
    let replicas = configuration.settings.replicas.as_ref().map(|settings| Replicas::new(settings, &state));
    let replicas = replicas.transpose().map_err(Stop::Usage)?;
    let cookie_key = cookie_key(&state).map_err(Stop::of)?;
    let events = configuration.settings.replicas.as_ref().map(event_sender);
    let events = events.transpose().map_err(Stop::Usage)?.flatten();
    let tenants = Arc::new(Tenants::new(opening.clone(), state, common, configuration, events.clone()));

    let (reload, reloads) = watch::channel(0);
    let requests = StopRequests::listen(LONGEST_OVER_HTTP, Some(reload))?;
    let replica = replicas.as_ref().map(Replicas::address);
    let listening = flags.listen(certificate.is_some(), replica).await.map_err(Stop::of)?;
    let listening = listening.ok_or_else(|| Stop::usage("--team needs --http"))?;
    let watchers = match metrics {
        Some(address) => Some(
            http::listener(address)
                .with_context(|| format!("metrics: {address} cannot be listened at"))
                .map_err(Stop::of)?,
        ),
        None => None,
    };
    flags.announce(&listening, None).map_err(Stop::of)?;

    let authenticator = Arc::new(TeamAuthenticator::new(Arc::clone(&tenants)));
    let [opening, keeping, ready] = [(); 3].map(|()| Arc::clone(&tenants));
    let are_of_use = replicas.clone();
    let mut server = HttpServer::new(authenticator, listening.guard, Limits::default(), move |principal| {
        opening.server(principal)
    })
    .keeping_sessions(move |principal| keeping.server(principal).ok()?.session_keeper(principal))
    .reviewed_by(Arc::new(TeamSignIn::new(Arc::clone(&tenants))), cookie_key)
    .ready_when(move || {
        are_of_use.as_ref().is_none_or(Replicas::is_of_use)
            && ready.all().iter().all(|open| !open.emend.is_recovering())
    });
    // Dropped at the end, which ends the thread.
    let mut keeping = None;
    if let Some(replicas) = &replicas {
        server = server.placed_by(Arc::new(replicas.clone()));
        let opened = Arc::clone(&tenants);
        let is_open = move |tenant: &str| opened.is_open(tenant);
        let (server, tenants, runtime) = (server.clone(), Arc::clone(&tenants), Handle::current());
        let lost = move |taken_over: &[String]| {
            let _inside = runtime.enter();
            let is_lost = |tenant: Option<&str>, _: &str| {
                taken_over.iter().any(|lost| lost == tenant.unwrap_or_default())
            };
            server.forget(is_lost);
            tenants.close(taken_over);
        };
        keeping = Some(replicas.keep(is_open, lost).map_err(Stop::of)?);
    }
    let shown = certificate.map(Certificate::new);
    let reloader = Reloader {
        file,
        tokens: tokens.as_deref(),
        tenants: &tenants,
        certificate: shown.as_ref(),
        server: &server,
    };
    let serving = async {
        match (listening.bound, &shown) {
            (Bound::Port(listener), Some(certificate)) => {
                match TlsListener::new(listener, certificate.clone()) {
                    Ok(listener) => {
                        server.serve(listener, requests.first()).await;
                        Ok(())
                    }
                    Err(error) => Err(Stop::of(anyhow!("tls: {error}"))),
                }
            }
            (bound, None) => {
                bound.serve(&server, requests.first()).await;
                Ok(())
            }
            #[cfg(unix)]
            (Bound::Socket(..), Some(_)) => Err(Stop::usage("tls: a socket in the file system has none")),
        }
    };
    let watching = async {
        match watchers {
            Some(listener) => server.serve_watchers(listener, std::future::pending()).await,
            None => std::future::pending().await,
        }
    };
    // Those who watch are answered until the last request is.
    let served = tokio::select! {
        served = serving => served,
        () = watching => Ok(()),
        () = reloader.follow(reloads) => Ok(()),
    };
    let open = tenants.all().into_iter().map(|open| (open.workspace, open.effects)).collect();
    finish(open, AFTER_SIGNAL, &requests).await;
    drop(keeping);
    let end = move || {
        if let Some(events) = events {
            events.end(LAST_EVENTS);
        }
        if let Some(replicas) = replicas {
            // Only now, since who takes over reads what was written here.
            replicas.end();
        }
    };
    tokio::task::spawn_blocking(end).await.ok();
    served?;
    Ok(Exit::Done)
}

/// Returns the key of the cookies of people, which all servers with this state folder have.
fn cookie_key(state: &Path) -> anyhow::Result<CookieKey> {
    let seal = Seal::of_user(Some(state)).with_context(|| state.display().to_string())?;
    CookieKey::new(&seal.key_for("cookies of the review page")).context("there is no key for cookies")
}

/// What reads the settings again.
struct Reloader<'a> {
    file: &'a Path,
    tokens: Option<&'a Path>,
    tenants: &'a Tenants,
    certificate: Option<&'a Certificate>,
    server: &'a HttpServer<Emend>,
}

impl Reloader<'_> {
    /// Reads the settings again each time that a signal says so.
    async fn follow(&self, mut reloads: watch::Receiver<usize>) {
        while reloads.changed().await.is_ok() {
            match self.reload() {
                Ok(()) => tracing::info!("the settings were read again"),
                Err(error) => tracing::warn!("the settings stay as they were: {error:#}"),
            }
        }
        std::future::pending::<()>().await;
    }

    /// Takes all that the files say now, or nothing of it.
    fn reload(&self) -> anyhow::Result<()> {
        let before = self.tenants.configuration();
        let (configuration, certificate) = Configuration::read(self.file, self.tokens, Some(&before))?;
        let (old, new) = (&before.settings, &configuration.settings);
        let replaces: Option<(&Certificate, ReadCertificate)> = match (self.certificate, certificate) {
            (Some(shown), Some(read)) => Some((shown, read)),
            (None, None) => None,
            _ => anyhow::bail!("whether TLS is spoken can only change with a new start"),
        };
        anyhow::ensure!(old.metrics == new.metrics, "metrics: it can only change with a new start");
        anyhow::ensure!(old.replicas == new.replicas, "replicas: they can only change with a new start");
        let is_without_tenants = !new.has_tenants();
        let [had, have] = [&before, &configuration].map(Configuration::bearers);
        let changed = self.tenants.replace(configuration)?;
        if let Some((shown, read)) = replaces {
            shown.replace(read);
        }
        let is_gone = |tenant: Option<&str>, _: &str| match tenant {
            Some(tenant) => changed.iter().any(|changed| changed == tenant),
            None => !is_without_tenants,
        };
        self.server.turn_out(|tenant, key| {
            let bearer = (key.to_owned(), tenant.map(str::to_owned));
            had.get(&bearer).is_some_and(|token| have.get(&bearer) != Some(token))
        });
        self.server.forget(is_gone);
        Ok(())
    }
}
