//! The `ContentBlock` of version 1, whose media types are plain strings, and its `ResourceLink`.

use agentwire_wire_derive::{Build, Wire};

use crate::common::{Annotations, Meta, content_types};

content_types! {
    /// A block of content: in prompts, in streamed messages, in results of tools.
    ///
    /// The shapes are those of MCP, so a tool's result can be forwarded unchanged. See
    /// <https://agentclientprotocol.com/protocol/v1/content>.
    ContentBlock, media type: String
}

/// The block `resource_link`: a reference to a resource that the agent can read.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ResourceLink {
    /// How to use the block.
    #[wire(lenient)]
    pub annotations: Option<Box<Annotations>>,
    /// A description for people.
    #[wire(lenient)]
    pub description: Option<String>,
    /// The resource's media type.
    #[wire(lenient)]
    pub mime_type: Option<String>,
    /// The resource's name, which is shown if there is no [`title`](Self::title).
    #[wire(expected)]
    pub name: String,
    /// Its size in bytes.
    #[wire(lenient_number)]
    pub size: Option<i64>,
    /// The name to show to people.
    #[wire(lenient)]
    pub title: Option<String>,
    /// Its URI.
    #[wire(required)]
    pub uri: String,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
