//! Closes the two sides of a relay, within the deadlines of its chain.

use std::future::Future;
use std::task::Context;
use std::time::Instant;

use agentwire_jsonrpc::{ErrorObject, RawJson, Request};
use agentwire_peer::Closed;
use agentwire_transport::Transport;

use crate::deadline::HalfClose;
use crate::forwarding::{Relay, with_side};
use crate::next::Next;
use crate::proxy::Proxy;
use crate::side::{Direction, Side, SinkState};

/// The end of a relay, one side after the other.
impl<P, C, A, S, F> Relay<'_, P, C, A, S, F>
where
    P: Proxy,
    C: Transport,
    A: Transport,
    S: Fn(Direction, Request, Next) -> F,
    F: Future<Output = Result<RawJson, ErrorObject>>,
{
    /// Closes one side when its time has come.
    pub(crate) fn poll_end(&mut self, cx: &mut Context<'_>, side: Side) {
        let now = self.now();
        self.end_failed(cx, side, now);
        if with_side!(self, side, it => it.sink == SinkState::Open) && self.is_time_to_close(cx, side, now) {
            let closed = self.closing.within(now, self.config.close);
            with_side!(self, side, it => {
                it.sink = SinkState::Closing;
                it.closes_by = Some(closed);
                // The other half is for the process at the transport's end to exit.
                it.read_until = Some(now + closed.saturating_duration_since(now) / 2);
                it.port.discard_output();
                it.port.close_write(Closed::default());
            });
            self.request_round();
        }
        let is_late = with_side!(self, side, it => it.closes_by.is_some_and(|closed| closed <= now));
        let is_read = with_side!(self, side, it => it.read_until.is_some_and(|until| until <= now));
        if with_side!(self, side, it => it.sink == SinkState::Closing && it.poll_close(cx, is_read, is_late))
        {
            with_side!(self, side, it => it.sink = SinkState::Closed);
            self.request_round();
        }
        // An agent that is closed and still sends has used up its time.
        let agent = &self.agent;
        if side == Side::Agent && agent.sink == SinkState::Closed && agent.port.is_reading() && is_late {
            self.end(cx, side, None);
        }
    }

    /// Ends a side to which writing has failed, when reading has had its time to report why.
    fn end_failed(&mut self, cx: &mut Context<'_>, side: Side, now: Instant) {
        let error = with_side!(self, side, it => match &mut it.failed {
            Some((until, error)) if it.port.is_reading() && *until <= now => Some(error.take()),
            _ => None,
        });
        if let Some(error) = error {
            self.end(cx, side, error);
        }
    }

    /// Returns whether the sink of a side must be closed, because no message will be sent to it.
    fn is_time_to_close(&mut self, cx: &mut Context<'_>, side: Side, now: Instant) -> bool {
        // An agent that has ended reads nothing.
        if side == Side::Agent && !self.agent.port.is_reading() {
            return true;
        }
        let from = side.other();
        let (ended, drained) = with_side!(self, from, it => (!it.port.is_reading(), it.other_closes_by));
        let is_overdue = drained.is_some_and(|drained| drained <= now) || self.is_chain_overdue(side, now);
        if !ended && !is_overdue {
            return false;
        }
        if is_overdue {
            self.drop_hooks(side);
            self.poll_write(cx, side);
            return true;
        }
        let only_held = side == Side::Agent && self.closing.half_close == HalfClose::Yes;
        let is_calm = !self.passing().has_any(side, false) && !self.passing().has_any(from, only_held);
        is_calm
            && with_side!(self, side, it => {
                !it.port.wants_output() && (it.port.is_flushed() || it.failed.is_some())
            })
    }

    /// Returns whether a side must be closed because closing has begun somewhere in the chain. Only the chain's client
    /// is still served, until the relays behind this one have ended.
    fn is_chain_overdue(&self, side: Side, now: Instant) -> bool {
        let is_chain_client = side == Side::Client && self.closing.is_first();
        !is_chain_client && self.closing.drained().is_some_and(|drained| drained <= now)
    }

    /// Drops the hooks that work for a side which is being closed, and answers in their place.
    fn drop_hooks(&mut self, side: Side) {
        let half_close = side == Side::Agent && self.closing.half_close == HalfClose::Yes;
        for hook in std::mem::take(&mut self.hooks) {
            let key = hook.key;
            if half_close && key.from != side && self.passing().was_passed_on(key) {
                self.hooks.push(hook);
            } else {
                drop(hook);
                self.passing().remove(key);
                with_side!(self, key.from, it => it.port.abort(key.incoming));
                self.request_round();
            }
        }
    }

    /// Sets the timer for the next deadline, and acts if it has expired.
    pub(crate) fn poll_timer(&mut self, cx: &mut Context<'_>) {
        let now = self.now();
        let deadlines = self.closing.drained().into_iter();
        let deadlines = deadlines.chain(self.client.deadlines()).chain(self.agent.deadlines());
        if let Some(at) = deadlines.filter(|at| *at > now).min()
            && self.timer.poll(cx, self.client.port.clock(), at)
        {
            self.request_round();
        }
    }
}
