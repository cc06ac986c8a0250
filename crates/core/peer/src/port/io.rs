//! The steps of a port that read from the transport and write to it.

use std::task::{Context, Poll};

use agentwire_jsonrpc::Skipped;
use agentwire_transport::{Packet, Transport, TransportError};
use bytestring::ByteString;
use futures::{SinkExt, StreamExt};

use super::{Input, Pause, Port};

impl<T: Transport> Port<T> {
    /// Starts a round of reading. Returns whether [`poll_read`](Self::poll_read) may find anything.
    pub fn begin_read(&mut self) -> bool {
        self.paused = None;
        if !self.reading || self.quiet {
            return false;
        }
        self.read_at = None;
        self.wants_input = self.driver.shared.lock().connection.wants_input();
        true
    }

    /// Reads one packet, unless `gate` is false or the limits of the connection forbid it.
    ///
    /// The gate is for a loop that must not read packets while it cannot forward them.
    pub fn poll_read(&mut self, cx: &mut Context<'_>, gate: bool) -> Poll<Input> {
        loop {
            if !gate || !self.wants_input {
                self.paused = Some(if gate { Pause::Limits } else { Pause::Gate });
                return Poll::Pending;
            }
            let packet = match self.transport.poll_next_unpin(cx) {
                Poll::Ready(Some(Ok(packet))) => packet,
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Input::End(Some(error))),
                Poll::Ready(None) => return Poll::Ready(Input::End(None)),
                Poll::Pending => {
                    self.quiet = true;
                    return Poll::Pending;
                }
            };
            if let Some(observation) = &mut self.observation {
                let now = *self.read_at.get_or_insert_with(|| self.driver.shared.now());
                observation.received(&packet, now);
            }
            let (event, source) = match packet {
                Packet::Frame { frame, source, .. } => {
                    let now = match self.read_at {
                        Some(now) => now,
                        None => *self.read_at.insert(self.driver.shared.now()),
                    };
                    (self.update(|state| state.connection.handle_frame(now, frame)), source)
                }
                Packet::CallerLeft(id) => {
                    (self.update(|state| state.connection.handle_caller_left(&id)), None)
                }
                Packet::RequestFailed { id, error } => {
                    (self.update(|state| state.fail_call(&id, error)), None)
                }
                Packet::Gap { end } => return Poll::Ready(Input::Gap(end)),
                _ => continue,
            };
            return Poll::Ready(Input::Packet { event, source });
        }
    }

    /// Starts a round of writing, which includes all changes so far. Returns the parts that were left out of decoded results
    /// since the last round, with the methods of their calls.
    pub fn begin_write(&mut self) -> Vec<(ByteString, Skipped)> {
        let mut state = self.driver.shared.lock();
        state.mark_up_to_date();
        state.take_skipped()
    }

    /// Writes queued frames while the transport is ready. After the transport has failed, queued frames are dropped.
    ///
    /// # Errors
    ///
    /// The transport's error, once. The loop then calls [`close_write`](Self::close_write), and goes on reading, which may
    /// report why the peer is gone.
    pub fn poll_write(&mut self, cx: &mut Context<'_>) -> Result<(), TransportError> {
        if !self.writing {
            while self.shared().lock().connection.poll_transmit().is_some() {}
            return Ok(());
        }
        let sent = self.poll_send(cx);
        if sent.is_err() {
            self.writing = false;
            self.may_run_handlers = true;
            self.again = true;
        }
        sent
    }

    fn poll_send(&mut self, cx: &mut Context<'_>) -> Result<(), TransportError> {
        self.observe_queue();
        let mut more = self.wants_output();
        while more && self.transport.poll_ready_unpin(cx)?.is_ready() {
            let mut state = self.driver.shared.lock();
            let transmit = state.connection.poll_transmit();
            // `poll_ready` is not called without a frame to send. It could fail because a peer has left after its last
            // response, which is not an error.
            more = state.connection.wants_output();
            drop(state);
            if let Some(transmit) = transmit {
                if let Some(observation) = &mut self.observation {
                    observation.sent(&transmit.frame, transmit.size);
                }
                self.last_sent = transmit.size;
                let packet =
                    Packet::Frame { frame: transmit.frame, in_reply_to: transmit.in_reply_to, source: None };
                self.transport.start_send_unpin(packet)?;
                self.sent += 1;
                self.unflushed = true;
            }
        }
        if self.unflushed && self.transport.poll_flush_unpin(cx)?.is_ready() {
            self.unflushed = false;
            self.last_sent = 0;
        }
        let state = self.driver.shared.lock();
        self.again |= self.paused == Some(Pause::Limits) && state.connection.wants_input();
        self.may_run_handlers = state.connection.may_run_handlers(self.last_sent);
        let is_awaited = state.is_capacity_awaited();
        drop(state);
        let wakers = if is_awaited {
            let now = self.driver.shared.now();
            self.driver.shared.lock().take_capacity_wakers(now)
        } else {
            Vec::new()
        };
        // If no room is held for the woken futures, another round wakes the next ones.
        self.again |= !wakers.is_empty();
        self.wake(wakers);
        self.observe_queue();
        Ok(())
    }

    /// Reports the size of the send queue to an observer.
    fn observe_queue(&mut self) {
        if let Some(observation) = &mut self.observation {
            let bytes = self.driver.shared.lock().connection.queued_bytes();
            observation.queue(bytes);
        }
    }

    /// Closes the transport. Ready when that is done, or has failed.
    pub fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        // An error while closing is ignored: the error that ended the connection explains more.
        self.transport.poll_close_unpin(cx).map(drop)
    }
}
