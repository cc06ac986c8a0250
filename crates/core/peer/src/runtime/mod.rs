//! For protocol runtimes: parts of the driver that a runtime builds on. **Exempt from semver**: they change in any release.
//!
//! A [`Port`] is one connection over one transport without handlers. [`Driver::serve`](crate::Driver::serve) and
//! [`Driver::run`](crate::Driver::run) drive one port; `agentwire-acp-proxy` joins two into a relay. [`PeerExt`] and
//! [`CallExt`] are methods of handles and calls that only runtimes need. The functions send params that are JSON text already,
//! byte for byte.
//!
//! A loop that answers each request with its own params:
//!
//! ```
//! use std::future::poll_fn;
//! use std::task::{Context, Poll};
//!
//! use agentwire_jsonrpc::RawJson;
//! use agentwire_peer::runtime::{Event, Input, Port};
//! use agentwire_peer::{Driver, Closed};
//! use agentwire_transport::Transport;
//!
//! async fn echo<T: Transport>(driver: Driver, transport: T) -> Closed {
//!     let mut port = Port::new(driver, transport);
//!     poll_fn(|cx| poll(&mut port, cx)).await;
//!     port.close();
//!     poll_fn(|cx| port.poll_close(cx)).await;
//!     port.reason()
//! }
//!
//! fn poll<T: Transport>(port: &mut Port<T>, cx: &mut Context<'_>) -> Poll<()> {
//!     port.begin_poll();
//!     loop {
//!         if port.begin_read() {
//!             while let Poll::Ready(input) = port.poll_read(cx, true) {
//!                 let Input::Packet { mut event, .. } = input else { return Poll::Ready(()) };
//!                 while let Some(next) = event {
//!                     event = match next {
//!                         Event::Request { incoming, request, .. } => {
//!                             port.answer_and_next(incoming, Ok(request.params.unwrap_or(RawJson::NULL)))
//!                         }
//!                         _ => port.next_event(),
//!                     };
//!                 }
//!             }
//!         }
//!         port.begin_write();
//!         if port.poll_write(cx).is_err() {
//!             return Poll::Ready(());
//!         }
//!         if port.prepare_wait(cx) {
//!             return Poll::Pending;
//!         }
//!     }
//! }
//!
//! # #[cfg(feature = "tokio")]
//! # async fn example() {
//! use agentwire_peer::{Config, Dialect, TokioClock, driver};
//! use agentwire_transport::{Packet, duplex};
//! use futures::{SinkExt, StreamExt};
//!
//! let (near, mut far) = duplex(1);
//! let (_, driver) = driver(Config::new(Dialect::ACP), TokioClock::default());
//! let asking = async move {
//!     far.send(Packet::from_json(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[ 1 ]}"#)).await.unwrap();
//!     far.next().await.unwrap().unwrap().into_json().unwrap()
//! };
//! let (_, answer) = futures::join!(echo(driver, near), asking);
//! assert_eq!(answer, r#"{"jsonrpc":"2.0","id":1,"result":[ 1 ]}"#);
//! # }
//! # #[cfg(feature = "tokio")]
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(example());
//! ```

pub(crate) mod config;
pub(crate) mod cursors;

use std::task::{Context, Waker};

use agentwire_connection::{CallId, Connection};
use agentwire_jsonrpc::{NotificationMethod, RawJson, Response, Skipped};
use bytestring::ByteString;
use serde::Serialize;

use crate::call::Call;
use crate::error::{CallError, Closed};
use crate::handler::Cancelled;
use crate::peer::Peer;
use crate::peer::notify::Notify;

pub use crate::event_loop::timer::Timer;
pub use crate::observe::exchange::{ExchangeObservation, observe_notification};
pub use crate::observe::open_call::in_scope;
pub use crate::port::{Input, Port};
pub use crate::runtime::cursors::{CursorStep, Cursors};
pub use agentwire_connection::{CallFailure, Event, IncomingId, ResponsePolicy};

/// Methods of [`Peer`] for protocol runtimes.
pub trait PeerExt {
    /// Returns a handle whose messages belong to no request.
    #[must_use]
    fn unrelated(&self) -> Peer;

    /// Encodes the parameters of a call, sharing memory with other messages.
    ///
    /// # Errors
    ///
    /// [`CallError::Encode`] when they have no JSON form.
    fn encode_params<P>(&self, method: &ByteString, params: &P) -> Result<RawJson, CallError>
    where
        P: Serialize + ?Sized;

    /// Makes a call whose parameters are JSON text.
    fn call_encoded<R>(&self, method: impl Into<ByteString>, params: Option<RawJson>) -> Call<R>;

    /// Makes a call that fails when it is awaited, without being sent.
    fn refuse_call<R>(&self, error: CallError) -> Call<R>;

    /// Makes a notification that fails when it is awaited, without being sent.
    fn refuse_notify(&self, error: CallError) -> Notify<'_>;

    /// Queues a notification without waiting for room, unless an identical one is already queued. So the queue grows only
    /// with the number of different notifications, however slowly the peer reads.
    ///
    /// # Errors
    ///
    /// As [`Peer::notify_now`].
    fn notify_coalesced<N: NotificationMethod>(&self, params: &N) -> Result<(), CallError>;

    /// Reserves an id for a call whose parameters carry it; see [`CallExt::reserved`].
    fn reserve_call(&self) -> CallId;

    /// Whether a call was sent and is unanswered. False once the response has arrived, even if its caller has not taken it,
    /// and once the call was dropped.
    fn is_unanswered(&self, call: CallId) -> bool;

    /// Whether the request of a call is still in the queue. Then dropping the call withdraws the request.
    fn is_queued(&self, call: CallId) -> bool;

    /// Reports parts that a runtime has left out of a result itself; see
    /// [`Handler::skipped`](crate::Handler::skipped).
    fn report_skipped(&self, method: &str, skipped: Skipped);

    /// Sets whether the peer may send batches from now on.
    fn set_batches(&self, batches: bool);

    /// Sets which messages of the peer's get a response from now on.
    fn set_responses(&self, responses: ResponsePolicy);
}

impl PeerExt for Peer {
    fn unrelated(&self) -> Peer {
        Peer::new(self.shared.clone())
    }

    fn encode_params<P>(&self, method: &ByteString, params: &P) -> Result<RawJson, CallError>
    where
        P: Serialize + ?Sized,
    {
        self.encode_value(method, params)
    }

    fn call_encoded<R>(&self, method: impl Into<ByteString>, params: Option<RawJson>) -> Call<R> {
        Call::new(self.clone(), method.into(), Ok(params))
    }

    fn refuse_call<R>(&self, error: CallError) -> Call<R> {
        Call::new(self.clone(), ByteString::new(), Err(error))
    }

    fn refuse_notify(&self, error: CallError) -> Notify<'_> {
        Notify::new(self, ByteString::new(), Err(error))
    }

    fn notify_coalesced<N: NotificationMethod>(&self, params: &N) -> Result<(), CallError> {
        let method = ByteString::from_static(N::NAME);
        let params = self.encode(&method, Some(params))?;
        Ok(self.queue_by(method, params, Connection::notify_coalesced)?)
    }

    fn reserve_call(&self) -> CallId {
        self.shared.lock().connection.reserve_call()
    }

    fn is_unanswered(&self, call: CallId) -> bool {
        self.shared.lock().calls.is_open(call)
    }

    fn is_queued(&self, call: CallId) -> bool {
        self.shared.lock().connection.is_queued(call)
    }

    fn report_skipped(&self, method: &str, skipped: Skipped) {
        let waker = self.shared.lock().skipped(method.into(), skipped);
        waker.into_iter().for_each(Waker::wake);
    }

    fn set_batches(&self, batches: bool) {
        self.shared.lock().connection.set_batches(batches);
    }

    fn set_responses(&self, responses: ResponsePolicy) {
        self.shared.lock().connection.set_responses(responses);
    }
}

/// Methods of [`Call`] for protocol runtimes.
pub trait CallExt<R>: Sized {
    /// Makes a call that fails when it is awaited, and is never sent.
    fn failed(error: CallError) -> Self;

    /// Sends the call under an id that was [reserved](PeerExt::reserve_call).
    #[must_use]
    fn reserved(self, call: CallId) -> Self;

    /// Decodes the result with this function, for results whose text decides their type.
    #[must_use]
    fn decode_by(self, decode: fn(&RawJson) -> Result<R, serde_json::Error>) -> Self;

    /// Runs when the response is no longer awaited: when the call is dropped after it was sent and before it was answered,
    /// just before the cancel, and when its time-out has passed. For protocols that send more than a cancel.
    #[must_use]
    fn on_drop(self, hook: impl FnOnce() + Send + 'static) -> Self;
}

impl<R> CallExt<R> for Call<R> {
    fn failed(error: CallError) -> Self {
        Self::without_peer(error)
    }

    fn reserved(mut self, call: CallId) -> Self {
        self.set_id(call);
        self
    }

    fn decode_by(mut self, decode: fn(&RawJson) -> Result<R, serde_json::Error>) -> Self {
        self.outgoing.decode = Some(decode);
        self
    }

    fn on_drop(mut self, hook: impl FnOnce() + Send + 'static) -> Self {
        self.on_drop = Some(Box::new(hook));
        self
    }
}

/// Makes a call whose params and result are JSON text.
pub fn call_raw(peer: &Peer, method: impl Into<ByteString>, params: Option<RawJson>) -> Call<RawJson> {
    peer.call_encoded(method, params).decode_by(|result| Ok(result.clone()))
}

/// Sends a call now, even while [`Config::high_water`](crate::Config::high_water) bytes are queued. Awaiting the call then
/// waits for the response.
///
/// Returns the call's id, and the waker of the event loop if that waits. The caller wakes it when it holds no lock. So a
/// relay can record the id under a lock of its own before the request can leave.
///
/// # Errors
///
/// When the connection is closed or the params have no JSON form.
///
/// # Panics
///
/// If the call was awaited or started before.
pub fn start_call<R>(call: &mut Call<R>, cx: &Context<'_>) -> Result<(CallId, Option<Waker>), CallError>
where
    R: serde::de::DeserializeOwned + Send + 'static,
{
    call.start(cx)
}

/// Makes a notification whose params are JSON text, to be awaited.
pub fn notify_raw(peer: &Peer, method: impl Into<ByteString>, params: Option<RawJson>) -> Notify<'_> {
    Notify::new(peer, method.into(), Ok(params))
}

/// Queues a notification whose params are JSON text, without waiting for room.
///
/// # Errors
///
/// When nothing can be sent any more.
pub fn notify_raw_now(
    peer: &Peer,
    method: impl Into<ByteString>,
    params: Option<RawJson>,
) -> Result<(), Closed> {
    peer.queue(method.into(), params)
}

/// Sets the revision of the protocol, for observers. The first one stays.
pub fn set_revision(peer: &Peer, revision: impl Into<ByteString>) {
    peer.shared.set_revision(revision.into());
}

/// Describes a response that belongs to no call, for a warning. The text is printable, and may be long.
pub fn describe_unmatched(response: &Response) -> String {
    let id = &response.id;
    match &response.outcome {
        Err(error) if id.is_null() => format!("an error without an id: {error}"),
        Err(error) => format!("an error under the id {id:?}, which no open call has: {error}"),
        Ok(_) if id.is_null() => "a result without an id".to_owned(),
        Ok(_) => format!("a result under the id {id:?}, which no open call has"),
    }
}

/// Completes when a request of the peer's is cancelled; see [`RequestContext::cancelled`](crate::RequestContext::cancelled).
pub fn cancelled(peer: &Peer, incoming: IncomingId) -> Cancelled {
    Cancelled::new(peer.clone(), incoming)
}

/// Whether a request of the peer's is cancelled; see [`RequestContext::is_cancelled`](crate::RequestContext::is_cancelled).
pub fn is_cancelled(peer: &Peer, incoming: IncomingId) -> bool {
    peer.shared.lock().is_cancelled(incoming)
}
