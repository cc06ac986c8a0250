//! Runs a turn: writes the prompt, calls the author's closure, and ends the turn.

use std::panic::AssertUnwindSafe;
use std::pin::pin;

use agentwire_acp_agent::{BoxError, CallError, Error};
use agentwire_acp_schema::v1::{MessageId, StopReason, ToolCallStatus};
use agentwire_peer::{Clock, TokioClock};
use futures_util::FutureExt;
use futures_util::future::{Either, select};

use super::{BoxTurnHandler, Turn, TurnError};
use crate::session::TurnGuard;
use crate::update::call_status::CANCELLED;

/// Runs a turn: writes the prompt, calls the author's closure, and ends the terminals and tool calls that are left open.
/// Another turn can begin when this completes or is dropped.
///
/// `accept` is called with the id of the prompt's message once the prompt is stored: version 2 answers the request then.
pub(crate) async fn run_turn<A>(
    turn: Turn,
    guard: TurnGuard,
    author: &BoxTurnHandler,
    accept: impl FnOnce(MessageId) -> A,
) -> Result<StopReason, Error>
where
    A: Future<Output = Result<(), CallError>>,
{
    let outcome = match turn.write_prompt().await {
        Ok(message) => match accept(message).await {
            Ok(()) => answer(&turn, author).await,
            Err(error) => Err(error.into()),
        },
        Err(TurnError::TooLong { bytes, limit }) => {
            let why = format!("a block of the prompt has {bytes} bytes, and the limit is {limit}");
            Err(Error::invalid_params(why))
        }
        Err(error) => Err(error.into()),
    };
    let finished = turn.finish().await;
    // Nothing waits from here on, so the next turn can begin exactly when the answer is queued.
    drop(guard);
    if turn.is_cancelled() {
        return Ok(StopReason::Cancelled);
    }
    finished?;
    outcome
}

/// Calls the author's closure. After a cancellation its future is dropped when the grace period ends.
async fn answer(turn: &Turn, author: &BoxTurnHandler) -> Result<StopReason, Error> {
    if turn.0.context.is_cancelled() {
        turn.0.cancel.set();
    }
    if turn.is_cancelled() {
        return Ok(StopReason::Cancelled);
    }
    let cancelled = select(turn.0.context.cancelled(), turn.0.cancel.wait());
    let answered = pin!(AssertUnwindSafe(async { author.run_boxed(turn.clone()).await }).catch_unwind());
    let answered = match select(cancelled, answered).await {
        Either::Right((answered, _)) => answered,
        Either::Left((_, answered)) => {
            turn.0.cancel.set();
            match select(answered, TokioClock::default().sleep(turn.0.settings.grace)).await {
                Either::Left((answered, _)) => answered,
                Either::Right(((), _)) => Ok(Ok(StopReason::Cancelled)),
            }
        }
    };
    match answered {
        Ok(answered) => answered.or_else(answer_of),
        Err(_panic) => Err(Error::internal_error("the turn panicked")),
    }
}

/// Returns the answer to a prompt whose closure failed.
fn answer_of(error: BoxError) -> Result<StopReason, Error> {
    match error.find::<TurnError>() {
        Some(TurnError::Cancelled) => Ok(StopReason::Cancelled),
        // The client's refusal of a request is among the causes. It answers that request, and not the prompt.
        Some(error_of_turn) if !matches!(error_of_turn, TurnError::Failed(_)) => {
            Err(Error::internal_error(error.message()))
        }
        _ => Err(error.into()),
    }
}

impl Turn {
    /// Ends the turn: releases terminals, sets the final status of open tool calls, refuses further commands of handles, and
    /// waits until all updates are written and sent.
    async fn finish(&self) -> Result<(), TurnError> {
        let terminals = pin!(self.0.terminals.finish());
        // A client that does not answer must not prevent the end of the turn.
        let _timed_out = select(terminals, TokioClock::default().sleep(self.0.settings.grace)).await;
        let (status, why) = if self.is_cancelled() {
            (ToolCallStatus::Other(CANCELLED.into()), CANCELLED)
        } else {
            (ToolCallStatus::Failed, "the turn ended before it was done")
        };
        self.0.ended.set();
        Ok(self.0.session.log.finish_turn(status, why).await?)
    }
}
