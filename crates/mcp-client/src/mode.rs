/// The revisions that a client speaks: stateful ones, up to 2025-11-25, stateless ones since then, or those of the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProtocolMode {
    /// A session that begins with `initialize`, in a revision from 2024-11-05 to 2025-11-25.
    #[default]
    Stateful,
    /// Requests that each carry their revision, since 2026-07-28. `server/discover` comes first.
    Stateless,
    /// `server/discover` first, and `initialize` on the same connection if the server refuses that, answers something else,
    /// or does not answer within [a time](crate::Client::discover_timeout).
    ///
    /// A server that names its versions gets the newest of them that the client speaks, stateful or stateless. A failure of
    /// the transport is no refusal of the server but an error. The owner of the transport decides what to try next.
    Auto,
}
