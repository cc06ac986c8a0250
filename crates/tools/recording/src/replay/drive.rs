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
    /// How long a recorded message may take once it is waited for, whatever else comes in that time (default 10 s).
    #[build(skip)]
    pub timeout: Duration,
    /// How long the live side is listened to once all has happened (default 10 s).
    pub linger: Duration,
    /// Whether recorded pauses are kept (default: no).
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

    /// Sets how long a recorded message may take, and how long the live side is listened to once all has happened.
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

/// Plays `side` of a recording over a wire, until all has happened and the live side has closed or the time is over. `sleep`
/// waits.
///
/// A client closes the wire when all has happened, as clients do. An agent or server waits for the client to close it.
///
/// # Errors
///
/// When the wire fails before all has happened. What has not come then is missing.
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
    // What the timer runs for. A live side that sends other messages without end does not start it again.
    let mut timed = None;
    while !config.stop_at_first || replay.differences().0.is_empty() {
        let action = replay.next_action();
        let is_done = matches!(action, Action::Done);
        let phase = Some((replay.happened(), is_done));
        if timed != phase {
            timer.set(sleep(if is_done { config.linger } else { config.timeout }));
            timed = phase;
        }
        let happened = match action {
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
                let happened = driver.receive(replay, timer.as_mut()).await;
                match happened {
                    Ok(Happened::Received | Happened::Flushed) => continue,
                    // Nothing more is expected, so however it ends is an end.
                    Ok(Happened::TimedOut | Happened::Ended) | Err(_) => return Ok(()),
                }
            }
        };
        match happened {
            Happened::Received | Happened::Flushed => {}
            Happened::TimedOut => {
                replay.give_up();
                timed = None;
            }
            Happened::Ended => {
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
enum Happened {
    /// A message was received and taken.
    Received,
    /// All was written.
    Flushed,
    TimedOut,
    /// The live side has closed.
    Ended,
}

impl<W: Wire> Driver<W> {
    /// Takes packets until the timer fires.
    async fn pause(
        &mut self,
        replay: &mut Replay,
        mut timer: Pin<&mut impl Future<Output = ()>>,
    ) -> Result<(), TransportError> {
        loop {
            match self.happening(replay, timer.as_mut(), false).await? {
                Happened::Received | Happened::Flushed => {}
                Happened::TimedOut | Happened::Ended => return Ok(()),
            }
        }
    }

    /// Writes all, and takes packets in that time: a peer may read only once it has written.
    async fn flush(
        &mut self,
        replay: &mut Replay,
        mut timer: Pin<&mut impl Future<Output = ()>>,
    ) -> Result<Happened, TransportError> {
        loop {
            let happened = self.happening(replay, timer.as_mut(), true).await?;
            if happened != Happened::Received {
                return Ok(happened);
            }
        }
    }

    async fn receive(
        &mut self,
        replay: &mut Replay,
        timer: Pin<&mut impl Future<Output = ()>>,
    ) -> Result<Happened, TransportError> {
        self.happening(replay, timer, false).await
    }

    async fn happening(
        &mut self,
        replay: &mut Replay,
        mut timer: Pin<&mut impl Future<Output = ()>>,
        until_flushed: bool,
    ) -> Result<Happened, TransportError> {
        let happened = poll_fn(|cx| {
            let written = if self.is_closing { self.wire.poll_close(cx) } else { self.wire.poll_flush(cx) };
            match self.wire.poll_receive(cx) {
                Poll::Ready(Some(Ok(incoming))) => {
                    let before = replay.happened();
                    self.take(replay, incoming);
                    // A live side may always have more to say, and none of it recorded.
                    let is_over = replay.happened() == before && timer.as_mut().poll(cx).is_ready();
                    return Poll::Ready(Ok(if is_over { Happened::TimedOut } else { Happened::Received }));
                }
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(error)),
                Poll::Ready(None) => return Poll::Ready(Ok(Happened::Ended)),
                Poll::Pending => {}
            }
            if until_flushed && written.is_ready() {
                return Poll::Ready(Ok(Happened::Flushed));
            }
            timer.as_mut().poll(cx).map(|()| Ok(Happened::TimedOut))
        })
        .await;
        if happened.is_err() {
            replay.end();
        }
        happened
    }

    /// Takes what the live side sent. Requests that were not recorded are answered at once.
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
