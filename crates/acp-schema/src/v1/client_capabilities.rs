use serde::{Deserialize, Serialize};

use crate::common::lenient::lenient;
use crate::common::{Meta, builder, marker_capability};

/// What a client can do, as told in `initialize`.
///
/// See <https://agentclientprotocol.com/protocol/v1/initialization>.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ClientCapabilities {
    /// Which file methods the agent may call.
    #[serde(default, deserialize_with = "lenient")]
    pub fs: FileSystemCapabilities,
    /// Whether the agent may call the `terminal/*` methods, all of them.
    #[serde(default, deserialize_with = "lenient")]
    pub terminal: bool,
    /// Which extensions of sessions the client understands.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub session: Option<ClientSessionCapabilities>,
    /// Which kinds of authentication the client can carry out.
    #[serde(default, deserialize_with = "lenient")]
    pub auth: AuthCapabilities,
    /// Whether and how the agent may ask the person for input. Present without a mode, it allows none.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub elicitation: Option<ElicitationCapabilities>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
    /// Members that this version does not know, as they came: real peers advertise more than the schema lists.
    #[serde(flatten)]
    pub extra: Meta,
}

builder! {
    ClientCapabilities::new() {
        plain fs: FileSystemCapabilities,
        plain terminal: bool,
        option session: ClientSessionCapabilities,
        plain auth: AuthCapabilities,
        option elicitation: ElicitationCapabilities,
        option meta: Meta,
        plain extra: Meta,
    }
}

/// Which file methods a client answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FileSystemCapabilities {
    /// Whether it answers `fs/read_text_file`.
    #[serde(default, deserialize_with = "lenient")]
    pub read_text_file: bool,
    /// Whether it answers `fs/write_text_file`.
    #[serde(default, deserialize_with = "lenient")]
    pub write_text_file: bool,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
    /// Members that this version does not know, as they came: real peers advertise more than the schema lists.
    #[serde(flatten)]
    pub extra: Meta,
}

builder! {
    FileSystemCapabilities::new() {
        plain read_text_file: bool,
        plain write_text_file: bool,
        option meta: Meta,
        plain extra: Meta,
    }
}

/// Which extensions of sessions a client understands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ClientSessionCapabilities {
    /// Whether the agent may send `compaction_update` and `compaction_summary_chunk`.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub compaction: Option<CompactionCapabilities>,
    /// Which configuration options beyond the select the agent may offer.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub config_options: Option<SessionConfigOptionsCapabilities>,
    /// Whether the agent may send `notice`.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub notices: Option<NoticeCapabilities>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
    /// Members that this version does not know, as they came: real peers advertise more than the schema lists.
    #[serde(flatten)]
    pub extra: Meta,
}

builder! {
    ClientSessionCapabilities::new() {
        option compaction: CompactionCapabilities,
        option config_options: SessionConfigOptionsCapabilities,
        option notices: NoticeCapabilities,
        option meta: Meta,
        plain extra: Meta,
    }
}

/// That a client follows compactions of the context. Being present is the statement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CompactionCapabilities {
    /// Members that this version does not know, as they came: real peers advertise more than the schema lists.
    #[serde(flatten)]
    pub extra: Meta,
}

builder! {
    CompactionCapabilities::new() {
        plain extra: Meta,
    }
}

/// That a client shows notices. Being present is the statement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NoticeCapabilities {
    /// Members that this version does not know, as they came: real peers advertise more than the schema lists.
    #[serde(flatten)]
    pub extra: Meta,
}

builder! {
    NoticeCapabilities::new() {
        plain extra: Meta,
    }
}

/// Which configuration options beyond the select a client understands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionConfigOptionsCapabilities {
    /// Whether the agent may offer options of type `boolean`, and the client may set them with one.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub boolean: Option<BooleanConfigOptionCapabilities>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
    /// Members that this version does not know, as they came: real peers advertise more than the schema lists.
    #[serde(flatten)]
    pub extra: Meta,
}

builder! {
    SessionConfigOptionsCapabilities::new() {
        option boolean: BooleanConfigOptionCapabilities,
        option meta: Meta,
        plain extra: Meta,
    }
}

/// Which kinds of authentication a client can carry out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AuthCapabilities {
    /// Whether it can run the agent's program once more in a terminal of its own, with other arguments; only then
    /// may the agent offer methods of type `terminal`.
    #[serde(default, deserialize_with = "lenient")]
    pub terminal: bool,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
    /// Members that this version does not know, as they came: real peers advertise more than the schema lists.
    #[serde(flatten)]
    pub extra: Meta,
}

builder! {
    AuthCapabilities::new() {
        plain terminal: bool,
        option meta: Meta,
        plain extra: Meta,
    }
}

/// How an agent may ask the person for input.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitationCapabilities {
    /// With a form.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub form: Option<ElicitationFormCapabilities>,
    /// By sending the person to a URL.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub url: Option<ElicitationUrlCapabilities>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
    /// Members that this version does not know, as they came: real peers advertise more than the schema lists.
    #[serde(flatten)]
    pub extra: Meta,
}

builder! {
    ElicitationCapabilities::new() {
        option form: ElicitationFormCapabilities,
        option url: ElicitationUrlCapabilities,
        option meta: Meta,
        plain extra: Meta,
    }
}

marker_capability! {
    /// That a client understands options that are on or off.
    BooleanConfigOptionCapabilities,
    /// That a client shows forms.
    ElicitationFormCapabilities,
    /// That a client opens URLs.
    ElicitationUrlCapabilities,
}
