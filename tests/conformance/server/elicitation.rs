//! Tools that ask the user by a form.

use agentwire_mcp_server::schema::JsonObject;
use agentwire_mcp_server::{Context, Elicited, Form, NoArguments, Server, ToolError, field};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

pub(crate) fn offer(server: Server) -> Server {
    server
        .tool("test_elicitation", "Asks the user who they are", ask)
        .tool("test_elicitation_sep1034_defaults", "Asks with fields that are filled in already", defaults)
        .tool("test_elicitation_sep1330_enums", "Asks with every kind of choice", choices)
        .tool("test_streaming_elicitation", "Asks the user for a name", name)
}

#[derive(Deserialize, JsonSchema)]
struct Ask {
    /// The question.
    message: String,
}

async fn ask(Ask { message }: Ask, cx: Context) -> Result<String, ToolError> {
    let form = Form::new(message)
        .required("username", field::text().description("User's response"))
        .required("email", field::text().description("User's email address"));
    Ok(format!("User response: {}", in_words(cx.elicit("user", form).await?)))
}

async fn defaults(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    let status = field::choice(["active", "inactive", "pending"]).default_value("active");
    let form = Form::new("Please review and update the form fields with defaults")
        .optional("name", field::text().default_value("John Doe"))
        .optional("age", field::integer().default_value(30.0))
        .optional("score", field::number().default_value(95.5))
        .optional("status", status)
        .optional("verified", field::boolean().default_value(true));
    Ok(format!("Elicitation completed: {}", in_words(cx.elicit("fields", form).await?)))
}

async fn choices(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    let plain = ["option1", "option2", "option3"];
    let options = [("value1", "First Option"), ("value2", "Second Option"), ("value3", "Third Option")];
    let old = [("opt1", "Option One"), ("opt2", "Option Two"), ("opt3", "Option Three")];
    let several = [("value1", "First Choice"), ("value2", "Second Choice"), ("value3", "Third Choice")];
    let form = Form::new("Please select options from the enum fields")
        .optional("untitledSingle", field::choice(plain))
        .optional("titledSingle", field::choice(options.map(field::titled)))
        .optional("legacyEnum", field::choice(old.map(field::titled)).legacy_titles(true))
        .optional("untitledMulti", field::choices(plain))
        .optional("titledMulti", field::choices(several.map(field::titled)));
    Ok(format!("Elicitation completed: {}", in_words(cx.elicit("choices", form).await?)))
}

async fn name(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    let form = Form::new("What is your name?").required("name", field::text());
    Ok(format!("User response: {}", in_words(cx.elicit("name", form).await?)))
}

/// The outcome of a question, in words.
fn in_words(answer: Elicited<JsonObject>) -> String {
    let (action, content) = match answer {
        Elicited::Accept(content) => ("accept", content),
        Elicited::Decline => ("decline", JsonObject::new()),
        Elicited::Cancel => ("cancel", JsonObject::new()),
    };
    format!("action={action}, content={}", Value::Object(content))
}
