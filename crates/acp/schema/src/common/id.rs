//! String ids, such as `SessionId` and `ToolCallId`, as one newtype each over shared text.

use crate::common::string_id;

string_id! {
    /// Identifies a conversation. The agent chooses it in the answer to `session/new`.
    SessionId,
    /// Identifies a message; chunks with the same id belong together.
    MessageId,
    /// Identifies a tool call within its session.
    ToolCallId,
    /// Identifies a terminal within its session: in version 1 one of the client until `terminal/release`, in version 2 one of
    /// the agent.
    TerminalId,
    /// Identifies a URL elicitation, so that `elicitation/complete` can refer to it.
    ElicitationId,
    /// Identifies a compaction of the context within its session.
    CompactionId,
    /// Identifies a way to authenticate that the agent offers.
    AuthMethodId,
    /// Identifies a mode of a session.
    SessionModeId,
    /// Identifies a configuration option of a session.
    SessionConfigId,
    /// Identifies a value of a configuration option.
    SessionConfigValueId,
    /// Identifies a group of values of a configuration option.
    SessionConfigGroupId,
    /// Identifies an option of a permission request.
    PermissionOptionId,
}
