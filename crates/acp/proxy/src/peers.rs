//! The handles with which a proxy sends its own messages.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use agentwire_jsonrpc::{ErrorObject, RawJson, WithCauses};
use agentwire_peer::runtime::{self, CallFailure};
use agentwire_peer::{Call, CallError, Closed, Notify, Peer};
use bytestring::ByteString;

use crate::passing::PassingRequests;
use crate::side::Side;

/// Handles on both peers of a proxy. Messages that a hook sends there go through the other proxies of the chain.
///
/// Cloning is cheap. They work from any task, while the proxy runs.
#[derive(Clone, Debug)]
pub struct Peers {
    pub(crate) shared: Arc<RelayState>,
}

/// The part of a relay that its handles share.
#[derive(Debug)]
pub(crate) struct RelayState {
    pub(crate) client: Peer,
    pub(crate) agent: Peer,
    pub(crate) passing: PassingRequests,
}

impl RelayState {
    pub(crate) fn peer(&self, side: Side) -> &Peer {
        match side {
            Side::Client => &self.client,
            Side::Agent => &self.agent,
        }
    }
}

impl Peers {
    /// Returns the peer towards the client: the client itself, or the previous proxy.
    pub fn client(&self) -> PeerHandle {
        self.handle(Side::Client)
    }

    /// Returns the peer towards the agent: the agent itself, or the next proxy.
    pub fn agent(&self) -> PeerHandle {
        self.handle(Side::Agent)
    }

    fn handle(&self, side: Side) -> PeerHandle {
        PeerHandle { peer: self.shared.peer(side).clone(), side }
    }
}

/// A handle on one peer of a proxy; see [`Peers`].
#[derive(Clone, Debug)]
pub struct PeerHandle {
    peer: Peer,
    side: Side,
}

impl PeerHandle {
    /// Makes a call, to be awaited: it waits while [`Config::high_water`](crate::Config::high_water) bytes are queued
    /// (default 64 KiB). Dropping it cancels it.
    ///
    /// # Errors
    ///
    /// The error of the peer's answer. An internal error when the peer closes before it has answered.
    pub fn call(&self, method: impl Into<ByteString>, params: Option<RawJson>) -> PeerCall {
        PeerCall { call: runtime::call_raw(&self.peer, method, params), side: self.side }
    }

    /// Makes a notification, to be awaited: it waits while [`Config::high_water`](crate::Config::high_water) bytes are
    /// queued (default 64 KiB).
    ///
    /// # Errors
    ///
    /// When nothing more can be sent to the peer, or the proxy has ended.
    pub fn notify(&self, method: impl Into<ByteString>, params: Option<RawJson>) -> PeerNotify<'_> {
        PeerNotify { notify: runtime::notify_raw(&self.peer, method, params) }
    }

    /// Queues a notification without waiting for room, for hooks that cannot wait. While
    /// [`Config::high_water`](crate::Config::high_water) bytes are queued for one side, the other is not read, so the queue
    /// is bounded by how much hooks make of one message.
    ///
    /// # Errors
    ///
    /// When nothing more can be sent to the peer, or the proxy has ended.
    pub fn notify_now(&self, method: impl Into<ByteString>, params: Option<RawJson>) -> Result<(), Closed> {
        runtime::notify_raw_now(&self.peer, method, params)
    }
}

/// See [`PeerHandle::call`].
#[derive(Debug)]
#[must_use = "a call is not made until it is awaited"]
pub struct PeerCall {
    call: Call<RawJson>,
    side: Side,
}

impl Future for PeerCall {
    type Output = Result<RawJson, ErrorObject>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let side = self.side;
        Pin::new(&mut self.call).poll(cx).map_err(|error| to_answer(side, error))
    }
}

/// See [`PeerHandle::notify`].
#[derive(Debug)]
#[must_use = "a notification is not sent until it is awaited"]
pub struct PeerNotify<'a> {
    notify: Notify<'a>,
}

impl Future for PeerNotify<'_> {
    type Output = Result<(), Closed>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.notify).poll(cx).map_err(|error| match error {
            CallError::Closed(closed) => closed,
            _ => Closed::default(),
        })
    }
}

/// Turns the error of a call into the answer to the request that it was made for.
pub(crate) fn to_answer(side: Side, error: CallError) -> ErrorObject {
    let name = side.name();
    match error {
        CallError::Refused { error, .. } => error,
        CallError::Decode { why, .. } => {
            ErrorObject::internal_error(format_args!("the answer of the {name} cannot be read: {why}"))
        }
        CallError::Closed(_) => {
            ErrorObject::internal_error(format_args!("the {name} closed before it answered"))
        }
        // The error of a transport may name paths and addresses of this host.
        CallError::Failed { .. } => ErrorObject::internal_error(CallFailure::Failed),
        error => ErrorObject::internal_error(WithCauses::new(&error)),
    }
}
