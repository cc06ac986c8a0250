//! A wire whose far end the test plays, and handlers made of closures.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use agentwire_jsonrpc::{
    ErrorObject, Notification, NotificationMethod, RawJson, Request, RequestMethod, Response,
};
use agentwire_peer::{Config, Dialect, Driver, Handler, Peer, RequestContext, TokioClock};
use agentwire_transport::{Packet, TransportError};
use futures::channel::mpsc;
use futures::{Sink, Stream, StreamExt};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::task::LocalSet;

/// A request that the tests' handlers understand as they like.
#[derive(Serialize, Deserialize)]
pub(crate) struct Ask {
    pub(crate) text: String,
}

impl RequestMethod for Ask {
    const NAME: &'static str = "ask";
    type Response = Value;
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Note {
    pub(crate) number: u64,
}

impl NotificationMethod for Note {
    const NAME: &'static str = "note";
}

pub(crate) fn ask(text: &str) -> Ask {
    Ask { text: text.into() }
}

pub(crate) fn note(number: u64) -> Note {
    Note { number }
}

/// The text of an [`Ask`].
pub(crate) fn asked(request: &Request) -> String {
    request.params.as_ref().unwrap().decode::<Ask>().unwrap().text
}

pub(crate) fn noted(notification: &Notification) -> u64 {
    notification.params.as_ref().unwrap().decode::<Note>().unwrap().number
}

pub(crate) type Answer = Result<RawJson, ErrorObject>;

pub(crate) fn done(value: impl Serialize) -> Answer {
    Ok(RawJson::encode(&value).unwrap())
}

pub(crate) fn acp() -> Config {
    Config::new(Dialect::ACP)
}

pub(crate) fn mcp() -> Config {
    Config::new(Dialect::MCP)
}

pub(crate) fn driver(config: Config) -> (Peer, Driver) {
    agentwire_peer::driver(config, TokioClock::default())
}

/// A handler made of closures.
pub(crate) struct On<R, N, S = fn(Response)> {
    request: R,
    notification: N,
    unmatched_response: S,
}

pub(crate) fn on<R, F, N>(request: R, notification: N) -> On<R, N>
where
    R: Fn(Request, RequestContext) -> F,
    F: Future<Output = Answer>,
    N: Fn(Notification, &Peer),
{
    On { request, notification, unmatched_response: drop }
}

/// A handler that answers and ignores notifications.
pub(crate) fn answering<R, F>(request: R) -> On<R, fn(Notification, &Peer)>
where
    R: Fn(Request, RequestContext) -> F,
    F: Future<Output = Answer>,
{
    on(request, |_, _| {})
}

/// A handler that takes notifications and answers nothing.
pub(crate) fn hearing<N: Fn(Notification, &Peer)>(notification: N) -> impl Handler {
    on(async |_, _| Err(ErrorObject::method_not_found("any")), notification)
}

pub(crate) fn deaf() -> impl Handler {
    hearing(|_, _| {})
}

impl<R, N, S> On<R, N, S> {
    pub(crate) fn unmatched_response<T: Fn(Response)>(self, unmatched_response: T) -> On<R, N, T> {
        On { request: self.request, notification: self.notification, unmatched_response }
    }
}

impl<R, F, N, S> Handler for On<R, N, S>
where
    R: Fn(Request, RequestContext) -> F,
    F: Future<Output = Answer>,
    N: Fn(Notification, &Peer),
    S: Fn(Response),
{
    fn request(&self, request: Request, context: RequestContext) -> impl Future<Output = Answer> {
        (self.request)(request, context)
    }

    fn notification(&self, notification: Notification, peer: &Peer) {
        (self.notification)(notification, peer);
    }

    fn unmatched_response(&self, response: Response) {
        (self.unmatched_response)(response);
    }
}

/// A transport whose other end the test holds.
pub(crate) struct Wire {
    incoming: mpsc::UnboundedReceiver<Result<Packet, TransportError>>,
    outgoing: mpsc::UnboundedSender<Packet>,
    control: Arc<Mutex<Control>>,
}

/// The other end of a [`Wire`].
pub(crate) struct Far {
    incoming: mpsc::UnboundedSender<Result<Packet, TransportError>>,
    outgoing: mpsc::UnboundedReceiver<Packet>,
    control: Arc<Mutex<Control>>,
}

#[derive(Default)]
struct Control {
    /// How many packets it may still take, unless it takes all.
    room: Option<usize>,
    broken: bool,
    never_closes: bool,
    waker: Option<Waker>,
    reads: usize,
    dropped: bool,
}

pub(crate) fn wire() -> (Wire, Far) {
    let (to_near, incoming) = mpsc::unbounded();
    let (outgoing, from_near) = mpsc::unbounded();
    let control = Arc::new(Mutex::new(Control::default()));
    let far = Far { incoming: to_near, outgoing: from_near, control: control.clone() };
    (Wire { incoming, outgoing, control }, far)
}

impl Far {
    /// Sends a message.
    pub(crate) fn say(&self, message: Value) {
        self.give(Packet::from_json(&message.to_string()));
    }

    pub(crate) fn give(&self, packet: Packet) {
        self.incoming.unbounded_send(Ok(packet)).unwrap();
    }

    pub(crate) fn fail(&mut self, kind: io::ErrorKind) {
        self.incoming.unbounded_send(Err(io::Error::from(kind).into())).unwrap();
        self.hang_up();
    }

    /// Sends nothing more, but still reads.
    pub(crate) fn hang_up(&mut self) {
        self.incoming.close_channel();
    }

    /// The next message that was sent to this end. Null at the end.
    pub(crate) async fn heard(&mut self) -> Value {
        self.outgoing.next().await.map_or(Value::Null, read)
    }

    /// Every message that has been sent to this end.
    pub(crate) fn heard_so_far(&mut self) -> Vec<Value> {
        std::iter::from_fn(|| self.outgoing.try_recv().ok()).map(read).collect()
    }

    /// Takes so many packets more and then none.
    pub(crate) fn take(&self, packets: usize) {
        self.change(|control| control.room = Some(packets));
    }

    /// Takes whatever comes.
    pub(crate) fn take_all(&self) {
        self.change(|control| control.room = None);
    }

    /// Lets every write fail.
    pub(crate) fn break_writes(&self) {
        self.change(|control| control.broken = true);
    }

    pub(crate) fn never_close(&self) {
        self.change(|control| control.never_closes = true);
    }

    /// How often the driver has tried to read.
    pub(crate) fn reads(&self) -> usize {
        self.control.lock().unwrap().reads
    }

    /// Whether the driver has given the transport up.
    pub(crate) fn is_dropped(&self) -> bool {
        self.control.lock().unwrap().dropped
    }

    fn change(&self, change: impl FnOnce(&mut Control)) {
        let mut control = self.control.lock().unwrap();
        change(&mut control);
        let waker = control.waker.take();
        drop(control);
        waker.into_iter().for_each(Waker::wake);
    }
}

fn read(packet: Packet) -> Value {
    serde_json::from_str(&packet.into_json().unwrap()).unwrap()
}

impl Stream for Wire {
    type Item = Result<Packet, TransportError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.control.lock().unwrap().reads += 1;
        self.incoming.poll_next_unpin(cx)
    }
}

impl Sink<Packet> for Wire {
    type Error = TransportError;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        let mut control = self.control.lock().unwrap();
        if control.broken {
            return Poll::Ready(Err(io::Error::from(io::ErrorKind::BrokenPipe).into()));
        }
        if control.room == Some(0) {
            control.waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    fn start_send(self: Pin<&mut Self>, packet: Packet) -> Result<(), TransportError> {
        if let Some(room) = &mut self.control.lock().unwrap().room {
            *room = room.checked_sub(1).expect("sent without being ready");
        }
        let _far_is_gone = self.outgoing.unbounded_send(packet);
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        if self.control.lock().unwrap().never_closes {
            return Poll::Pending;
        }
        self.outgoing.close_channel();
        Poll::Ready(Ok(()))
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.control.lock().unwrap().dropped = true;
    }
}

/// Runs `main` as the main future of a driver over a wire, whose far end it plays too.
pub(crate) async fn with_wire<R>(
    config: Config,
    handler: impl Handler,
    main: impl AsyncFnOnce(Peer, Far) -> R,
) -> R {
    let (peer, driver) = driver(config);
    let (wire, far) = wire();
    within(HOUR, driver.run(handler, wire, main(peer, far))).await.0
}

/// Runs two futures, neither of which is polled because of the other.
pub(crate) async fn beside<R>(one: impl Future<Output = ()> + 'static, other: impl Future<Output = R>) -> R {
    LocalSet::new()
        .run_until(async {
            let one = tokio::task::spawn_local(one);
            let result = other.await;
            one.await.unwrap();
            result
        })
        .await
}

pub(crate) const HOUR: Duration = Duration::from_secs(3600);

/// Fails if it takes longer. On the paused clock: at once, when nothing can happen any more.
pub(crate) async fn within<F: Future>(time: Duration, future: F) -> F::Output {
    tokio::time::timeout(time, future).await.expect("everything waits, and for nothing")
}

/// Lets everything happen that can happen without time passing, give or take a millisecond.
pub(crate) async fn settle() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

/// Completes when polled the second time, having asked for that itself.
pub(crate) async fn give_way() {
    let mut before = true;
    poll_fn(|cx| {
        if std::mem::take(&mut before) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(())
    })
    .await;
}

/// Counts how often a future is polled.
pub(crate) async fn counted<F: Future>(future: F, polls: &AtomicUsize) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| {
        polls.fetch_add(1, Ordering::Relaxed);
        future.as_mut().poll(cx)
    })
    .await
}

/// Numbers that look random and are the same for the same seed.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}
