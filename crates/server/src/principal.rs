//! The principal of a request, who calls, and the scopes that say what they may do.
//!
//! On standard input and output the one client is the user's own and may do everything. Over HTTP each request shows a
//! token, whose principal stays the same while its scopes may differ from one request to the next: a client that steps up
//! shows a new token of the same person. So scopes belong to the request, never to a session.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use emend_workspace::{Mailbox, Origin};

use crate::door::Door;

/// Who calls over HTTP: the name of a static token, or the subject of one that an authority has issued.
#[derive(Clone, Debug)]
pub struct Principal {
    /// What tells them from every other principal, also after the server was started again.
    key: Arc<str>,
    /// What people see of them.
    name: Arc<str>,
    /// The name in the history of the requests that have no session.
    session: Arc<str>,
    /// The tenant to whom they belong, if there are tenants.
    tenant: Option<Arc<str>>,
    /// The number of principals that share the server.
    sharers: usize,
    /// The notes for the next answer to a request without a session.
    mailbox: Mailbox,
    /// Where they call from.
    door: Door,
}

impl PartialEq for Principal {
    fn eq(&self, other: &Self) -> bool {
        (&self.key, &self.session) == (&other.key, &other.session)
    }
}

impl Eq for Principal {}

impl Hash for Principal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.key, &self.session).hash(state);
    }
}

impl Principal {
    /// Creates the principal of a static token of this name, as the only one of a server.
    #[must_use]
    pub fn of_token(name: &str) -> Self {
        Self::new(format!("token {name}"), name)
    }

    /// Creates a principal with this key, which no other one has, as the only one of a server.
    #[must_use]
    pub fn new(key: String, name: &str) -> Self {
        let session = Origin::new_session().unwrap_or_default();
        Self {
            key: key.into(),
            name: name.into(),
            session: session.into(),
            tenant: None,
            sharers: 1,
            mailbox: Mailbox::default(),
            door: Door::Client,
        }
    }

    /// Returns the principal as one of several that share the server.
    #[must_use]
    pub fn shared_by(self, principals: usize) -> Self {
        Self { sharers: principals.max(1), ..self }
    }

    /// Returns the principal as one of this tenant.
    #[must_use]
    pub fn of_tenant(self, tenant: Option<String>) -> Self {
        Self { tenant: tenant.map(Into::into), ..self }
    }

    /// Returns the principal as one who calls from there.
    pub(crate) fn at(self, door: Door) -> Self {
        Self { door, ..self }
    }

    /// Returns where they call from.
    pub(crate) fn door(&self) -> Door {
        self.door
    }

    /// Returns the tenant to whom they belong, if there are tenants.
    #[must_use]
    pub fn tenant(&self) -> Option<&str> {
        self.tenant.as_deref()
    }

    /// Returns what tells them from every other principal.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns what people see of them.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name in the history of their requests that have no session.
    pub(crate) fn session(&self) -> &str {
        &self.session
    }

    /// Returns how many principals share what the server has room for.
    pub(crate) fn sharers(&self) -> usize {
        self.sharers
    }

    /// Returns the notes for the next answer to a request without a session.
    pub(crate) fn mailbox(&self) -> &Mailbox {
        &self.mailbox
    }
}

/// What a token lets its bearer do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Read files, search them and look at past edits.
    Read,
    /// Make and preview edits.
    Write,
    /// Say yes to an edit that needs a person's approval.
    Approve,
    /// Undo edits that others made.
    UndoOthers,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Approve, Self::UndoOthers];

    /// Returns the scope as it stands in tokens.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "files:read",
            Self::Write => "files:write",
            Self::Approve => "files:approve",
            Self::UndoOthers => "files:undo-others",
        }
    }
}

/// A set of scopes.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Scopes(u8);

impl Scopes {
    /// No scope at all.
    pub const NONE: Self = Self(0);
    /// Every scope.
    pub const ALL: Self = Self(0b1111);

    /// Returns the scopes that these words name. Words that name none are passed over, since a token has the scopes of
    /// other servers, too.
    pub fn parse<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let named = |word: &str| Scope::ALL.into_iter().find(|scope| scope.as_str() == word);
        words.into_iter().filter_map(named).fold(Self::NONE, Self::with)
    }

    /// Returns these scopes and one more.
    #[must_use]
    pub fn with(self, scope: Scope) -> Self {
        Self(self.0 | 1 << scope as u8)
    }

    /// Returns the scopes that both have.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns whether this scope is among them.
    #[must_use]
    pub fn has(self, scope: Scope) -> bool {
        self.0 & 1 << scope as u8 != 0
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> =
            Scope::ALL.into_iter().filter(|scope| self.has(*scope)).map(Scope::as_str).collect();
        f.write_str(&words.join(" "))
    }
}

impl fmt::Debug for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scopes({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_read_as_they_are_written_and_those_of_other_servers_are_none() {
        for scope in Scope::ALL {
            let only = Scopes::parse([scope.as_str()]);
            assert_eq!(only.to_string(), scope.as_str());
            assert_eq!(Scope::ALL.into_iter().filter(|other| only.has(*other)).count(), 1);
        }
        let all = Scopes::parse(
            "openid files:read files:write FILES:APPROVE files:approve x files:undo-others".split(' '),
        );
        assert_eq!(all, Scopes::ALL);
        assert_eq!(Scopes::parse(["files:", "files", "files:read files:write", ""]), Scopes::NONE);
        assert_eq!(Scopes::parse(["files:read"]).and(Scopes::parse(["files:write"])), Scopes::NONE);
    }
}
