//! The handle with which a hook forwards a request to the other side.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use agentwire_jsonrpc::runtime::Members;
use agentwire_jsonrpc::{ErrorObject, RawJson, Request};
use agentwire_peer::{Call, CallId, runtime};

use crate::names::is_initialize;
use crate::peers::{Peers, to_answer};
use crate::side::{Direction, RequestKey};

/// The handle with which a hook forwards its request to the other side.
#[derive(Clone, Debug)]
pub struct Next {
    pub(crate) peers: Peers,
    pub(crate) key: RequestKey,
}

impl Next {
    /// The direction of the request.
    pub fn direction(&self) -> Direction {
        self.key.from.outbound()
    }

    /// Forwards a request. Awaiting the result returns the answer. The id of the request is ignored.
    ///
    /// If the sender cancels the request, the next hop gets a cancel, and its answer is awaited all the same; mostly that
    /// is the error `-32800`. Dropping this before it has completed cancels at the next hop too.
    ///
    /// # Errors
    ///
    /// The error of the next hop's answer. `-32800` if the request was cancelled before this was first awaited; then it
    /// is not passed on. An internal error when the other side closes before it has answered.
    pub fn run(&self, request: Request) -> Run {
        let is_initialize = self.direction() == Direction::ToAgent && is_initialize(&request.method);
        let peer = self.peers.shared.peer(self.key.from.other());
        let call = runtime::call_raw(peer, request.method, request.params);
        Run { peers: self.peers.clone(), key: self.key, is_initialize, stage: Stage::New, call }
    }

    /// Handles on both peers, for calls and notifications of the proxy's own.
    pub fn peers(&self) -> &Peers {
        &self.peers
    }

    /// Returns whether the sender has cancelled the request, or its connection ended before the answer.
    pub fn is_cancelled(&self) -> bool {
        runtime::is_cancelled(self.peers.shared.peer(self.key.from), self.key.incoming)
    }

    /// Completes when the sender cancels the request, and when its connection ends before the answer. Only for work of the
    /// proxy itself: what [`run`](Self::run) passed on is cancelled without it. It never completes once the request is
    /// answered.
    pub fn cancelled(&self) -> Cancelled {
        let peer = self.peers.shared.peer(self.key.from);
        Cancelled { cancelled: runtime::cancelled(peer, self.key.incoming) }
    }

    /// Checks the answer of a proxy to `initialize`.
    pub(crate) fn check_initialized(
        &self,
        outcome: Result<RawJson, ErrorObject>,
    ) -> Result<RawJson, ErrorObject> {
        let result = outcome?;
        let Some(version) = self.peers.shared.passing.version(self.key) else {
            return Err(ErrorObject::internal_error("a proxy answered initialize without asking the agent"));
        };
        if protocol_version(&result).unwrap_or_default() != version {
            return Err(ErrorObject::internal_error("a proxy changed the protocolVersion of the agent"));
        }
        Ok(result)
    }
}

fn protocol_version(result: &RawJson) -> Option<String> {
    let mut members = Members::of(result.as_str());
    members.find(|(name, _)| name == "protocolVersion").map(|(_, value)| value.to_owned())
}

/// A request that is passed on; see [`Next::run`].
#[derive(Debug)]
#[must_use = "a request is not passed on until this is awaited"]
pub struct Run {
    peers: Peers,
    key: RequestKey,
    is_initialize: bool,
    stage: Stage,
    call: Call<RawJson>,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    New,
    Waiting(CallId),
    Done,
}

impl Run {
    /// Sends the request.
    fn start(&mut self, cx: &Context<'_>) -> Result<(), ErrorObject> {
        self.stage = Stage::Done;
        let call = &mut self.call;
        let passing = &self.peers.shared.passing;
        let started = passing.pass_on(self.key, || runtime::start_call(call, cx));
        let started = started.ok_or_else(ErrorObject::request_cancelled)?;
        let (call, waker) = started.map_err(|error| to_answer(self.key.from.other(), error))?;
        waker.into_iter().for_each(Waker::wake);
        self.stage = Stage::Waiting(call);
        Ok(())
    }
}

impl Future for Run {
    type Output = Result<RawJson, ErrorObject>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if matches!(this.stage, Stage::New) {
            this.start(cx)?;
            // The call has registered the waker.
            return Poll::Pending;
        }
        let outcome = ready!(Pin::new(&mut this.call).poll(cx));
        this.stage = Stage::Done;
        if this.is_initialize
            && let Ok(result) = &outcome
        {
            // An answer without a version agrees on one as well.
            let version = protocol_version(result).unwrap_or_default();
            this.peers.shared.passing.set_version(this.key, version);
        }
        Poll::Ready(outcome.map_err(|error| to_answer(this.key.from.other(), error)))
    }
}

/// Dropping the call cancels it at the next hop, so that a later cancel of the request must not.
impl Drop for Run {
    fn drop(&mut self) {
        if let Stage::Waiting(call) = self.stage {
            self.peers.shared.passing.forget_call(self.key, call);
        }
    }
}

/// See [`Next::cancelled`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Cancelled {
    cancelled: agentwire_peer::Cancelled,
}

impl Future for Cancelled {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.cancelled).poll(cx)
    }
}
