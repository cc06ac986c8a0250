use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use agentwire_connection::{CallFailure, CallId};
use agentwire_jsonrpc::{ErrorObject, RawJson};
use agentwire_peer::Closed;
use bytestring::ByteString;

use crate::shared::{Key, Shared, Side};

/// Both ends of where a proxy stands: what it says there of its own accord passes the other proxies of the chain.
///
/// Cloning is cheap. It works from any task, for as long as the proxy runs.
#[derive(Clone, Debug)]
pub struct Ends {
    pub(crate) shared: Arc<Shared>,
}

impl Ends {
    /// Whoever is towards the client: the client itself, or the proxy before this one.
    pub fn client(&self) -> End {
        End { shared: self.shared.clone(), side: Side::Client }
    }

    /// Whoever is towards the agent: the agent itself, or the proxy behind this one.
    pub fn agent(&self) -> End {
        End { shared: self.shared.clone(), side: Side::Agent }
    }
}

/// One end of where a proxy stands; see [`Ends`].
#[derive(Clone, Debug)]
pub struct End {
    shared: Arc<Shared>,
    side: Side,
}

impl End {
    /// Asks something, to be awaited: it waits while much is still to be sent. Dropping it cancels it.
    ///
    /// # Errors
    ///
    /// What the end answered. An internal error when it closes before it has answered.
    pub fn call(&self, method: impl Into<ByteString>, params: Option<RawJson>) -> EndCall {
        EndCall { reply: Reply::new(self.shared.clone(), self.side, method.into(), params, None) }
    }

    /// Tells something, to be awaited: it waits while much is still to be sent.
    ///
    /// # Errors
    ///
    /// When the proxy does not run any more.
    pub fn notify(&self, method: impl Into<ByteString>, params: Option<RawJson>) -> EndNotify<'_> {
        EndNotify { end: self, said: Some((method.into(), params)) }
    }

    /// Tells something without waiting for room, for hooks that cannot wait. While much is to be sent nothing more is
    /// read of what passes, so what hooks say is bounded by how much they make of one message.
    ///
    /// # Errors
    ///
    /// When the proxy does not run any more.
    pub fn post(&self, method: impl Into<ByteString>, params: Option<RawJson>) -> Result<(), Closed> {
        self.shared.change(|state| {
            if state.is_over() {
                return Err(Closed::default());
            }
            state.connection(self.side).notify(method, params, None);
            Ok(())
        })
    }
}

/// See [`End::call`].
#[derive(Debug)]
#[must_use = "a call is not made until it is awaited"]
pub struct EndCall {
    reply: Reply,
}

impl Future for EndCall {
    type Output = Result<RawJson, ErrorObject>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if !self.reply.is_sent() {
            ready!(self.reply.poll_room(cx));
            self.reply.send();
        }
        self.reply.poll_outcome(cx)
    }
}

/// See [`End::notify`].
#[derive(Debug)]
#[must_use = "a notification is not sent until it is awaited"]
pub struct EndNotify<'a> {
    end: &'a End,
    said: Option<(ByteString, Option<RawJson>)>,
}

impl Future for EndNotify<'_> {
    type Output = Result<(), Closed>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let end = self.end;
        ready!(poll_room(&end.shared, end.side, cx));
        Poll::Ready(self.said.take().map_or(Ok(()), |(method, params)| end.post(method, params)))
    }
}

/// A call of ours, from before it is made until its outcome is heard.
#[derive(Debug)]
pub(crate) struct Reply {
    shared: Arc<Shared>,
    to: Side,
    /// The request of the other side's that it is made for.
    course: Option<Key>,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    New { method: ByteString, params: Option<RawJson> },
    Waiting(CallId),
    Done,
}

impl Reply {
    pub(crate) fn new(
        shared: Arc<Shared>,
        to: Side,
        method: ByteString,
        params: Option<RawJson>,
        course: Option<Key>,
    ) -> Self {
        Self { shared, to, course, stage: Stage::New { method, params } }
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    pub(crate) fn is_sent(&self) -> bool {
        !matches!(self.stage, Stage::New { .. })
    }

    fn poll_room(&self, cx: &mut Context<'_>) -> Poll<()> {
        poll_room(&self.shared, self.to, cx)
    }

    pub(crate) fn send(&mut self) {
        if let Stage::New { method, params } = std::mem::replace(&mut self.stage, Stage::Done) {
            let now = self.shared.clock().now();
            let (to, course) = (self.to, self.course);
            let call = self.shared.change(|state| {
                if state.is_over() { None } else { Some(state.call(now, to, method, params, course)) }
            });
            self.stage = call.map_or(Stage::Done, Stage::Waiting);
        }
    }

    pub(crate) fn poll_outcome(&mut self, cx: &mut Context<'_>) -> Poll<Result<RawJson, ErrorObject>> {
        let Stage::Waiting(call) = self.stage else {
            return Poll::Ready(Err(failed(self.to, CallFailure::Closed)));
        };
        // The guard is gone before the waker that is replaced.
        let polled = self.shared.lock().poll_slot(self.to, call, cx.waker());
        match polled {
            Ok(outcome) => {
                self.stage = Stage::Done;
                Poll::Ready(outcome.map_err(|failure| failed(self.to, failure)))
            }
            Err(_replaced) => Poll::Pending,
        }
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if let Stage::Waiting(call) = self.stage {
            let (to, course) = (self.to, self.course);
            let waker = self.shared.change(|state| state.forget_call(to, call, course));
            drop(waker);
        }
    }
}

fn poll_room(shared: &Shared, to: Side, cx: &mut Context<'_>) -> Poll<()> {
    let mut state = shared.lock();
    if state.is_over() || state.poll_room(to, cx.waker()) { Poll::Ready(()) } else { Poll::Pending }
}

/// What whoever asked is told of a call that got no result.
fn failed(to: Side, failure: CallFailure) -> ErrorObject {
    let whom = match to {
        Side::Client => "client",
        Side::Agent => "agent",
    };
    match failure {
        CallFailure::Refused(error) => error,
        CallFailure::Malformed(error) => {
            ErrorObject::internal_error(format_args!("the answer of the {whom} cannot be read: {error}"))
        }
        CallFailure::Closed => {
            ErrorObject::internal_error(format_args!("the {whom} closed before it answered"))
        }
        failure => ErrorObject::internal_error(failure),
    }
}
