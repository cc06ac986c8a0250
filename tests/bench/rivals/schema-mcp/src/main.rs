//! The hottest messages of MCP: our types, those of `rmcp`, and plain ones.
//!
//! Type against type: the params or the result. `rmcp` itself finds them inside unions of all messages, which it tries one
//! after the other; that costs it more than is measured here.

mod limit;
mod messages;

use std::error::Error;

use agentwire_mcp_schema as ours;
use rival_schema::{Message, Subject};
use rmcp::model as rival;

/// The subjects of one message: the same type by three makers, `rmcp` having names of its own for some.
macro_rules! subjects {
    ($name:ident) => {
        subjects!($name, $name)
    };
    ($name:ident, $rival:ident) => {
        vec![
            Subject::new::<ours::$name>("ours"),
            Subject::new::<limit::$name>("limit"),
            Subject::new::<rival::$rival>("rmcp 3.11.0"),
        ]
    };
}

fn main() -> Result<(), Box<dyn Error>> {
    let message = |key, title, text, subjects| Message { key, title, text, subjects };
    rival_schema::run(vec![
        message("call", "tools/call", messages::call(), subjects!(CallToolRequest, CallToolRequestParams)),
        message("result-text", "answer to tools/call, text", messages::text(), subjects!(CallToolResult)),
        message(
            "result-structured",
            "answer to tools/call, structured",
            messages::structured(),
            subjects!(CallToolResult),
        ),
        message(
            "progress",
            "notifications/progress",
            messages::progress(),
            subjects!(ProgressNotification, ProgressNotificationParam),
        ),
        message("tools", "answer to tools/list, 200 tools", messages::tools(), subjects!(ListToolsResult)),
        message(
            "mcp-initialized",
            "answer to initialize",
            messages::initialize_answer(),
            subjects!(InitializeResult),
        ),
    ])
}
