//! Prompts: without arguments, with some, with a resource and with a picture.

use agentwire_mcp_server::schema::{ContentBlock, PromptMessage, TextResourceContents};
use agentwire_mcp_server::{Context, NoArguments, Server, ServerPrompt};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::completion;
use crate::content::RED_PNG;

pub(crate) fn offer(server: Server) -> Server {
    server
        .prompt("test_simple_prompt", "A prompt without arguments", simple)
        .with_prompt(
            ServerPrompt::new("test_prompt_with_arguments", "A prompt with arguments", with_arguments)
                .complete("arg1", completion::words)
                .complete("arg2", completion::words),
        )
        .prompt("test_prompt_with_embedded_resource", "A prompt with a resource", with_resource)
        .prompt("test_prompt_with_image", "A prompt with a picture", with_image)
}

async fn simple(_: NoArguments, _: Context) -> &'static str {
    "This is a simple prompt for testing."
}

#[derive(Deserialize, JsonSchema)]
struct Two {
    /// First test argument
    arg1: String,
    /// Second test argument
    arg2: String,
}

async fn with_arguments(Two { arg1, arg2 }: Two, _: Context) -> String {
    format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Embed {
    /// The URI of the resource
    resource_uri: String,
}

async fn with_resource(Embed { resource_uri }: Embed, _: Context) -> Vec<PromptMessage> {
    let text = "Embedded resource content for testing.";
    let resource = TextResourceContents::new(resource_uri, text).mime_type("text/plain");
    vec![
        PromptMessage::user(ContentBlock::resource(resource)),
        PromptMessage::user("Please process the embedded resource above."),
    ]
}

async fn with_image(_: NoArguments, _: Context) -> Vec<PromptMessage> {
    vec![
        PromptMessage::user(ContentBlock::image(RED_PNG, "image/png")),
        PromptMessage::user("Please analyze the image above."),
    ]
}
