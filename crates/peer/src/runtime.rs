//! For protocol runtimes: parts of the driver that a runtime builds on. **Exempt from semver**: they change in any release.
//!
//! A [`Port`] is one connection over one transport without handlers. [`Driver::serve`](crate::Driver::serve) and
//! [`Driver::run`](crate::Driver::run) drive one port; `agentwire-acp-proxy` joins two into a relay. The functions send
//! params that are JSON text already, byte for byte.

use std::task::{Context, Waker};

use agentwire_connection::{CallId, IncomingId};
use agentwire_jsonrpc::RawJson;
use bytestring::ByteString;

use crate::call::Call;
use crate::error::{CallError, Closed};
use crate::handler::Cancelled;
use crate::notify::Notify;
use crate::peer::Peer;

pub use crate::port::{Input, Port};
pub use crate::timer::Timer;

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

/// Completes when a request of the peer's is cancelled; see [`RequestContext::cancelled`](crate::RequestContext::cancelled).
pub fn cancelled(peer: &Peer, incoming: IncomingId) -> Cancelled {
    Cancelled::new(peer.clone(), incoming)
}

/// Whether a request of the peer's is cancelled; see [`RequestContext::is_cancelled`](crate::RequestContext::is_cancelled).
pub fn is_cancelled(peer: &Peer, incoming: IncomingId) -> bool {
    peer.shared.lock().is_cancelled(incoming)
}
