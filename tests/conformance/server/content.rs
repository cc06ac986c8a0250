//! Every kind of content that a tool can give.

use agentwire_mcp_server::schema::{ContentBlock, TextResourceContents};
use agentwire_mcp_server::{Context, NoArguments, Server};

/// A picture of one red pixel.
pub(crate) const RED_PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// A sound of no length.
const SILENCE_WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

pub(crate) fn offer(server: Server) -> Server {
    server
        .tool("test_simple_text", "Gives a text", simple_text)
        .tool("test_image_content", "Gives a picture", image)
        .tool("test_audio_content", "Gives a sound", audio)
        .tool("test_embedded_resource", "Gives a resource with its content", embedded_resource)
        .tool("test_multiple_content_types", "Gives a text, a picture and a resource", several)
}

async fn simple_text(_: NoArguments, _: Context) -> &'static str {
    "This is a simple text response for testing."
}

async fn image(_: NoArguments, _: Context) -> ContentBlock {
    ContentBlock::image(RED_PNG, "image/png")
}

async fn audio(_: NoArguments, _: Context) -> ContentBlock {
    ContentBlock::audio(SILENCE_WAV, "audio/wav")
}

async fn embedded_resource(_: NoArguments, _: Context) -> ContentBlock {
    let text = "This is an embedded resource content.";
    ContentBlock::resource(
        TextResourceContents::new("test://embedded-resource", text).mime_type("text/plain"),
    )
}

async fn several(_: NoArguments, _: Context) -> Vec<ContentBlock> {
    let json = r#"{"test":"data","value":123}"#;
    let resource =
        TextResourceContents::new("test://mixed-content-resource", json).mime_type("application/json");
    vec![
        "Multiple content types test:".into(),
        ContentBlock::image(RED_PNG, "image/png"),
        ContentBlock::resource(resource),
    ]
}
