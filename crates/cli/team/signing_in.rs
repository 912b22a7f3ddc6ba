//! How people sign in to the review page of a team's server: with the authority of the settings, or with a token.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use emend_oauth::{BegunSignIn, NotSignedIn, SignInClient};
use emend_server::http::{Begun, CameBack, SignIn, SigningIn, Ways};

use super::tenants::Tenants;

/// The number of sign-ins for which the authority is asked at once.
const TURNS: usize = 4;
/// The time that one waits for its turn.
const PATIENCE: Duration = Duration::from_secs(5);

/// The sign-in that the current configuration says.
pub(super) struct TeamSignIn {
    tenants: Arc<Tenants>,
    turns: Arc<Semaphore>,
}

impl TeamSignIn {
    pub(super) fn new(tenants: Arc<Tenants>) -> Self {
        Self { tenants, turns: Arc::new(Semaphore::new(TURNS)) }
    }

    /// Asks the authority, on one of the few threads that may.
    async fn ask<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&SignInClient) -> Result<T, NotSignedIn> + Send + 'static,
    ) -> Result<T, String> {
        let unavailable = || "The authority does not answer now. Try again in a moment.".to_owned();
        let client = self.tenants.configuration().sign_in.clone();
        let client = client.ok_or("Nobody signs in with an authority here.")?;
        let turn = tokio::time::timeout(PATIENCE, Arc::clone(&self.turns).acquire_owned()).await;
        let Ok(Ok(turn)) = turn else { return Err(unavailable()) };
        let asked = tokio::task::spawn_blocking(move || {
            let said = ask(&client);
            drop(turn);
            said
        });
        match asked.await {
            Ok(Ok(said)) => Ok(said),
            Ok(Err(NotSignedIn::Refused)) => Err("The authority has not signed you in. Try again.".into()),
            Ok(Err(NotSignedIn::OtherIssuer)) => {
                Err("Another authority than the one that was asked has sent you back.".into())
            }
            Ok(Err(NotSignedIn::Unavailable)) | Err(_) => Err(unavailable()),
        }
    }
}

impl SignIn for TeamSignIn {
    fn origin(&self) -> Option<String> {
        self.tenants.configuration().review_origin()
    }

    fn ways(&self) -> Ways {
        let configuration = self.tenants.configuration();
        let by_authority = configuration.sign_in.is_some();
        Ways { by_authority, by_token: !by_authority || configuration.tokens.is_some() }
    }

    fn begin(&self) -> SigningIn<'_, Begun> {
        Box::pin(async {
            let begin = |client: &SignInClient| Ok((client.begin()?, client.settings().issuer.clone()));
            let (BegunSignIn { address, state, verifier }, issuer) = self.ask(begin).await?;
            Ok(Begun { issuer, address, state, verifier })
        })
    }

    fn finish(&self, came_back: CameBack) -> SigningIn<'_, String> {
        Box::pin(self.ask(move |client| {
            let CameBack { code, asked, issuer, verifier } = came_back;
            // The settings may name another authority since. It is not shown what this one has given.
            match asked == client.settings().issuer {
                true => client.finish(&code, issuer.as_deref(), &verifier),
                false => Err(NotSignedIn::OtherIssuer),
            }
        }))
    }
}
