//! Calls tools of a server that may ask something in return, and answers that: which folders we work in, what our model
//! sends, the answer of our user.
//!
//! ```text
//! cargo run -p agentwire-mcp-hub --example answering -- [--legacy] TARGET (TOOL JSON)...
//! cargo run -p agentwire-mcp-hub --example answering -- 'my-server --stdio' ask-a-friend '{"about": "roots"}'
//! ```
//!
//! With `--legacy` only legacy revisions are spoken. There a server asks by requests of its own; since 2026-07-28 it asks by
//! results. The functions are the same.
#![allow(clippy::print_stdout, reason = "a program that prints")]

use agentwire_jsonrpc::ErrorObject;
use agentwire_mcp_client::{BoxError, Client, Era, RemoteServer};
use agentwire_mcp_hub::schema::{
    CreateMessageRequest, CreateMessageResult, ElicitFormRequest, ElicitResult, JsonObject, Root, TextContent,
};
use agentwire_mcp_hub::{ConnectOptions, Target, connect_to};

/// The tools to call, in order, each with its arguments.
type Calls = Vec<(String, JsonObject)>;

/// A client advertises what it was given something to answer with.
fn client() -> Client {
    Client::new("answering", env!("CARGO_PKG_VERSION"))
        .roots(vec![Root::new("file:///projects/here").name("Here"), Root::new("file:///projects/there")])
        .sampling(sample)
        .elicitation(elicit)
}

/// Here a language model would be asked, once the user has agreed.
async fn sample(request: CreateMessageRequest) -> Result<CreateMessageResult, ErrorObject> {
    eprintln!("[asked for at most {} tokens]", request.max_tokens);
    Ok(CreateMessageResult::new("parrot", TextContent::new("Pieces of eight!")))
}

/// Here the user would see a form. This one fills in every form; and as there is no function for web pages, no server
/// may send the user to one.
async fn elicit(form: ElicitFormRequest) -> Result<ElicitResult, ErrorObject> {
    eprintln!("[asked: {}]", form.message);
    Ok(ElicitResult::accept(JsonObject::from_iter([("name".to_owned(), "Ada".into())])))
}

async fn call(server: RemoteServer, calls: Calls) -> Result<(), BoxError> {
    for (tool, arguments) in calls {
        let result = server.call_tool(&tool, arguments).await?;
        println!("{}", result.text());
        if result.is_error {
            return Err(format!("{tool} failed").into());
        }
    }
    Ok(())
}

fn read_arguments() -> Result<(Target, Era, Calls), BoxError> {
    let mut words = std::env::args().skip(1).peekable();
    let legacy = words.next_if_eq("--legacy").is_some();
    let era = if legacy { Era::Legacy } else { Era::Auto };
    let target = Target::parse(&words.next().ok_or("say where the server is")?)?;
    let mut calls = Calls::new();
    while let Some(tool) = words.next() {
        let arguments = words.next().ok_or("say the arguments of each tool, as JSON")?;
        calls.push((tool, serde_json::from_str(&arguments)?));
    }
    Ok((target, era, calls))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let (target, era, calls) = read_arguments()?;
    let client = client().era(era);
    connect_to(&target, &ConnectOptions::new(), client, async |server| call(server, calls).await).await?;
    Ok(())
}
