//! The published MCP revisions, and a predicate for each feature that some of them lack.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A published revision of the protocol. A later one compares greater.
///
/// Up to 2025-11-25 two peers agree on one in `initialize`; later each request names its own. A peer may send any text as
/// its version, so [`parse`](Self::parse) returns an option. See
/// <https://modelcontextprotocol.io/specification/versioning>.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Revision {
    /// The first one, with HTTP+SSE as its remote transport.
    #[serde(rename = "2024-11-05")]
    V2024_11_05,
    /// Adds Streamable HTTP, batches, audio and tool annotations.
    #[serde(rename = "2025-03-26")]
    V2025_03_26,
    /// Adds structured results, resource links and elicitation; removes batches.
    #[serde(rename = "2025-06-18")]
    V2025_06_18,
    /// Adds icons, elicitation by URL, tools in sampling and tasks.
    #[serde(rename = "2025-11-25")]
    V2025_11_25,
    /// Removes sessions: each request names its revision, and a server asks the client with a result.
    #[serde(rename = "2026-07-28")]
    V2026_07_28,
}

impl Revision {
    /// Every revision, oldest first.
    pub const ALL: &[Self] =
        &[Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];

    /// The newest revision.
    pub const LATEST: Self = Self::V2026_07_28;

    /// The newest legacy revision, whose connections are sessions that begin with `initialize`.
    pub const LATEST_LEGACY: Self = Self::V2025_11_25;

    /// The date that names the revision on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision with that name. None for a name that is not known.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|revision| revision.as_str() == name)
    }

    /// Whether the revision is of the legacy era: a connection is a session that begins with `initialize`, and only such a
    /// revision may be agreed on there.
    pub fn is_legacy(self) -> bool {
        self <= Self::LATEST_LEGACY
    }

    /// Whether the revision is of the modern era: every request names its revision in its `_meta`, without a session.
    pub fn is_modern(self) -> bool {
        !self.is_legacy()
    }

    /// Whether several messages may travel as one JSON array. Only 2025-03-26 allows it.
    pub const fn has_batches(self) -> bool {
        matches!(self, Self::V2025_03_26)
    }

    /// Whether the remote transport is Streamable HTTP, not HTTP+SSE.
    pub fn has_streamable_http(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// Whether HTTP requests after `initialize` must name the revision in a header.
    pub fn has_version_header(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether an event stream over HTTP begins with an event that has an id and no data, so that a client can resume it
    /// before its first message. Only 2025-11-25.
    pub fn has_priming_events(self) -> bool {
        self == Self::V2025_11_25
    }

    /// Whether a server advertises the completion of arguments with a capability. Older revisions have no such capability.
    pub fn has_completions_capability(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// Whether a progress notification may carry a message.
    pub fn has_progress_message(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// Whether tools, resources and prompts have a title for people beside their name.
    pub fn has_titles(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether a tool may declare an output schema and answer with structured content.
    pub fn has_structured_content(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether structured content may be any JSON, not only an object.
    pub fn has_any_structured_content(self) -> bool {
        self >= Self::V2026_07_28
    }

    /// Whether a server may ask the user through the client.
    pub fn has_elicitation(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether a server may send the user to a web page.
    pub fn has_url_elicitation(self) -> bool {
        self >= Self::V2025_11_25
    }

    /// Whether a sampling request may offer tools to the model.
    pub fn has_sampling_tools(self) -> bool {
        self >= Self::V2025_11_25
    }

    /// Whether a message of a conversation with the model may have several blocks.
    pub fn has_several_blocks(self) -> bool {
        self >= Self::V2025_11_25
    }

    /// Whether a field of a form may be filled in with several choices.
    pub fn has_several_choices(self) -> bool {
        self >= Self::V2025_11_25
    }

    /// Whether each choice of a form holds its title. In older revisions titles are a list beside the values.
    pub fn has_titled_choices(self) -> bool {
        self >= Self::V2025_11_25
    }

    /// Whether a tool's result reports wrong arguments to the model. In older revisions the call fails.
    pub fn has_argument_errors_in_results(self) -> bool {
        self >= Self::V2025_11_25
    }

    /// Whether requests can run as the tasks of revision 2025-11-25, which are part of the core protocol (`core_tasks` of
    /// `mcp-schema`). Later revisions have the tasks extension instead, see [`has_extensions`](Self::has_extensions).
    pub fn has_core_tasks(self) -> bool {
        self == Self::V2025_11_25
    }

    /// Whether capabilities can name extensions, such as the one for tasks (`task_extension` of `mcp-schema`).
    pub fn has_extensions(self) -> bool {
        self >= Self::V2026_07_28
    }

    /// Whether a server sends requests. In later revisions it asks with a result (`InputRequiredResult` of `mcp-schema`).
    pub fn has_server_requests(self) -> bool {
        self <= Self::V2025_11_25
    }

    /// Whether results state their type and how long they may be cached.
    pub fn has_result_types(self) -> bool {
        self >= Self::V2026_07_28
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
