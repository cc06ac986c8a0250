//! Tests of the start and the end of serving.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use agentwire_acp_agent::{Agent, BoxError, CallError, Config, Context, Error, serve, serve_with};
use agentwire_acp_schema::v1::*;
use agentwire_schema_tests::{Conversation, Side, checked};
use agentwire_transport::{Duplex, Packet, TransportError, duplex};
use futures::{SinkExt, StreamExt};

use crate::scripted::Scripted;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#;
const PROMPT: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}"#;

async fn send(wire: &mut Duplex, text: &str) {
    wire.send(Packet::from_json(text)).await.unwrap();
}

async fn next(wire: &mut Duplex) -> String {
    wire.next().await.unwrap().unwrap().into_json().unwrap()
}

/// An agent whose turn is a closure of the test.
struct Turn<F>(F);

impl<F, Fut> Agent for Turn<F>
where
    F: Fn(Context) -> Fut + Send + Sync,
    Fut: Future<Output = Result<StopReason, Error>> + Send,
{
    async fn initialize(&self, req: InitializeRequest, _: Context) -> Result<InitializeResponse, Error> {
        Ok(InitializeResponse::new(req.protocol_version))
    }

    async fn new_session(&self, _: NewSessionRequest, _: Context) -> Result<NewSessionResponse, Error> {
        Ok(NewSessionResponse::new("s"))
    }

    async fn prompt(&self, _: PromptRequest, cx: Context) -> Result<PromptResponse, Error> {
        (self.0)(cx).await.map(PromptResponse::new)
    }
}

#[tokio::test(start_paused = true)]
async fn running_requests_are_answered_after_the_client_has_closed() {
    let (near, mut far) = duplex(8);
    let near = checked(near, Conversation::acp(), Side::Server);
    let agent = Turn(async |_: Context| {
        tokio::task::yield_now().await;
        Ok(StopReason::EndTurn)
    });
    let client = async {
        send(&mut far, INITIALIZE).await;
        next(&mut far).await;
        send(&mut far, PROMPT).await;
        far.close().await.unwrap();
        next(&mut far).await
    };
    let (served, answer) = futures::join!(serve(agent, near), client);
    assert!(served.is_ok());
    assert!(answer.contains("end_turn"), "{answer}");
}

/// A pending call of a turn fails when the client disconnects. A turn that never ends is dropped, and serving ends.
#[tokio::test(start_paused = true)]
async fn turns_end_with_the_client() {
    struct Dropped(Arc<AtomicU32>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let (near, mut far) = duplex(8);
    let near = checked(near, Conversation::acp(), Side::Server);
    let dropped = Arc::new(AtomicU32::new(0));
    let closed = AtomicBool::new(false);
    let agent = Turn(async |cx: Context| {
        let _dropped = Dropped(dropped.clone());
        let yes = PermissionOption::new("yes", "Yes", PermissionOptionKind::AllowOnce);
        let request = RequestPermissionRequest::new("s", ToolCallUpdate::new("c"), [yes]);
        let answer = cx.client().request_permission(request).await;
        let is_closed = matches!(answer, Err(CallError::Closed(_))) && cx.client().is_closed();
        closed.store(is_closed, Ordering::Relaxed);
        std::future::pending().await
    });
    let client = async {
        send(&mut far, INITIALIZE).await;
        next(&mut far).await;
        send(&mut far, PROMPT).await;
        next(&mut far).await;
        drop(far);
    };
    let (served, ()) = futures::join!(serve(agent, near), client);
    assert!(served.is_ok(), "the client left in good order");
    assert!(closed.load(Ordering::Relaxed));
    assert_eq!(dropped.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn serving_fails_with_the_error_of_the_transport() {
    let (near, mut far) = duplex(8);
    let near = checked(near, Conversation::acp(), Side::Server);
    send(&mut far, INITIALIZE).await;
    let failing = near.map(|_| Err(TransportError::other("the line is cut")));
    let closed = serve(Scripted::default(), failing).await.unwrap_err();
    assert_eq!(BoxError::from(closed).to_string(), "the connection closed: the line is cut");
}

#[tokio::test]
async fn configured_limit_of_open_requests_is_applied() {
    let (near, mut far) = duplex(8);
    let near = checked(near, Conversation::acp(), Side::Server);
    let agent = Turn(async |_: Context| std::future::pending().await);
    let client = async {
        send(&mut far, INITIALIZE).await;
        next(&mut far).await;
        send(&mut far, PROMPT).await;
        send(&mut far, &PROMPT.replace("\"id\":1", "\"id\":2")).await;
        let answer = next(&mut far).await;
        assert!(answer.contains(r#""id":2,"error""#) && answer.contains(r#""data":{"limit":1}"#), "{answer}");
        drop(far);
    };
    let serving = serve_with(agent, near, Config::new().request_limit(1).drain(std::time::Duration::ZERO));
    let (served, ()) = futures::join!(serving, client);
    assert!(served.is_ok());
}

/// Serving is `Send` if the agent's futures are. A client on another thread that closes as soon as it has its answer
/// causes no error: this is a race, so the test repeats it a few times.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn serving_can_be_spawned() {
    for _ in 0..50 {
        let (near, mut far) = duplex(8);
        let near = checked(near, Conversation::acp(), Side::Server);
        let serving = tokio::spawn(serve(Scripted::default(), near));
        send(&mut far, INITIALIZE).await;
        assert!(next(&mut far).await.contains("scripted"));
        drop(far);
        serving.await.unwrap().unwrap();
    }
}
