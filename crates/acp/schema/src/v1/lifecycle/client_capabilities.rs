//! The member `clientCapabilities` of the `initialize` params: files, terminals, session updates, authentication and
//! elicitation.

use agentwire_wire_derive::{Build, Wire};

use crate::common::{ElicitationCapabilities, Meta, marker_capability};

/// The capabilities of a client, in `initialize`.
///
/// See <https://agentclientprotocol.com/protocol/v1/initialization>.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ClientCapabilities {
    /// The file methods that the agent may call.
    #[wire(default)]
    pub fs: FileSystemCapabilities,
    /// Whether the agent may call the `terminal/*` methods, all of them.
    #[wire(default)]
    pub terminal: bool,
    /// The extensions of sessions that the client understands.
    #[wire(lenient)]
    pub session: Option<ClientSessionCapabilities>,
    /// The kinds of authentication that the client supports.
    #[wire(default)]
    pub auth: AuthCapabilities,
    /// The ways in which the agent may ask the person for input. An object without a mode allows none.
    #[wire(lenient)]
    pub elicitation: Option<ElicitationCapabilities>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, unchanged: real peers send more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// The file methods that a client answers.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct FileSystemCapabilities {
    /// Whether it answers `fs/read_text_file`.
    #[wire(default)]
    pub read_text_file: bool,
    /// Whether it answers `fs/write_text_file`.
    #[wire(default)]
    pub write_text_file: bool,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, unchanged: real peers send more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// The extensions of sessions that a client understands.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ClientSessionCapabilities {
    /// Present if the agent may send `compaction_update` and `compaction_summary_chunk`.
    #[wire(lenient)]
    pub compaction: Option<CompactionCapabilities>,
    /// The configuration options beyond the select that the agent may offer.
    #[wire(lenient)]
    pub config_options: Option<SessionConfigOptionsCapabilities>,
    /// Present if the agent may send `notice`.
    #[wire(lenient)]
    pub notices: Option<NoticeCapabilities>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, unchanged: real peers send more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// The client follows compactions of the context. It has the capability if the object is present.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct CompactionCapabilities {
    /// Members that this version does not know, unchanged: real peers send more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// The client shows notices. It has the capability if the object is present.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct NoticeCapabilities {
    /// Members that this version does not know, unchanged: real peers send more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// The configuration options beyond the select that a client understands.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionConfigOptionsCapabilities {
    /// Whether the agent may offer options of type `boolean`, and the client may set them with one.
    #[wire(lenient)]
    pub boolean: Option<BooleanConfigOptionCapabilities>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, unchanged: real peers send more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// The kinds of authentication that a client supports.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct AuthCapabilities {
    /// Whether it can run the agent's program again in a terminal of its own, with other arguments; only then
    /// may the agent offer methods of type `terminal`.
    #[wire(default)]
    pub terminal: bool,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, unchanged: real peers send more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

marker_capability! {
    /// The client understands options that are on or off.
    BooleanConfigOptionCapabilities,
}
