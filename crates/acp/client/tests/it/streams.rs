//! A turn as a stream.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use agentwire_acp_client::{CallError, TurnEvent};
use agentwire_acp_schema::v1::*;
use futures::stream::FusedStream;
use futures::{FutureExt, StreamExt, join};

use crate::check;
use crate::recorder::{Recorder, begin};

/// The kind of an event, in a word.
fn word(event: Result<TurnEvent, CallError>) -> String {
    match event {
        Ok(TurnEvent::Update(SessionUpdate::AgentMessageChunk(chunk))) => {
            chunk.content.as_text().unwrap().into()
        }
        Ok(TurnEvent::Update(SessionUpdate::ToolCallUpdate(update))) => update.tool_call_id.to_string(),
        Ok(TurnEvent::Update(other)) => format!("{other:?}"),
        Ok(TurnEvent::Stopped(response)) => response.stop_reason.as_str().into(),
        Ok(other) => panic!("{other:?}"),
        Err(error) => format!("error: {error}"),
    }
}

/// All updates, in order, then the answer, then the end; and the client receives the same. Updates of other sessions are
/// not the turn's.
#[tokio::test(start_paused = true)]
async fn a_turn_is_its_updates_and_the_answer() {
    let client = Recorder::default();
    check!("STREAM-updates-and-answer", &client, async |agent| {
        let session = begin(&agent).await?;
        let mut turn = agent.prompt(PromptRequest::new(&session, "go")).updates();
        let mut events = Vec::new();
        while let Some(event) = turn.next().await {
            events.push(word(event));
        }
        assert_eq!(events, ["one", "two", "three", "end_turn"]);
        assert!(turn.is_terminated() && turn.next().await.is_none());
        // The same as any other stream.
        let turn = agent.prompt(PromptRequest::new(&session, "again")).updates();
        assert_eq!(turn.map(word).collect::<Vec<_>>().await, ["four", "end_turn"]);
        Ok(())
    })
    .unwrap();
    let heard = client.heard();
    assert_eq!(heard.len(), 5, "{heard:?}");
}

/// A refusal of the agent is the last event of the stream; so is a refusal here, for which nothing is sent.
#[tokio::test(start_paused = true)]
async fn a_turn_that_fails_ends_in_the_error() {
    check!("STREAM-refused", &Recorder::default(), async |agent| {
        let session = begin(&agent).await?;
        let turn = agent.prompt(PromptRequest::new(&session, "go")).updates();
        let events: Vec<_> = turn.map(word).collect().await;
        assert_eq!(events.len(), 2);
        assert_eq!(events[0], "one");
        assert!(events[1].contains("refused"), "{events:?}");
        let image = ContentBlock::from(ImageContent::new("AAAA", "image/png"));
        let turn = agent.prompt(PromptRequest::new(&session, image)).updates();
        let events: Vec<_> = turn.map(word).collect().await;
        assert_eq!(
            events,
            ["error: session/prompt: the agent did not advertise the capability promptCapabilities.image"]
        );
        // A stream that is never polled is not a turn.
        drop(agent.prompt(PromptRequest::new(&session, "never polled")).updates());
        Ok(())
    })
    .unwrap();
}

/// A dropped stream is a cancelled turn, and so is one whose time is over.
#[tokio::test(start_paused = true)]
async fn a_dropped_stream_cancels_its_turn() {
    check!("STREAM-dropped", &Recorder::default(), async |agent| {
        let session = begin(&agent).await?;
        let mut turn = agent.prompt(PromptRequest::new(&session, "go")).updates();
        assert_eq!(word(turn.next().await.unwrap()), "one");
        drop(turn);
        let turn = agent.prompt(PromptRequest::new(&session, "go on"));
        let mut turn = turn.timeout(Duration::from_secs(30)).updates();
        assert_eq!(word(turn.next().await.unwrap()), "two");
        assert!(matches!(turn.next().await, Some(Err(CallError::TimedOut { .. }))));
        assert!(turn.next().await.is_none());
        Ok(())
    })
    .unwrap();
}

/// One update too many is an error that names the limit; nothing is lost before it, and the turn is cancelled.
#[tokio::test(start_paused = true)]
async fn a_turn_that_nobody_reads_is_bounded() {
    check!("STREAM-overflow", &Recorder::default(), async |agent| {
        let session = begin(&agent).await?;
        let mut turn = agent.prompt(PromptRequest::new(&session, "go")).updates().limit(2);
        // Sends the prompt; by the time that the other turn has ended, three updates of this one have come.
        assert!(turn.next().now_or_never().is_none());
        agent.prompt(PromptRequest::new("session-2", "other")).await?;
        let events: Vec<_> = turn.map(word).collect().await;
        let why =
            "error: session/prompt: more than 2 updates of the turn wait to be read, which is the limit";
        assert_eq!(events, ["one", "two", why]);
        agent.prompt(PromptRequest::new(&session, "go on")).await?;
        Ok(())
    })
    .unwrap();
}

/// So it is by their bytes, of which those that were read are none.
#[tokio::test(start_paused = true)]
async fn unread_turn_is_bounded_in_bytes() {
    check!("STREAM-overflow-bytes", &Recorder::default(), async |agent| {
        let session = begin(&agent).await?;
        // There is room for one and for another two, and not for three.
        let mut turn = agent.prompt(PromptRequest::new(&session, "go")).updates().byte_limit(300);
        assert_eq!(word(turn.next().await.unwrap()), "zero");
        agent.prompt(PromptRequest::new("session-2", "other")).await?;
        let events: Vec<_> = turn.map(word).collect().await;
        let why = "error: session/prompt: more than 300 bytes of updates of the turn wait to be read, which is the limit";
        assert_eq!(events, ["one", "two", why]);
        Ok(())
    })
    .unwrap();
}

/// A turn that is cancelled in the ordinary way still gives what comes late. PR-16.
#[tokio::test(start_paused = true)]
async fn pr_16_a_cancelled_turn_is_read_to_its_end() {
    check!("STREAM-cancelled", &Recorder::default(), async |agent| {
        let session = begin(&agent).await?;
        let mut turn = agent.prompt(PromptRequest::new(&session, "go")).updates();
        assert_eq!(word(turn.next().await.unwrap()), "one");
        agent.cancel(CancelNotification::new(&session)).await?;
        let events: Vec<_> = turn.map(word).collect().await;
        assert_eq!(events, ["call-1", "cancelled"]);
        Ok(())
    })
    .unwrap();
}

/// A session that never falls silent does not put off the end of a turn.
#[tokio::test(start_paused = true)]
async fn a_turn_ends_while_its_session_goes_on() {
    check!("STREAM-never-quiet", &Recorder::default(), async |agent| {
        let session = begin(&agent).await?;
        let mut turn = agent.prompt(PromptRequest::new(&session, "go")).updates();
        let mut events = Vec::new();
        while let Some(event) = turn.next().await {
            if matches!(event, Ok(TurnEvent::Update(_))) {
                let [] = agent.extension_request::<_, [(); 0]>("_more", &[(); 0]).await?;
            }
            events.push(word(event));
        }
        assert_eq!(events, ["one", "end_turn"]);
        Ok(())
    })
    .unwrap();
}

/// Two readers of one session both hear all of it, and each its own end.
#[tokio::test(start_paused = true)]
async fn two_streams_of_one_session() {
    check!("STREAM-two-of-one-session", &Recorder::default(), async |agent| {
        let session = begin(&agent).await?;
        let one = agent.prompt(PromptRequest::new(&session, "one")).updates();
        let two = agent.prompt(PromptRequest::new(&session, "two")).updates();
        let (one, two) = join!(one.map(word).collect::<Vec<_>>(), two.map(word).collect::<Vec<_>>());
        assert_eq!(one, ["a", "end_turn"]);
        assert_eq!(two, ["a", "b", "max_tokens"]);
        Ok(())
    })
    .unwrap();
}

/// A stream can be read by another task, on another thread, than the connection's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_is_read_elsewhere() {
    use agentwire_acp_client::{Client, Config, Context, Error, start};
    use agentwire_acp_schema::v1::{RequestPermissionRequest, RequestPermissionResponse};
    use agentwire_transport::{Packet, duplex};
    use futures::SinkExt;

    struct Deaf;
    impl Client for Deaf {
        fn session_update(&self, _: SessionNotification) {}
        fn request_permission(
            &self,
            request: RequestPermissionRequest,
            _: Context,
        ) -> impl Future<Output = Result<RequestPermissionResponse, Error>> {
            std::future::ready(Ok(request.allow()))
        }
    }

    const UPDATES: usize = 10_000;
    let (near, mut far) = duplex(8);
    let (agent, running) = start(Deaf, near, Config::new());
    let running = tokio::spawn(running);
    let read = tokio::spawn(async move {
        agent.initialize(crate::recorder::greeting()).await.unwrap();
        let mut turn = pin!(agent.prompt(PromptRequest::new("s", "go")).updates());
        let mut heard = 0;
        while let Some(event) = turn.next().await {
            match event.unwrap() {
                TurnEvent::Update(SessionUpdate::AgentMessageChunk(chunk)) => {
                    assert_eq!(chunk.content.as_text().unwrap(), heard.to_string());
                    heard += 1;
                }
                TurnEvent::Stopped(response) => assert_eq!(response.stop_reason, StopReason::EndTurn),
                other => panic!("{other:?}"),
            }
        }
        heard
    });
    far.next().await.unwrap().unwrap();
    far.send(Packet::from_json(r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}"#)).await.unwrap();
    far.next().await.unwrap().unwrap();
    for number in 0..UPDATES {
        let update = format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{number}"}}}}}}}}"#
        );
        far.send(Packet::from_json(&update)).await.unwrap();
    }
    far.send(Packet::from_json(r#"{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}"#))
        .await
        .unwrap();
    assert_eq!(read.await.unwrap(), UPDATES);
    far.close().await.unwrap();
    running.await.unwrap().unwrap();
}
