//! Waiting for the end of a turn.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use agentwire_acp_client::{BoxError, CallError};
use futures::FutureExt as _;

use super::Chat;

impl Chat {
    /// Waits for the end of a turn. The first ^C cancels it, the second gives it up.
    pub(super) async fn attend<R>(
        &mut self,
        turn: impl Future<Output = R>,
        cancel: impl AsyncFn() -> Result<(), CallError>,
    ) -> Result<R, BoxError> {
        // A ^C from before the turn is not about it.
        let _earlier = self.interrupt.notified().now_or_never();
        self.view.turn_begins()?;
        let mut turn = pin!(turn);
        let mut beat = tokio::time::interval(Duration::from_millis(100));
        let mut cancelled = false;
        loop {
            tokio::select! {
                outcome = &mut turn => return Ok(outcome),
                () = self.signals.next() => {}
                () = self.interrupt.notified() => {}
                error = self.view.output().failed() => return Err(error.into()),
                _ = beat.tick() => {
                    self.view.tick()?;
                    continue;
                }
            }
            if std::mem::replace(&mut cancelled, true) {
                self.impatient = true;
                self.view.turn_ended(None)?;
                return Err("interrupted; the agent did not end the turn".into());
            }
            // An agent that takes nothing does not take this either.
            tokio::select! {
                told = cancel() => told?,
                () = self.signals.next() => {
                    self.impatient = true;
                    return Err("interrupted; the agent does not listen".into());
                }
            }
        }
    }
}
