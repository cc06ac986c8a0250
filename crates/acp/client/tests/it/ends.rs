//! How connections end.

use agentwire_acp_client::{CallError, Client, Config, ConnectionError, Context, Error, connect, start};
use agentwire_acp_schema::v1::*;
use agentwire_schema_tests::{Conversation, Side, checked};
use agentwire_transport::{Packet, TransportError, duplex};
use futures::{SinkExt, StreamExt};

use crate::check;
use crate::recorder::{Recorder, begin, greeting};

/// An agent that closes in the middle of a turn: what is waited for fails, what is asked afterwards too.
#[tokio::test(start_paused = true)]
async fn an_agent_that_leaves_in_the_middle_of_a_turn() {
    let client = Recorder::default();
    check!("END-in-a-turn", &client, async |agent| {
        let session = begin(&agent).await?;
        let error = agent.prompt(PromptRequest::new(&session, "go")).await.unwrap_err();
        assert!(matches!(error, CallError::Closed(_)), "{error}");
        assert!(agent.is_closed());
        let error = agent.prompt(PromptRequest::new(&session, "go on")).await.unwrap_err();
        assert!(matches!(error, CallError::Closed(_)), "{error}");
        Ok(())
    })
    .unwrap();
    assert_eq!(client.heard(), ["session-1 agent_message_chunk last words"]);
}

const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}"#;

/// The transport's reason of the end is in the error of the call that waited.
#[tokio::test(start_paused = true)]
async fn an_agent_that_dies_says_why() {
    let (near, mut far) = duplex(8);
    let near = checked(near, Conversation::acp(), Side::Client);
    let mut packets = 0;
    let dying = near.map(move |packet| {
        packets += 1;
        if packets == 1 { packet } else { Err(TransportError::other("`my-agent` exited with status 3")) }
    });
    let agent = async {
        far.next().await.unwrap().unwrap();
        far.send(Packet::from_json(ANSWER)).await.unwrap();
        far.next().await.unwrap().unwrap();
        far.send(Packet::from_json("anything")).await.unwrap();
        far
    };
    let main = async |agent: agentwire_acp_client::AgentHandle| {
        agent.initialize(greeting()).await?;
        agent.prompt(PromptRequest::new("s", "go")).await?;
        Ok(())
    };
    let (result, _far) = futures::join!(connect(Recorder::default(), dying, main), agent);
    let error = result.unwrap_err().message();
    assert_eq!(error, "the call has no answer: the connection closed: `my-agent` exited with status 3");
}

/// The same with a real program. TR-07.
#[cfg(unix)]
#[tokio::test]
async fn a_program_that_dies_says_why() {
    use agentwire_transport_stdio::{Child, Command, Stderr};

    let script = format!("read request; echo '{ANSWER}'; read request; echo no key >&2; exit 3");
    let child = Child::spawn(Command::new("sh").arg("-c").arg(script).stderr(Stderr::Capture)).unwrap();
    let result: Result<(), ConnectionError> = connect(Recorder::default(), child, async |agent| {
        agent.initialize(greeting()).await?;
        agent.prompt(PromptRequest::new("s", "go")).await?;
        Ok(())
    })
    .await;
    let error = format!("{:#}", result.unwrap_err());
    assert!(error.contains("exited with status 3") && error.contains("no key"), "{error}");
}

/// An agent that exits, and one that is killed: the call that waited knows the status and the last lines of stderr, and so does
/// the error of a handshake.
#[cfg(unix)]
#[tokio::test]
async fn a_closed_connection_knows_how_the_program_died() {
    use std::os::unix::process::ExitStatusExt;

    use agentwire_transport::Exited;
    use agentwire_transport_stdio::{Child, Command, Stderr};

    let many = "i=0; while [ $i -lt 5000 ]; do echo line $i >&2; i=$((i + 1)); done";
    for (end, code, signal) in [("exit 3", Some(3), None), ("kill -9 $$", None, Some(9))] {
        let run = |script: String| {
            Child::spawn(Command::new("sh").arg("-c").arg(script).stderr(Stderr::Capture)).unwrap()
        };
        let child = run(format!("read request; echo '{ANSWER}'; read request; {many}; {end}"));
        let ended = connect(Recorder::default(), child, async |agent| {
            agent.initialize(greeting()).await?;
            let error = agent.prompt(PromptRequest::new("s", "go")).await.unwrap_err();
            let exited = error.exited().expect("a call that the end cuts");
            let CallError::Closed(closed) = &error else { panic!("{error}") };
            assert_eq!(closed.exited().map(|exited| exited.status), Some(exited.status));
            Ok(exited.clone())
        });
        let exited = ended.await.unwrap();
        let status = exited.status.unwrap();
        assert_eq!((status.code(), status.signal()), (code, signal), "{end}");
        assert_eq!((&*exited.program, exited.stderr.lines().count()), ("sh", 20));
        assert!(exited.stderr.ends_with("line 4999"), "{}", exited.stderr);

        let child = run(format!("read request; {end}"));
        let error = connect(Recorder::default(), child, async |agent| {
            agent.initialize(greeting()).await?;
            Ok(())
        });
        let error: ConnectionError = error.await.unwrap_err();
        let status = Exited::of(&error).unwrap().status.unwrap();
        assert_eq!((status.code(), status.signal()), (code, signal), "{error}");
    }
    assert!(agentwire_acp_client::Closed::default().exited().is_none());
}

/// The end of `main` is the end, though the agent still asks; its question is dropped.
#[tokio::test(start_paused = true)]
async fn the_end_of_main_is_the_end() {
    let client = Recorder::default();
    let result = check!("END-of-main", &client, async |agent| {
        begin(&agent).await?;
        client.until(1).await;
        Ok(7)
    });
    assert_eq!(result.unwrap(), 7);
    assert_eq!(client.heard(), ["asked session-1 a", "dropped session-1 a"]);
}

struct Plain;

impl Client for Plain {
    fn session_update(&self, _: SessionNotification) {}

    async fn request_permission(
        &self,
        request: RequestPermissionRequest,
        _: Context,
    ) -> Result<RequestPermissionResponse, Error> {
        Ok(request.allow())
    }
}

/// A handle that outlives the function it was made in; and futures that are `Send`.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn connections_can_be_spawned() {
    let (near, mut far) = duplex(8);
    let near = checked(near, Conversation::acp(), Side::Client);
    let (agent, running) = start(Plain, near, Config::new());
    let running = tokio::spawn(running);
    let call = tokio::spawn({
        let agent = agent.clone();
        async move { agent.initialize(greeting()).await }
    });
    far.next().await.unwrap().unwrap();
    far.send(Packet::from_json(ANSWER)).await.unwrap();
    assert_eq!(call.await.unwrap().unwrap().protocol_version, ProtocolVersion::V1);
    far.close().await.unwrap();
    running.await.unwrap().unwrap();
    assert!(agent.is_closed());

    let (near, mut far) = duplex(8);
    let near = checked(near, Conversation::acp(), Side::Client);
    let connected = tokio::spawn(connect(Plain, near, async |agent| {
        agent.initialize(greeting()).await?;
        Ok(())
    }));
    far.next().await.unwrap().unwrap();
    far.send(Packet::from_json(ANSWER)).await.unwrap();
    connected.await.unwrap().unwrap();
}
