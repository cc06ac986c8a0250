use std::fmt;

use agentwire_jsonrpc::Printable;
use agentwire_mcp_schema::SubscriptionFilter;
use agentwire_peer::CallError;

/// How much is told of a text that may be the server's, in characters.
const LONGEST_TEXT: usize = 500;

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
    /// A notification of the server's is left out, because it cannot be decoded, or would take more memory than
    /// [`Client::value_limit`](crate::Client::value_limit) says.
    #[error("the notification {method:?} is left out: {why}")]
    #[non_exhaustive]
    NotificationLeftOut {
        /// Its method, or the beginning of a long one.
        method: String,
        /// What is wrong with it, as [printable](agentwire_jsonrpc::Printable) text of one line.
        why: String,
    },
    /// A message of the server's is left out, because it could not be read: a line over the limit, text that is no
    /// JSON-RPC, or a malformed notification.
    #[error("a message is left out: {why}")]
    #[non_exhaustive]
    MessageLeftOut {
        /// What is wrong with it, as [printable](agentwire_jsonrpc::Printable) text of one line.
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

impl Warning {
    pub(crate) fn notification_left_out(method: &str, why: &dyn fmt::Display) -> Self {
        Self::NotificationLeftOut { method: beginning(method), why: printable(why) }
    }

    pub(crate) fn message_left_out(why: &dyn fmt::Display) -> Self {
        Self::MessageLeftOut { why: printable(why) }
    }
}

/// What is wrong may be said in words of the server's.
fn printable(why: &dyn fmt::Display) -> String {
    Printable::one_line(&beginning(&why.to_string())).to_string()
}

fn beginning(text: &str) -> String {
    text.chars().take(LONGEST_TEXT).collect()
}
