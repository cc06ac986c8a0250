//! Detects the end of a turn of version 2.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agentwire_acp_schema::v2::{IdleStateUpdate, MessageId, SessionUpdate, StateUpdate};

use crate::session::updates::Observer;

/// The most observations before the answer that are kept, and the most bytes of all but the last.
const OBSERVATION_LIMIT: usize = 256;
const OBSERVATION_BYTES_LIMIT: usize = 1 << 20;

/// Finds the end of a turn among the updates of its session.
///
/// An agent adds the prompt to the session as a user message, here called *the message*. It answers the prompt with the message's
/// id, and sends the message with that id, in either order. Later it sends the state `idle`, when no foreground work is left. So the first `idle` after the
/// message ends the turn. Conforming agents need no other rule.
///
/// If the agent does not send the message, the meaning of an `idle` depends on its position. An agent answers the prompt only
/// after the message is part of the session.
///
/// - An `idle` after the answer ends the turn, even if the agent sent neither a running state nor text. There is one
///   exception: the session was busy with other work, and the agent has sent the messages of other prompts. Then this `idle`
///   ends the other work, and the next one after a working state ends the turn.
/// - An `idle` before the answer is the state from before the prompt, possibly repeated. There is one exception: the session
///   was idle, has worked since, and the agent has never sent the message of a prompt. Then the agent answers at the end of
///   the turn, as in version 1.
///
/// One case is left: the last state is `idle`, and neither the message nor work has followed. Both may still follow after the
/// answer. If no update arrives for a while, that state ended the turn: see [`possible_end`](Self::possible_end).
#[derive(Debug)]
pub(crate) struct EndDetector {
    /// Whether the agent was working when the prompt was sent.
    busy: bool,
    /// Whether the agent has ever sent the message of a prompt.
    sends_messages: Arc<AtomicBool>,
    /// The id in the answer to the prompt, which may lack one. `None` until the answer arrives.
    receipt: Option<Option<MessageId>>,
    /// The observations before the answer, and the sum of their bytes.
    early: VecDeque<Observation>,
    early_bytes: usize,
    /// Whether the message was sent.
    message_sent: bool,
    /// Whether the agent has worked since the last `idle`.
    has_worked: bool,
    /// Whether an `idle` after the answer did not end the turn.
    idle_after_answer: bool,
    /// The last `idle`, if it did not end the turn and neither work nor the message of the prompt has followed.
    possible_end: Option<Box<IdleStateUpdate>>,
    /// The number of updates so far.
    observed: u64,
    ended: Option<IdleStateUpdate>,
    closed: bool,
}

#[derive(Debug, PartialEq)]
enum Observation {
    MessageSent(MessageId),
    Working,
    /// An update of text, a tool call or a plan.
    Output,
    Idle(Box<IdleStateUpdate>),
}

impl Observation {
    /// The length of its content as JSON, in bytes.
    fn bytes(&self) -> usize {
        match self {
            Self::MessageSent(id) => id.len(),
            Self::Working | Self::Output => 0,
            Self::Idle(state) => crate::decode::encoded_length(state),
        }
    }
}

impl EndDetector {
    pub(crate) fn new(busy: bool, sends_messages: Arc<AtomicBool>) -> Self {
        Self {
            busy,
            sends_messages,
            receipt: None,
            early: VecDeque::new(),
            early_bytes: 0,
            message_sent: false,
            has_worked: false,
            idle_after_answer: false,
            possible_end: None,
            observed: 0,
            ended: None,
            closed: false,
        }
    }

    /// Records the answer: the prompt is part of the session.
    pub(crate) fn record_answer(&mut self, message_id: Option<MessageId>) {
        let is_message = |observation: &Observation| matches!(observation, Observation::MessageSent(id) if Some(id) == message_id.as_ref());
        // Observations before the message belong to an earlier turn.
        if let Some(index) = self.early.iter().position(is_message) {
            self.early.drain(..index);
        }
        self.receipt = Some(message_id);
        for observation in std::mem::take(&mut self.early) {
            self.record_answered(observation, false);
        }
    }

    /// Returns the id in the answer to the prompt, if the answer has arrived.
    pub(crate) fn receipt(&self) -> Option<&Option<MessageId>> {
        self.receipt.as_ref()
    }

    /// Records that the session is closed: no update follows.
    pub(crate) fn close(&mut self) {
        self.closed = true;
    }

    /// Returns whether the session is closed, so that the turn has no end.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed && self.receipt.is_some()
    }

    /// Returns the state that ended the turn, once.
    pub(crate) fn take(&mut self) -> Option<IdleStateUpdate> {
        self.ended.take()
    }

    /// Returns the number of updates so far, if the agent has answered, is idle, and has not sent the message. If the number
    /// stays the same for a while, the caller ends the turn with [`take_possible_end`](Self::take_possible_end).
    pub(crate) fn possible_end(&self) -> Option<u64> {
        (self.possible_end.is_some() && !self.message_sent && self.ended.is_none()).then_some(self.observed)
    }

    /// Returns the last `idle`, which ends the turn.
    pub(crate) fn take_possible_end(&mut self) -> Option<IdleStateUpdate> {
        self.possible_end.take().map(|state| *state)
    }

    /// Records an observation. Returns whether it is the end of the turn, or may be.
    fn record(&mut self, observation: Observation) -> bool {
        if self.receipt.is_some() {
            return self.record_answered(observation, true);
        }
        if observation != Observation::Output && self.early.back() != Some(&observation) {
            self.early_bytes += observation.bytes();
            self.early.push_back(observation);
            while self.early.len() > OBSERVATION_LIMIT
                || self.early.len() > 1 && self.early_bytes > OBSERVATION_BYTES_LIMIT
            {
                self.early_bytes -= self.early.pop_front().map_or(0, |observation| observation.bytes());
            }
        }
        false
    }

    /// Records an observation after the answer has arrived. `after_answer` is whether the update itself came after it.
    fn record_answered(&mut self, observation: Observation, after_answer: bool) -> bool {
        let receipt = self.receipt.as_ref().and_then(Option::as_ref);
        if self.ended.is_some() {
            return false;
        }
        match observation {
            Observation::MessageSent(id) if receipt == Some(&id) => {
                self.message_sent = true;
                self.possible_end = None;
                self.sends_messages.store(true, Ordering::Relaxed);
            }
            Observation::MessageSent(_) => {}
            Observation::Working => {
                self.has_worked = true;
                self.possible_end = None;
            }
            Observation::Output => self.possible_end = None,
            Observation::Idle(state) => {
                let sends_messages = receipt.is_some() && self.sends_messages.load(Ordering::Relaxed);
                let ends_without_message = match (after_answer, self.busy) {
                    (true, false) => true,
                    (true, true) => !sends_messages || self.idle_after_answer && self.has_worked,
                    (false, busy) => !busy && self.has_worked && !sends_messages,
                };
                if self.message_sent || ends_without_message {
                    self.ended = Some(*state);
                } else {
                    self.idle_after_answer |= after_answer;
                    self.has_worked = false;
                    self.possible_end = Some(state);
                }
            }
        }
        self.ended.is_some() || self.possible_end.is_some()
    }
}

impl Observer<SessionUpdate> for EndDetector {
    fn observe(&mut self, update: &SessionUpdate) -> bool {
        self.observed += 1;
        let observation = match update {
            SessionUpdate::UserMessage(message) => Observation::MessageSent(message.message_id.clone()),
            SessionUpdate::UserMessageChunk(chunk) => Observation::MessageSent(chunk.message_id.clone()),
            SessionUpdate::StateUpdate(state) => match &**state {
                StateUpdate::Idle(idle) => Observation::Idle(Box::new(idle.clone())),
                _ => Observation::Working,
            },
            // An agent that answers at the end of its work has sent all updates before the answer, and is idle. One that
            // sends updates after its answer is working, and may send none for long while a tool runs.
            SessionUpdate::AgentMessageChunk(_)
            | SessionUpdate::AgentMessage(_)
            | SessionUpdate::AgentThoughtChunk(_)
            | SessionUpdate::AgentThought(_)
            | SessionUpdate::ToolCallContentChunk(_)
            | SessionUpdate::ToolCallUpdate(_)
            | SessionUpdate::PlanUpdate(_) => Observation::Output,
            _ => return false,
        };
        self.record(observation)
    }
}

#[cfg(test)]
mod tests {
    use agentwire_acp_schema::v2::{IdleStopReason, Meta};
    use serde_json::json;

    use super::*;

    fn end(busy: bool, sends_messages: bool) -> EndDetector {
        EndDetector::new(busy, Arc::new(sends_messages.into()))
    }

    /// Plays a turn: `-` is the answer with the id `m`, `?` one without an id, `m` and `o` are messages of the user, `r` is
    /// running, digits are idle states. Returns the digit that ended the turn.
    fn ended_by(busy: bool, sends_messages: bool, events: &str) -> Option<u8> {
        let mut end = end(busy, sends_messages);
        for event in events.chars() {
            match event {
                '-' => end.record_answer(Some("m".into())),
                '?' => end.record_answer(None),
                'm' | 'o' => drop(end.record(Observation::MessageSent(event.to_string().into()))),
                'r' => drop(end.record(Observation::Working)),
                digit => {
                    let meta = Meta::from_iter([("at", json!(digit))]);
                    let idle = IdleStateUpdate::new().meta(meta).stop_reason(IdleStopReason::EndTurn);
                    end.record(Observation::Idle(Box::new(idle)));
                }
            }
        }
        end.take().map(|state| {
            let digit: String = state.meta.unwrap().decode_member("at").unwrap().unwrap();
            digit.parse().unwrap()
        })
    }

    #[test]
    fn the_end_is_the_first_idle_after_the_message() {
        for (busy, events, end) in [
            // In whichever order the answer, the message and the work arrive.
            (false, "-mr1", Some(1)),
            (false, "m-r1", Some(1)),
            (false, "mr1-", Some(1)),
            (false, "rm-1", Some(1)),
            // The first, and nothing that follows.
            (false, "mr1r2-", Some(1)),
            // Not yet.
            (false, "mr-", None),
            (false, "-", None),
            // A repeated state is not an end, nor is that of work that was done before.
            (false, "1-", None),
            (false, "1-mr2", Some(2)),
            (false, "r1m-r2", Some(2)),
            // Another's prompt, or the agent's own work, before it.
            (true, "o1mr-2", Some(2)),
            (true, "1-mr2", Some(2)),
            // Added to work that goes on.
            (true, "m-1", Some(1)),
            // A command that does nothing.
            (false, "-m1", Some(1)),
        ] {
            for sends_messages in [false, true] {
                assert_eq!(
                    ended_by(busy, sends_messages, events),
                    end,
                    "{events}, busy {busy}, sends_messages {sends_messages}"
                );
            }
        }
    }

    #[test]
    fn turn_ends_without_its_message() {
        for (busy, sends_messages, events, end) in [
            (false, false, "-r1", Some(1)),
            (false, false, "?r1", Some(1)),
            (true, false, "?1", Some(1)),
            // Nothing at all before the end.
            (false, false, "-1", Some(1)),
            (false, true, "-1", Some(1)),
            (false, true, "1?2", Some(2)),
            // The answer comes at the end.
            (false, false, "r1?", Some(1)),
            (false, false, "r1-", Some(1)),
            // Added to work that goes on, or done after it: the client cannot know.
            (true, false, "-1r2", Some(1)),
            // This agent sends the message later, or has more to do.
            (true, true, "-1mr2", Some(2)),
            (true, true, "-1r2", Some(2)),
            (true, true, "r1-r2r3", Some(3)),
        ] {
            assert_eq!(
                ended_by(busy, sends_messages, events),
                end,
                "{events}, busy {busy}, sends_messages {sends_messages}"
            );
        }
    }

    /// Each row has the observations before and after the answer.
    #[test]
    fn idle_agent_without_the_message_may_have_ended_the_turn() {
        let rests = |busy, sends_messages, before: &[char], after_answer: &[char]| {
            let mut end = end(busy, sends_messages);
            let play = |end: &mut EndDetector, events: &[char]| {
                for event in events {
                    let observation = match event {
                        'm' | 'o' => Observation::MessageSent(event.to_string().into()),
                        'r' => Observation::Working,
                        's' => Observation::Output,
                        _ => Observation::Idle(Box::default()),
                    };
                    end.record(observation);
                }
            };
            play(&mut end, before);
            assert_eq!(end.possible_end(), None, "there is no answer yet");
            end.record_answer(Some("m".into()));
            play(&mut end, after_answer);
            assert!(end.ended.is_none(), "{before:?} {after_answer:?}");
            end.possible_end().is_some()
        };
        for sends_messages in [false, true] {
            for busy in [false, true] {
                assert!(rests(busy, sends_messages, &['i'], &[]), "{busy} {sends_messages}");
                assert!(rests(busy, sends_messages, &['o', 'i'], &['o']), "{busy} {sends_messages}");
                for (before, after_answer) in
                    [("", ""), ("im", ""), ("i", "m"), ("ir", ""), ("i", "r"), ("i", "s"), ("r", "")]
                {
                    let [before, after_answer] =
                        [before, after_answer].map(|events| events.chars().collect::<Vec<_>>());
                    assert!(
                        !rests(busy, sends_messages, &before, &after_answer),
                        "{busy} {sends_messages} {before:?} {after_answer:?}"
                    );
                }
            }
        }
        // The agent sends messages, but not this one.
        assert!(rests(true, true, &[], &['i']));
    }

    #[test]
    fn agent_that_has_sent_its_message_is_remembered() {
        let mut end = end(false, false);
        end.record_answer(Some("m".into()));
        end.record(Observation::MessageSent("o".into()));
        assert!(!end.sends_messages.load(Ordering::Relaxed));
        end.record(Observation::MessageSent("m".into()));
        assert!(end.sends_messages.load(Ordering::Relaxed));
    }

    #[test]
    fn updates_before_the_answer_are_bounded() {
        let mut end = end(false, false);
        for number in 0..10 * OBSERVATION_LIMIT {
            end.record(Observation::MessageSent(number.to_string().into()));
        }
        assert_eq!(end.early.len(), OBSERVATION_LIMIT);
        // In bytes, too.
        for number in 0..10 {
            let reason = IdleStopReason::Unknown(
                [("stopReason", serde_json::Value::from("x".repeat(OBSERVATION_BYTES_LIMIT / 3)))]
                    .into_iter()
                    .collect(),
            );
            let state = Box::new(IdleStateUpdate::new().stop_reason(reason));
            end.record(Observation::Idle(state));
            end.record(Observation::MessageSent("x".repeat(OBSERVATION_BYTES_LIMIT / 3 + number).into()));
            assert!(end.early_bytes <= OBSERVATION_BYTES_LIMIT, "{}", end.early_bytes);
        }
    }
}
