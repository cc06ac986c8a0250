use std::future::Future;
use std::pin::Pin;
use std::task::Context;
use std::time::Instant;

use agentwire_jsonrpc::{ErrorObject, RawJson, Request};
use agentwire_transport::Transport;

use crate::line::Sinking;
use crate::next::Next;
use crate::proxy::{Direction, Proxy};
use crate::relay::HalfClose;
use crate::shared::Side;
use crate::turn::{Turn, line};

/// Rings at a time.
pub(crate) struct Alarm {
    at: Instant,
    sleep: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// How a relay ends, one side after the other.
impl<P, C, A, S, F> Turn<'_, P, C, A, S, F>
where
    P: Proxy,
    C: Transport,
    A: Transport,
    S: Fn(Direction, Request, Next) -> F,
    F: Future<Output = Result<RawJson, ErrorObject>>,
{
    /// Brings one side to its end, and the other after it.
    pub(crate) fn poll_end(&mut self, cx: &mut Context<'_>, side: Side) {
        let now = self.now();
        if line!(self, side, line => line.reading && line.failed.as_ref().is_some_and(|(until, _)| *until <= now))
        {
            let fault = line!(self, side, line => line.failed.as_mut().and_then(|(_, fault)| fault.take()));
            self.end(cx, side, fault);
        }
        if line!(self, side, line => line.sink == Sinking::Open) && self.is_time_to_close(cx, side, now) {
            let closed = self.position.within(now, self.config.close);
            line!(self, side, line => {
                line.sink = Sinking::Closing;
                line.closed = Some(closed);
                // The other half is for whoever is at its end to go.
                line.heard = Some(now + closed.saturating_duration_since(now) / 2);
            });
            self.again = true;
        }
        let is_late = line!(self, side, line => line.closed.is_some_and(|closed| closed <= now));
        let is_heard = line!(self, side, line => line.heard.is_some_and(|heard| heard <= now));
        if line!(self, side, line => line.sink == Sinking::Closing && line.poll_close(cx, is_heard, is_late))
        {
            line!(self, side, line => line.sink = Sinking::Closed);
            self.again = true;
        }
        // An agent that is closed and goes on talking has had its time.
        if side == Side::Agent && self.agent.sink == Sinking::Closed && self.agent.reading && is_late {
            self.end(cx, side, None);
        }
    }

    /// Whether the sink of a side is to be closed: nothing more will be said to it.
    fn is_time_to_close(&mut self, cx: &mut Context<'_>, side: Side, now: Instant) -> bool {
        // Who has ended as an agent hears nothing any more.
        if side == Side::Agent && !self.agent.reading {
            return true;
        }
        let from = side.other();
        let (ended, drained) = line!(self, from, line => (!line.reading, line.drained));
        let is_overdue = drained.is_some_and(|drained| drained <= now) || self.is_chain_overdue(side, now);
        if !ended && !is_overdue {
            return false;
        }
        if is_overdue {
            self.dismiss(side);
            self.poll_write(cx, side);
            return true;
        }
        let only_held = side == Side::Agent && self.position.half_close == HalfClose::Yes;
        let is_calm = self.change(|state| {
            !state.is_passing(side, false)
                && !state.is_passing(from, only_held)
                && !state.connection(side).wants_output()
        });
        is_calm && line!(self, side, line => line.is_flushed() || line.failed.is_some())
    }

    /// Whether a side is to be closed because the chain is, wherever in it that began. Only the chain's client hears on,
    /// until what is behind it has ended.
    fn is_chain_overdue(&self, side: Side, now: Instant) -> bool {
        let is_heard_by_a_client = side == Side::Client && self.position.is_first();
        !is_heard_by_a_client && self.position.drained().is_some_and(|drained| drained <= now)
    }

    /// Drops what still goes on although the side that it is for is about to be closed, and answers in its place.
    fn dismiss(&mut self, side: Side) {
        let half_close = side == Side::Agent && self.position.half_close == HalfClose::Yes;
        for hook in std::mem::take(&mut self.hooks) {
            let stays =
                half_close && hook.key.from != side && self.change(|state| state.was_passed_on(hook.key));
            if stays {
                self.hooks.push(hook);
            } else {
                let key = hook.key;
                drop(hook);
                self.answer((
                    key,
                    Err(ErrorObject::internal_error("the connection closes before the work is done")),
                ));
            }
        }
    }

    /// Sets the alarm for whatever comes first, and heeds it.
    pub(crate) fn poll_alarm(&mut self, cx: &mut Context<'_>) {
        let now = self.now();
        let mut deadlines: Vec<_> = self.position.drained().into_iter().collect();
        for side in Side::BOTH {
            line!(self, side, line => {
                deadlines.extend(line.drained);
                deadlines.extend(line.heard);
                deadlines.extend(line.closed);
                deadlines.extend(line.failed.as_ref().map(|(until, _)| *until));
            });
        }
        let Some(at) = deadlines.into_iter().filter(|at| *at > now).min() else {
            return;
        };
        if self.alarm.as_ref().is_none_or(|alarm| alarm.at > at || alarm.at <= now) {
            self.alarm = Some(Alarm { at, sleep: self.shared.clock().sleep_until(at) });
        }
        if self.alarm.as_mut().is_some_and(|alarm| alarm.sleep.as_mut().poll(cx).is_ready()) {
            self.alarm = None;
            self.again = true;
        }
    }
}
