//! The addresses of the review page: one for everybody, and one for each tenant, with what belongs to it beneath.

use crate::http::endpoint::Endpoint;

/// The path of the page.
const REVIEW: &str = "/review";

/// What is beneath the page.
const STEPS: [(&str, Step); 4] = [
    ("/call", Step::Call),
    ("/sign-in", Step::SignIn),
    ("/signed-in", Step::SignedIn),
    ("/sign-out", Step::SignOut),
];

/// What a request of the page is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum Step {
    /// The page itself.
    Page,
    /// A call of a tool.
    Call,
    /// Where people sign in.
    SignIn,
    /// Where an authority sends them back to.
    SignedIn,
    /// Where they sign out.
    SignOut,
}

/// The longest path of a page: the name of a tenant has 64 bytes, and an authority's may stand behind it.
const LONGEST: usize = 400;

/// An address that belongs to a review page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::http) struct ReviewPath {
    /// Whose page it is.
    pub(in crate::http) endpoint: Endpoint,
    /// The path of the page itself.
    pub(in crate::http) page: String,
    pub(in crate::http) step: Step,
}

impl ReviewPath {
    /// Returns what this path is, if it belongs to a page.
    pub(in crate::http) fn at(path: &str) -> Option<Self> {
        let beneath = STEPS.into_iter().find_map(|(end, step)| Some((path.strip_suffix(end)?, step)));
        let (page, step) = beneath.unwrap_or((path, Step::Page));
        // It goes into a cookie, with other things.
        let endpoint = Endpoint::of(REVIEW, page).filter(|_| page.len() <= LONGEST)?;
        // An authority knows one address to send people back to.
        (step != Step::SignedIn || endpoint == Endpoint::Common).then(|| Self {
            endpoint,
            page: page.to_owned(),
            step,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_everybodys_or_a_tenants_and_nothing_else_belongs_to_it() {
        let is = |path: &str| ReviewPath::at(path).map(|at| (at.endpoint, at.page, at.step));
        let (all, red) = (Endpoint::Common, Endpoint::Tenant("red".into()));
        assert_eq!(is("/review"), Some((all.clone(), "/review".into(), Step::Page)));
        assert_eq!(is("/review/signed-in"), Some((all, "/review".into(), Step::SignedIn)));
        assert_eq!(is("/w/red/review"), Some((red.clone(), "/w/red/review".into(), Step::Page)));
        assert_eq!(is("/w/red/review/call"), Some((red, "/w/red/review".into(), Step::Call)));
        for path in
            ["/", "/review/", "/review/x", "/w/red/review/signed-in", "/w//review", "/w/a/b/review", "/call"]
        {
            assert_eq!(is(path), None, "{path}");
        }
    }
}
