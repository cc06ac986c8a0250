use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use agentwire_transport::{Fault, Packet, Transport};

/// The transport at one side of a relay, and how far it is.
pub(crate) struct Line<T> {
    transport: T,
    pub(crate) reading: bool,
    /// Whether it had nothing more when last asked within this turn.
    pub(crate) quiet: bool,
    /// Whether it was not asked because what it has cannot be passed on.
    pub(crate) held: bool,
    pub(crate) sink: Sinking,
    unflushed: bool,
    /// Writing has failed. What is to be written is lost, and until this time reading may tell why.
    pub(crate) failed: Option<(Instant, Option<Fault>)>,
    fault: Option<Fault>,
    /// When the other side is closed at the latest, since this one has ended.
    pub(crate) drained: Option<Instant>,
    /// Until when what it has to say is heard before it is closed, since that was begun.
    pub(crate) heard: Option<Instant>,
    /// When this side counts as closed at the latest, since that was begun.
    pub(crate) closed: Option<Instant>,
    /// Whether it was read since it was last asked to close: a transport may throw away what nobody reads.
    listened: bool,
}

/// How far the closing of a sink is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sinking {
    Open,
    Closing,
    Closed,
}

impl<T: Transport> Line<T> {
    pub(crate) fn new(transport: T) -> Self {
        Self {
            transport,
            reading: true,
            quiet: false,
            held: false,
            sink: Sinking::Open,
            unflushed: false,
            failed: None,
            fault: None,
            drained: None,
            heard: None,
            closed: None,
            listened: false,
        }
    }

    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Packet, Fault>>> {
        self.listened = true;
        let item = Pin::new(&mut self.transport).poll_next(cx);
        self.quiet = item.is_pending();
        item
    }

    /// Writes what there is. Gives an error once.
    pub(crate) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        mut next: impl FnMut() -> Option<Packet>,
        wants_output: impl Fn() -> bool,
    ) -> Result<(), Fault> {
        while wants_output() && Pin::new(&mut self.transport).poll_ready(cx)?.is_ready() {
            if let Some(packet) = next() {
                Pin::new(&mut self.transport).start_send(packet)?;
                self.unflushed = true;
            }
        }
        if self.unflushed && Pin::new(&mut self.transport).poll_flush(cx)?.is_ready() {
            self.unflushed = false;
        }
        Ok(())
    }

    pub(crate) fn is_flushed(&self) -> bool {
        !self.unflushed
    }

    /// Closes the sink, at the latest when the time is over. True when that is done.
    pub(crate) fn poll_close(&mut self, cx: &mut Context<'_>, is_heard: bool, is_late: bool) -> bool {
        // First what it has to say is heard.
        if !is_heard && self.reading && (self.held || !std::mem::take(&mut self.listened)) {
            return false;
        }
        // Whatever goes wrong now, it is over.
        Pin::new(&mut self.transport).poll_close(cx).is_ready() || is_late
    }

    /// Keeps what went wrong first.
    pub(crate) fn blame(&mut self, fault: Option<Fault>) {
        if self.fault.is_none() {
            self.fault = fault;
        }
    }

    pub(crate) fn take_fault(&mut self) -> Option<Fault> {
        self.fault.take()
    }
}
