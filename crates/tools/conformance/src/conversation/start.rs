//! The beginning of a conversation with a program that was just started.

use std::time::Duration;

use crate::link::processes::Processes;
use crate::link::received::Received;
use crate::verdict::Stop;

/// How far a program has started.
#[derive(Default)]
pub(super) struct Start {
    /// How long the next message may take, while none has arrived.
    time: Option<Duration>,
    /// Of a program that was started for this conversation.
    processes: Option<Processes>,
    /// Whether it has ever sent a message.
    is_heard: bool,
}

impl Start {
    /// A program that was started for the conversation. Its first message may take as long as `most`.
    pub(super) fn of_program(processes: &Processes, most: Duration) -> Self {
        Self { time: Some(processes.start_time(most)), processes: Some(processes.clone()), is_heard: false }
    }

    pub(super) fn allow(&mut self, time: Duration) {
        self.time = Some(time);
    }

    pub(super) fn time(&self) -> Option<Duration> {
        self.time
    }

    pub(super) fn hear(&mut self, received: Option<&Received>) {
        if !matches!(received, Some(Received::Closed) | None) {
            self.time = None;
        }
        self.is_heard |= matches!(received, Some(Received::Message { .. }));
    }

    /// The reason for a missing message while the program may still start: it does not start, or slowly.
    pub(super) fn silent(&self, stop: Stop) -> Stop {
        if self.time.is_some() { stop.while_preparing() } else { stop }
    }

    /// The reason that the end of the conversation gives.
    pub(super) fn ended(&self, stop: Stop) -> Stop {
        match &self.processes {
            Some(processes) if !self.is_heard => {
                processes.count_unstarted();
                stop.at_start()
            }
            _ => stop,
        }
    }
}
