//! The bounded queue of commands between the update log and its writer.

use std::collections::VecDeque;

use agentwire_sync::Monitor;
use futures_channel::oneshot;

use super::change::Change;
use super::error::LogError;

/// How many commands may be queued. A turn with more updates waits.
const COMMAND_LIMIT: usize = 64;

/// The commands that the writer has not taken yet, and the reasons to refuse new ones.
#[derive(Default)]
pub(super) struct Queue {
    pub(super) commands: VecDeque<Command>,
    /// The number of the running turn.
    pub(super) turn: Option<u64>,
    /// How many turns have begun.
    pub(super) turns: u64,
    pub(super) failure: Option<Failure>,
    /// Whether new commands are refused.
    pub(super) closed: bool,
    /// Whether the writer has been dropped.
    pub(super) ended: bool,
}

/// Why commands are refused.
#[derive(Clone)]
pub(super) struct Failure {
    /// The last turn to which this applies. A new turn tries the store again.
    pub(super) last_turn: u64,
    pub(super) why: LogError,
}

/// A change to write and to send.
pub(super) struct Command {
    pub(super) change: Change,
    /// Whether the store must make its records durable.
    pub(super) sync: bool,
    /// How many turns had begun when this was queued.
    pub(super) turns: u64,
    pub(super) done: oneshot::Sender<Result<(), LogError>>,
}

/// Resolves when a command is carried out or refused. Dropping it does not cancel the command.
pub(super) type Ticket = oneshot::Receiver<Result<(), LogError>>;

impl Queue {
    /// Returns why a command of this turn, or with `None` of the session itself, is refused, or `None` if it is accepted.
    pub(super) fn refusal(&self, turn: Option<u64>) -> Option<LogError> {
        if self.closed || turn.is_some() && turn != self.turn {
            return Some(LogError::Ended);
        }
        let failure = self.failure.as_ref()?;
        (self.turns <= failure.last_turn).then(|| failure.why.clone())
    }

    /// Returns whether turns have to wait.
    pub(super) fn is_full(&self) -> bool {
        self.commands.len() >= COMMAND_LIMIT
    }

    pub(super) fn push(&mut self, change: Change, sync: bool) -> Ticket {
        let (done, ticket) = oneshot::channel();
        self.commands.push_back(Command { change, sync, turns: self.turns, done });
        ticket
    }

    /// Moves the commands into an empty buffer. Returns whether the queue was full, or `None` if no command is queued and the
    /// log is not closed. The buffer stays empty if the log is closed and no command is left.
    pub(super) fn take(&mut self, commands: &mut VecDeque<Command>) -> Option<bool> {
        if self.commands.is_empty() && !self.closed {
            return None;
        }
        let was_full = self.is_full();
        std::mem::swap(&mut self.commands, commands);
        Some(was_full)
    }
}

/// Refuses the queued commands and all later ones, because no writer is left.
pub(super) fn end(queue: &Monitor<Queue>) {
    let left = queue.update(|queue| {
        (queue.closed, queue.ended) = (true, true);
        std::mem::take(&mut queue.commands)
    });
    // Outside of the lock, because this wakes the tickets.
    drop(left);
}
