//! Who is calling, and what is remembered for them.
//!
//! A session has one handler, and the handler has the session: on standard input and output that is the process, over
//! HTTP a session of 2025 or else a single request, which remembers nothing. So what one client has read cannot
//! be found by another, and goes with the handler: there is nothing to sweep.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, MutexGuard, OnceLock};

use emend_threads::Mutex;
use emend_workspace::{Contents, Mailbox, Origin, Readings};

use crate::events::{Events, Tally};
use crate::registrations::Registrations;

/// To whom belongs what outlives a session: previews, and questions that wait for their answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// The one client at the other end of standard input and output.
    Process,
    /// Whoever has this token.
    Token(Token),
}

impl Owner {
    /// How many of its kind share what the server has room for.
    pub(crate) fn sharers(&self) -> usize {
        match self {
            Self::Process => 1,
            Self::Token(token) => token.sharers,
        }
    }

    /// What tells it from every other owner in this process.
    pub(crate) fn key(&self) -> String {
        match self {
            Self::Process => "process".to_owned(),
            Self::Token(token) => format!("token {} {:?}", token.session, token.name),
        }
    }
}

/// A bearer token, by its name.
#[derive(Clone, Debug)]
pub struct Token {
    name: Arc<str>,
    /// What requests without a session are called in the history.
    session: Arc<str>,
    /// How many there are.
    sharers: usize,
    /// What the next answer to a request without a session is to say.
    mailbox: Mailbox,
}

impl PartialEq for Token {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.session) == (&other.name, &other.session)
    }
}

impl Eq for Token {}

impl Hash for Token {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.name, &self.session).hash(state);
    }
}

impl Token {
    /// A token of this name, in this process, that has it for itself.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), session: new_name().into(), sharers: 1, mailbox: Mailbox::default() }
    }

    /// The same token, one of so many.
    #[must_use]
    pub fn shared_by(self, tokens: usize) -> Self {
        Self { sharers: tokens.max(1), ..self }
    }
}

/// What is remembered for one client, as long as its handler lives.
#[derive(Debug)]
pub struct Session {
    owner: Owner,
    /// What it is called in the history, once that is needed.
    name: OnceLock<String>,
    /// Shared with what listens to how it goes on.
    readings: Arc<Mutex<Readings>>,
    /// What the next answer is to say.
    mailbox: Mailbox,
    /// To what it listens.
    registrations: Mutex<Registrations>,
    /// What it has done, which is told in the end.
    tally: Tally,
}

impl Session {
    /// A session in which nothing has been read.
    #[must_use]
    pub fn new(owner: Owner) -> Self {
        Self::with_events(owner, Events::default(), &Arc::default())
    }

    /// The same, whose end is an event, and which shares what it remembers of files with others.
    #[must_use]
    pub fn with_events(owner: Owner, events: Events, contents: &Arc<Contents>) -> Self {
        let (mailbox, registrations) = Default::default();
        let readings = Arc::new(Mutex::new(Readings::sharing(contents)));
        Self { owner, name: OnceLock::new(), readings, mailbox, registrations, tally: Tally::new(events) }
    }

    /// Whose it is.
    #[must_use]
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// What it has done.
    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// To what it listens.
    pub(crate) fn registrations(&self) -> MutexGuard<'_, Registrations> {
        self.registrations.lock()
    }

    /// What has been read in it.
    pub(crate) fn readings(&self) -> &Arc<Mutex<Readings>> {
        &self.readings
    }

    /// What its next answer is to say.
    pub(crate) fn mailbox(&self) -> &Mailbox {
        &self.mailbox
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.tally.end(|| self.name.get_or_init(new_name));
    }
}

/// Who makes a call.
#[derive(Clone, Copy, Debug)]
pub struct Caller<'a> {
    session: &'a Session,
    client: &'a str,
    is_lasting: bool,
}

impl<'a> Caller<'a> {
    /// A client of this name. Where its session does not last, it ends with the call.
    #[must_use]
    pub fn new(session: &'a Session, client: &'a str, is_lasting: bool) -> Self {
        Self { session, client, is_lasting }
    }

    /// To whom belongs what is kept for them.
    #[must_use]
    pub fn owner(&self) -> &'a Owner {
        &self.session.owner
    }

    /// What they have read.
    #[must_use]
    pub fn readings(&self) -> &'a Mutex<Readings> {
        &self.session.readings
    }

    /// What their next answer is to say. Requests without a session share one for each token.
    #[must_use]
    pub fn mailbox(&self) -> &'a Mailbox {
        match &self.session.owner {
            Owner::Token(token) if !self.is_lasting => &token.mailbox,
            _ => &self.session.mailbox,
        }
    }

    /// Whether there was something before this call, and will be something after it.
    #[must_use]
    pub fn is_lasting(&self) -> bool {
        self.is_lasting
    }

    /// What their session is called in the history. Requests without one share a name for each token.
    #[must_use]
    pub fn session(&self) -> &'a str {
        match &self.session.owner {
            Owner::Token(token) if !self.is_lasting => &token.session,
            _ => self.session.name.get_or_init(new_name),
        }
    }

    /// The session whose edits are theirs to see: none where there was nothing before this call.
    #[must_use]
    pub fn visible_session(&self) -> &'a str {
        if self.is_lasting { self.session() } else { "" }
    }

    /// What they are called. Two clients with the same name and different tokens are not the same.
    #[must_use]
    pub fn client(&self) -> String {
        match &self.session.owner {
            Owner::Process => self.client.to_owned(),
            Owner::Token(token) => format!("{} ({})", self.client, token.name),
        }
    }

    /// What their session has done; `None` where it ends with this call.
    pub(crate) fn tally(&self) -> Option<&'a Tally> {
        self.is_lasting.then_some(&self.session.tally)
    }

    /// Who asks for an edit, and how.
    #[must_use]
    pub fn origin(&self, tool: &str, request: String) -> Origin {
        let (session, mailbox) = (self.session().into(), self.mailbox().clone());
        Origin { client: self.client(), session, tool: tool.into(), request, mailbox }
    }
}

/// Without randomness nothing can be edited anyway, and every edit says so.
fn new_name() -> String {
    Origin::new_session().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_history_knows_sessions_apart_and_joins_the_requests_of_a_token_that_have_none() {
        let (ann, ben) = (Owner::Token(Token::new("ann")), Owner::Token(Token::new("ben")));
        let sessions = [&ann, &ann, &ben, &Owner::Process].map(|owner| Session::new(owner.clone()));
        let name = |at: usize, is_lasting| Caller::new(&sessions[at], "x", is_lasting).session().to_owned();
        assert_eq!(name(0, false), name(1, false));
        assert_ne!(name(0, false), name(2, false));
        let lasting: std::collections::BTreeSet<String> = (0..4).map(|at| name(at, true)).collect();
        assert_eq!(lasting.len(), 4);
        assert!(!lasting.contains(&name(0, false)));
    }

    #[test]
    fn the_client_of_an_edit_has_the_name_of_its_token() {
        let session = Session::new(Owner::Token(Token::new("ann")));
        let origin = Caller::new(&session, "zed", true).origin("write_file", "{}".into());
        assert_eq!(origin.client, "zed (ann)");
        let session = Session::new(Owner::Process);
        assert_eq!(Caller::new(&session, "zed", true).origin("write_file", "{}".into()).client, "zed");
    }
}
