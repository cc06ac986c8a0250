//! The server of the official conformance suite's fixtures, with our own client, over every transport in every revision
//! that the transport carries. The test prints a table, and each cell must match the promise of its revision.

mod fixture;
mod tasks;

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentwire_jsonrpc::{Frame, Message, RequestId};
use agentwire_mcp_client::schema::{
    CompleteRequest, CompletionArgument, CreateMessageResult, ElicitResult, GetPromptRequest, LoggingLevel,
    PromptReference, Revision, Root, SubscriptionFilter,
};
use agentwire_mcp_client::{BoxError, CallError, Client, Era, RemoteServer, Tasks};
use agentwire_transport::{Direction, Packet, Transport, tap};
use agentwire_transport_http::client::Config as Http;
use agentwire_transport_sse::client::Config as Sse;
use agentwire_transport_stdio::{Child, Command};
use futures::future::join_all;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use self::fixture::{Asking, Listening};
use crate::binaries::everything_server;

/// The longest time of one check on a busy machine.
const SOON: Duration = Duration::from_secs(60);

/// Longer than the cancelled call of a tool would take.
const WORK: Duration = Duration::from_millis(2000);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Over {
    Stdio,
    Http,
    Sse,
}

impl Over {
    const ALL: [Self; 3] = [Self::Stdio, Self::Http, Self::Sse];

    /// Whether the transport can carry that revision. HTTP+SSE is that of the first; servers keep it for clients that
    /// know nothing newer, whichever session they open.
    fn carries(self, revision: Revision) -> bool {
        match self {
            Self::Stdio => true,
            Self::Http => revision.has_streamable_http(),
            Self::Sse => revision.is_legacy(),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Cell {
    Works,
    /// The server does without, and reports that.
    Absent,
    Fails(String),
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Works => "works",
            Self::Absent => "-",
            Self::Fails(_) => "FAILS",
        })
    }
}

const COLUMNS: [&str; 17] = [
    "list",
    "call",
    "error",
    "progress",
    "logging",
    "resources",
    "templates",
    "subscribe",
    "prompts",
    "completion",
    "changes",
    "elicitation",
    "sampling",
    "roots",
    "tasks",
    "cancel",
    "after",
];

/// The promise of a revision.
fn promised(column: &str, revision: Revision) -> Cell {
    match column {
        // A form came with 2025-06-18.
        "elicitation" if revision < Revision::V2025_06_18 => Cell::Absent,
        // An experiment of 2025-11-25, and an extension since.
        "tasks" if revision < Revision::V2025_11_25 => Cell::Absent,
        _ => Cell::Works,
    }
}

#[tokio::test]
async fn our_client_and_the_fixture_agree_over_every_transport_in_every_revision() {
    let program = everything_server();
    let network = Listening::start(program);
    let rows = Over::ALL.into_iter().flat_map(|over| {
        let revisions = Revision::ALL.iter().copied().filter(move |revision| over.carries(*revision));
        revisions.map(move |revision| (over, revision))
    });
    let rows: Vec<_> = rows.collect();
    assert_eq!(rows.len(), 5 + 4 + 4);
    let table = join_all(rows.iter().map(|&(over, revision)| row(program, &network, over, revision))).await;

    eprint!("{:<18}", "");
    eprintln!("{}", COLUMNS.map(|column| format!("{column:<12}")).concat().trim_end());
    let mut wrong = Vec::new();
    for ((over, revision), cells) in rows.into_iter().zip(table) {
        let line: String = cells.iter().map(|cell| format!("{cell:<12}")).collect();
        eprintln!("{:<6}{:<12}{}", format!("{over:?}"), revision.as_str(), line.trim_end());
        assert_eq!(cells.len(), COLUMNS.len());
        for (column, cell) in COLUMNS.into_iter().zip(cells) {
            let expected = promised(column, revision);
            if cell != expected {
                wrong.push(format!(
                    "{over:?} {revision:?} {column}: {cell:?}, where {expected:?} is promised"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

async fn row(program: &Path, network: &Listening, over: Over, revision: Revision) -> Vec<Cell> {
    let all_fail = |why: &dyn fmt::Display| vec![Cell::Fails(why.to_string()); COLUMNS.len()];
    let transport: Result<Box<dyn Transport>, BoxError> = match over {
        Over::Stdio => {
            Child::spawn(Command::new(program)).map(|child| Box::new(child) as _).map_err(Into::into)
        }
        Over::Http => open_http(&network.url("/mcp")),
        Over::Sse => open_sse(&network.url("/sse")),
    };
    let transport = match transport {
        Ok(transport) => transport,
        Err(why) => return all_fail(&why),
    };
    let observed = Observations::default();
    let watched = observed.clone();
    let transport = tap(Asking { transport, revision }, move |direction, packet: &Packet| {
        watched.packets.lock().expect("no panic").push((direction, packet.clone()));
    });
    let driven = client(&observed, revision).connect(transport, async |server| {
        if server.revision() != revision {
            return Err(format!("{:?} was agreed on", server.revision()).into());
        }
        Ok(cells(&server, &observed).await)
    });
    match timeout(2 * SOON, driven).await {
        Ok(Ok(cells)) => cells,
        Ok(Err(why)) => all_fail(&why.message()),
        Err(late) => all_fail(&late),
    }
}

fn open_http(url: &str) -> Result<Box<dyn Transport>, BoxError> {
    Ok(Box::new(Http::new(url)?.open()?))
}

fn open_sse(url: &str) -> Result<Box<dyn Transport>, BoxError> {
    Ok(Box::new(Sse::new(url)?.open()?))
}

/// The messages that a client of a row receives beside its answers.
#[derive(Clone, Default)]
struct Observations {
    packets: Arc<Mutex<Vec<(Direction, Packet)>>>,
    logged: Arc<Mutex<Vec<String>>>,
    changed: Arc<Notify>,
    updated: Arc<Notify>,
}

impl Observations {
    fn messages(&self, way: Direction) -> Vec<Message> {
        let packets = self.packets.lock().expect("no panic");
        let ours = packets.iter().filter(|(direction, _)| *direction == way);
        let messages = ours.filter_map(|(_, packet)| match packet {
            Packet::Frame { frame: Frame::Single(message), .. } => Some(message.clone()),
            _ => None,
        });
        messages.collect()
    }
}

fn client(observed: &Observations, revision: Revision) -> Client {
    let (logged, changed, updated) =
        (observed.logged.clone(), observed.changed.clone(), observed.updated.clone());
    Client::new("table", "1")
        .era(if revision.is_legacy() { Era::Legacy } else { Era::Modern })
        .log_level(LoggingLevel::Info)
        .on_log(move |message| logged.lock().expect("no panic").push(message.data.as_str().to_owned()))
        .on_tools_changed(move || changed.notify_one())
        .on_resource_updated(move |_uri| updated.notify_one())
        .tasks(Tasks::new())
        .roots(vec![Root::new("file:///home/row")])
        .sampling(async |_| Ok(CreateMessageResult::new("a-model", "Forty-two.")))
        .elicitation(async |_| {
            let form = json!({ "username": "ann", "email": "ann@example.com", "confirm": true });
            Ok(ElicitResult::accept(form.as_object().expect("it is one").clone()))
        })
}

async fn cells(server: &RemoteServer, observed: &Observations) -> Vec<Cell> {
    vec![
        works(list(server)).await,
        works(returns_text(
            server,
            "test_simple_text",
            json!({}),
            "This is a simple text response for testing.",
        ))
        .await,
        works(error(server)).await,
        works(progress(server)).await,
        works(logging(server, observed)).await,
        works(resources(server)).await,
        works(templates(server)).await,
        works(subscribe(server, observed)).await,
        works(prompts(server)).await,
        works(completion(server)).await,
        works(changes(server, observed)).await,
        asks(server, "test_elicitation", json!({ "message": "Who?" }), "ann@example.com").await,
        asks(server, "test_sampling", json!({ "prompt": "What?" }), "Forty-two.").await,
        asks(server, "test_list_roots", json!({}), "file:///home/row").await,
        tasks::tasks(server).await,
        works(cancel(server, observed)).await,
        works(list(server)).await,
    ]
}

async fn works(check: impl Future<Output = Result<(), BoxError>>) -> Cell {
    match timeout(SOON, check).await {
        Ok(Ok(())) => Cell::Works,
        Ok(Err(why)) => Cell::Fails(why.to_string()),
        Err(late) => Cell::Fails(late.to_string()),
    }
}

/// Calls a tool that asks the client a question. Without that ability, the tool returns an error.
async fn asks(server: &RemoteServer, tool: &str, arguments: Value, answer: &str) -> Cell {
    match timeout(SOON, server.call_tool(tool, arguments).into_future()).await {
        Ok(Ok(result)) if result.is_error && !result.text().contains(answer) => Cell::Absent,
        Ok(Err(CallError::Refused { .. })) => Cell::Absent,
        Ok(Ok(result)) if result.text().contains(answer) => Cell::Works,
        other => Cell::Fails(format!("{other:?}")),
    }
}

fn check(is_so: bool, what: impl fmt::Debug) -> Result<(), BoxError> {
    if is_so { Ok(()) } else { Err(format!("unexpected: {what:?}").into()) }
}

async fn returns_text(
    server: &RemoteServer,
    tool: &str,
    arguments: Value,
    text: &str,
) -> Result<(), BoxError> {
    let result = server.call_tool(tool, arguments).await?;
    check(!result.is_error && result.text() == text, result)
}

async fn list(server: &RemoteServer) -> Result<(), BoxError> {
    let tools = server.tools().collect().await?;
    check(tools.first().is_some_and(|tool| tool.name == "test_simple_text") && tools.len() > 10, &tools)?;
    let resources = server.resources().collect().await?;
    check(resources.iter().any(|resource| resource.uri == "test://static-text"), &resources)?;
    let prompts = server.prompts().collect().await?;
    check(prompts.iter().any(|prompt| prompt.name == "test_simple_prompt"), &prompts)
}

/// The two ways to fail: for the model, and for the program.
async fn error(server: &RemoteServer) -> Result<(), BoxError> {
    let failed = server.call_tool("test_error_handling", json!({})).await?;
    check(failed.is_error && failed.text().contains("intentionally"), failed)?;
    let unknown = server.call_tool("no_such_tool", json!({})).await;
    check(matches!(&unknown, Err(CallError::Refused { error, .. }) if error.code == -32602), unknown)
}

async fn progress(server: &RemoteServer) -> Result<(), BoxError> {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let received = reports.clone();
    let call = server.call_tool("test_tool_with_progress", json!({}));
    call.on_progress(move |report| received.lock().expect("no panic").push(report.progress)).await?;
    let reports = reports.lock().expect("no panic");
    check(*reports == [0.0, 50.0, 100.0], &*reports)
}

async fn logging(server: &RemoteServer, observed: &Observations) -> Result<(), BoxError> {
    server.call_tool("test_tool_with_logging", json!({})).await?;
    let logged = observed.logged.lock().expect("no panic");
    check(logged.len() == 3 && logged[2].contains("completed"), &*logged)
}

async fn resources(server: &RemoteServer) -> Result<(), BoxError> {
    let text = server.read_resource("test://static-text").await?;
    check(text.contents[0].as_text() == Some("This is the content of the static text resource."), text)?;
    let missing = server.read_resource("test://nowhere").await;
    check(matches!(missing, Err(CallError::Refused { .. })), missing)
}

async fn templates(server: &RemoteServer) -> Result<(), BoxError> {
    let templates = server.resource_templates().collect().await?;
    check(templates.iter().any(|one| one.uri_template == "test://template/{id}/data"), &templates)?;
    let filled = server.read_resource("test://template/42/data").await?;
    check(filled.contents[0].as_text().is_some_and(|text| text.contains("Data for ID: 42")), filled)
}

/// Updates of a resource arrive while it is subscribed. Over the network, other rows change the resource too.
async fn subscribe(server: &RemoteServer, observed: &Observations) -> Result<(), BoxError> {
    const WATCHED: &str = "test://watched-resource";
    let update = || server.call_tool("test_trigger_resource_update", json!({}));
    if server.revision().is_legacy() {
        server.subscribe(WATCHED).await?;
        update().await?;
        observed.updated.notified().await;
        server.unsubscribe(WATCHED).await?;
    } else {
        let filter = SubscriptionFilter::default().resource_subscriptions(vec![WATCHED.to_owned()]);
        let subscription = server.listen(filter.clone()).await?;
        check(*subscription.acknowledged() == filter, &subscription)?;
        update().await?;
        observed.updated.notified().await;
    }
    let more = || timeout(Duration::from_millis(200), observed.updated.notified());
    while more().await.is_ok() {}
    update().await?;
    check(more().await.is_err(), "an update arrived without a subscription")
}

async fn prompts(server: &RemoteServer) -> Result<(), BoxError> {
    let prompt =
        GetPromptRequest::new("test_prompt_with_arguments").argument("arg1", "x").argument("arg2", "y");
    let filled = server.get_prompt(prompt).await?;
    let text = filled.messages[0].content.as_text();
    check(text == Some("Prompt with arguments: arg1='x', arg2='y'"), filled)
}

async fn completion(server: &RemoteServer) -> Result<(), BoxError> {
    let prompt = PromptReference::new("test_prompt_with_arguments");
    let typed = CompleteRequest::new(prompt, CompletionArgument::new("arg1", "par"));
    let completion = server.complete(typed).await?.completion;
    check(completion.values == ["paris", "park", "party"], completion)
}

/// A change of the list of tools is announced. Where that takes a subscription, it may not be there yet the first time.
async fn changes(server: &RemoteServer, observed: &Observations) -> Result<(), BoxError> {
    loop {
        server.call_tool("test_trigger_tool_change", json!({})).await?;
        if timeout(Duration::from_millis(500), observed.changed.notified()).await.is_ok() {
            return Ok(());
        }
    }
}

/// A call that was given up is cancelled at the server, which never answers it.
async fn cancel(server: &RemoteServer, observed: &Observations) -> Result<(), BoxError> {
    let start = Instant::now();
    let given_up = server.call_tool("test_reconnection", json!({})).timeout(Duration::from_millis(300)).await;
    check(matches!(given_up, Err(CallError::TimedOut { .. })), given_up)?;
    let id = abandoned_id(observed).ok_or("the call was not made")?;
    // The transport announces it in its own way: over Streamable HTTP a stream may be closed instead.
    let cancelled = || {
        observed.messages(Direction::Out).into_iter().any(|message| match message {
            Message::Notification(notification) => notification.method == "notifications/cancelled",
            _ => false,
        })
    };
    while !cancelled() {
        sleep(Duration::from_millis(10)).await;
    }
    sleep_until(start + WORK).await;
    let answers = observed.messages(Direction::In).into_iter().filter(|message| match message {
        Message::Response(answer) => answer.id == id,
        _ => false,
    });
    let answers: Vec<_> = answers.collect();
    check(answers.is_empty(), answers)
}

/// The id of the call that timed out.
fn abandoned_id(observed: &Observations) -> Option<RequestId> {
    observed.messages(Direction::Out).into_iter().find_map(|message| match message {
        Message::Request(request) => {
            let params = request.params.as_ref()?;
            params.as_str().contains("\"test_reconnection\"").then_some(request.id)
        }
        _ => None,
    })
}
