//! The resource server's half of OAuth 2.1: which access tokens are good, who shows them and what they may do. And the half of a
//! client with which a person signs in at a browser.
//!
//! `Authorities` know one or several issuers. A JWT is checked against the keys that its issuer publishes, any other token
//! by asking an issuer (RFC 7662). What is fetched is bounded in bytes and in time, comes over TLS or from this machine,
//! along no redirect, and however many bad tokens are shown, an issuer is asked only so often. Everything here blocks.
//!
//! jsonwebtoken parses tokens and checks claims, and ring, which rustls has in the tree, the signatures. Rejected: the crate
//! oauth-resource-server 0.4, which does all of this and more, but on jsonwebtoken 9, whose claims of the wrong type pass
//! for missing ones (fixed in 10.3), and with a second reqwest.

#[cfg(feature = "http")]
mod address;
#[cfg(feature = "http")]
mod settings;

#[cfg(feature = "http")]
mod claims;
#[cfg(feature = "http")]
mod signatures;

#[cfg(feature = "http")]
mod discovery;
#[cfg(feature = "http")]
mod fetch;
#[cfg(feature = "http")]
mod keys;

#[cfg(feature = "http")]
mod introspection;
#[cfg(feature = "http")]
mod jwt;

#[cfg(feature = "http")]
mod authorities;

#[cfg(feature = "http")]
mod sign_in;

#[cfg(feature = "http")]
pub use self::address::{check as check_address, split as split_address};
#[cfg(feature = "http")]
pub use self::authorities::Authorities;
#[cfg(feature = "http")]
pub use self::claims::{Claims, Refusal, Subject};
#[cfg(feature = "http")]
pub use self::discovery::{fetch_authority, fetch_document};
#[cfg(feature = "http")]
pub use self::fetch::client;
#[cfg(feature = "http")]
pub use self::settings::{AuthoritySettings, Introspection, Secret};
#[cfg(feature = "http")]
pub use self::sign_in::{BegunSignIn, NotSignedIn, SignInClient, SignInSettings};
