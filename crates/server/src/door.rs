//! Who is at the other end of a server.

/// Who is at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Door {
    /// A client, whose calls come from a model or from what it shows, and nobody can tell from which.
    Client,
    /// A person, on a page of ours that no model reaches.
    Person,
}
