//! Tools and a prompt that ask the client: once, several things at once, or one after the other.
//!
//! In a session each question is a request. To a modern request it is the result, and the client makes its
//! request again with the answer; what it carries in between is sealed by the library.

use agentwire_mcp_server::schema::{
    CreateMessageRequest, CreateMessageResult, SamplingContent, SamplingMessage,
};
use agentwire_mcp_server::{Context, Elicited, ErrorObject, Form, NoArguments, Server, ToolError, field};
use serde::Deserialize;

pub(crate) fn offer(server: Server) -> Server {
    server
        .tool("test_input_required_result_elicitation", "Asks for a name", greet)
        .tool("test_input_required_result_sampling", "Asks the client's model", capital)
        .tool("test_input_required_result_list_roots", "Asks for the client's folders", folders)
        .tool("test_input_required_result_request_state", "Asks for a confirmation", confirm)
        .tool("test_input_required_result_multiple_inputs", "Asks for three things at once", at_once)
        .tool("test_input_required_result_multi_round", "Asks for one thing after the other", in_turn)
        .tool("test_input_required_result_tampered_state", "Asks for a confirmation", confirm)
        .tool("test_input_required_result_capabilities", "Asks what the client can answer", sample_or_greet)
        .prompt("test_input_required_result_prompt", "A prompt that asks for a context", prompt)
}

#[derive(Deserialize)]
struct Name {
    name: String,
}

fn name_form(message: &str) -> Form<Name> {
    Form::new(message).required("name", field::text()).typed()
}

async fn greet(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    Ok(match cx.elicit("user_name", name_form("What is your name?")).await? {
        Elicited::Accept(Name { name }) => format!("Hello, {name}!"),
        Elicited::Decline | Elicited::Cancel => "Hello, whoever you are!".to_owned(),
    })
}

fn question(text: &str, max_tokens: u64) -> CreateMessageRequest {
    CreateMessageRequest::new(vec![SamplingMessage::user(text)], max_tokens)
}

fn text_of(message: &CreateMessageResult) -> String {
    message.content.iter().filter_map(SamplingContent::as_text).collect()
}

async fn capital(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    let answer = cx.sample("capital_question", question("What is the capital of France?", 100)).await?;
    Ok(format!("The model says: {}", text_of(&answer)))
}

async fn folders(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    let roots = cx.list_roots_as("client_roots").await?;
    let uris: Vec<String> = roots.into_iter().map(|root| root.uri).collect();
    Ok(format!("The client works in: {}", uris.join(", ")))
}

async fn confirm(_: NoArguments, cx: Context) -> Result<&'static str, ToolError> {
    let form = Form::new("Please confirm").required("ok", field::boolean());
    Ok(match cx.elicit("confirm", form).await? {
        Elicited::Accept(answer) if answer["ok"] == true => "state-ok",
        _ => "Not confirmed",
    })
}

async fn at_once(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    let (name, greeting, roots) = tokio::try_join!(
        cx.elicit("user_name", name_form("What is your name?")),
        cx.sample("greeting", question("Generate a greeting", 50)),
        cx.list_roots_as("client_roots"),
    )?;
    let name = name.accepted().map_or_else(|| "somebody".to_owned(), |answer| answer.name);
    Ok(format!("{} {name} works in {} folders.", text_of(&greeting), roots.len()))
}

#[derive(Deserialize)]
struct Color {
    color: String,
}

async fn in_turn(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    let first = name_form("Step 1: What is your name?");
    let Elicited::Accept(Name { name }) = cx.elicit("step1", first).await? else {
        return Ok("Somebody without a name".to_owned());
    };
    // The second question knows the answer to the first one.
    let second = Form::new(format!("Step 2: What is your favorite color, {name}?"))
        .required("color", field::text())
        .typed::<Color>();
    Ok(match cx.elicit("step2", second).await? {
        Elicited::Accept(Color { color }) => format!("{name} likes {color}"),
        Elicited::Decline | Elicited::Cancel => format!("{name} likes no color"),
    })
}

async fn sample_or_greet(nothing: NoArguments, cx: Context) -> Result<String, ToolError> {
    match cx.sample("capital_question", question("What is the capital of France?", 100)).await {
        Ok(answer) => Ok(text_of(&answer)),
        Err(error) if error.is_missing_capability() => greet(nothing, cx).await,
        Err(error) => Err(error.into()),
    }
}

async fn prompt(_: NoArguments, cx: Context) -> Result<String, ErrorObject> {
    let form = Form::new("What context should the prompt use?").required("context", field::text());
    let answer = cx.elicit("user_context", form).await?.accepted();
    let context = answer.as_ref().and_then(|answer| answer["context"].as_str());
    Ok(format!("Use this context: {}", context.unwrap_or("none")))
}
