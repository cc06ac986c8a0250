//! Resources: text, bytes, and one that clients may watch.

use agentwire_mcp_server::schema::BlobResourceContents;
use agentwire_mcp_server::{Context, Server, ServerResource};

use crate::content::RED_PNG;

/// The resource that reports its changes, which `changes` makes.
pub(crate) const WATCHED: &str = "test://watched-resource";

pub(crate) fn offer(server: Server) -> Server {
    server
        .resource_updates()
        .with_resource(
            ServerResource::new("test://static-text", "static-text", text)
                .title("Static Text Resource")
                .description("A text that never changes")
                .mime_type("text/plain"),
        )
        .with_resource(
            ServerResource::new("test://static-binary", "static-binary", binary)
                .title("Static Binary Resource")
                .description("A picture that never changes")
                .mime_type("image/png"),
        )
        .with_resource(
            ServerResource::new(WATCHED, "watched-resource", watched)
                .description("A text to subscribe to")
                .mime_type("text/plain"),
        )
}

async fn text(_: String, _: Context) -> &'static str {
    "This is the content of the static text resource."
}

async fn binary(uri: String, _: Context) -> BlobResourceContents {
    BlobResourceContents::new(uri, RED_PNG)
}

async fn watched(_: String, _: Context) -> &'static str {
    "Watched resource content"
}
