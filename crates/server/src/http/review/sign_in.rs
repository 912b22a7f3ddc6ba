//! How people sign in to the review page: the seam to whatever knows the authority.

use std::pin::Pin;
use std::sync::Arc;

use super::cookies::CookieKey;

/// The ways to sign in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ways {
    /// With an authority, which sends the person back with a code.
    pub by_authority: bool,
    /// With a token that the person has.
    pub by_token: bool,
}

/// Where a person signs in, and what is kept for when they come back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    /// The authority.
    pub issuer: String,
    /// The address there.
    pub address: String,
    /// What comes back with the person, so that nobody else's code is taken for theirs.
    pub state: String,
    /// What shows the authority that it is the same server that asks for the token.
    pub verifier: String,
}

/// What a person has come back with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CameBack {
    /// The code, for which the authority gives a token.
    pub code: String,
    /// The authority that was asked.
    pub asked: String,
    /// The authority, if it says who it is.
    pub issuer: Option<String>,
    /// What was kept with [`Begun::verifier`].
    pub verifier: String,
}

/// What becomes of a step, in its time. The error is for the person.
pub type SigningIn<'a, T> = Pin<Box<dyn Future<Output = Result<T, String>> + Send + 'a>>;

/// Whoever knows how people sign in.
pub trait SignIn: Send + Sync + 'static {
    /// Returns the origin of the page as browsers have it, such as `https://files.example.com`; `None` if there is no page.
    fn origin(&self) -> Option<String>;
    /// Returns the ways to sign in.
    fn ways(&self) -> Ways;
    /// Returns where a person signs in with the authority.
    fn begin(&self) -> SigningIn<'_, Begun>;
    /// Returns the token for somebody who has come back from the authority.
    fn finish(&self, came_back: CameBack) -> SigningIn<'_, String>;
}

/// What the service needs for the page.
pub(in crate::http) struct Review {
    pub(in crate::http) sign_in: Arc<dyn SignIn>,
    /// The key of the cookies.
    pub(in crate::http) key: CookieKey,
}
