/// Defines what versions say in the same words about subagents, with the type of a path.
///
/// The types are each version's own, because its paths and states are. Around the call there must be `StateUpdate`.
macro_rules! subagent_types {
    ($path:ty) => {
        $crate::wire::object! {
            /// The update `subagent_update`: the session has a child session, or something about it changed. What is kept is left
            /// out, what is cleared is null.
            ///
            /// The first one for an id comes before anything else of that child. Nobody loads or resumes it; what happens in it is
            /// told on the same connection. Only for clients that show subagents. See
            /// <https://agentclientprotocol.com/rfds/subagents>. A draft.
            SubagentUpdate {
                /// The child.
                required session_id: $crate::common::SessionId,
                /// What to call it in front of people.
                patch title: Patch<String>,
                /// What it is for, for people.
                patch description: Patch<String>,
                /// What the client may do to it, all of that; nothing where it is not told.
                patch capabilities: Patch<$crate::common::unstable::SubagentSessionCapabilities>,
                /// Whether it is busy, all that is to be said about it. Cleared, nobody knows.
                patch state: Patch<StateUpdate>,
                /// The directory it works in, an absolute path; that of the parent where it is not told.
                strict_patch cwd: Patch<$path>,
                /// All its further roots, absolute paths; those of the parent where they are not told.
                strict_patch additional_directories: Patch<Vec<$path>>,
                /// Free room: its keys belong to whoever sent them. It is patched too.
                patch meta: Patch<$crate::common::Meta> = "_meta",
            }
        }
    };
}
pub(crate) use subagent_types;
