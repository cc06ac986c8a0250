//! The macro for the update `subagent_update`, over a version's path type and `StateUpdate`.

/// Defines what versions say in the same words about subagents, with the type of a path.
///
/// The types are each version's own, because its paths and states are. Around the call there must be `StateUpdate`.
macro_rules! subagent_types {
    ($path:ty) => {
        /// The update `subagent_update`: the session has a child session, or something about it changed. What is kept is left
        /// out, what is cleared is null.
        ///
        /// The first one for an id comes before all other updates of that child. Clients neither load nor resume it; its updates
        /// arrive on the same connection. Only for clients that show subagents. See
        /// <https://agentclientprotocol.com/rfds/subagents>. A draft.
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct SubagentUpdate {
            /// The child.
            #[wire(required)]
            pub session_id: $crate::common::SessionId,
            /// The name to show to people.
            #[wire(patch)]
            pub title: Patch<String>,
            /// Its purpose, for people.
            #[wire(patch)]
            pub description: Patch<String>,
            /// All operations that the client may request for it; none if absent.
            #[wire(patch)]
            pub capabilities: Patch<$crate::common::unstable::SubagentSessionCapabilities>,
            /// Its activity. Null: unknown.
            #[wire(patch)]
            pub state: Patch<StateUpdate>,
            /// The directory it works in, an absolute path; by default that of the parent.
            #[wire(strict_patch)]
            pub cwd: Patch<$path>,
            /// All its further roots, absolute paths; by default those of the parent.
            #[wire(strict_patch)]
            pub additional_directories: Patch<Vec<$path>>,
            /// Extension metadata; receivers make no assumptions about its keys. It is patched too.
            #[wire(patch, name = "_meta")]
            pub meta: Patch<$crate::common::Meta>,
        }
    };
}
pub(crate) use subagent_types;
