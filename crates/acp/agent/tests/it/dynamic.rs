//! Tests of agents behind pointers and trait objects, and in spawned tasks.

use std::sync::Arc;

use agentwire_acp_agent::{Agent, Closed, Context, Error, RemoteClient, serve};
use agentwire_acp_schema::v1::*;
use agentwire_jsonrpc::RawJson;
use agentwire_transport::{Packet, Transport, duplex};
use futures::{SinkExt, StreamExt};
use tokio::task::JoinHandle;

/// Serves any agent in a spawned task.
fn spawn<A: Agent + 'static>(
    agent: A,
    transport: impl Transport + Send + 'static,
) -> JoinHandle<Result<(), Closed>> {
    tokio::spawn(serve(agent, transport))
}

/// An agent whose answers contain its name.
struct Named(&'static str);

impl Agent for Named {
    async fn initialize(&self, request: InitializeRequest, _: Context) -> Result<InitializeResponse, Error> {
        tokio::task::yield_now().await;
        let info = Implementation::new(self.0, "1.0.0");
        Ok(InitializeResponse::new(request.protocol_version).agent_info(info))
    }

    async fn new_session(&self, _: NewSessionRequest, _: Context) -> Result<NewSessionResponse, Error> {
        Ok(NewSessionResponse::new(self.0))
    }

    async fn prompt(&self, _: PromptRequest, context: Context) -> Result<PromptResponse, Error> {
        context.cancelled().await;
        Ok(PromptResponse::new(StopReason::EndTurn))
    }

    fn cancel(&self, _: CancelNotification, client: &RemoteClient) {
        let name = self.0;
        let client = client.clone();
        // The queue is empty, so the notification is sent in its first poll.
        let sent = futures::FutureExt::now_or_never(client.extension_notification("_cancelled", &name));
        assert!(matches!(sent, Some(Ok(()))), "{sent:?}");
    }

    async fn extension_request(
        &self,
        method: &str,
        _: Option<RawJson>,
        _: Context,
    ) -> Result<RawJson, Error> {
        let method = method.to_owned();
        tokio::task::yield_now().await;
        Ok(RawJson::encode(&format!("{method} of {}", self.0)).unwrap())
    }
}

/// Checks a spawned agent: each request, the messages that the agent sends for it, and its shutdown.
async fn check<A: Agent + 'static>(agent: A, name: &str) {
    let (near, mut far) = duplex(8);
    let served = spawn(agent, near);
    for (request, answers) in [
        (
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#,
            vec![format!(r#""name":"{name}""#)],
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}"#,
            vec![format!(r#""sessionId":"{name}""#)],
        ),
        (r#"{"jsonrpc":"2.0","id":2,"method":"_x"}"#, vec![format!("_x of {name}")]),
        // A method with a default.
        (
            r#"{"jsonrpc":"2.0","id":3,"method":"session/set_mode","params":{"sessionId":"s","modeId":"m"}}"#,
            vec!["-32601".to_owned()],
        ),
        (
            r#"{"jsonrpc":"2.0","id":4,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}"#,
            vec![],
        ),
        (
            r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#,
            vec![format!(r#""params":"{name}""#), r#""stopReason":"cancelled""#.to_owned()],
        ),
    ] {
        far.send(Packet::from_json(request)).await.unwrap();
        for answer in answers {
            let text = far.next().await.unwrap().unwrap().into_json().unwrap();
            assert!(text.contains(&answer), "{request} is answered {text}, without {answer}");
        }
    }
    far.close().await.unwrap();
    served.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pointers_to_agents_can_be_served_and_spawned() {
    check(Named("plain"), "plain").await;
    check(&Named("borrowed"), "borrowed").await;
    check(Box::new(Named("boxed")), "boxed").await;
    check(Arc::new(Named("shared")), "shared").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agent_is_chosen_at_run_time() {
    for name in ["one", "two"] {
        let shared: Arc<dyn Agent> = Arc::new(Named(name));
        check(shared, name).await;
        let boxed: Box<dyn Agent> = Box::new(Arc::new(Named(name)));
        check(boxed, name).await;
    }
}
