//! From the prompt to its answer.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::time::Duration;

use agentwire_acp_agent::Error;
use agentwire_acp_schema::v1::{
    Content, SessionUpdate, StopReason, ToolCallId, ToolCallStatus, ToolCallUpdate,
};
use agentwire_peer::{Clock, TokioClock};
use futures::FutureExt;
use futures::future::{Either, select};

use super::{Begun, Turn, TurnError};

/// Runs a turn: keeps the prompt, lets the author answer it, and brings to an end whatever the author left open. The
/// session is free again when this is done or dropped.
pub(crate) async fn run<F>(begun: Begun, author: &F) -> Result<StopReason, Error>
where
    F: AsyncFn(Turn) -> Result<StopReason, Error>,
{
    let Begun { turn, guard } = begun;
    let outcome = match turn.keep_prompt().await {
        Ok(()) => answer(&turn, author).await,
        Err(TurnError::TooLong { bytes, limit }) => {
            let why = format!("a block of the prompt has {bytes} bytes, and the limit is {limit}");
            Err(Error::invalid_params(why))
        }
        Err(error) => Err(error.into()),
    };
    let ended = turn.wind_up().await;
    // From here on nothing waits, so the session is free when the answer is on its way, and not before.
    drop(guard);
    if turn.is_cancelled() {
        return Ok(StopReason::Cancelled);
    }
    ended?;
    outcome
}

/// Lets the author answer. One who has not ended some time after a cancel is dropped.
async fn answer<F>(turn: &Turn, author: &F) -> Result<StopReason, Error>
where
    F: AsyncFn(Turn) -> Result<StopReason, Error>,
{
    if turn.0.context.is_cancelled() {
        turn.0.cancel.set();
    }
    if turn.is_cancelled() {
        return Ok(StopReason::Cancelled);
    }
    let cancelled = select(turn.0.context.cancelled(), turn.0.cancel.wait());
    let answered = pin!(AssertUnwindSafe(async { author(turn.clone()).await }).catch_unwind());
    let answered = match select(cancelled, answered).await {
        Either::Right((answered, _)) => answered,
        Either::Left((_, answered)) => {
            turn.0.cancel.set();
            match select(answered, sleep(turn.0.settings.grace)).await {
                Either::Left((answered, _)) => answered,
                Either::Right(((), _)) => Ok(Ok(StopReason::Cancelled)),
            }
        }
    };
    answered.unwrap_or_else(|_panic| Err(Error::internal_error("the turn panicked")))
}

pub(crate) fn sleep(time: Duration) -> impl Future<Output = ()> + Unpin {
    let clock = TokioClock::default();
    match clock.now().checked_add(time) {
        Some(deadline) => Either::Left(clock.sleep_until(deadline)),
        None => Either::Right(std::future::pending()),
    }
}

/// Says that a tool call has failed, and why.
pub(crate) fn failed(call: ToolCallId, why: &str) -> SessionUpdate {
    ToolCallUpdate::new(call).status(ToolCallStatus::Failed).content([Content::from(why)]).into()
}

impl Turn {
    /// Ends what the author left open, and the turn with it: terminals are given back, tool calls that never ended have
    /// failed, handles that are left are refused, and all that was said is written and sent.
    async fn wind_up(&self) -> Result<(), TurnError> {
        let terminals = pin!(self.0.terminals.finish());
        // A client that does not answer shall not keep the turn from ending. It is answered late or never.
        let _late = select(terminals, sleep(self.0.settings.grace)).await;
        let why = if self.is_cancelled() { "cancelled" } else { "the turn ended before it was done" };
        for call in self.0.session.outbox.facts(|facts| facts.take_open_calls()) {
            if self.update(failed(call, why)).await.is_err() {
                break;
            }
        }
        self.0.session.outbox.end_turn();
        self.0.over.set();
        self.0.session.outbox.flush().await;
        self.0.session.outbox.settle().await
    }
}
