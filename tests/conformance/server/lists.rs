//! A list of resources that takes three pages.

use agentwire_mcp_server::{Context, Server, ServerResource};

/// A page has a hundred entries.
const COUNT: usize = 250;

pub(crate) fn offer(server: Server) -> Server {
    (1..=COUNT).fold(server, |server, number| {
        let resource =
            ServerResource::new(format!("test://numbered/{number}"), format!("number-{number}"), read);
        server.with_resource(resource.mime_type("text/plain"))
    })
}

async fn read(uri: String, _: Context) -> String {
    format!("The text of {uri}")
}
