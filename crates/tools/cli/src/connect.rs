//! Connects commands to an MCP server, within a time limit.

use std::cell::{Cell, OnceCell};
use std::convert::Infallible;
use std::io;
use std::time::Duration;

use agentwire_jsonrpc::WithCauses;
use agentwire_mcp_client::schema::{Implementation, Root};
use agentwire_mcp_client::{BoxError, CallError, Client, RemoteServer, Warning};
use agentwire_mcp_hub::{ConnectOptions, CustomTarget, Target, connect_to};
use agentwire_transport_http::client::HttpError;
use agentwire_transport_stdio::{Child, Command};
use anyhow::Result;
use futures_util::future::LocalBoxFuture;
use http::header::AUTHORIZATION;
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::arguments::headers::add_headers;
use crate::failure::{Exit, Failure, Interrupted, OtherSide, RemoteError, Usage};
use crate::login::{authorization, is_person_there, with_tokens};
use crate::mcp::arguments::Connect;
use crate::output::text::Notes;
use crate::questions::{self, Deadline, PersonTime, Questions, Responder};
use crate::recording::{Recorder, record_kind, recorded_client, recorded_transport};
use crate::server_target::target_of;
use crate::signals::{self, Signals};
use crate::target::program_stderr::ProgramStderr;
use crate::target::text_lines::TextLines;
use crate::telemetry::Telemetry;

/// The output options and sinks of a command.
pub(crate) struct Output<'a> {
    pub(crate) json: bool,
    /// Whether the stderr of a healthy server or agent is shown.
    pub(crate) verbose: bool,
    pub(crate) notes: &'a Notes,
    pub(crate) recorder: Option<Recorder>,
    pub(crate) telemetry: &'a Telemetry,
}

/// How long a connection over HTTP may take to close after the command is done: 1 s. A process has the times of
/// [`Command::grace`].
const CLOSING_LIMIT: Duration = Duration::from_secs(1);

/// Connects and runs `main`. If the server refuses a request because it no longer knows the session, runs `main` once more on a
/// new connection.
///
/// `--timeout` limits the connecting and `main` together, without the time in which a person logs in or answers a question. The
/// first signal closes the connection, and the second returns at once. Before the connection is open, and while it closes after
/// the command, the first signal returns at once too.
pub(crate) async fn with_server<R>(
    connect: Connect,
    output: Output<'_>,
    mut main: impl AsyncFnMut(RemoteServer) -> Result<R, BoxError>,
) -> Result<R> {
    with_questions(connect, output, async |server, questions| {
        let outcome = questions.answer_during(main(server)).await;
        questions.outcome(outcome, "the request had already been sent")
    })
    .await
}

/// As [`with_server`], for a `main` that waits for the server through [`Questions`], which keep the deadline.
pub(crate) async fn with_questions<R>(
    connect: Connect,
    output: Output<'_>,
    main: impl AsyncFnMut(RemoteServer, &mut Questions) -> Result<R, BoxError>,
) -> Result<R> {
    Session::open(connect, output).await?.run(main).await
}

/// A command's session with its server.
struct Session {
    connector: Connector,
    questions: Questions,
    /// The time limit of the connecting.
    opening: Deadline,
    /// The signals that end the session without waiting for the connection to close.
    abort: Signals,
    side: OtherSide,
    stderr: ProgramStderr,
}

impl Session {
    /// Makes a session that is not connected yet. A person may log in first.
    async fn open(
        mut connect: Connect,
        Output { json, verbose, notes, recorder, telemetry }: Output<'_>,
    ) -> Result<Self> {
        let responder = Responder::find(json, notes, std::mem::take(&mut connect.answers));
        let person = PersonTime::default();
        let (target, is_authorized) = with_headers(&connect, notes)?;
        record_kind(&target, recorder.as_ref());
        let observer = telemetry.of_target(&target);
        let side = OtherSide::server(&target).has_authorization(is_authorized).stderr_is_shown();
        let text_lines = TextLines::new(&side, notes);
        let lines = notes.clone();
        let stderr =
            ProgramStderr::new(verbose, recorder.clone(), move |line| lines.add(&format!("server: {line}")));
        let target = match target {
            Target::Stdio(command) => {
                let command = telemetry.pass_on(text_lines.watch(command));
                program_target(command, stderr.clone(), recorder.clone())
            }
            target => target,
        };
        let (mut signals, abort) = (Signals::listen()?, Signals::listen()?);
        let options = tokio::select! {
            options = options(&target, is_authorized, is_person_there(json), &person, notes, recorder) => options?,
            interrupted = signals.interrupted() => return Err(interrupted.into()),
        };
        let (add_capabilities, queue) = questions::channel();
        let mut client = add_capabilities(client(&connect, notes, text_lines)?);
        if let Some(observer) = observer {
            client = client.connection(|connection| connection.observer(observer));
        }
        let deadline = Deadline::new(connect.timeout, person.clone());
        let opening = deadline.clone();
        let questions = Questions { responder, queue, deadline, person, signals };
        Ok(Self { connector: Connector { target, options, client }, questions, opening, abort, side, stderr })
    }

    /// Connects and runs `main`.
    async fn run<R>(
        self,
        mut main: impl AsyncFnMut(RemoteServer, &mut Questions) -> Result<R, BoxError>,
    ) -> Result<R> {
        let Self { connector, mut questions, opening, abort: mut signals, side, stderr } = self;
        let progress =
            Progress { is_connected: Cell::new(false), outcome: OnceCell::new(), done: Notify::new() };
        let abort = async {
            let interrupted = signals.interrupted().await;
            if progress.is_connected.get() { signals.interrupted().await } else { interrupted }
        };
        let not_connected = async {
            let overdue = opening.expired().await;
            if progress.is_connected.get() { std::future::pending().await } else { overdue }
        };
        let closing = async {
            progress.done.notified().await;
            closing_limit(matches!(connector.target, Target::Http(_))).await;
        };
        let ended: Result<(), BoxError> = tokio::select! {
            ended = connector.run(&mut questions, &mut main, &progress) => ended,
            interrupted = abort => return Err(interrupted.into()),
            overdue = not_connected => Err(overdue.into()),
            () = closing => Ok(()),
        };
        let Progress { is_connected, outcome, .. } = progress;
        let error = match (outcome.into_inner(), ended) {
            (Some(Ok(outcome)), _) => return Ok(outcome),
            (Some(Err(error)), _) | (None, Err(error)) => error,
            (None, Ok(())) => return Err(anyhow::anyhow!("the connection ended before the command")),
        };
        if !is_local(&error) {
            stderr.show_kept();
        }
        Err(RemoteError::name(&side, is_connected.get(), error))
    }
}

/// Whether an error has a local cause, which the server's stderr cannot explain: a wrong argument, a closed output, an answer of
/// the person, or a signal.
fn is_local(error: &BoxError) -> bool {
    let exit = error.downcast_ref().map(Failure::exit);
    error.is::<Interrupted>()
        || error.is::<Usage>()
        || error.is::<io::Error>()
        || matches!(exit, Some(Exit::Usage | Exit::NotPermitted | Exit::Interrupted(_)))
}

/// The progress of a command over its connections.
struct Progress<R> {
    is_connected: Cell<bool>,
    outcome: OnceCell<Result<R, BoxError>>,
    /// Notified with the outcome.
    done: Notify,
}

/// The work of a command on a connected server.
type Run<'a> = Box<dyn FnOnce(RemoteServer) -> LocalBoxFuture<'a, Result<(), BoxError>> + 'a>;

/// Connects a command to its server.
struct Connector {
    target: Target,
    options: ConnectOptions,
    client: Client,
}

impl Connector {
    /// Runs `main` on a connection, and once more on another one if the server no longer knows the session.
    async fn run<R>(
        &self,
        questions: &mut Questions,
        main: &mut impl AsyncFnMut(RemoteServer, &mut Questions) -> Result<R, BoxError>,
        progress: &Progress<R>,
    ) -> Result<(), BoxError> {
        for is_first in [true, false] {
            progress.is_connected.set(false);
            let (main, questions) = (&mut *main, &mut *questions);
            let run: Run<'_> = Box::new(move |server| {
                Box::pin(async move {
                    progress.is_connected.set(true);
                    questions.responder.set_asker(&server.info().name);
                    let ended = main(server, questions).await;
                    let is_unknown = |error: &BoxError| error.downcast_ref().is_some_and(is_unknown_session);
                    if !is_first || !ended.as_ref().is_err_and(is_unknown) {
                        // Set once: the loop ends after this.
                        let _ = progress.outcome.set(ended);
                        progress.done.notify_one();
                    }
                    Ok(())
                })
            });
            let ended = self.run_connected(run).await;
            if progress.outcome.get().is_some() || ended.is_err() {
                return ended;
            }
        }
        Ok(())
    }

    /// Not generic, so that the client is compiled once and not for each command.
    async fn run_connected(&self, run: Run<'_>) -> Result<(), BoxError> {
        let main = async |server| run(server).await;
        Ok(connect_to(&self.target, &self.options, self.client.clone(), main).await?)
    }
}

/// Completes when the time to close a connection is over, or at a signal.
async fn closing_limit(is_http: bool) {
    tokio::select! {
        () = sleep(CLOSING_LIMIT), if is_http => {}
        _ = signals::interrupted() => {}
    }
}

/// The options of the connection. Over HTTP, they add the stored tokens, unless a header authorizes the requests. If the server
/// requires it, a person at a terminal logs in first. The time of this login, and of a later one for more scopes, does not count.
async fn options(
    target: &Target,
    is_authorized: bool,
    is_there: bool,
    person: &PersonTime,
    notes: &Notes,
    recorder: Option<Recorder>,
) -> Result<ConnectOptions> {
    let Target::Http(target) = target else { return Ok(ConnectOptions::new()) };
    let kept = if is_authorized { None } else { authorization(is_there.then_some(person), notes) };
    let Some(kept) = kept else {
        return Ok(ConnectOptions::new()
            .wrap_http(move |_, client| Ok::<_, Infallible>(recorded_client(client, recorder.clone()))));
    };
    if is_there {
        kept.ensure(target.url()).await?;
    }
    Ok(with_tokens(ConnectOptions::new(), kept, recorder))
}

/// Whether the server refused a request, and did not run it, because it no longer knows the session. False for a request about a
/// task, such as `tasks/get`: it follows a call that may have run.
pub(crate) fn is_unknown_session(error: &CallError) -> bool {
    let CallError::Failed { method, fault, .. } = error else { return false };
    !method.starts_with("tasks/") && matches!(HttpError::of(fault), Some(HttpError::SessionExpired))
}

/// The client, with the folders of `--root`. Its calls have no timeouts: the deadline of [`Questions`] limits them.
fn client(connect: &Connect, notes: &Notes, text_lines: TextLines) -> Result<Client> {
    let (timeout, warnings) = (connect.timeout, notes.clone());
    let client = Client::from_info(Implementation::new("agentwire", env!("CARGO_PKG_VERSION")))
        .era(connect.era.into())
        .discover_timeout(DISCOVER_LIMIT.min(timeout / 2))
        .handshake_timeout(timeout)
        .timeout(None)
        .on_warning(move |warning| {
            // The line is shown already.
            if !matches!(warning, Warning::MessageLeftOut { .. }) || !text_lines.was_shown() {
                warnings.add(&format!("warning: {}", WithCauses::new(&warning)));
            }
        });
    if connect.roots.is_empty() {
        return Ok(client);
    }
    let roots = connect.roots.iter().map(|folder| Ok(Root::at(folder.canonicalize()?)));
    Ok(client.roots(roots.collect::<Result<Vec<_>>>()?))
}

/// A program, which each attempt to connect starts. Its connections are recorded by the `recorder`, if there is one.
fn program_target(command: Command, stderr: ProgramStderr, recorder: Option<Recorder>) -> Target {
    let name = format!("{command:?}");
    let open = move || {
        let child = Child::spawn(command.clone().stderr(stderr.of_next()))?;
        Ok(recorded_transport(child, recorder.clone()))
    };
    CustomTarget::new(name, open).into()
}

/// The timeout for `server/discover`, after which `initialize` is tried: 5 s, or half of `--timeout` if that is shorter.
const DISCOVER_LIMIT: Duration = Duration::from_secs(5);

/// The target with the headers for it, and whether one of them is `Authorization`.
fn with_headers(connect: &Connect, notes: &Notes) -> Result<(Target, bool)> {
    let all = connect.headers.read()?;
    let is_authorized = all.iter().any(|header| header.name.eq_ignore_ascii_case("authorization"));
    match target_of(connect, notes)? {
        Target::Http(target) => {
            // A configuration file may add headers too.
            let is_authorized = is_authorized || target.headers().contains_key(AUTHORIZATION);
            let url = target.url().to_owned();
            Ok((add_headers(target, &url, &all, notes)?.into(), is_authorized))
        }
        target if all.is_empty() => Ok((target, false)),
        _ => Err(Usage("--header: only servers at a URL take headers".into()).into()),
    }
}
