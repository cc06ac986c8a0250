use crate::common::string_id;

string_id! {
    /// Names a conversation. The agent chooses it in the answer to `session/new`.
    SessionId,
    /// Names one message; chunks that share it belong together.
    MessageId,
    /// Names a tool call within its session.
    ToolCallId,
    /// Names a terminal within its session: in version 1 one of the client until `terminal/release`, in version 2 one of
    /// the agent.
    TerminalId,
    /// Names a URL elicitation, so that `elicitation/complete` can refer to it.
    ElicitationId,
    /// Names one compaction of the context within its session.
    CompactionId,
    /// Names a way to authenticate that the agent offers.
    AuthMethodId,
    /// Names a mode of a session.
    SessionModeId,
    /// Names a configuration option of a session.
    SessionConfigId,
    /// Names a value of a configuration option.
    SessionConfigValueId,
    /// Names a group of values of a configuration option.
    SessionConfigGroupId,
    /// Names an answer that a permission request offers.
    PermissionOptionId,
}
