//! A server whose handler does what its requests say.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agentwire_jsonrpc::{Frame, Message, RequestId, Response};
use agentwire_transport::{Exchange, Packet, Service};
use agentwire_transport_http::server::{Routes, serve};
use agentwire_transport_sse::server::{Connection, Endpoint, EndpointConfig};
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use crate::patiently;

/// Where clients are served.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    /// Within the stream that the client reads.
    Inline,
    /// In a task of its own.
    Spawned,
}

pub(crate) const WAYS: [Way; 2] = [Way::Inline, Way::Spawned];

/// Serves each connection by a function, and no exchange, which this transport does not have.
pub(crate) struct OfConnections<F>(pub(crate) F);

impl<F, A> Service<Connection> for OfConnections<F>
where
    F: Fn(Connection) -> A,
    A: Future<Output = ()> + Send + 'static,
{
    fn connection(&self, connection: Connection) -> impl Future<Output = ()> + Send + 'static {
        (self.0)(connection)
    }

    fn exchange(&self, exchange: Exchange) -> impl Future<Output = Response> + Send + 'static {
        let unexpected = format!("{exchange:?}");
        std::future::poll_fn(move |_| panic!("{unexpected}"))
    }
}

pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) state: Arc<State>,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<()>,
}

/// The current state of the scripts.
#[derive(Default)]
pub(crate) struct State {
    /// How many clients are being served.
    attended: AtomicUsize,
    /// The number of received messages.
    received: AtomicUsize,
    changed: Notify,
}

impl Server {
    pub(crate) async fn start(config: EndpointConfig, way: Way) -> Self {
        Self::start_beside(config, way, Routes::new()).await
    }

    pub(crate) async fn start_beside(config: EndpointConfig, way: Way, routes: Routes) -> Self {
        let state = Arc::new(State::default());
        let scripted = {
            let state = state.clone();
            move |connection| attend(connection, state.clone())
        };
        let endpoint = match way {
            Way::Inline => Endpoint::serving(config, OfConnections(scripted)),
            Way::Spawned => {
                let spawning = OfConnections(move |connection| {
                    tokio::spawn(scripted(connection));
                    std::future::ready(())
                });
                Endpoint::serving(config, spawning)
            }
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (stop, stopped) = oneshot::channel();
        let serving = serve(listener, endpoint.mount(routes)).shutdown(async {
            let _ = stopped.await;
        });
        let serving = tokio::spawn(async move { serving.await });
        Self { port, state, stop: Some(stop), serving }
    }

    /// Stops the server, and waits until it has stopped.
    pub(crate) async fn stop(mut self) {
        drop(self.stop.take());
        patiently(self.serving).await.unwrap();
    }
}

impl State {
    /// Waits until so many clients are being served.
    pub(crate) async fn attends(&self, clients: usize) {
        self.becomes(&self.attended, clients).await;
    }

    /// Waits until so many messages have been received.
    pub(crate) async fn has_received(&self, messages: usize) {
        self.becomes(&self.received, messages).await;
    }

    async fn becomes(&self, counter: &AtomicUsize, number: usize) {
        let reached = async {
            loop {
                let changed = self.changed.notified();
                if counter.load(Ordering::SeqCst) == number {
                    return;
                }
                changed.await;
            }
        };
        let reached = tokio::time::timeout(crate::PATIENCE, reached).await;
        assert!(reached.is_ok(), "{} and not {number}", counter.load(Ordering::SeqCst));
    }

    fn change(&self, counter: &AtomicUsize, by: isize) {
        counter.fetch_add(by.cast_unsigned(), Ordering::SeqCst);
        self.changed.notify_waiters();
    }
}

/// Counts a client for as long as it is served.
struct Attended(Arc<State>);

impl Drop for Attended {
    fn drop(&mut self) {
        self.0.change(&self.0.attended, -1);
    }
}

/// Serves one client, one message after the other.
pub(crate) async fn attend(mut connection: Connection, state: Arc<State>) {
    state.change(&state.attended, 1);
    let _attended = Attended(state.clone());
    while let Some(Ok(Packet::Frame { frame: Frame::Single(message), .. })) = connection.next().await {
        state.change(&state.received, 1);
        let Message::Request(request) = message else {
            continue;
        };
        let params: Value = request.params.map_or(Value::Null, |params| params.decode().unwrap());
        if !act(&mut connection, &request.method, &request.id, params).await {
            return;
        }
    }
}

/// Does the work that a request names. Returns whether the conversation goes on.
async fn act(connection: &mut Connection, method: &str, id: &RequestId, params: Value) -> bool {
    match method {
        // The requested number of notifications, and then the answer.
        "count" => {
            for at in 0..params["n"].as_u64().unwrap() {
                let note = json!({"jsonrpc": "2.0", "method": "progress", "params": {"at": at}});
                if say(connection, &note).await.is_err() {
                    return false;
                }
            }
            answer(connection, id, json!("counted")).await
        }
        "large" => answer(connection, id, "x".repeat(params["n"].as_u64().unwrap() as usize).into()).await,
        // A request of the server's, and the client's answer to it.
        "ask" => {
            let request = json!({"jsonrpc": "2.0", "id": "s-1", "method": "roots/list"});
            if say(connection, &request).await.is_err() {
                return false;
            }
            let Some(Ok(Packet::Frame { frame: Frame::Single(Message::Response(response)), .. })) =
                connection.next().await
            else {
                return false;
            };
            answer(connection, id, response.outcome.unwrap().decode().unwrap()).await
        }
        "hang" => std::future::pending().await,
        "leave" => false,
        "panic" => panic!("as the client wishes"),
        _ => answer(connection, id, params).await,
    }
}

async fn answer(connection: &mut Connection, id: &RequestId, result: Value) -> bool {
    say(connection, &json!({"jsonrpc": "2.0", "id": id, "result": result})).await.is_ok()
}

async fn say(
    connection: &mut Connection,
    message: &Value,
) -> Result<(), agentwire_transport::TransportError> {
    connection.send(Packet::from_json(&message.to_string())).await
}
