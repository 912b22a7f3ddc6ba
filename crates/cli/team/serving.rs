//! The run of a team's server: it opens, serves, reads its settings again, and ends.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use tokio::sync::watch;

use emend_server::Emend;
use emend_server::http::tls::{Certificate, ReadCertificate, TlsListener};
use emend_server::http::{HttpServer, Limits};

use super::authenticator::TeamAuthenticator;
use super::configuration::Configuration;
use super::tenants::{OpenTenant, Tenants};
use crate::exit::{Ended, Exit, Stop};
use crate::http::{self, Bound};
use crate::serve::{AFTER_SIGNAL, Arguments, LONGEST_OVER_HTTP, finish};
use crate::signals::StopRequests;
use crate::workspace::StartedBy;

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
    let tenants = Arc::new(Tenants::new(opening.clone(), state, common, configuration));

    let (reload, reloads) = watch::channel(0);
    let requests = StopRequests::listen(LONGEST_OVER_HTTP, Some(reload))?;
    let listening = flags.listen(certificate.is_some()).await.map_err(Stop::of)?;
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
    let (opening, ready) = (Arc::clone(&tenants), Arc::clone(&tenants));
    let server = HttpServer::new(authenticator, listening.guard, Limits::default(), move |principal| {
        opening.server(principal)
    })
    .ready_when(move || ready.all().iter().all(|open| !open.emend.is_recovering()));
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
    served?;
    Ok(Exit::Done)
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
        let is_without_tenants = !new.has_tenants();
        let changed = self.tenants.replace(configuration)?;
        if let Some((shown, read)) = replaces {
            shown.replace(read);
        }
        let is_gone = |tenant: Option<&str>| match tenant {
            Some(tenant) => changed.iter().any(|changed| changed == tenant),
            None => !is_without_tenants,
        };
        self.server.forget(is_gone);
        Ok(())
    }
}
