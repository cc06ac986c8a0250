//! The names of the methods that a transport must know. `METHODS` of `mcp-schema` has every method.

use crate::Member;

/// A client begins a session.
pub const INITIALIZE: &str = "initialize";
/// The session has begun.
pub const INITIALIZED: &str = "notifications/initialized";
/// Asks which revisions the server speaks, since 2026-07-28.
pub const DISCOVER: &str = "server/discover";
/// Asks whether the other side is there.
pub const PING: &str = "ping";
/// Sets the least severity of the log messages that a client gets.
pub const SET_LEVEL: &str = "logging/setLevel";
/// Asks for notifications about a resource.
pub const SUBSCRIBE: &str = "resources/subscribe";
/// Ends the notifications about a resource.
pub const UNSUBSCRIBE: &str = "resources/unsubscribe";
/// The sender no longer waits for a request.
pub const CANCELLED: &str = "notifications/cancelled";
/// Lists the tools, with the marks of their schemas.
pub const LIST_TOOLS: &str = "tools/list";
/// Calls a tool.
pub const CALL_TOOL: &str = "tools/call";
/// Fills in a prompt.
pub const GET_PROMPT: &str = "prompts/get";
/// Reads a resource.
pub const READ_RESOURCE: &str = "resources/read";
/// Subscribes to notifications, in revisions without sessions. Its response is a stream.
pub const LISTEN: &str = "subscriptions/listen";
/// Asks for the status of a task.
pub const GET_TASK: &str = "tasks/get";
/// Answers the questions of a task.
pub const UPDATE_TASK: &str = "tasks/update";
/// Cancels a task.
pub const CANCEL_TASK: &str = "tasks/cancel";

/// The member of a method's params that the header [`Mcp-Name`](crate::header::NAME) repeats. None for a method that
/// has no such member.
///
/// See <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http>.
pub fn named_by(method: &str) -> Option<Member> {
    match method {
        CALL_TOOL | GET_PROMPT => Some(Member::Name),
        READ_RESOURCE => Some(Member::Uri),
        GET_TASK | UPDATE_TASK | CANCEL_TASK => Some(Member::TaskId),
        _ => None,
    }
}
