//! Tools that change what the server offers while clients listen.

use agentwire_mcp_server::{Context, NoArguments, Server, ServerPrompt, ServerTool};

use crate::resources::WATCHED;

pub(crate) fn offer(server: Server) -> Server {
    let (tools, prompts, watched) = (server.clone(), server.clone(), server.clone());
    server
        .tool(
            "test_trigger_tool_change",
            "Adds a tool and takes it away",
            move |_: NoArguments, _: Context| {
                tools.add_tool(ServerTool::new("test_passing_tool", "Here for a moment", nothing));
                tools.remove_tool("test_passing_tool");
                async { "The tools have changed" }
            },
        )
        .tool(
            "test_trigger_prompt_change",
            "Adds a prompt and takes it away",
            move |_: NoArguments, _: Context| {
                prompts.add_prompt(ServerPrompt::new("test_passing_prompt", "Here for a moment", nothing));
                prompts.remove_prompt("test_passing_prompt");
                async { "The prompts have changed" }
            },
        )
        .tool(
            "test_trigger_resource_update",
            "Says that the watched resource holds something else now",
            move |_: NoArguments, _: Context| {
                watched.resource_updated(WATCHED);
                async { "The watched resource has changed" }
            },
        )
}

async fn nothing(_: NoArguments, _: Context) -> &'static str {
    "nothing"
}
