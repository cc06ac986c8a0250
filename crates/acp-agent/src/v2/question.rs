use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use agentwire_peer::{Call, CallError};
use serde::de::DeserializeOwned;

use super::work::Over;

/// A question to the user: a value until it is awaited, which sends it.
///
/// When the prompt that it belongs to is cancelled, or over, it is withdrawn with `$/cancel_request`, and the answer is
/// that it was cancelled. Dropping it withdraws it too. There is no time-out unless one is set.
#[derive(Debug)]
#[must_use = "a question is not asked until it is awaited"]
pub struct Question<R> {
    /// None once it is withdrawn or answered.
    call: Option<Call<R>>,
    over: Option<Over>,
    instead: fn() -> R,
}

impl<R> Question<R> {
    pub(crate) fn new(call: Call<R>, over: Option<Over>, instead: fn() -> R) -> Self {
        Self { call: Some(call), over, instead }
    }

    /// Waits so long for the answer, counted from when the question is first awaited. Then it fails, and the client is
    /// told.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.call = self.call.map(|call| call.timeout(timeout));
        self
    }
}

impl<R: DeserializeOwned + Send + 'static> Future for Question<R> {
    type Output = Result<R, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if let Some(over) = &mut this.over
            && Pin::new(over).poll(cx).is_ready()
        {
            this.over = None;
            this.call = None;
        }
        let Some(call) = &mut this.call else {
            return Poll::Ready(Ok((this.instead)()));
        };
        Pin::new(call).poll(cx)
    }
}
