//! `Warning`: a fault of the server that fails no call.

use std::fmt;
use std::sync::Arc;

use agentwire_jsonrpc::{Printable, Skipped};
use agentwire_mcp_schema::SubscriptionFilter;
use agentwire_peer::CallError;
use agentwire_transport::TransportError;

/// The longest text of the server in a warning, in characters.
const MAX_TEXT: usize = 500;

/// A fault that fails no call; see [`Client::on_warning`](crate::Client::on_warning).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// A tool is left out of [`RemoteServer::tools`](crate::RemoteServer::tools), because a transport could not call it as
    /// its schema demands.
    #[error("the tool `{}` is left out: {}", Printable::display(.tool), Printable::display(.why))]
    #[non_exhaustive]
    ToolLeftOut {
        /// The tool's name.
        tool: String,
        /// The fault, and its place in the schema.
        why: String,
    },
    /// An item of a list is left out, because it cannot be decoded.
    #[error("{method}: the item {name:?} is left out: {}", Printable::display(.why))]
    #[non_exhaustive]
    ItemLeftOut {
        /// The method that lists it.
        method: &'static str,
        /// The item's name, or its URI or URI template, or the beginning of a long one; empty where it has none.
        name: String,
        /// The fault.
        why: String,
    },
    /// Parts of an answer or a notification are left out, because they cannot be decoded: optional members, and items of
    /// lists.
    #[error("{}: left out: {skipped}", Printable::display(.method))]
    #[non_exhaustive]
    PartsLeftOut {
        /// The method of the call or the notification.
        method: String,
        /// The parts, with what is wrong with each.
        skipped: Skipped,
    },
    /// A list ends early, because the server's cursors form a cycle. The items of the pages so far are kept.
    #[error("{method}: the list ends after {pages} pages, because the server's cursors form a cycle")]
    #[non_exhaustive]
    CursorsRepeat {
        /// The method of the list.
        method: &'static str,
        /// The number of pages that were read.
        pages: usize,
    },
    /// A list ends early, because the server's answer for a later page is an error, cannot be read, or breaks a limit. The items
    /// of the pages so far are kept.
    #[error("the list ends after page {pages}: {}", Printable::one_line(.why))]
    #[non_exhaustive]
    ListCut {
        /// The method of the list.
        method: &'static str,
        /// The last page that was read, from 1.
        pages: usize,
        /// The error of the next page.
        why: String,
    },
    /// A notification is left out, because it cannot be decoded, or would take more memory than
    /// [`Client::value_limit`](crate::Client::value_limit).
    #[error("the notification {method:?} is left out: {why}")]
    #[non_exhaustive]
    NotificationLeftOut {
        /// Its method, or the beginning of a long one.
        method: String,
        /// The fault, as [printable](agentwire_jsonrpc::Printable) text of one line.
        why: String,
    },
    /// A message is left out, because it could not be read: a line over the limit, text that is not JSON-RPC, or a malformed
    /// notification.
    #[error("a message is left out: {why}")]
    #[non_exhaustive]
    MessageLeftOut {
        /// The fault, as [printable](agentwire_jsonrpc::Printable) text of one line.
        why: String,
    },
    /// An answer of the server is left out, because it belongs to no call: it came after the time-out, came twice, or has an
    /// unknown id. The answer to a dropped call is expected and not reported.
    #[error("an answer is left out: {why}")]
    #[non_exhaustive]
    AnswerLeftOut {
        /// Its id, and its error if it is one, as [printable](agentwire_jsonrpc::Printable) text of one line.
        why: String,
    },
    /// The results of a tool are not checked, because its output schema is invalid or refers to another document. Reported
    /// once for each schema, with the feature `validate`.
    #[error("the results of the tool `{}` are not checked: {}", Printable::display(.tool), Printable::display(.why))]
    #[non_exhaustive]
    OutputNotChecked {
        /// The tool's name.
        tool: String,
        /// The fault of its output schema.
        why: String,
    },
    /// The server offers to report changes, but agrees to report only some of them, or none.
    #[error("the server does not report all changes that it offers to report")]
    #[non_exhaustive]
    ChangesPartlyReported {
        /// The changes that it reports.
        acknowledged: SubscriptionFilter,
    },
    /// The server refuses to report changes, or has not acknowledged several subscriptions. The client does not subscribe
    /// again.
    #[error("the server reports no changes")]
    #[non_exhaustive]
    ChangesNotReported {
        /// The error of the last subscription.
        #[source]
        error: CallError,
    },
    /// The server of a session reports changes only while calls run, if at all, because the transport has no stream for them. A
    /// server need not have one (HTTP status 405). Reported once, if the client has a hook for changes that the server offers to
    /// report, or a stream of [changes](crate::RemoteServer::changes).
    #[error("the server reports changes only while calls run, if at all")]
    #[non_exhaustive]
    ChangesOnlyWithCalls {
        /// Why there is no such stream.
        #[source]
        error: Arc<TransportError>,
    },
}

impl Warning {
    pub(crate) fn notification_left_out(method: &str, why: &dyn fmt::Display) -> Self {
        Self::NotificationLeftOut { method: beginning(method), why: printable(why) }
    }

    pub(crate) fn answer_left_out(why: &dyn fmt::Display) -> Self {
        Self::AnswerLeftOut { why: printable(why) }
    }

    pub(crate) fn message_left_out(why: &dyn fmt::Display) -> Self {
        Self::MessageLeftOut { why: printable(why) }
    }
}

/// Makes a text printable that may contain text of the server.
fn printable(why: &dyn fmt::Display) -> String {
    Printable::one_line(&beginning(&why.to_string())).to_string()
}

fn beginning(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}
