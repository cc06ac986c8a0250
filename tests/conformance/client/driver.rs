//! A client that reads steps as JSON lines on its standard input, and writes the outcome of each as a
//! line of JSON.

use agentwire_jsonrpc::WithCauses;
use std::collections::HashMap;
use std::error::Error;
use std::rc::Rc;
use std::time::Duration;

use agentwire_mcp_client::schema::{
    CreateMessageRequest, CreateMessageResult, ElicitFormRequest, ElicitResult, JsonObject, Revision, Root,
};
use agentwire_mcp_client::{BoxError, Cache, CallError, Client, Era, ErrorObject, RemoteServer, Tasks};
use agentwire_mcp_hub::{ConnectOptions, Target, connect_to};
use agentwire_transport_http::client::HttpError;
use anyhow::{Context as _, Result, anyhow};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;

use crate::steps::{self, Changes};

/// The options of the command line.
pub(crate) struct Options {
    target: String,
    revision: Option<Revision>,
}

impl Options {
    /// Reads `--driver TARGET [--revision R]`; `None` if the first argument is another.
    pub(crate) fn read(mut arguments: impl Iterator<Item = String>) -> Result<Option<Self>> {
        if arguments.next().as_deref() != Some("--driver") {
            return Ok(None);
        }
        let target = arguments.next().context("--driver TARGET")?;
        let revision = match arguments.next().as_deref() {
            None => None,
            Some("--revision") => {
                let name = arguments.next().context("--revision R")?;
                let revision = Revision::ALL.iter().copied().find(|known| known.as_str() == name);
                Some(revision.with_context(|| format!("no revision {name}"))?)
            }
            Some(other) => return Err(anyhow!("what is {other}?")),
        };
        Ok(Some(Self { target, revision }))
    }
}

/// Runs steps until standard input ends.
pub(crate) async fn run(options: Options) -> Result<()> {
    let (replies, mut queue) = mpsc::unbounded_channel::<Value>();
    let write = async move {
        let mut stdout = tokio::io::stdout();
        while let Some(reply) = queue.recv().await {
            stdout.write_all(format!("{reply}\n").as_bytes()).await?;
            stdout.flush().await?;
        }
        anyhow::Ok(())
    };
    tokio::task::LocalSet::new()
        .run_until(async move {
            let writing = tokio::task::spawn_local(write);
            take_steps(options, replies).await?;
            writing.await?
        })
        .await
}

/// The state that steps share.
struct Shared {
    connection: watch::Receiver<Connection>,
    changes: Changes,
    close: watch::Sender<bool>,
}

#[derive(Clone)]
enum Connection {
    Pending,
    Open(RemoteServer),
    /// It failed or was closed; this is a step's outcome.
    Ended(Value),
}

/// Reads steps, and begins each as soon as it is read.
async fn take_steps(options: Options, replies: mpsc::UnboundedSender<Value>) -> Result<()> {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let mut options = Some(options);
    let mut running: HashMap<u64, AbortHandle> = HashMap::new();
    let (state, connection) = watch::channel(Connection::Pending);
    let (close, closing) = watch::channel(false);
    let shared = Rc::new(Shared { connection, changes: Changes::default(), close });
    let mut begin = Some((state, closing));
    let mut connecting = None;
    while let Some(line) = lines.next_line().await? {
        let step: Value = serde_json::from_str(&line)?;
        let id = step["id"].as_u64().context("a step has an id")?;
        if let (Some((state, closing)), Some(options)) = (begin.take(), options.take()) {
            let connect = connect(options, shared.changes.clone(), state, closing);
            connecting = Some(tokio::task::spawn_local(connect));
        }
        if step["step"] == "cancel" {
            let running = step["of"].as_u64().and_then(|of| running.get(&of));
            if let Some(running) = running {
                running.abort();
            }
            replies.send(json!({"id": id, "result": {"cancelled": running.is_some()}}))?;
            continue;
        }
        let task = tokio::task::spawn_local(outcome(shared.clone(), step));
        running.insert(id, task.abort_handle());
        let replies = replies.clone();
        tokio::task::spawn_local(async move {
            let mut reply = match task.await {
                Ok(reply) => reply,
                Err(_) => json!({"error": {"message": "the step was cancelled"}}),
            };
            reply["id"] = json!(id);
            // The reader has ended.
            let _sent = replies.send(reply);
        });
    }
    // The connection closes in order, so that the server sees its end.
    let _closed = shared.close.send(true);
    if let Some(connecting) = connecting {
        connecting.await?;
    }
    for step in running.values() {
        step.abort();
    }
    Ok(())
}

/// The outcome of a step.
async fn outcome(shared: Rc<Shared>, step: Value) -> Value {
    let mut connection = shared.connection.clone();
    match step["step"].as_str() {
        Some("changes") => return json!({"result": shared.changes.list()}),
        Some("close") => {
            let _closed = shared.close.send(true);
            let ended = connection.wait_for(|state| matches!(state, Connection::Ended(_))).await;
            return json!({"result": {"closed": ended.is_ok()}});
        }
        _ => {}
    }
    let ready =
        connection.wait_for(|state| !matches!(state, Connection::Pending)).await.map(|ready| ready.clone());
    let server = match ready {
        Ok(Connection::Open(server)) => server,
        Ok(Connection::Ended(outcome)) => return outcome,
        Ok(Connection::Pending) | Err(_) => return json!({"error": {"message": "there is no connection"}}),
    };
    match steps::run(&server, step, &shared.changes).await {
        Ok(result) => json!({"result": result}),
        Err(error) => json!({"error": described(&*error)}),
    }
}

/// Keeps a connection until it is to be closed.
async fn connect(
    options: Options,
    changes: Changes,
    state: watch::Sender<Connection>,
    mut closing: watch::Receiver<bool>,
) {
    let target = match Target::parse(&options.target) {
        Ok(target) => target,
        Err(error) => return drop(state.send(Connection::Ended(json!({"error": described(&error)})))),
    };
    let era = match options.revision {
        // A host of the newest revision asks first whether the server does without sessions, and falls back.
        Some(revision) if !revision.is_modern() => Era::Legacy,
        _ => Era::Auto,
    };
    let ended = loop {
        let client = client(options.revision, changes.clone());
        match converse(&target, era, client, &state, &mut closing).await {
            // The server has forgotten the session, so the next step needs another one.
            Ok(true) => drop(state.send(Connection::Pending)),
            Ok(false) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    let outcome = match ended {
        Ok(()) => json!({"error": {"message": "the connection is closed"}}),
        Err(error) => json!({"error": described(&*error)}),
    };
    let _sent = state.send(Connection::Ended(outcome));
}

/// Keeps one connection. Returns whether the server has forgotten its session.
async fn converse(
    target: &Target,
    era: Era,
    client: Client,
    state: &watch::Sender<Connection>,
    closing: &mut watch::Receiver<bool>,
) -> Result<bool, BoxError> {
    let (shared, opened, mut early) = (state.clone(), state.subscribe(), closing.clone());
    let main = async |server: RemoteServer| {
        let _sent = shared.send(Connection::Open(server.clone()));
        tokio::select! {
            _ = closing.wait_for(|closing| *closing) => Ok::<_, BoxError>(false),
            closed = server.closed() => Ok(is_expired(&closed)),
        }
    };
    let early = async {
        let _closing = early.wait_for(|closing| *closing).await;
        // Once it is open, the connection closes in order.
        if !matches!(*opened.borrow(), Connection::Pending) {
            std::future::pending::<()>().await;
        }
    };
    let options = ConnectOptions::new();
    tokio::select! {
        ended = connect_to(target, &options, client.era(era), main) => Ok(ended?),
        () = early => Ok(false),
    }
}

/// Whether a connection has ended because the server no longer knows its session.
fn is_expired(closed: &(dyn Error + 'static)) -> bool {
    let causes = std::iter::successors(Some(closed), |&error| error.source());
    causes.filter_map(|error| error.downcast_ref()).any(|error| matches!(error, HttpError::SessionExpired))
}

/// A client that speaks a revision and the older ones of its kind, and answers whatever a server may ask.
fn client(newest: Option<Revision>, changes: Changes) -> Client {
    let revisions =
        Revision::ALL.iter().copied().filter(|revision| newest.is_none_or(|newest| *revision <= newest));
    Client::new("agentwire-everything-client", env!("CARGO_PKG_VERSION"))
        .revisions(revisions)
        .discover_timeout(Duration::from_secs(3))
        .roots(vec![Root::new("file:///project")])
        .sampling(think)
        .elicitation(fill_in)
        .elicitation_url(|_| async { Ok(ElicitResult::decline()) })
        .tasks(Tasks::new())
        .cache(Cache::new())
        .validate_output(true)
        .on_notification(move |notification| changes.heard(&notification))
        .on_warning(|warning| eprintln!("{}", WithCauses::new(&warning)))
}

/// Fills in a form. A message that asks to wait is never answered, as by a user who is away.
async fn fill_in(question: ElicitFormRequest) -> Result<ElicitResult, ErrorObject> {
    if question.message.contains("wait") {
        std::future::pending::<()>().await;
    }
    Ok(ElicitResult::accept(JsonObject::from_iter([("name".to_owned(), json!("Ada"))])))
}

/// Answers as a language model. A message that asks to wait is never answered.
async fn think(question: CreateMessageRequest) -> Result<CreateMessageResult, ErrorObject> {
    if serde_json::to_string(&question.messages).is_ok_and(|text| text.contains("wait")) {
        std::future::pending::<()>().await;
    }
    Ok(CreateMessageResult::new("no-model", "Nothing comes to mind."))
}

/// An error with the code of JSON-RPC where there is one.
fn described(error: &(dyn Error + 'static)) -> Value {
    let mut described = json!({"message": WithCauses::new(error).to_string()});
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(CallError::Refused { error, .. }) = error.downcast_ref() {
            described["code"] = json!(error.code);
            if let Some(data) = &error.data {
                described["data"] = serde_json::from_str(data.as_str()).unwrap_or_default();
            }
        }
        cause = error.source();
    }
    described
}
