use agentwire_wire_derive::{Build, Wire};

use crate::common::{ElicitationCapabilities, Meta, marker_capability};

/// What a client can do, as told in `initialize`.
///
/// See <https://agentclientprotocol.com/protocol/v1/initialization>.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ClientCapabilities {
    /// Which file methods the agent may call.
    #[wire(default)]
    pub fs: FileSystemCapabilities,
    /// Whether the agent may call the `terminal/*` methods, all of them.
    #[wire(default)]
    pub terminal: bool,
    /// Which extensions of sessions the client understands.
    #[wire(lenient)]
    pub session: Option<ClientSessionCapabilities>,
    /// Which kinds of authentication the client can carry out.
    #[wire(default)]
    pub auth: AuthCapabilities,
    /// Whether and how the agent may ask the person for input. Present without a mode, it allows none.
    #[wire(lenient)]
    pub elicitation: Option<ElicitationCapabilities>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, as they came: real peers say more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// Which file methods a client answers.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct FileSystemCapabilities {
    /// Whether it answers `fs/read_text_file`.
    #[wire(default)]
    pub read_text_file: bool,
    /// Whether it answers `fs/write_text_file`.
    #[wire(default)]
    pub write_text_file: bool,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, as they came: real peers say more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// Which extensions of sessions a client understands.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ClientSessionCapabilities {
    /// Whether the agent may send `compaction_update` and `compaction_summary_chunk`.
    #[wire(lenient)]
    pub compaction: Option<CompactionCapabilities>,
    /// Which configuration options beyond the select the agent may offer.
    #[wire(lenient)]
    pub config_options: Option<SessionConfigOptionsCapabilities>,
    /// Whether the agent may send `notice`.
    #[wire(lenient)]
    pub notices: Option<NoticeCapabilities>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, as they came: real peers say more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// That a client follows compactions of the context. Being present is the statement.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct CompactionCapabilities {
    /// Members that this version does not know, as they came: real peers say more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// That a client shows notices. Being present is the statement.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct NoticeCapabilities {
    /// Members that this version does not know, as they came: real peers say more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// Which configuration options beyond the select a client understands.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionConfigOptionsCapabilities {
    /// Whether the agent may offer options of type `boolean`, and the client may set them with one.
    #[wire(lenient)]
    pub boolean: Option<BooleanConfigOptionCapabilities>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, as they came: real peers say more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// Which kinds of authentication a client can carry out.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct AuthCapabilities {
    /// Whether it can run the agent's program once more in a terminal of its own, with other arguments; only then
    /// may the agent offer methods of type `terminal`.
    #[wire(default)]
    pub terminal: bool,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, as they came: real peers say more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

marker_capability! {
    /// That a client understands options that are on or off.
    BooleanConfigOptionCapabilities,
}
