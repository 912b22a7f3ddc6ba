//! `emend serve --team`: a server for several people, who show tokens of an authority and have folders of their own.
//!
//! What the file says is read as a whole, at the start and on SIGHUP. A file that cannot be used changes nothing: the
//! server goes on with what it had, and the log says why.

#[cfg(feature = "team")]
mod authenticator;
#[cfg(feature = "team")]
mod configuration;
#[cfg(feature = "team")]
mod disk_watch;
#[cfg(feature = "team")]
mod event_follower;
#[cfg(feature = "team")]
mod event_sender;
#[cfg(feature = "team")]
mod replicas;
#[cfg(feature = "team")]
mod serving;
#[cfg(feature = "team")]
mod signing_in;
#[cfg(feature = "team")]
mod tenants;
#[cfg(feature = "team")]
mod worktree;

#[cfg(feature = "team")]
pub(crate) use self::serving::run;

#[cfg(not(feature = "team"))]
use std::path::Path;

/// Refuses: this build has no such server.
#[cfg(not(feature = "team"))]
pub(crate) async fn run(_arguments: &crate::serve::Arguments, _file: &Path) -> crate::exit::Ended {
    Err(crate::exit::Stop::usage(
        "--team cannot be taken: this build has no server for a team. Releases have it, and so has what \
         `cargo install --locked --path . --features team` builds",
    ))
}
