//! A host against agents of our own.

use std::sync::Arc;
use std::time::Duration;

use agentwire_acp_agent::{Agent, Context, serve};
use agentwire_acp_client::{BoxError, CallError, ConnectionError, Error};
use agentwire_acp_schema::v1::error_code::AUTH_REQUIRED;
use agentwire_acp_schema::v1::*;
use agentwire_acp_toolkit::{
    Entry, Host, HostAgent, HostError, MessageKind, PermissionPolicy, Permissions, Unattended,
};
use agentwire_jsonrpc::WithCauses;
use agentwire_sync::Mutex;
use agentwire_transport::{Transport, duplex};

use crate::{echo_agent, host_example};

/// Runs an agent in a task of its own, and returns the transport to it.
fn start(agent: impl Agent + 'static) -> impl Transport + Send + 'static {
    let (ours, theirs) = duplex(64);
    tokio::spawn(serve(agent, theirs));
    ours
}

/// An agent that records its requests. It repeats each prompt, waits for ever for `wait`, and needs authentication if set.
#[derive(Clone, Default)]
struct Recorder {
    log: Arc<Mutex<Vec<String>>>,
    locked: Arc<Mutex<bool>>,
    silent: bool,
}

impl Recorder {
    fn record(&self, what: impl Into<String>) {
        self.log.lock().push(what.into());
    }

    fn log(&self) -> Vec<String> {
        self.log.lock().clone()
    }
}

impl Agent for Recorder {
    async fn initialize(&self, request: InitializeRequest, _: Context) -> Result<InitializeResponse, Error> {
        if self.silent {
            std::future::pending::<()>().await;
        }
        let name = request.client_info.map(|info| info.name);
        let capabilities = &request.client_capabilities;
        self.record(format!(
            "{name:?} writes {} terminal {}",
            capabilities.fs.write_text_file, capabilities.terminal
        ));
        let sessions = SessionCapabilities::new().close(SessionCloseCapabilities::new());
        let mcp = AgentCapabilities::new().load_session(true).session_capabilities(sessions);
        let method = AuthMethodAgent::new("browser", "In the browser");
        Ok(InitializeResponse::new(ProtocolVersion::V1).agent_capabilities(mcp).auth_methods([method]))
    }

    async fn authenticate(
        &self,
        request: AuthenticateRequest,
        _: Context,
    ) -> Result<AuthenticateResponse, Error> {
        self.record(format!("authenticate {}", request.method_id));
        *self.locked.lock() = false;
        Ok(AuthenticateResponse::new())
    }

    async fn new_session(&self, request: NewSessionRequest, _: Context) -> Result<NewSessionResponse, Error> {
        if *self.locked.lock() {
            return Err(Error::new(AUTH_REQUIRED, "log in first"));
        }
        let (cwd, servers) = (request.cwd.is_absolute(), request.mcp_servers.len());
        self.record(format!("new absolute {cwd} servers {servers}"));
        Ok(NewSessionResponse::new("s"))
    }

    async fn load_session(
        &self,
        request: LoadSessionRequest,
        context: Context,
    ) -> Result<LoadSessionResponse, Error> {
        let old = SessionNotification::message(&request.session_id, "said long ago");
        context.client().session_update(old).await?;
        Ok(LoadSessionResponse::new())
    }

    async fn close_session(&self, _: CloseSessionRequest, _: Context) -> Result<CloseSessionResponse, Error> {
        self.record("close");
        Ok(CloseSessionResponse::new())
    }

    async fn prompt(&self, request: PromptRequest, context: Context) -> Result<PromptResponse, Error> {
        let text = request.prompt[0].as_text().unwrap_or_default();
        let client = context.client();
        client
            .session_update(SessionNotification::new(&request.session_id, ToolCall::new("c", "Look")))
            .await?;
        for word in text.split_inclusive(' ') {
            client.session_update(SessionNotification::message(&request.session_id, word)).await?;
        }
        if text.ends_with("wait") {
            context.cancelled().await;
            self.record("cancelled");
        }
        Ok(PromptResponse::new(StopReason::EndTurn))
    }
}

#[tokio::test]
async fn the_example_runs_with_the_echo_agent() -> Result<(), BoxError> {
    let stopped = host_example::run(start(echo_agent::Echo::default()), "Hello! Anybody there?").await?;
    assert_eq!(stopped, Some(StopReason::EndTurn));
    Ok(())
}

#[tokio::test]
async fn permissions_are_rejected_unless_the_program_decides() -> Result<(), BoxError> {
    let ask = async |host: Host| {
        let echo = start(echo_agent::Echo::default());
        let turn =
            host.run(echo, async |agent| Ok(agent.session("/").await?.prompt("Hello! You").text().await?));
        turn.await
    };
    assert_eq!(ask(Host::new()).await?, "Hello! You");
    let allow = Permissions::new(PermissionPolicy::AllowAll);
    assert_eq!(ask(Host::new().permissions(allow)).await?, "HELLO! You");
    Ok(())
}

#[tokio::test]
async fn the_settings_reach_the_agent_and_a_session_is_closed() -> Result<(), BoxError> {
    let recorder = Recorder::default();
    let host = Host::new()
        .info(Implementation::new("script", "1.0.0"))
        .without_terminals()
        .without_file_writes()
        .mcp_servers([McpServerStdio::new("files", "/bin/files")]);
    host.run(start(recorder.clone()), async |agent| {
        let session = agent.session(".").mcp_servers([McpServerStdio::new("web", "/bin/web")]).await?;
        assert_eq!(session.id(), "s");
        session.close().await?;
        Ok(())
    })
    .await?;
    let expected = ["Some(\"script\") writes false terminal false", "new absolute true servers 2", "close"];
    assert_eq!(recorder.log(), expected);
    Ok(())
}

#[tokio::test]
async fn a_session_is_loaded_with_its_conversation() -> Result<(), BoxError> {
    Host::new()
        .run(start(Recorder::default()), async |agent| {
            let session = agent.session("/").load("old").await?;
            let answer = session.prompt("and now").text().await?;
            assert_eq!(answer, "and now");
            let texts = session.conversation(|conversation| {
                let texts = conversation.entries().filter_map(|(_, entry)| match entry {
                    Entry::Message(message) if message.kind != MessageKind::User => {
                        Some(message.text().to_string())
                    }
                    _ => None,
                });
                texts.collect::<Vec<_>>()
            });
            assert_eq!(texts, Some(vec!["said long ago".to_owned(), "and now".to_owned()]));
            Ok(())
        })
        .await?;
    Ok(())
}

#[tokio::test]
async fn host_authenticates_if_the_agent_requires_it() -> Result<(), BoxError> {
    let run = async |recorder: &Recorder, host: Host| {
        *recorder.locked.lock() = true;
        host.run(start(recorder.clone()), async |agent| {
            agent.session("/").await?;
            Ok(())
        })
        .await
    };
    let recorder = Recorder::default();
    let refused = run(&recorder, Host::new()).await.expect_err("nobody authenticates");
    assert!(format!("{refused:#}").contains("log in first"), "{refused:#}");
    let nothing = Host::new().authenticate(async |_| None);
    assert!(run(&recorder, nothing).await.is_err());
    let first = Host::new().authenticate(async |methods| Some(methods.first()?.id()?.into_owned().into()));
    run(&recorder, first).await?;
    assert!(
        recorder
            .log()
            .ends_with(&["authenticate browser".to_owned(), "new absolute true servers 0".to_owned()])
    );
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_does_not_answer_runs_into_the_time_limits() -> Result<(), BoxError> {
    let silent = Recorder { silent: true, ..Recorder::default() };
    let main = async |_: HostAgent| -> Result<(), BoxError> { panic!("main needs an agent") };
    let error = Host::new().run(start(silent), main).await.expect_err("there is no answer");
    assert!(format!("{error:#}").contains("initialize: no answer within 60s"), "{error:#}");

    let recorder = Recorder::default();
    Host::new()
        .run(start(recorder.clone()), async |agent| {
            let session = agent.session("/").await?;
            let turn = session.prompt("please wait").timeout(Duration::from_secs(5)).text().await;
            assert!(matches!(turn, Err(HostError::Call(CallError::TimedOut { .. }))), "{turn:?}");
            // The agent has received it before it gets the next prompt.
            session.prompt("go on").text().await?;
            Ok(())
        })
        .await?;
    assert!(recorder.log().contains(&"cancelled".to_owned()));
    Ok(())
}

#[tokio::test]
async fn a_turn_is_cancelled_by_its_session_and_by_dropping_it() -> Result<(), BoxError> {
    let recorder = Recorder::default();
    Host::new()
        .run(start(recorder.clone()), async |agent| {
            let session = agent.session("/").await?;
            let mut turn = session.prompt("wait");
            assert_eq!(turn.next_text().await?.as_deref(), Some("wait"));
            assert_eq!(turn.stop_reason(), None);
            session.cancel().await?;
            assert_eq!(turn.next_text().await?, None);
            assert_eq!(turn.stop_reason(), Some(StopReason::Cancelled));
            assert!(turn.next().await.is_none(), "a turn ends once");

            let mut turn = session.prompt("wait");
            turn.next_text().await?;
            drop(turn);
            session.prompt("go on").text().await?;
            Ok(())
        })
        .await?;
    assert_eq!(recorder.log().iter().filter(|line| *line == "cancelled").count(), 2);
    Ok(())
}

#[tokio::test]
async fn updates_are_passed_to_a_function_and_texts_have_a_limit() -> Result<(), BoxError> {
    Host::new()
        .run(start(Recorder::default()), async |agent| {
            let session = agent.session("/").await?;
            let mut count = 0;
            assert_eq!(session.prompt("one two").on_update(|_| count += 1).await?, StopReason::EndTurn);
            assert_eq!(count, 3);
            let long = "a ".repeat(2000);
            let cut = session.prompt(long).byte_limit(1000).text().await.expect_err("it is too long");
            let cut = WithCauses::new(&cut).to_string();
            assert!(cut.contains("1000 bytes"), "{cut}");
            let queued = session.prompt("a ".repeat(100)).limit(2).text().await;
            // Read as fast as they arrive, two are enough.
            assert!(
                queued.is_ok()
                    || queued.is_err_and(|error| {
                        WithCauses::new(&error).to_string().contains("more than 2 updates")
                    })
            );
            Ok(())
        })
        .await?;
    Ok(())
}

/// The id of a process that a terminal of a session runs for ever.
#[cfg(target_os = "linux")]
async fn running_command(agent: &HostAgent, session: &SessionId) -> Result<u32, BoxError> {
    let workspaces = agent.toolkit().workspaces();
    let script = "trap '' TERM; echo $$; while true; do sleep 1; done";
    let request = CreateTerminalRequest::new(session, "/bin/sh").args(["-c", script]);
    let terminal = workspaces.create_terminal(request).await?.terminal_id;
    loop {
        let output = workspaces.terminal_output(TerminalOutputRequest::new(session, &terminal)).await?.output;
        if let Some((id, _)) = output.split_once('\n') {
            return Ok(id.parse()?);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[cfg(target_os = "linux")]
async fn is_gone(process: u32) -> bool {
    for _ in 0..500 {
        let status = std::fs::read_to_string(format!("/proc/{process}/stat"));
        if status.is_err() || status.is_ok_and(|status| status.contains(") Z ")) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    false
}

/// A handle on an agent may outlive its host, such as in a task.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_commands_of_an_agent_end_with_its_host() -> Result<(), BoxError> {
    for drops_host in [false, true] {
        let (started, mut running) = tokio::sync::mpsc::unbounded_channel();
        let host = Host::new().run(start(Recorder::default()), async |agent| {
            let session = agent.session("/").await?;
            let process = running_command(&agent, session.id()).await?;
            started.send((agent, session, process))?;
            if drops_host {
                std::future::pending::<()>().await;
            }
            Ok(())
        });
        let left = match drops_host {
            false => host.await.map(|()| running.try_recv().ok())?,
            true => tokio::select! {
                outcome = host => return Ok(outcome?),
                left = running.recv() => left,
            },
        };
        let (_agent, session, process) = left.ok_or("it runs")?;
        assert!(is_gone(process).await, "dropped: {drops_host}");
        assert!(session.conversation(|_| ()).is_some(), "the conversation can still be read");
    }
    Ok(())
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_close_that_is_given_up_halfway_has_closed_the_session() -> Result<(), BoxError> {
    Host::new()
        .run(start(Recorder::default()), async |agent| {
            let session = agent.session("/").await?;
            let id = session.id().clone();
            let process = running_command(&agent, &id).await?;
            tokio::select! {
                biased;
                _ = session.close() => return Err("the command ends at once".into()),
                () = std::future::ready(()) => {}
            }
            assert!(agent.toolkit().conversation(&id, |_| ()).is_none());
            assert!(is_gone(process).await);
            Ok(())
        })
        .await?;
    Ok(())
}

/// Generic code spawns a host with any transport and any main function.
fn spawn<T, F>(
    transport: T,
    main: impl FnOnce(HostAgent<Unattended>) -> F + Send + 'static,
) -> tokio::task::JoinHandle<Result<(), ConnectionError>>
where
    T: Transport + Send + 'static,
    F: Future<Output = Result<(), BoxError>> + Send + 'static,
{
    tokio::spawn(Host::new().run(transport, main))
}

#[tokio::test]
async fn a_host_is_spawned_and_its_handles_end_with_it() -> Result<(), BoxError> {
    let kept: Arc<Mutex<Option<HostAgent>>> = Arc::default();
    let keep = kept.clone();
    let agent: Box<dyn Agent> = Box::new(echo_agent::Echo::default());
    spawn(start(agent), async move |agent| {
        agent.session("/").await?.prompt("hello").text().await?;
        *keep.lock() = Some(agent);
        Ok(())
    })
    .await??;
    let agent = kept.lock().take().expect("the main function has run");
    assert!(matches!(agent.session("/").await, Err(HostError::Ended(_))));
    Ok(())
}
