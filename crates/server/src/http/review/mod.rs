//! The review page over HTTP: a person signs in with the authority that issues tokens, or with a token, and then decides on what
//! waits in their tenant.
//!
//! A request of the page is let in as one of a client is, with the token that its cookie holds, and goes to the same server of
//! several. A call of the page is one of MCP from there on, for a service of its own: what its person has is neither a model's
//! nor another's. Nothing that changes anything is done for a page of another origin.

pub(super) mod cookies;
pub(super) mod pages;
mod path;
mod sign_in;

pub use self::cookies::CookieKey;
pub(super) use self::path::{ReviewPath, Step};
pub(super) use self::sign_in::Review;
pub use self::sign_in::{Begun, CameBack, SignIn, SigningIn, Ways};
