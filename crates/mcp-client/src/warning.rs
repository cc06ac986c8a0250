use agentwire_mcp_schema::SubscriptionFilter;
use agentwire_peer::CallError;

/// What went wrong without being anybody's error; see [`Client::on_warning`](crate::Client::on_warning).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// A tool is left out of [`Server::tools`](crate::Server::tools), because a transport could not call it as
    /// its schema asks.
    #[error("the tool `{tool}` is left out: {why}")]
    #[non_exhaustive]
    ToolLeftOut {
        /// The tool's name.
        tool: String,
        /// What is wrong with it, and where in its schema.
        why: String,
    },
    /// An item of a list is left out, because it cannot be decoded.
    #[error("{method}: the item {name:?} is left out: {why}")]
    #[non_exhaustive]
    ItemLeftOut {
        /// What was listed.
        method: &'static str,
        /// The item's name, or its URI or URI template, or the beginning of a long one; empty where it has none.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// The results of a tool are not checked, because nobody can do it by its output schema: it is none, or points at
    /// what would have to be fetched. Told once for each schema, with the feature `validate`.
    #[error("the results of the tool `{tool}` are not checked: {why}")]
    #[non_exhaustive]
    OutputNotChecked {
        /// The tool's name.
        tool: String,
        /// What is wrong with its output schema.
        why: String,
    },
    /// The server offers to tell of changes, but agrees only to some of that, or to nothing.
    #[error("the server does not tell of all changes that it offers to tell of")]
    #[non_exhaustive]
    NotAllHeard {
        /// What it agreed to.
        acknowledged: SubscriptionFilter,
    },
    /// The server refuses to tell of changes, or has not said in several tries what it agrees to tell. It is not asked
    /// again.
    #[error("changes at the server are not heard of: {error}")]
    #[non_exhaustive]
    NotHeard {
        /// What came of asking for it the last time.
        #[source]
        error: CallError,
    },
}
