//! The `ContentBlock` of version 2, whose media types are `MediaType`, and its `ResourceLink` with icons.

use agentwire_wire_derive::{Build, Wire};

use super::{Icon, MediaType};
use crate::common::{Annotations, Meta, content_types};

content_types! {
    /// A block of content: in prompts, in messages, in results of tools.
    ///
    /// The shapes are those of MCP, so a tool's result can be forwarded unchanged. See
    /// <https://agentclientprotocol.com/protocol/v2/content>.
    ContentBlock, media type: MediaType
}

/// The block `resource_link`: a reference to a resource that the receiver may be able to read.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ResourceLink {
    /// The resource's name, which is shown if there is no [`title`](Self::title).
    #[wire(expected)]
    pub name: String,
    /// Its URI.
    #[wire(required, schema(url))]
    pub uri: String,
    /// The name to show to people.
    #[wire(lenient)]
    pub title: Option<String>,
    /// A description for people.
    #[wire(lenient)]
    pub description: Option<String>,
    /// Icons, in several sizes.
    #[wire(optional_items)]
    pub icons: Option<Vec<Icon>>,
    /// The resource's media type.
    #[wire(lenient)]
    pub mime_type: Option<MediaType>,
    /// Its size in bytes.
    #[wire(lenient_number)]
    pub size: Option<u64>,
    /// How to use the block.
    #[wire(lenient)]
    pub annotations: Option<Box<Annotations>>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
