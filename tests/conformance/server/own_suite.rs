//! Tools that the official suite does not ask for, and the checks of `agentwire-conformance` do.

use std::time::Duration;

use agentwire_mcp_server::schema::LoggingLevel;
use agentwire_mcp_server::{Context, NoArguments, Server, ServerResource, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

/// The resource that a call updates at its end, unless it is cancelled.
const LATE: &str = "test://late-resource";

/// How long such a call takes.
const LATE_TIME: Duration = Duration::from_millis(400);

pub(crate) fn offer(server: Server) -> Server {
    let (late, ended) = (server.clone(), server.clone());
    server
        .tool("test_x_mcp_header_integer", "Counts, which a proxy can read in a header", count)
        .tool("test_all_log_levels", "Logs once at each level", log)
        .with_resource(ServerResource::new(LATE, "late-resource", read).mime_type("text/plain"))
        .tool("test_late_update", "Updates a resource at its end", move |_: NoArguments, _: Context| {
            let late = late.clone();
            async move {
                tokio::time::sleep(LATE_TIME).await;
                late.resource_updated(LATE);
                "The late resource has changed"
            }
        })
        .tool("test_end_subscriptions", "Ends all subscriptions", move |_: NoArguments, _: Context| {
            ended.close_subscriptions();
            async { "The subscriptions have ended" }
        })
}

#[derive(Deserialize, JsonSchema)]
struct Count {
    /// How far to count.
    #[schemars(extend("x-mcp-header" = "Count"))]
    count: i64,
}

async fn count(Count { count }: Count, _: Context) -> String {
    format!("Counted to {count}")
}

async fn read(_: String, _: Context) -> &'static str {
    "A text that changes late"
}

async fn log(_: NoArguments, cx: Context) -> Result<&'static str, ToolError> {
    use LoggingLevel::{Alert, Critical, Debug, Emergency, Error, Info, Notice, Warning};
    for level in [Debug, Info, Notice, Warning, Error, Critical, Alert, Emergency] {
        cx.log(level, Some("everything"), "A line of the log").await?;
    }
    Ok("Logged at each level")
}
