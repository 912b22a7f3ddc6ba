//! The authorities whose tokens are taken.

use crate::claims::{Claims, Refusal};
use crate::fetch::Fetcher;
use crate::introspection::Answers;
use crate::jwt::UncheckedJwt;
use crate::keys::Published;
use crate::settings::AuthoritySettings;

/// All authorities of a server, with what is known of each.
#[derive(Debug)]
pub struct Authorities {
    all: Vec<Authority>,
    fetcher: Fetcher,
}

#[derive(Debug)]
struct Authority {
    settings: AuthoritySettings,
    published: Published,
    answers: Answers,
}

impl Authorities {
    /// Takes the tokens of these authorities. The error says what cannot be.
    pub fn new(all: Vec<AuthoritySettings>) -> Result<Self, String> {
        for (at, settings) in all.iter().enumerate() {
            settings.check().map_err(|why| format!("{}: {why}", settings.issuer))?;
            if all[..at].iter().any(|other| other.issuer == settings.issuer) {
                return Err(format!("{} is there twice", settings.issuer));
            }
        }
        if all.iter().filter(|settings| settings.introspection.is_some()).count() > 1 {
            return Err(
                "only one authority can be asked about tokens: it would see those of the others".into()
            );
        }
        let known =
            |settings| Authority { settings, published: Published::default(), answers: Answers::default() };
        Ok(Self { all: all.into_iter().map(known).collect(), fetcher: Fetcher::new() })
    }

    /// Returns what a token says, if that is known without asking anybody. [`Refusal::NotKnown`] if it is not.
    pub fn recall(&self, token: &str) -> Result<Claims, Refusal> {
        self.check_with(token, false)
    }

    /// Returns what a token says, if it is good. Blocks while an authority is asked.
    pub fn check(&self, token: &str) -> Result<Claims, Refusal> {
        self.check_with(token, true)
    }

    fn check_with(&self, token: &str, may_ask: bool) -> Result<Claims, Refusal> {
        if let Some(jwt) = UncheckedJwt::read(token) {
            let jwt = jwt?;
            // Only the keys of the issuer that the token names are tried on it.
            let authority = self.all.iter().find(|authority| authority.settings.issuer == jwt.issuer);
            let authority = authority.ok_or(Refusal::Invalid("its issuer is not known here"))?;
            return jwt.check(&authority.settings, &authority.published, &self.fetcher, may_ask);
        }
        // A token that names nobody is shown to one authority alone: another could use it.
        let asked = self.all.iter().find(|authority| authority.settings.introspection.is_some());
        let Some(Authority { settings, published, answers }) = asked else {
            return Err(Refusal::Invalid("it is not known here"));
        };
        answers.check(token, settings, published, &self.fetcher, may_ask)
    }
}
