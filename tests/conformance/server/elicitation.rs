//! Tools that ask the user by a form.

use agentwire_mcp_server::schema::{
    BooleanSchema, Choice, ElicitAction, ElicitRequest, ElicitResult, ElicitSchema, MultiSelectSchema,
    NumberKind, NumberSchema, SingleSelectSchema, StringSchema,
};
use agentwire_mcp_server::{Context, NoArguments, Server, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) fn offer(server: Server) -> Server {
    server
        .tool("test_elicitation", "Asks the user who they are", ask)
        .tool("test_elicitation_sep1034_defaults", "Asks with fields that are filled in already", defaults)
        .tool("test_elicitation_sep1330_enums", "Asks with every kind of choice", choices)
        .tool("test_streaming_elicitation", "Asks the user for a name", name)
}

#[derive(Deserialize, JsonSchema)]
struct Ask {
    /// What to ask.
    message: String,
}

async fn ask(Ask { message }: Ask, cx: Context) -> Result<String, ToolError> {
    let form = ElicitSchema::new()
        .required("username", StringSchema::new().description("User's response"))
        .required("email", StringSchema::new().description("User's email address"));
    Ok(format!("User response: {}", elicit(&cx, &message, form).await?))
}

async fn defaults(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    let status = SingleSelectSchema::new(["active", "inactive", "pending"]).default_value("active");
    let form = ElicitSchema::new()
        .optional("name", StringSchema::new().default_value("John Doe"))
        .optional("age", NumberSchema::new(NumberKind::Integer).default_value(30.0))
        .optional("score", NumberSchema::new(NumberKind::Number).default_value(95.5))
        .optional("status", status)
        .optional("verified", BooleanSchema::new().default_value(true));
    let message = "Please review and update the form fields with defaults";
    Ok(format!("Elicitation completed: {}", elicit(&cx, message, form).await?))
}

async fn choices(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    let plain = ["option1", "option2", "option3"];
    let titled = |names: [(&str, &str); 3]| names.map(|(value, title)| Choice::new(value).title(title));
    let options =
        titled([("value1", "First Option"), ("value2", "Second Option"), ("value3", "Third Option")]);
    let old = titled([("opt1", "Option One"), ("opt2", "Option Two"), ("opt3", "Option Three")]);
    let several =
        titled([("value1", "First Choice"), ("value2", "Second Choice"), ("value3", "Third Choice")]);
    let form = ElicitSchema::new()
        .optional("untitledSingle", SingleSelectSchema::new(plain))
        .optional("titledSingle", SingleSelectSchema::new(options))
        .optional("legacyEnum", SingleSelectSchema::new(old).legacy_titles(true))
        .optional("untitledMulti", MultiSelectSchema::new(plain))
        .optional("titledMulti", MultiSelectSchema::new(several));
    let message = "Please select options from the enum fields";
    Ok(format!("Elicitation completed: {}", elicit(&cx, message, form).await?))
}

async fn name(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    let form = ElicitSchema::new().required("name", StringSchema::new());
    Ok(format!("User response: {}", elicit(&cx, "What is your name?", form).await?))
}

/// Asks, and says in words what came of it.
async fn elicit(cx: &Context, message: &str, form: ElicitSchema) -> Result<String, ToolError> {
    let answer: ElicitResult = cx.client().call(ElicitRequest::form(message, form)).await?;
    let action = match answer.action {
        ElicitAction::Accept => "accept",
        ElicitAction::Decline => "decline",
        ElicitAction::Cancel => "cancel",
        _ => "unknown",
    };
    let content = serde_json::to_string(&answer.content.unwrap_or_default())?;
    Ok(format!("action={action}, content={content}"))
}
