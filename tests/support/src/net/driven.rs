//! A transport whose messages a test sends and receives one by one.

use std::error::Error;
use std::marker::PhantomData;

use agentwire_jsonrpc::Frame;
use agentwire_transport::{Packet, Transport, TransportError};
use futures::StreamExt;
use futures::channel::mpsc;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::{QUIET, patiently};

/// A transport whose two halves are driven by two tasks. Its own errors are of the type `E`.
///
/// All methods panic if the transport does something else than the test waits for.
#[derive(Debug)]
pub struct Driven<E> {
    sent: mpsc::UnboundedSender<Packet>,
    received: mpsc::UnboundedReceiver<Result<Packet, TransportError>>,
    writing: JoinHandle<Result<(), TransportError>>,
    error: PhantomData<fn() -> E>,
}

#[expect(clippy::missing_panics_doc, reason = "the type's docs say it of all of them")]
impl<E: Error + Send + Sync + 'static> Driven<E> {
    /// Drives a transport.
    pub fn new(transport: impl Transport + Send + 'static) -> Self {
        let (sink, stream) = transport.split();
        let (sent, to_send) = mpsc::unbounded();
        let (receive, received) = mpsc::unbounded();
        let writing = tokio::spawn(to_send.map(Ok).forward(sink));
        tokio::spawn(stream.map(Ok).forward(receive));
        Self { sent, received, writing, error: PhantomData }
    }

    /// Sends a message.
    pub fn say(&self, message: Value) {
        self.packet(Packet::from_json(&message.to_string()));
    }

    /// Sends a packet.
    pub fn packet(&self, packet: Packet) {
        self.sent.unbounded_send(packet).unwrap();
    }

    /// Sends a call of the tool `t`.
    pub fn call(&self, id: u64) {
        self.say(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "t"}}));
    }

    /// The next packet or error of the transport.
    pub async fn heard(&mut self) -> Option<Result<Packet, TransportError>> {
        patiently(self.received.next()).await
    }

    /// The next message, as JSON.
    pub async fn frame(&mut self) -> Value {
        match self.heard().await {
            Some(Ok(packet @ Packet::Frame { .. })) => {
                let Packet::Frame { frame, .. } = &packet else { unreachable!() };
                assert!(!matches!(frame, Frame::Malformed(_)), "{frame:?}");
                serde_json::from_str(&packet.into_json().unwrap()).unwrap()
            }
            other => panic!("no message: {other:?}"),
        }
    }

    /// Waits for the failure of a call, and looks at it.
    pub async fn failed(&mut self, request: u64, look: impl FnOnce(&E)) {
        match self.heard().await {
            Some(Ok(Packet::RequestFailed { id, error })) => {
                assert_eq!(id, request.into());
                look(own(&error));
            }
            other => panic!("no failure: {other:?}"),
        }
    }

    /// Waits for the report that the session has no stream from now on, and looks at the reason.
    pub async fn stream_ended(&mut self, look: impl FnOnce(&E)) {
        match self.heard().await {
            Some(Ok(Packet::Gap { end: Some(end) })) => look(own(&end)),
            other => panic!("no end of the stream: {other:?}"),
        }
    }

    /// Waits for the report that messages may be lost.
    pub async fn has_gap(&mut self) {
        let heard = self.heard().await;
        assert!(matches!(heard, Some(Ok(Packet::Gap { end: None }))), "{heard:?}");
    }

    /// Waits for the end of the transport, and returns the reason.
    pub async fn ended(mut self) -> E {
        let error = match self.heard().await {
            Some(Err(error)) => error,
            other => panic!("no end: {other:?}"),
        };
        assert!(self.heard().await.is_none(), "an error is the last item");
        let TransportError::Other(error) = error else { panic!("{error}") };
        *error.downcast().expect("an error of this transport")
    }

    /// Whether the transport returns nothing for a while.
    pub async fn hears_nothing(&mut self) -> bool {
        tokio::time::timeout(QUIET, self.received.next()).await.is_err()
    }

    /// Closes the sink, and waits until that is done.
    pub async fn close(self) {
        drop(self.sent);
        patiently(self.writing).await.unwrap().unwrap();
    }
}

/// An error of the transport's own type.
fn own<E: Error + 'static>(error: &TransportError) -> &E {
    match error {
        TransportError::Other(error) => error.downcast_ref().expect("an error of this transport"),
        error => panic!("no error of this transport: {error:?}"),
    }
}
