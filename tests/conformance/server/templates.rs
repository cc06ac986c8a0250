//! Resources that are not listed one by one.

use agentwire_mcp_server::{Context, Server, ServerResourceTemplate};
use serde::Deserialize;
use serde_json::json;

use crate::completion;

pub(crate) fn offer(server: Server) -> Server {
    let data = ServerResourceTemplate::new("test://template/{id}/data", "template-data", data)
        .title("Resource Template")
        .description("Data about whatever has that id")
        .mime_type("application/json")
        .complete("id", completion::numbers);
    server.with_resource_template(data)
}

#[derive(Deserialize)]
struct Which {
    id: String,
}

async fn data(Which { id }: Which, _: Context) -> String {
    let data = format!("Data for ID: {id}");
    json!({ "id": id, "templateTest": true, "data": data }).to_string()
}
