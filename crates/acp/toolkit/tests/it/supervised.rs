//! Hosts restart agents that die. Most tests pause the clock.

use agentwire_jsonrpc::WithCauses;
use std::collections::HashSet;
use std::future::IntoFuture as _;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use agentwire_acp_agent::{Agent, Context, serve};
use agentwire_acp_client::{Backoff, BoxError, CallError, Error};
use agentwire_acp_schema::v1::*;
use agentwire_acp_toolkit::{Entry, Host, HostAgent, HostError, HostEvent, HostSession};
use agentwire_sync::Mutex;
use agentwire_transport::{Transport, duplex};
use agentwire_transport_stdio::{Child, Command, Stderr};
use tokio::sync::Notify;
use tokio::time::Instant;

/// The state that the agents of a test share: the ways to open a session again, their messages, and the sessions that they store.
#[derive(Clone, Default)]
struct World {
    resumes: bool,
    loads: bool,
    /// How long an agent takes before it replays a session.
    load_delay: Duration,
    /// How many prompts kill the agent that gets them.
    deadly: Arc<Mutex<u32>>,
    log: Arc<Mutex<Vec<String>>>,
    /// Sessions that the agents have forgotten.
    forgotten: Arc<Mutex<HashSet<SessionId>>>,
}

/// One agent. It dies at a deadly prompt, and with it its end of the transport.
struct Mortal {
    world: World,
    death: Arc<Notify>,
}

impl World {
    fn start(&self) -> impl Transport + Send + use<> {
        let (ours, theirs) = duplex(64);
        let death = Arc::new(Notify::new());
        let agent = Mortal { world: self.clone(), death: death.clone() };
        tokio::spawn(async move {
            tokio::select! {
                _ = serve(agent, theirs) => {}
                () = death.notified() => {}
            }
        });
        self.record("start");
        ours
    }

    fn record(&self, what: impl Into<String>) {
        self.log.lock().push(what.into());
    }

    fn log(&self) -> Vec<String> {
        std::mem::take(&mut *self.log.lock())
    }

    fn check(&self, session: &SessionId) -> Result<(), Error> {
        match self.forgotten.lock().contains(session) {
            true => Err(Error::invalid_params("that session is gone")),
            false => Ok(()),
        }
    }
}

impl Agent for Mortal {
    async fn initialize(&self, _: InitializeRequest, _: Context) -> Result<InitializeResponse, Error> {
        self.world.record("initialize");
        let mut sessions = SessionCapabilities::new();
        sessions.resume = self.world.resumes.then(SessionResumeCapabilities::new);
        let agent = AgentCapabilities::new().load_session(self.world.loads).session_capabilities(sessions);
        Ok(InitializeResponse::new(ProtocolVersion::V1).agent_capabilities(agent))
    }

    async fn new_session(&self, request: NewSessionRequest, _: Context) -> Result<NewSessionResponse, Error> {
        let name = request.cwd.file_name().expect("a directory").to_string_lossy().into_owned();
        Ok(NewSessionResponse::new(name))
    }

    async fn load_session(
        &self,
        request: LoadSessionRequest,
        context: Context,
    ) -> Result<LoadSessionResponse, Error> {
        let LoadSessionRequest { session_id: id, mcp_servers, .. } = request;
        self.world.record(format!("load {id} servers {}", mcp_servers.len()));
        self.world.check(&id)?;
        let (client, delay) = (context.client().clone(), self.world.load_delay);
        let replay = async move {
            tokio::time::sleep(delay).await;
            client.session_update(SessionNotification::message(&id, "replayed")).await?;
            client.session_update(SessionNotification::new(&id, ToolCall::new("c", "Replayed"))).await?;
            let title = SessionInfoUpdate::new().title("Restored");
            client.session_update(SessionNotification::new(&id, title)).await
        };
        // A task of its own goes on when the call is given up.
        tokio::spawn(replay).await.map_err(Error::internal_error)??;
        Ok(LoadSessionResponse::new())
    }

    async fn resume_session(
        &self,
        request: ResumeSessionRequest,
        _: Context,
    ) -> Result<ResumeSessionResponse, Error> {
        self.world.record(format!("resume {}", request.session_id));
        self.world.check(&request.session_id)?;
        Ok(ResumeSessionResponse::new())
    }

    async fn prompt(&self, request: PromptRequest, context: Context) -> Result<PromptResponse, Error> {
        let text = request.prompt[0].as_text().unwrap_or_default().to_owned();
        self.world.record(format!("prompt {text}"));
        if text == "call" {
            let call = ToolCall::new("running", "Run");
            context.client().session_update(SessionNotification::new(&request.session_id, call)).await?;
        }
        let said = SessionNotification::message(&request.session_id, format!("heard {text}. "));
        context.client().session_update(said).await?;
        let dies = {
            let mut deadly = self.world.deadly.lock();
            let dies = *deadly > 0;
            *deadly = deadly.saturating_sub(1);
            dies
        };
        if dies {
            // The update leaves before the end.
            tokio::time::sleep(Duration::from_millis(1)).await;
            self.death.notify_one();
            std::future::pending::<()>().await;
        }
        if text == "call" {
            context.cancelled().await;
        }
        Ok(PromptResponse::new(StopReason::EndTurn))
    }
}

/// The events of a host as lines.
#[derive(Clone, Default)]
struct Events(Arc<Mutex<Vec<String>>>);

impl Events {
    fn hook(&self) -> impl Fn(HostEvent) + Send + Sync + use<> {
        let events = self.0.clone();
        move |event| {
            events.lock().push(match event {
                HostEvent::Ended { restart_after: Some(_), .. } => "ended".to_owned(),
                HostEvent::Ended { reason, .. } => format!("ended for good: {reason}"),
                HostEvent::Restarted { restarts, sessions, .. } => {
                    let outcomes = sessions.iter().map(|session| match &session.outcome {
                        Ok(restored) => format!(" {} {restored:?}", session.session_id),
                        Err(why) => format!(" {} lost: {why}", session.session_id),
                    });
                    format!("restarted {restarts}:{}", outcomes.collect::<String>())
                }
                _ => "another event".to_owned(),
            });
        }
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock())
    }
}

async fn run<R>(
    world: &World,
    host: Host,
    main: impl AsyncFnOnce(HostAgent) -> Result<R, BoxError>,
) -> Result<R, BoxError> {
    Ok(host.run_supervised(|| Ok::<_, BoxError>(world.start()), async |agent| main(agent).await).await?)
}

/// The shown parts of a conversation.
fn shown(session: &HostSession) -> Vec<String> {
    let texts = session.conversation(|conversation| {
        let texts = conversation.entries().map(|(_, entry)| match entry {
            Entry::Message(message) => format!("{:?}: {}", message.kind, message.text()),
            Entry::ToolCall(call) => call.call.title.clone(),
            _ => "another entry".to_owned(),
        });
        texts.collect()
    });
    texts.expect("the session is open")
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_dies_at_prompts_comes_back_with_its_session() -> Result<(), BoxError> {
    let world = World { loads: true, deadly: Arc::new(Mutex::new(3)), ..World::default() };
    let events = Events::default();
    let server = McpServerStdio::new("files", "/bin/files");
    let host = Host::new().mcp_servers([server]).on_event(events.hook());
    run(&world, host, async |agent| {
        let session = agent.session("/one").await?;
        for (number, longest) in [(1, 500), (2, 1000), (3, 2000)] {
            let died = session.prompt(format!("{number}")).text().await.expect_err("the agent dies");
            assert!(matches!(died, HostError::Call(CallError::Closed(_))), "{died}");
            let since = Instant::now();
            agent.handle().await?;
            let away = since.elapsed();
            let longest = Duration::from_millis(longest);
            assert!(
                away >= longest / 2 && away <= longest + Duration::from_millis(10),
                "{away:?} of {longest:?}"
            );
            assert_eq!(agent.restarts(), number);
        }
        assert_eq!(session.prompt("4").text().await?, "heard 4. ");
        let expected: Vec<_> =
            (1..=4).flat_map(|n| [format!("User: {n}"), format!("Agent: heard {n}. ")]).collect();
        assert_eq!(shown(&session), expected, "the replay is left out");
        let title = session.conversation(|conversation| conversation.title().map(str::to_owned)).flatten();
        assert_eq!(title.as_deref(), Some("Restored"), "and the state of the session is not");
        Ok(())
    })
    .await?;
    let life = ["start", "initialize", "load one servers 1"];
    let mut expected = vec!["start".to_owned(), "initialize".to_owned(), "prompt 1".to_owned()];
    for number in 2..=4 {
        expected.extend(life.map(str::to_owned));
        expected.push(format!("prompt {number}"));
    }
    assert_eq!(world.log(), expected, "no prompt is sent twice");
    let restarted = |number| format!("restarted {number}: one Loaded");
    let expected: Vec<_> = (1..=3).flat_map(|number| ["ended".to_owned(), restarted(number)]).collect();
    assert_eq!(events.take(), expected);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_session_is_resumed_where_the_agent_can() -> Result<(), BoxError> {
    let world = World { resumes: true, loads: true, deadly: Arc::new(Mutex::new(1)), ..World::default() };
    let events = Events::default();
    run(&world, Host::new().on_event(events.hook()), async |agent| {
        let session = agent.session("/one").await?;
        session.prompt("1").text().await.expect_err("the agent dies");
        // This waits for the agent.
        session.prompt("2").text().await?;
        assert_eq!(shown(&session), ["User: 1", "Agent: heard 1. ", "User: 2", "Agent: heard 2. "]);
        Ok(())
    })
    .await?;
    assert_eq!(events.take(), ["ended", "restarted 1: one Resumed"]);
    assert!(!world.log().iter().any(|line| line.starts_with("load")));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn lost_session_reports_the_reason() -> Result<(), BoxError> {
    let world = World { loads: true, deadly: Arc::new(Mutex::new(1)), ..World::default() };
    let events = Events::default();
    run(&world, Host::new().on_event(events.hook()), async |agent| {
        let (kept, gone) = (agent.session("/kept").await?, agent.session("/gone").await?);
        let closed = agent.session("/closed").await?;
        closed.close().await?;
        world.forgotten.lock().insert(gone.id().clone());
        kept.prompt("1").text().await.expect_err("the agent dies");
        let lost = gone.prompt("2").text().await.expect_err("the session is lost");
        let text = WithCauses::new(&lost).to_string();
        assert!(matches!(lost, HostError::SessionLost { .. }) && text.contains("gone"), "{text}");
        kept.prompt("3").text().await?;
        agent.session("/new").await?.prompt("4").text().await?;
        Ok(())
    })
    .await?;
    let [ended, restarted] = &*events.take() else { panic!("the agent died once") };
    assert_eq!(ended, "ended");
    assert!(
        restarted.starts_with("restarted 1: gone lost: ") && restarted.ends_with(" kept Loaded"),
        "{restarted}"
    );
    assert!(restarted.contains("that session is gone"), "{restarted}");

    let neither = World { deadly: Arc::new(Mutex::new(1)), ..World::default() };
    run(&neither, Host::new(), async |agent| {
        let session = agent.session("/one").await?;
        session.prompt("1").text().await.expect_err("the agent dies");
        let lost = session.prompt("2").text().await.expect_err("the session is lost");
        let lost = WithCauses::new(&lost).to_string();
        assert!(lost.contains("neither resume nor load"), "{lost}");
        Ok(())
    })
    .await
}

#[tokio::test(start_paused = true)]
async fn restarts_in_a_row_have_a_limit_and_a_life_of_a_minute_resets_it() -> Result<(), BoxError> {
    let world = World { loads: true, deadly: Arc::new(Mutex::new(100)), ..World::default() };
    let events = Events::default();
    let host = Host::new().backoff(Backoff::new(2)).on_event(events.hook());
    run(&world, host, async |agent| {
        let session = agent.session("/one").await?;
        for _ in 0..5 {
            agent.handle().await?;
            tokio::time::sleep(Duration::from_secs(61)).await;
            session.prompt("after a while").text().await.expect_err("the agent dies");
        }
        // The last of these deaths counts as the first in a row.
        session.prompt("at once").text().await.expect_err("the agent dies");
        let died = session.prompt("at once").text().await.expect_err("the agent dies");
        assert!(matches!(died, HostError::Call(CallError::Closed(_))), "{died}");
        let over = session.prompt("again").text().await.expect_err("there is no agent");
        assert!(matches!(over, HostError::Ended(_)), "{over}");
        assert_eq!(agent.restarts(), 6);
        Ok(())
    })
    .await?;
    assert_eq!(events.take().last().map(String::as_str), Some("ended for good: the connection closed"));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_start_that_fails_counts_and_the_first_one_is_not_repeated() -> Result<(), BoxError> {
    let nowhere = || Err::<Child, _>(io::Error::other("no such program"));
    let main = async |_: HostAgent| -> Result<(), BoxError> { panic!("main needs an agent") };
    let error = Host::new().run_supervised(nowhere, main).await.expect_err("there is no agent");
    assert_eq!(format!("{error:#}"), "the connection failed: no connection to the agent: no such program");

    let world = World { loads: true, deadly: Arc::new(Mutex::new(1)), ..World::default() };
    let events = Events::default();
    let mut starts = 0;
    let start = || {
        starts += 1;
        if matches!(starts, 2 | 3) { Err(io::Error::other("not now")) } else { Ok(world.start()) }
    };
    let host = Host::new().on_event(events.hook());
    host.run_supervised(start, async |agent| {
        let session = agent.session("/one").await?;
        session.prompt("1").text().await.expect_err("the agent dies");
        session.prompt("2").text().await?;
        Ok(())
    })
    .await?;
    assert_eq!(events.take(), ["ended", "ended", "ended", "restarted 1: one Loaded"]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_host_does_not_wait_for_an_agent_that_is_away() -> Result<(), BoxError> {
    let world = World { loads: true, deadly: Arc::new(Mutex::new(1)), ..World::default() };
    let hour = Duration::from_secs(3600);
    let began = Instant::now();
    run(&world, Host::new().backoff(Backoff::new(1).pauses(hour, hour)), async |agent| {
        agent.session("/one").await?.prompt("1").text().await.expect_err("the agent dies");
        Ok(())
    })
    .await?;
    assert!(began.elapsed() < Duration::from_secs(1));
    assert_eq!(world.log(), ["start", "initialize", "prompt 1"]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_session_whose_answer_is_read_late_is_opened_again_too() -> Result<(), BoxError> {
    let world = World { loads: true, deadly: Arc::new(Mutex::new(1)), ..World::default() };
    run(&world, Host::new(), async |agent| {
        let mut opening = agent.session("/late").into_future();
        tokio::select! {
            biased;
            _ = &mut opening => panic!("the answer takes a moment"),
            () = std::future::ready(()) => {}
        }
        agent.session("/other").await?.prompt("1").text().await.expect_err("the agent dies");
        agent.handle().await?;
        let late = opening.await?;
        assert_eq!(late.id(), "late");
        assert!(world.log().contains(&"load late servers 0".to_owned()), "the new agent knows the session");
        Ok(())
    })
    .await
}

#[tokio::test(start_paused = true)]
async fn a_replay_that_comes_after_its_time_limit_is_left_out() -> Result<(), BoxError> {
    let load_delay = Duration::from_secs(90);
    let world = World { loads: true, load_delay, deadly: Arc::new(Mutex::new(1)), ..World::default() };
    run(&world, Host::new(), async |agent| {
        let session = agent.session("/one").await?;
        session.prompt("1").text().await.expect_err("the agent dies");
        let lost = session.prompt("2").text().await.expect_err("the session takes too long");
        assert!(matches!(lost, HostError::SessionLost { .. }), "{lost}");
        tokio::time::sleep(load_delay).await;
        assert_eq!(shown(&session), ["User: 1", "Agent: heard 1. "]);
        // It can be opened after all.
        let session = agent.session("/one").load("one").await;
        assert!(session.is_err(), "the agent is as slow as before");
        Ok(())
    })
    .await
}

#[tokio::test(start_paused = true)]
async fn a_lost_session_serves_no_files_and_no_terminals() -> Result<(), BoxError> {
    let world = World { loads: true, deadly: Arc::new(Mutex::new(1)), ..World::default() };
    run(&world, Host::new(), async |agent| {
        let (kept, gone) = (agent.session("/kept").await?, agent.session("/gone").await?);
        world.forgotten.lock().insert(gone.id().clone());
        kept.prompt("1").text().await.expect_err("the agent dies");
        agent.handle().await?;
        let workspaces = agent.toolkit().workspaces();
        assert!(workspaces.of(kept.id()).is_ok());
        assert!(workspaces.of(gone.id()).is_err());
        assert_eq!(shown(&gone), Vec::<String>::new(), "its conversation stays");
        Ok(())
    })
    .await
}

#[tokio::test(start_paused = true)]
async fn a_turn_of_an_agent_that_died_does_not_end_a_later_one() -> Result<(), BoxError> {
    let world = World { resumes: true, deadly: Arc::new(Mutex::new(1)), ..World::default() };
    run(&world, Host::new(), async |agent| {
        let session = agent.session("/one").await?;
        let mut first = session.prompt("1");
        assert!(first.next_text().await?.is_some());
        agent.handle().await?;
        tokio::time::sleep(Duration::from_secs(10)).await;
        let mut second = session.prompt("call");
        assert!(second.next_text().await?.is_some());
        drop(first);
        let cancelled = session.conversation(|conversation| {
            let call = conversation.tool_call(&"running".into()).map(|(_, entry)| entry.cancelled);
            call.expect("there is a call")
        });
        assert_eq!(cancelled, Some(false));
        Ok(())
    })
    .await
}

/// A process that answers twice and dies of a fault, with its last words.
#[tokio::test]
async fn error_of_a_turn_has_the_exit_status_and_stderr() -> Result<(), BoxError> {
    let script = r#"
        answer() { read -r line; id=${line#*'"id":'}; echo '{"jsonrpc":"2.0","id":'"${id%%[,\}]*}"',"result":'"$1"'}'; }
        answer '{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}'
        answer '{"sessionId":"s"}'
        read -r prompt; echo 'no API key' >&2; exit 3"#;
    let command = Command::new("/bin/sh").args(["-c", script]).stderr(Stderr::Capture);
    let pauses = (Duration::from_millis(1), Duration::from_millis(1));
    let host = Host::new().backoff(Backoff::new(1).pauses(pauses.0, pauses.1));
    host.run_supervised(
        || Child::spawn(command.clone()),
        async |agent| {
            let session = agent.session("/").await?;
            for _ in 0..2 {
                let died = session.prompt("go").text().await.expect_err("the process dies");
                let exited = died.exited().ok_or("the error says how")?;
                assert_eq!(exited.status.and_then(|status| status.code()), Some(3));
                let died = WithCauses::new(&died).to_string();
                assert!(died.contains("exited with status 3; its last words were: no API key"), "{died}");
            }
            let over = agent.handle().await.expect_err("it is not started a third time");
            assert!(
                over.exited().is_some() && WithCauses::new(&over).to_string().contains("no API key"),
                "{over}"
            );
            Ok(())
        },
    )
    .await?;
    Ok(())
}
