//! Models of the driver of a connection: a call from another thread, and the end of the connection.

use std::collections::VecDeque;
use std::future::pending;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use agentwire_jsonrpc::{ErrorObject, Frame, Message, Notification, RawJson, Request, Response};
use bytestring::ByteString;
use futures::{Sink, Stream};
use loom::future::block_on;
use loom::thread;
use serde_json::Value;

use crate::{Clock, Config, Dialect, Handler, Packet, Peer, RequestContext, TransportError, driver};

/// No time passes.
struct Stopped(Instant);

impl Clock for Stopped {
    fn now(&self) -> Instant {
        self.0
    }

    fn sleep_until(&self, _: Instant) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(pending())
    }
}

/// Refuses every request.
struct Deaf;

impl Handler for Deaf {
    async fn request(&self, request: Request, _: RequestContext) -> Result<RawJson, ErrorObject> {
        Err(ErrorObject::method_not_found(&request.method))
    }

    fn notification(&self, _: Notification, _: &Peer) {}
}

/// A peer that answers each request at once, and closes on a signal. It lives in the driver's thread.
#[derive(Default)]
struct Echo {
    answers: VecDeque<Packet>,
    has_left: bool,
}

impl Stream for Echo {
    type Item = Result<Packet, TransportError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.answers.pop_front() {
            Some(answer) => Poll::Ready(Some(Ok(answer))),
            None if self.has_left => Poll::Ready(None),
            // An answer is queued when the driver writes a request, and the driver reads again after that.
            None => Poll::Pending,
        }
    }
}

impl Sink<Packet> for Echo {
    type Error = TransportError;

    fn poll_ready(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    fn start_send(mut self: Pin<&mut Self>, packet: Packet) -> Result<(), TransportError> {
        if let Packet::Frame { frame: Frame::Single(message), .. } = packet {
            match message {
                Message::Request(request) => {
                    let answer = Response::new(request.id, Ok(RawJson::EMPTY_OBJECT));
                    let frame = Frame::Single(Message::Response(answer));
                    self.answers.push_back(Packet::Frame { frame, in_reply_to: None, source: None });
                }
                Message::Notification(_) => self.has_left = true,
                Message::Response(_) => {}
            }
        }
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        if self.has_left || !self.answers.is_empty() {
            // There is something to read.
            cx.waker().wake_by_ref();
        }
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }
}

fn connect() -> (Peer, thread::JoinHandle<()>) {
    let (peer, driver) = driver(Config::new(Dialect::MCP), Stopped(Instant::now()));
    let serving = thread::spawn(move || {
        block_on(driver.serve(Deaf, Echo::default())).expect("the peer leaves in good order");
    });
    (peer, serving)
}

/// A call from another thread than the driver's, and a notification, after which the peer leaves.
pub fn a_call_is_answered() {
    let (peer, serving) = connect();
    block_on(async {
        let answer: Value = peer.call_method("x", None::<&()>).await.expect("it is answered");
        assert!(answer.is_object());
        peer.notify_method("leave", None::<&()>).await.expect("the connection is there");
    });
    serving.join().expect("no panic");
}

/// The connection ends while a thread waits for its end.
pub fn the_end_wakes_its_waiters() {
    let (peer, serving) = connect();
    peer.post_leave();
    block_on(peer.closed());
    serving.join().expect("no panic");
    assert!(peer.is_closed());
}

impl Peer {
    fn post_leave(&self) {
        let mut state = self.shared.lock();
        state.connection.notify(ByteString::from_static("leave"), None, None);
        let waker = state.changed();
        drop(state);
        waker.into_iter().for_each(std::task::Waker::wake);
    }
}
