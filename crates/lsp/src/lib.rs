//! Language servers, driven for one purpose: to say what an edit changed, which errors and warnings it brought and how
//! many went.
//!
//! Nothing here knows of Emend. [`Servers`] is told of edits that have been made, and answers when it can: nobody ever
//! waits for a server that does not want to, and nothing that one does reaches further than its own answers. A server is
//! a program that reads what others wrote; none is taken from the workspace, and each is told to run nothing from there.
//!
//! Read in this order: what is told ([`settings`]) and answered ([`aftermath`], [`pending`]), which servers there are
//! (`known`, `server`), all of them ([`servers`]), one of them in one root (`worker`, `queue`), one that runs
//! (`process`, `wire`, `requests`), one that is ready (`session`), and what it says (`finding`, `compare`).

pub mod settings;

pub mod aftermath;
pub mod pending;

mod known;
mod server;

pub mod servers;

mod queue;
mod worker;

mod process;
mod requests;
mod wire;

mod session;

mod compare;
mod finding;

pub use aftermath::{
    Aftermath, Answer, Changes, Content, Diagnostic, FileChange, Report, ServerState, Severity, State,
};
pub use pending::Pending;
pub use servers::Servers;
pub use settings::{Limits, ServerSetting, Settings};
