//! A request to the user, withdrawn when its prompt is cancelled or ends.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use agentwire_peer::{Call, CallError};
use serde::de::DeserializeOwned;

use super::work::StopSignal;

/// A request to the user. It is sent when it is first awaited.
///
/// When its prompt is cancelled or ends, the request is withdrawn with `$/cancel_request`, and this returns the answer
/// for a cancelled request. Dropping this withdraws the request too. There is no time limit by default.
#[derive(Debug)]
#[must_use = "a question is not asked until it is awaited"]
pub struct Question<R> {
    /// `None` after the request is withdrawn.
    call: Option<Call<R>>,
    stop_signal: Option<StopSignal>,
    cancelled_answer: fn() -> R,
}

impl<R> Question<R> {
    pub(crate) fn new(call: Call<R>, stop_signal: Option<StopSignal>, cancelled_answer: fn() -> R) -> Self {
        Self { call: Some(call), stop_signal, cancelled_answer }
    }

    /// Sets the time limit for the answer, counted from the first poll (default: none). When it expires, the request fails
    /// and is cancelled at the client.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.call = self.call.map(|call| call.timeout(timeout));
        self
    }
}

impl<R: DeserializeOwned + Send + 'static> Future for Question<R> {
    type Output = Result<R, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if let Some(stop_signal) = &mut this.stop_signal
            && Pin::new(stop_signal).poll(cx).is_ready()
        {
            this.stop_signal = None;
            this.call = None;
        }
        let Some(call) = &mut this.call else {
            return Poll::Ready(Ok((this.cancelled_answer)()));
        };
        Pin::new(call).poll(cx)
    }
}
