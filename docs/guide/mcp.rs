//! The whole program of `mcp.md`: `my-mcp` and `my-mcp ADDRESS` serve notes, over stdio and over HTTP, and
//! `my-mcp call TARGET TOOL [JSON]` calls a tool of any server and answers what it asks.
#![allow(clippy::print_stdout, reason = "a program that prints")]

use std::time::Duration;
use std::{env, fs, io};

use agentwire::http::server::{Endpoint, EndpointConfig, serve};
use agentwire::mcp::client::schema::{ElicitFormRequest, ElicitResult, JsonObject};
use agentwire::mcp::client::{BoxError, Cache, Client, Tasks as FollowTasks};
use agentwire::mcp::hub::{ConnectOptions, Target, connect_to};
use agentwire::mcp::server::{
    Context, Elicited, ErrorObject, Form, NoArguments, PartialArgument, Server, ServerPrompt,
    ServerResourceTemplate, ServerTool, Structured, Tasks, ToolError, field,
    schema::{TaskSupport, ToolAnnotations},
};
use agentwire::schemars::{self, JsonSchema};
use agentwire::serde_json::{self, Value};
use agentwire::stdio::stdio;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

const FILE: &str = "notes.txt";

/// The notes, one to a line.
fn notes() -> io::Result<Vec<String>> {
    match fs::read_to_string(FILE) {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

#[derive(Deserialize, JsonSchema)]
struct Note {
    /// The note, in one line.
    text: String,
}

async fn note(Note { text }: Note, _cx: Context) -> Result<&'static str, ToolError> {
    if text.trim().is_empty() || text.contains('\n') {
        return Err(ToolError::new("a note is one line of text"));
    }
    let mut all = notes()?;
    all.push(text);
    fs::write(FILE, all.join("\n"))?;
    Ok("Noted.")
}

#[derive(Deserialize, JsonSchema)]
struct Search {
    /// Text that the notes must contain.
    word: String,
    /// How many notes to find at most.
    limit: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
struct Found {
    notes: Vec<String>,
}

async fn search(Search { word, limit }: Search, cx: Context) -> Result<Structured<Found>, ToolError> {
    let (all, mut found) = (notes()?, Vec::new());
    let total = all.len() as f64;
    for (number, note) in all.into_iter().enumerate() {
        cx.progress(number as f64 + 1.0, Some(total), Some("searching")).await?;
        if note.contains(&word) && limit.is_none_or(|limit| found.len() < limit) {
            found.push(note);
        }
    }
    Ok(Structured(Found { notes: found }))
}

async fn clear(_: NoArguments, cx: Context) -> Result<&'static str, ToolError> {
    let form = Form::new(format!("Remove {} notes?", notes()?.len()))
        .required("sure", field::boolean().title("Yes, all of them").default_value(false));
    match cx.elicit("confirm", form).await? {
        Elicited::Accept(answer) if answer["sure"] == true => {
            fs::write(FILE, "")?; // side effects come after the last question
            Ok("Removed.")
        }
        _ => Ok("Kept."),
    }
}

/// Takes long, so that clients that can leave it and come back do so.
async fn tidy(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    let mut all = notes()?;
    let before = all.len();
    cx.status(format!("comparing {before} notes"));
    tokio::time::sleep(Duration::from_secs(1)).await; // the work
    all.sort_unstable();
    all.dedup();
    let form = Form::new(format!("Remove {} of {before} notes?", before - all.len()))
        .required("sure", field::boolean().default_value(false));
    match cx.elicit("confirm", form).await? {
        Elicited::Accept(answer) if answer["sure"] == true => {
            fs::write(FILE, all.join("\n"))?;
            Ok(format!("{} are left.", all.len()))
        }
        _ => Ok("Kept.".to_owned()),
    }
}

async fn all(_uri: String, _cx: Context) -> Result<String, ErrorObject> {
    Ok(notes().map_err(ErrorObject::internal_error)?.join("\n"))
}

#[derive(Deserialize)]
struct Number {
    number: usize,
}

/// Returns `None` if the note does not exist.
async fn one(Number { number }: Number) -> std::io::Result<Option<String>> {
    let all = notes()?;
    Ok(number.checked_sub(1).and_then(|index| all.into_iter().nth(index)))
}

#[derive(Deserialize, JsonSchema)]
struct Letter {
    /// Who gets it.
    to: String,
    style: Option<String>,
}

async fn letter(Letter { to, style }: Letter, _cx: Context) -> String {
    format!("Write a {} letter to {to} about my notes.", style.as_deref().unwrap_or("short"))
}

async fn numbers(typed: PartialArgument, _cx: Context) -> Result<Vec<String>, ErrorObject> {
    let all = notes().map_err(ErrorObject::internal_error)?;
    Ok(typed.among((1..=all.len()).map(|number| number.to_string())))
}

async fn styles(typed: PartialArgument, _cx: Context) -> Vec<String> {
    typed.among(["formal", "friendly", "short"])
}

fn server() -> Server {
    let search = ServerTool::new("search", "Find notes", search)
        .annotations(ToolAnnotations::new().read_only_hint(true));
    let tidy = ServerTool::new("tidy", "Remove notes that are there twice", tidy).task(TaskSupport::Optional);
    let one = ServerResourceTemplate::new("notes:///{number}", "note", one)
        .mime_type("text/plain")
        .complete("number", numbers);
    Server::new("notes", "1.0.0")
        .instructions("Look for a note before you write it again.")
        .tool("note", "Note something", note)
        .with_tool(search)
        .tool("clear", "Remove all notes", clear)
        .tasks(Tasks::new(|work| drop(tokio::spawn(work))).ttl(Duration::from_secs(600)))
        .with_tool(tidy)
        .resource("notes:///all", "all", all)
        .with_resource_template(one)
        .with_prompt(ServerPrompt::new("letter", "Write a letter", letter).complete("style", styles))
}

async fn listen(address: &str) -> Result<(), BoxError> {
    let listener = TcpListener::bind(address).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    let server = server();
    serve(listener, Endpoint::serving(EndpointConfig::new(), server)).await;
    Ok(())
}

async fn call(target: &str, tool: &str, arguments: &str) -> Result<(), BoxError> {
    let arguments: JsonObject = serde_json::from_str(arguments)?;
    let client =
        Client::new("my-mcp", "1.0.0").elicitation(ask).cache(Cache::new()).tasks(FollowTasks::new());
    connect_to(&Target::parse(target)?, &ConnectOptions::new(), client, async |server| {
        eprintln!("{}, revision {}", server.info().name, server.revision());
        let result = server
            .call_tool(tool, arguments)
            .timeout(Duration::from_secs(30))
            .on_progress(|report| eprintln!("{} of {:?}", report.progress, report.total))
            .on_task(|state| eprintln!("{:?} {}", state.status, state.message.as_deref().unwrap_or("")))
            .await?;
        println!("{}", result.text());
        if result.is_error { Err("the tool failed".into()) } else { Ok(()) }
    })
    .await?;
    Ok(())
}

/// Asks the person for each field of a form. An empty line leaves a field at its default; the end of stdin declines.
async fn ask(form: ElicitFormRequest) -> Result<ElicitResult, ErrorObject> {
    let asking = tokio::task::spawn_blocking(move || {
        eprintln!("{}", form.message);
        let mut content = JsonObject::new();
        for (name, _) in form.requested_schema.properties {
            eprint!("{name}: ");
            let mut line = String::new();
            if io::stdin().read_line(&mut line)? == 0 {
                return Ok(ElicitResult::decline());
            }
            match line.trim() {
                "" => {}
                text => {
                    let value = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
                    content.insert(name, value);
                }
            }
        }
        Ok(ElicitResult::accept(content))
    });
    let answer: io::Result<_> = asking.await.map_err(ErrorObject::internal_error)?;
    answer.map_err(ErrorObject::internal_error)
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let arguments: Vec<_> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => Ok(server().serve(stdio()?).await?),
        ["call", target, tool] => call(target, tool, "{}").await,
        ["call", target, tool, arguments] => call(target, tool, arguments).await,
        [address] => listen(address).await,
        _ => Err("usage: my-mcp [ADDRESS | call TARGET TOOL [JSON]]".into()),
    }
}
