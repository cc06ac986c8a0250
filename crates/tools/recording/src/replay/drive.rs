//! Drives a replay over a wire.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use agentwire_transport::TransportError;
use agentwire_wire_derive::Build;

use crate::event::Side;
use crate::replay::wire::{Incoming, Wire};
use crate::replay::{Action, Replay};

/// How to drive a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Build)]
#[non_exhaustive]
pub struct ReplayConfig {
    /// The time that a recorded message may take once it is awaited. Other messages do not extend it (default 10 s).
    #[build(skip)]
    pub timeout: Duration,
    /// The time for further messages once every recorded one is settled (default 10 s).
    pub linger: Duration,
    /// Whether the recorded pauses between messages are repeated (default: no).
    pub realtime: bool,
    /// Whether the first difference ends the replay (default: no).
    pub stop_at_first: bool,
}

impl ReplayConfig {
    /// The defaults.
    pub fn new() -> Self {
        let timeout = Duration::from_secs(10);
        Self { timeout, linger: timeout, realtime: false, stop_at_first: false }
    }

    /// Sets both `timeout` and `linger`.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        (self.timeout, self.linger) = (timeout, timeout);
        self
    }
}

impl Default for ReplayConfig {
    fn default() -> Self {
        Self::new()
    }
}

/// Plays `side` of a recording over a wire. `sleep` returns a future that waits.
///
/// A recorded message is settled when it was sent, has arrived or was given up. Once all are settled, a played client closes the
/// wire; a played agent or server waits for the client to close it. The replay ends when the live side has closed, or after
/// [`ReplayConfig::linger`].
///
/// # Errors
///
/// Fails if the wire fails before all messages are settled. Messages that have not arrived by then are missing.
pub async fn replay<W, S>(
    wire: W,
    replay: &mut Replay,
    side: Side,
    config: ReplayConfig,
    sleep: impl Fn(Duration) -> S,
) -> Result<(), TransportError>
where
    W: Wire,
    S: Future<Output = ()>,
{
    let mut driver = Driver { wire, is_closing: false };
    let mut timer = pin!(sleep(config.timeout));
    // The progress for which the timer was started. Unrecorded messages are no progress and do not restart it.
    let mut timed = None;
    while !config.stop_at_first || replay.differences().0.is_empty() {
        let action = replay.next_action();
        let is_done = matches!(action, Action::Done);
        let phase = Some((replay.settled(), is_done));
        if timed != phase {
            timer.set(sleep(if is_done { config.linger } else { config.timeout }));
            timed = phase;
        }
        let event = match action {
            Action::Send(outgoing) => {
                if config.realtime && !outgoing.pause.is_zero() {
                    let mut timer = pin!(sleep(outgoing.pause));
                    driver.pause(replay, timer.as_mut()).await?;
                }
                driver.wire.send(outgoing);
                driver.flush(replay, pin!(sleep(config.timeout))).await?
            }
            Action::Wait => driver.receive(replay, timer.as_mut()).await?,
            Action::Done => {
                driver.is_closing = side.is_client();
                let event = driver.receive(replay, timer.as_mut()).await;
                match event {
                    Ok(WireEvent::Received | WireEvent::Flushed) => continue,
                    // Nothing more is expected, so a failure is an end as well.
                    Ok(WireEvent::TimedOut | WireEvent::Ended) | Err(_) => return Ok(()),
                }
            }
        };
        match event {
            WireEvent::Received | WireEvent::Flushed => {}
            WireEvent::TimedOut => {
                replay.give_up();
                timed = None;
            }
            WireEvent::Ended => {
                replay.end();
                return Ok(());
            }
        }
    }
    Ok(())
}

struct Driver<W> {
    wire: W,
    is_closing: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum WireEvent {
    /// Data of the live side was received.
    Received,
    /// The queue was written.
    Flushed,
    TimedOut,
    /// The live side has closed.
    Ended,
}

impl<W: Wire> Driver<W> {
    /// Receives until the timer fires.
    async fn pause(
        &mut self,
        replay: &mut Replay,
        mut timer: Pin<&mut impl Future<Output = ()>>,
    ) -> Result<(), TransportError> {
        loop {
            match self.next_event(replay, timer.as_mut(), false).await? {
                WireEvent::Received | WireEvent::Flushed => {}
                WireEvent::TimedOut | WireEvent::Ended => return Ok(()),
            }
        }
    }

    /// Writes the queue, and receives while it does: a peer may write before it reads.
    async fn flush(
        &mut self,
        replay: &mut Replay,
        mut timer: Pin<&mut impl Future<Output = ()>>,
    ) -> Result<WireEvent, TransportError> {
        loop {
            let event = self.next_event(replay, timer.as_mut(), true).await?;
            if event != WireEvent::Received {
                return Ok(event);
            }
        }
    }

    async fn receive(
        &mut self,
        replay: &mut Replay,
        timer: Pin<&mut impl Future<Output = ()>>,
    ) -> Result<WireEvent, TransportError> {
        self.next_event(replay, timer, false).await
    }

    async fn next_event(
        &mut self,
        replay: &mut Replay,
        mut timer: Pin<&mut impl Future<Output = ()>>,
        until_flushed: bool,
    ) -> Result<WireEvent, TransportError> {
        let event = poll_fn(|cx| {
            let written = if self.is_closing { self.wire.poll_close(cx) } else { self.wire.poll_flush(cx) };
            match self.wire.poll_receive(cx) {
                Poll::Ready(Some(Ok(incoming))) => {
                    let before = replay.settled();
                    self.take(replay, incoming);
                    // The live side may send unrecorded messages without a pause, so the timer is polled here as well.
                    let is_over = replay.settled() == before && timer.as_mut().poll(cx).is_ready();
                    return Poll::Ready(Ok(if is_over { WireEvent::TimedOut } else { WireEvent::Received }));
                }
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(error)),
                Poll::Ready(None) => return Poll::Ready(Ok(WireEvent::Ended)),
                Poll::Pending => {}
            }
            if until_flushed && written.is_ready() {
                return Poll::Ready(Ok(WireEvent::Flushed));
            }
            timer.as_mut().poll(cx).map(|()| Ok(WireEvent::TimedOut))
        })
        .await;
        if event.is_err() {
            replay.end();
        }
        event
    }

    /// Passes received data to the replay, and sends its answers to requests that were not recorded.
    fn take(&mut self, replay: &mut Replay, incoming: Incoming) {
        match incoming {
            Incoming::Message(message) => {
                for answer in replay.receive(&message) {
                    self.wire.send(answer);
                }
            }
            Incoming::Text(text) => replay.receive_text(&text),
            Incoming::Failure { id, why } => replay.receive_failure(&id, &why),
            Incoming::Nothing => {}
        }
    }
}
