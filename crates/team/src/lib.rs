//! The settings of a team's server, from one file: the authorities whose tokens are taken, the tenants, and how the server is
//! reached and watched.
//!
//! Each setting is declared once, in [`declaration`]: the parser and the reference page follow from that. Everything here is
//! pure. What a file says is checked as a whole before any of it is used, so a server that reads it again either takes all of
//! it or stays as it was.

pub mod declaration;

mod tenant_name;

mod file;
mod review_settings;
mod settings;

pub use self::declaration::reference;
pub use self::review_settings::{ReviewClient, ReviewSettings};
pub use self::settings::{
    AuthoritySettings, Folders, ReplicaSettings, TeamSettings, Template, TenantSettings, Tls,
};
pub use self::tenant_name::TenantName;
