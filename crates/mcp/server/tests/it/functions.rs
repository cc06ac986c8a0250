//! The parameters of functions, and their state.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use agentwire_mcp_server::schema::Tool;
use agentwire_mcp_server::{
    Context, PartialArgument, RawJson, Server, ServerPrompt, ServerResource, ServerResourceTemplate,
    ServerTool, State,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::raw::{NEWEST, with_session};

#[derive(Deserialize, JsonSchema)]
struct Word {
    word: String,
}

type Counter = Arc<AtomicU64>;

async fn nothing() -> &'static str {
    "nothing"
}

async fn argument(Word { word }: Word) -> String {
    word
}

async fn context(cx: Context) -> String {
    cx.revision().to_string()
}

async fn both(Word { word }: Word, cx: Context) -> String {
    format!("{word} {}", cx.revision())
}

async fn state(counter: State<Counter>) -> String {
    counter.fetch_add(1, Ordering::Relaxed).to_string()
}

async fn state_and_argument(State(counter): State<Counter>, Word { word }: Word) -> String {
    format!("{} {word}", counter.fetch_add(1, Ordering::Relaxed))
}

async fn state_and_context(counter: State<Counter>, cx: Context) -> String {
    format!("{} {}", counter.fetch_add(1, Ordering::Relaxed), cx.revision())
}

async fn all(counter: State<Counter>, Word { word }: Word, cx: Context) -> String {
    format!("{} {word} {}", counter.fetch_add(1, Ordering::Relaxed), cx.revision())
}

async fn uri(counter: State<Counter>, uri: String, _cx: Context) -> String {
    format!("{} {uri}", counter.fetch_add(1, Ordering::Relaxed))
}

async fn raw(State(counter): State<Counter>, arguments: RawJson) -> String {
    format!("{} {}", counter.fetch_add(1, Ordering::Relaxed), arguments.as_str())
}

async fn complete(greeting: State<&'static str>, typed: PartialArgument) -> Vec<String> {
    typed.among([greeting.to_string()])
}

fn server() -> Server {
    let definition = Tool::new("raw", agentwire_mcp_server::schema::JsonSchema::any_object());
    Server::new("forms", "1")
        .state("unused")
        .state(Counter::default())
        .state("hello")
        .tool("nothing", "", nothing)
        .tool("argument", "", argument)
        .tool("context", "", context)
        .tool("both", "", both)
        .tool("state", "", state)
        .tool("state_and_argument", "", state_and_argument)
        .tool("state_and_context", "", state_and_context)
        .tool("all", "", all)
        .with_tool(ServerTool::from_definition(definition, raw))
        .resource("memo:///uri", "uri", uri)
        .resource("memo:///nothing", "nothing", nothing)
        .resource_template("words:///{word}", "word", all)
        .with_prompt(ServerPrompt::new("prompt", "", all).complete("word", complete))
        .prompt("bare", "", state)
}

#[tokio::test(start_paused = true)]
async fn a_function_takes_only_what_it_needs() {
    with_session(&server(), NEWEST, async |raw| {
        for (name, expected) in [
            ("nothing", "nothing".to_owned()),
            ("argument", "hi".to_owned()),
            ("context", NEWEST.to_string()),
            ("both", format!("hi {NEWEST}")),
            ("state", "0".to_owned()),
            ("state_and_argument", "1 hi".to_owned()),
            ("state_and_context", format!("2 {NEWEST}")),
            ("all", format!("3 hi {NEWEST}")),
            ("raw", r#"4 {"word":"hi"}"#.to_owned()),
        ] {
            let params = json!({ "name": name, "arguments": { "word": "hi" } });
            let result = raw.result_of("tools/call", params).await;
            assert_eq!(result["content"][0]["text"], json!(expected), "{name}");
        }
        for (uri, expected) in [
            ("memo:///uri", "5 memo:///uri".to_owned()),
            ("memo:///nothing", "nothing".to_owned()),
            ("words:///yes", format!("6 yes {NEWEST}")),
        ] {
            let read = raw.result_of("resources/read", json!({ "uri": uri })).await;
            assert_eq!(read["contents"][0]["text"], json!(expected), "{uri}");
        }
        let prompt = json!({ "name": "prompt", "arguments": { "word": "so" } });
        let prompt = raw.result_of("prompts/get", prompt).await;
        assert_eq!(prompt["messages"][0]["content"]["text"], json!(format!("7 so {NEWEST}")));
        let bare = raw.result_of("prompts/get", json!({ "name": "bare" })).await;
        assert_eq!(bare["messages"][0]["content"]["text"], "8");
        let typed = json!({
            "ref": { "type": "ref/prompt", "name": "prompt" },
            "argument": { "name": "word", "value": "he" },
        });
        let completed = raw.result_of("completion/complete", typed).await;
        assert_eq!(completed["completion"]["values"], json!(["hello"]), "the last state of a type counts");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn schema_describes_the_arguments_of_a_function() {
    let tools =
        with_session(&server(), NEWEST, async |raw| raw.result_of("tools/list", json!({})).await).await;
    let tools = tools["tools"].as_array().expect("a list");
    let takes = |name: &str| {
        let tool = tools.iter().find(|tool| tool["name"] == name).expect("it is there");
        tool["inputSchema"]["required"].clone()
    };
    for name in ["argument", "both", "state_and_argument", "all"] {
        assert_eq!(takes(name), json!(["word"]), "{name}");
    }
    for name in ["nothing", "context", "state", "state_and_context"] {
        assert_eq!(takes(name), Value::Null, "{name}");
    }
}

/// The message of the panic of a registration, and its line if it is in this file.
fn panic_of(register: impl FnOnce()) -> (String, Option<u32>) {
    let (message, file, line) = crate::registration::panic_of(register);
    (message, file.ends_with("functions.rs").then_some(line))
}

#[test]
fn missing_state_is_refused_where_a_function_is_added() {
    let cases: [(&str, fn()); 6] = [
        ("the tool `count`", || drop(Server::new("s", "1").tool("count", "", state))),
        ("the tool `late`", || Server::new("s", "1").add_tool(ServerTool::new("late", "", all))),
        ("the resource `memo:///x`", || {
            drop(Server::new("s", "1").with_resource(ServerResource::new("memo:///x", "x", uri)));
        }),
        ("the resource template `w:///{word}`", || {
            drop(Server::new("s", "1").with_resource_template(ServerResourceTemplate::new(
                "w:///{word}",
                "w",
                all,
            )));
        }),
        ("the prompt `p`", || drop(Server::new("s", "1").prompt("p", "", state))),
        ("the tool `before`", || {
            drop(Server::new("s", "1").tool("before", "", state).state(Counter::default()));
        }),
    ];
    for (named, register) in cases {
        let (message, line) = panic_of(register);
        assert!(message.starts_with(named), "{message}");
        assert!(message.contains("`State<alloc::sync::Arc<core::sync::atomic::Atomic"), "{message}");
        assert!(message.contains("`Server::state`"), "{message}");
        assert!(line.is_some(), "{named}: the line is the caller's");
    }
    let completer = || {
        let prompt = ServerPrompt::new("p", "", argument).complete("word", complete);
        drop(Server::new("s", "1").with_prompt(prompt));
    };
    let (message, _) = panic_of(completer);
    assert!(message.starts_with("the prompt `p` takes `State<&str>`"), "{message}");
}

#[test]
fn an_invalid_name_of_a_tool_is_refused() {
    for name in ["", "two words", "caf\u{e9}", "a/b", "line\nbreak", &"x".repeat(129)] {
        let (message, line) = panic_of(|| drop(Server::new("s", "1").tool(name, "", nothing)));
        assert!(message.starts_with(&format!("the tool {name:?}: a name is 1 to 128 of")), "{message}");
        assert!(line.is_some(), "the line is the caller's");
    }
    let longest = "a-Z_0.".repeat(21) + "xx";
    drop(Server::new("s", "1").tool(longest, "", nothing));
}
