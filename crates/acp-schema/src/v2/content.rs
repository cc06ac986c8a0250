use super::{EmbeddedResource, MediaType, ResourceLink};
use crate::common::Role;
use crate::wire::{object, tagged_union};

tagged_union! {
    /// Something to show or to say: in prompts, in messages, in results of tools.
    ///
    /// The shapes are those of MCP, so what a tool returned can be passed on as it is. See
    /// <https://agentclientprotocol.com/protocol/v2/content>.
    ContentBlock by "type" {
        /// Text, to be read as Markdown. Every agent takes it.
        "text" => Text(TextContent) from TextContent,
        /// A picture; in prompts only where the agent has the capability `session.prompt.image`.
        "image" => Image(Box<ImageContent>) from ImageContent,
        /// Sound; in prompts only where the agent has the capability `session.prompt.audio`.
        "audio" => Audio(Box<AudioContent>) from AudioContent,
        /// A pointer to something that can perhaps be read by whoever gets it. Every agent takes it.
        "resource_link" => ResourceLink(Box<ResourceLink>) from ResourceLink,
        /// A resource with its contents; in prompts only where the agent has the capability
        /// `session.prompt.embeddedContext`.
        "resource" => Resource(Box<EmbeddedResource>) from EmbeddedResource,
    }
    else {
        /// A block of a type that this version does not know: the whole object. Keep it when storing, replaying or
        /// passing on.
        Unknown
    }
}

impl ContentBlock {
    /// The text, if this is a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(content) => Some(&content.text),
            _ => None,
        }
    }
}

impl From<&str> for ContentBlock {
    fn from(text: &str) -> Self {
        Self::Text(TextContent::new(text))
    }
}

impl From<String> for ContentBlock {
    fn from(text: String) -> Self {
        Self::Text(TextContent::new(text))
    }
}

object! {
    /// The block `text`.
    TextContent {
        /// The text.
        required text: String,
        /// How to use the block.
        lenient annotations: Option<Box<Annotations>>,
        meta,
    }
}

object! {
    /// The block `image`.
    ImageContent {
        /// The bytes of the picture, in Base64.
        #[cfg_attr(feature = "schema", schemars(extend("contentEncoding" = "base64")))]
        required data: String,
        /// Their media type, such as `image/png`.
        required mime_type: MediaType,
        /// Where the picture is from.
        #[cfg_attr(feature = "schema", schemars(url))]
        lenient uri: Option<String>,
        /// How to use the block.
        lenient annotations: Option<Box<Annotations>>,
        meta,
    }
}

object! {
    /// The block `audio`.
    AudioContent {
        /// The bytes of the sound, in Base64.
        #[cfg_attr(feature = "schema", schemars(extend("contentEncoding" = "base64")))]
        required data: String,
        /// Their media type, such as `audio/wav`.
        required mime_type: MediaType,
        /// How to use the block.
        lenient annotations: Option<Box<Annotations>>,
        meta,
    }
}

object! {
    /// Hints on how to use a content block.
    Annotations {
        /// Whom it is meant for.
        optional_items audience: Option<Vec<Role>>,
        /// When what it shows was last changed, in ISO 8601.
        lenient last_modified: Option<String>,
        /// How much it matters next to others, from 0 (least) to 1 (most).
        #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
        lenient_number priority: Option<f64>,
        meta,
    }
}
