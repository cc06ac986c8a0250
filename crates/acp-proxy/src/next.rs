use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use agentwire_jsonrpc::{ErrorObject, Members, RawJson, Request};

use crate::ends::{Ends, Reply};
use crate::names::is_initialize;
use crate::proxy::Direction;
use crate::shared::{Key, Shared};

/// What is to come for a request: the rest of the way, and the answer.
#[derive(Clone, Debug)]
pub struct Next {
    pub(crate) ends: Ends,
    pub(crate) key: Key,
}

impl Next {
    /// Which way the request goes.
    pub fn direction(&self) -> Direction {
        self.key.from.outbound()
    }

    /// Passes a request on, to be awaited for the answer. Its id does not matter.
    ///
    /// If whoever asked no longer wants the answer, the next hop is told so, and its answer, mostly the error
    /// `-32800`, is waited for all the same. Dropping this before it has completed tells the next hop too.
    ///
    /// # Errors
    ///
    /// What the next hop answered. `-32800` where the answer was not wanted any more before this was first awaited;
    /// then nothing was passed on. An internal error when the other side closes before it has answered.
    pub fn run(&self, request: Request) -> Run {
        let is_initialize = self.direction() == Direction::ToAgent && is_initialize(&request.method);
        Run {
            reply: Reply::new(
                self.ends.shared.clone(),
                self.key.from.other(),
                request.method,
                request.params,
                Some(self.key),
            ),
            key: self.key,
            is_initialize,
        }
    }

    /// Both ends, to ask and tell them something else.
    pub fn ends(&self) -> &Ends {
        &self.ends
    }

    /// Whether whoever asked no longer wants the answer.
    pub fn is_cancelled(&self) -> bool {
        self.shared().lock().is_cancelled(self.key)
    }

    /// Completes when whoever asked no longer wants the answer. Only for what a proxy does itself: what it passed on
    /// with [`run`](Self::run) is cancelled without it. It never completes once the request is answered.
    pub fn cancelled(&self) -> Cancelled {
        Cancelled { next: self.clone() }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.ends.shared
    }

    /// What an answer to `initialize` is, after a proxy had it in its hands.
    pub(crate) fn check_initialized(
        &self,
        outcome: Result<RawJson, ErrorObject>,
    ) -> Result<RawJson, ErrorObject> {
        let result = outcome?;
        let agreed = self.shared().lock().agreed(self.key);
        if agreed.is_none() {
            return Err(ErrorObject::internal_error("a proxy answered initialize without asking the agent"));
        }
        if Some(protocol_version(&result).unwrap_or_default()) != agreed {
            return Err(ErrorObject::internal_error("a proxy changed the protocolVersion of the agent"));
        }
        Ok(result)
    }
}

fn protocol_version(result: &RawJson) -> Option<String> {
    let mut members = Members::of(result.as_str());
    members.find(|(name, _)| name == "protocolVersion").map(|(_, value)| value.to_owned())
}

/// A request on its further way; see [`Next::run`].
#[derive(Debug)]
#[must_use = "a request is not passed on until this is awaited"]
pub struct Run {
    reply: Reply,
    key: Key,
    is_initialize: bool,
}

impl Future for Run {
    type Output = Result<RawJson, ErrorObject>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if !this.reply.is_sent() {
            let cancelled = this.reply.shared().lock().is_cancelled(this.key);
            if cancelled {
                return Poll::Ready(Err(ErrorObject::request_cancelled()));
            }
            this.reply.send();
        }
        let outcome = ready!(this.reply.poll_outcome(cx));
        if this.is_initialize
            && let Ok(result) = &outcome
        {
            // What is no answer of the agent's has no version, which is agreed on as well.
            let version = Some(protocol_version(result).unwrap_or_default());
            this.reply.shared().lock().agree(this.key, version);
        }
        Poll::Ready(outcome)
    }
}

/// See [`Next::cancelled`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Cancelled {
    next: Next,
}

impl Future for Cancelled {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.next.shared().lock();
        if state.is_cancelled(self.next.key) {
            return Poll::Ready(());
        }
        state.wait_for_cancel(self.next.key, cx.waker());
        Poll::Pending
    }
}
