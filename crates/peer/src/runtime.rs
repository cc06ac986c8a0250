//! For protocol runtimes: parts of the driver that a runtime builds on. **Exempt from semver**: they change in any release.
//!
//! A [`Port`] is one connection over one transport without handlers. [`Driver::serve`](crate::Driver::serve) and
//! [`Driver::run`](crate::Driver::run) drive one port; `agentwire-acp-proxy` joins two into a relay. The functions send
//! params that are JSON text already, byte for byte.
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
//!         if port.rest(cx) {
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

use std::task::{Context, Waker};

use agentwire_connection::CallId;
use agentwire_jsonrpc::RawJson;
use bytestring::ByteString;

use crate::call::Call;
use crate::error::{CallError, Closed};
use crate::handler::Cancelled;
use crate::notify::Notify;
use crate::peer::Peer;

pub use crate::observe::exchange::{ExchangeObservation, observe_notification};
pub use crate::observe::open_call::in_scope;
pub use crate::port::{Input, Port};
pub use crate::timer::Timer;
pub use agentwire_connection::{CallFailure, Event, IncomingId};

/// Makes a call whose params and result are JSON text.
pub fn call_raw(peer: &Peer, method: impl Into<ByteString>, params: Option<RawJson>) -> Call<RawJson> {
    Call::new(peer.clone(), method.into(), Ok(params)).decode_by(|result| Ok(result.clone()))
}

/// Sends a call now, even while [`Config::high_water`](crate::Config::high_water) bytes are queued. Awaiting the call then
/// waits for the answer.
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

/// Completes when a request of the peer's is cancelled; see [`RequestContext::cancelled`](crate::RequestContext::cancelled).
pub fn cancelled(peer: &Peer, incoming: IncomingId) -> Cancelled {
    Cancelled::new(peer.clone(), incoming)
}

/// Whether a request of the peer's is cancelled; see [`RequestContext::is_cancelled`](crate::RequestContext::is_cancelled).
pub fn is_cancelled(peer: &Peer, incoming: IncomingId) -> bool {
    peer.shared.lock().is_cancelled(incoming)
}
