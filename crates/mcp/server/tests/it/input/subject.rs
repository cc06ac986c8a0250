//! A server under test whose tools ask the client questions.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agentwire_mcp_server::schema::{CreateMessageRequest, SamplingContent, SamplingMessage};
use agentwire_mcp_server::{
    BoxError, Context, Elicited, ErrorObject, Form, InputConfig, NoArguments, Page, Server, ToolError, field,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::raw::{Raw, alone_with};

#[derive(Deserialize)]
struct Person {
    name: String,
    age: u8,
}

fn person() -> Form<Person> {
    Form::new("Who are you?")
        .required("name", field::text().min_length(2_u64))
        .optional("age", field::integer().minimum(0.0).default_value(30.0))
        .typed()
}

fn greeting() -> CreateMessageRequest {
    CreateMessageRequest::new(vec![SamplingMessage::user("Greet them.")], 50)
}

fn said(content: &[SamplingContent]) -> &str {
    match content {
        [SamplingContent::Text(text)] => &text.text,
        _ => panic!("the tests answer with text"),
    }
}

#[derive(Deserialize, JsonSchema)]
struct Order {
    #[serde(default)]
    number: f64,
}

/// Three questions, one after the other.
async fn order(Order { number }: Order, cx: Context) -> Result<String, ToolError> {
    let Elicited::Accept(Person { name, age }) = cx.elicit("person", person()).await? else {
        return Ok("nobody".into());
    };
    let greeting = cx.sample("greeting", greeting()).await?;
    let roots = cx.list_roots().await?;
    Ok(format!("{number}: {}, {name} ({age}), in {}", said(&greeting.content), roots[0].uri))
}

/// Two at once.
async fn both(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    let (person, greeting) =
        futures::try_join!(cx.elicit("person", person()), cx.sample("greeting", greeting()))?;
    Ok(format!("{} {}", said(&greeting.content), person.accepted().map_or("nobody".into(), |it| it.name)))
}

async fn page(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    let page = Page::new("Please sign in", "https://example.com/sign-in").elicitation_id("page-1");
    let answer = cx.elicit("page", page).await?;
    cx.client().elicitation_complete("page-1").await?;
    Ok(format!("{answer:?}"))
}

async fn twice(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    cx.elicit("person", person()).await?;
    cx.elicit("person", person()).await?;
    Ok("asked twice".into())
}

/// The answer if the user cannot be asked.
async fn fallback(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    match cx.elicit("person", person()).await {
        Err(error) if error.is_missing_capability() => {
            Ok(format!("instead: {}", said(&cx.sample("greeting", greeting()).await?.content)))
        }
        outcome => Ok(format!("{}", outcome?.is_accepted())),
    }
}

async fn patient(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    tokio::select! {
        answer = cx.elicit("person", person()) => Ok(format!("{}", answer?.is_accepted())),
        () = tokio::time::sleep(Duration::from_secs(5)) => Ok("too slow".into()),
    }
}

/// A question that another task asks.
async fn elsewhere(_: NoArguments, cx: Context) -> Result<String, BoxError> {
    let asked = tokio::spawn(async move { cx.elicit("person", person()).await });
    Ok(asked.await?.map_or_else(|error| error.to_string(), |answer| answer.is_accepted().to_string()))
}

/// A question that comes after the answer. The next call shows its result.
async fn leave(_: NoArguments, cx: Context) -> Result<String, BoxError> {
    let left = LEFT.lock().unwrap().take();
    if let Some(left) = left {
        return Ok(left.await?);
    }
    *LEFT.lock().unwrap() = Some(tokio::spawn(async move {
        tokio::task::yield_now().await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        cx.elicit("person", person()).await.map_or_else(|error| error.to_string(), |_| "?".into())
    }));
    Ok("left".into())
}

static LEFT: std::sync::Mutex<Option<tokio::task::JoinHandle<String>>> = std::sync::Mutex::new(None);

async fn prompt(_: NoArguments, cx: Context) -> Result<String, ErrorObject> {
    let answer = cx.elicit("person", person()).await?;
    Ok(answer.accepted().map_or("nobody".into(), |person| person.name))
}

async fn resource(_uri: String, cx: Context) -> Result<String, ErrorObject> {
    prompt(NoArguments::default(), cx).await
}

pub(super) fn asker() -> Server {
    asker_with(|config| config, &Arc::default())
}

/// `effects` counts what was done as if the question had had an outcome.
pub(super) fn asker_with(
    change: impl FnOnce(InputConfig) -> InputConfig,
    effects: &Arc<AtomicUsize>,
) -> Server {
    let effects = effects.clone();
    Server::new("asker", "1.0.0")
        .input(change)
        .tool("order", "Ask for three things", order)
        .tool("other", "Ask for the same", order)
        .tool("both", "Ask for two things at once", both)
        .tool("page", "Send to a page", page)
        .tool("twice", "Ask the same again", twice)
        .tool("fallback", "Ask something else", fallback)
        .tool("patient", "Wait for five seconds", patient)
        .tool("leave", "Ask when it is too late", leave)
        .tool("elsewhere", "Ask from another task", elsewhere)
        .tool("swallow", "Take any error for a no", move |_: NoArguments, cx: Context| {
            let effects = effects.clone();
            async move {
                let answer = cx.elicit("person", person()).await;
                effects.fetch_add(1, Ordering::Relaxed);
                answer.ok().and_then(Elicited::accepted).map_or("nobody".to_owned(), |person| person.name)
            }
        })
        .tool("ask", "Has the name of a prompt", fallback)
        .prompt("ask", "Ask", prompt)
        .resource("memo:///ask", "ask", resource)
        .prompt("late", "Never asks", async |_: NoArguments, _cx| "hello")
}

pub(super) fn all() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} })
}

/// Params of a modern request, from a client that can be asked.
pub(super) fn from(capabilities: Value, params: Value) -> Value {
    alone_with(params, json!({ "io.modelcontextprotocol/clientCapabilities": capabilities }))
}

/// The same request again, with answers to what it was answered.
pub(super) fn again(params: &Value, wanted: &Value, responses: Value) -> Value {
    assert_eq!(wanted["resultType"], "input_required", "{wanted}");
    let mut params = params.clone();
    params["inputResponses"] = responses;
    params["requestState"] = wanted["requestState"].clone();
    params
}

/// The answer to each question.
pub(super) fn answer(method: &str) -> Value {
    match method {
        "elicitation/create" => json!({ "action": "accept", "content": { "name": "Ada" } }),
        "sampling/createMessage" => {
            json!({ "role": "assistant", "content": { "type": "text", "text": "Hello" }, "model": "m" })
        }
        "roots/list" => json!({ "roots": [{ "uri": "file:///work" }] }),
        other => panic!("nobody asks {other}"),
    }
}

/// Answers all that is asked until the request is done. Gives the result, and how often it was answered by questions.
pub(super) async fn rounds(raw: &mut Raw, method: &str, params: Value) -> (Value, usize) {
    let mut next = params.clone();
    for round in 0..10 {
        let result = raw.result_of(method, next).await;
        let Some(requests) = result["inputRequests"].as_object() else {
            return (result, round);
        };
        let answers = requests.iter().map(|(key, request)| {
            assert!(request.get("id").is_none() && request.get("jsonrpc").is_none(), "{request}");
            (key.clone(), answer(request["method"].as_str().unwrap()))
        });
        next = again(&params, &result, Value::Object(answers.collect()));
    }
    panic!("it asks for ever");
}
