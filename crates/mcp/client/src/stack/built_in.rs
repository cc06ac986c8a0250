//! The built-in layers of a call: the cache and input rounds of a modern server, or the tasks of a session, and validation.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use agentwire_jsonrpc::RawJson;
use agentwire_peer::CallError;
use agentwire_peer::runtime::PeerExt;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::cache;
use crate::connection::Connection;
use crate::raw::{RawAnswer, RawCall};
use crate::request::send;
use crate::request::validation::Validation;
use crate::tasks::core;

/// A future for the answer of a [`RawCall`]. Dropping the future cancels the call at the server.
#[must_use = "a call is not made until it is awaited"]
pub struct RawCallFuture(State);

#[expect(clippy::large_enum_variant, reason = "the usual one needs no allocation")]
enum State {
    Sent(agentwire_peer::Call<RawJson>),
    Boxed(BoxFuture<'static, Result<RawAnswer, CallError>>),
}

impl RawCallFuture {
    pub(crate) fn boxed(future: BoxFuture<'static, Result<RawAnswer, CallError>>) -> Self {
        Self(State::Boxed(future))
    }

    /// A call that fails when it is awaited.
    pub(crate) fn refused(connection: &Connection, error: CallError) -> Self {
        Self(State::Sent(connection.peer.refuse_call(error)))
    }
}

impl Future for RawCallFuture {
    type Output = Result<RawAnswer, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            State::Sent(call) => Pin::new(call).poll(cx).map_ok(RawAnswer::new),
            State::Boxed(call) => call.as_mut().poll(cx),
        }
    }
}

impl fmt::Debug for RawCallFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawCallFuture").finish_non_exhaustive()
    }
}

/// Passes a call through the built-in layers.
pub(crate) fn start(connection: &Arc<Connection>, call: RawCall) -> RawCallFuture {
    let validation = Validation::of(connection, &call);
    if connection.is_modern() {
        return RawCallFuture::boxed(modern(connection.clone(), call, validation).boxed());
    }
    if let Some(error) = core::refusal(connection, &call) {
        return RawCallFuture::refused(connection, error);
    }
    if core::follows(connection, &call) || validation.is_needed() {
        return RawCallFuture::boxed(session(connection.clone(), call, validation).boxed());
    }
    RawCallFuture(State::Sent(send::start(connection, &call)))
}

async fn modern(
    connection: Arc<Connection>,
    call: RawCall,
    validation: Validation,
) -> Result<RawAnswer, CallError> {
    let answer = cache::call(&connection, call).await?;
    validation.apply(&connection, answer)
}

async fn session(
    connection: Arc<Connection>,
    call: RawCall,
    validation: Validation,
) -> Result<RawAnswer, CallError> {
    let answer = core::call(&connection, call).await?;
    validation.apply(&connection, answer)
}
