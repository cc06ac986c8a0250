/// Which revisions a client speaks: those of the sessions, up to 2025-11-25, the stateless ones after that, or
/// whichever the server does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Era {
    /// A session that begins with `initialize`, in a revision from 2024-11-05 to 2025-11-25.
    #[default]
    Session,
    /// Requests that each say what they are in, from 2026-07-28 on. `server/discover` comes first.
    Stateless,
    /// `server/discover` first, and `initialize` on the same connection if the server refuses it, answers
    /// something else, or says nothing for [a time](crate::Client::discover_timeout).
    ///
    /// A server that names its versions gets the newest of them that we speak, in whichever era. What fails in
    /// the transport is not a server's refusal: it is an error, and whoever knows the transport decides what to
    /// try next.
    Either,
}
