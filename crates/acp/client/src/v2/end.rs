//! Detects the end of a turn of version 2.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agentwire_acp_schema::v2::{IdleStateUpdate, MessageId, SessionUpdate, StateUpdate};

use crate::session::updates::Observer;

/// How many events before the answer are kept, and how many bytes they may have together, apart from the last.
const MARKS: usize = 256;
const MARKS_BYTES: usize = 1 << 20;

/// Finds the end of a turn among the updates of its session.
///
/// An agent adds the message to the session, answers the prompt with the message's id, and sends the message with that
/// id, in either order. Later it sends the state `idle`, when no foreground work is left. So the first `idle` after the
/// message ends the turn. Conforming agents need no other rule.
///
/// Where the message was not sent, the answer decides about an `idle`: the answer does not come before the message is
/// part of the session:
///
/// - Behind the answer it is the end, whatever else the agent has left out: that it runs, or any text. Only in a session
///   that was busy with something else, and of an agent that does tell of its messages, it is the end of that, and
///   the next is ours.
/// - Before the answer it is what was there before the prompt, or is said again; unless the session was not busy, and
///   has been since. Then the agent answers at the end, as in version 1.
///
/// One case is left: the agent's last state is `idle`, and neither the message nor work has followed. Both may still
/// follow right after the answer. When no update arrives for a while, that state ended the turn: see
/// [`resting`](Self::resting).
#[derive(Debug)]
pub(crate) struct EndDetector {
    /// Whether the agent was working when the prompt was sent.
    busy: bool,
    /// Whether the agent has ever sent the message of a prompt.
    tells: Arc<AtomicBool>,
    /// The id in the answer to the prompt, which may have none. None until the answer arrives.
    receipt: Option<Option<MessageId>>,
    /// The events before the answer, and the sum of their bytes.
    early: VecDeque<Mark>,
    early_bytes: usize,
    /// Whether the message was sent.
    inserted: bool,
    /// Whether the agent has worked since the last `idle`.
    worked: bool,
    /// Whether an `idle` behind the answer did not end the turn.
    idled: bool,
    /// The last `idle`, where it did not end the turn and neither work nor a message of the prompt has followed.
    resting: Option<Box<IdleStateUpdate>>,
    /// The number of updates so far.
    observed: u64,
    ended: Option<IdleStateUpdate>,
    closed: bool,
}

#[derive(Debug, PartialEq)]
enum Mark {
    Inserted(MessageId),
    Worked,
    /// An update behind the answer that is not a state.
    Spoke,
    Idle(Box<IdleStateUpdate>),
}

impl Mark {
    /// The length of its content as JSON, in bytes.
    fn bytes(&self) -> usize {
        match self {
            Self::Inserted(id) => id.len(),
            Self::Worked | Self::Spoke => 0,
            Self::Idle(state) => crate::decode::encoded_length(state),
        }
    }
}

impl EndDetector {
    pub(crate) fn new(busy: bool, tells: Arc<AtomicBool>) -> Self {
        Self {
            busy,
            tells,
            receipt: None,
            early: VecDeque::new(),
            early_bytes: 0,
            inserted: false,
            worked: false,
            idled: false,
            resting: None,
            observed: 0,
            ended: None,
            closed: false,
        }
    }

    /// Records the answer: the prompt is part of the session.
    pub(crate) fn accepted(&mut self, message_id: Option<MessageId>) {
        let told = |mark: &Mark| matches!(mark, Mark::Inserted(id) if Some(id) == message_id.as_ref());
        // Events before the message belong to an earlier turn.
        if let Some(place) = self.early.iter().position(told) {
            self.early.drain(..place);
        }
        self.receipt = Some(message_id);
        for mark in std::mem::take(&mut self.early) {
            self.mark_answered(mark, false);
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

    /// Returns the number of updates so far, where the agent has answered, is idle, and has not sent the message. If
    /// the number stays the same for a while, [`rest`](Self::rest) ends the turn.
    pub(crate) fn resting(&self) -> Option<u64> {
        (self.resting.is_some() && !self.inserted && self.ended.is_none()).then_some(self.observed)
    }

    /// Ends the turn with the last state.
    pub(crate) fn rest(&mut self) -> Option<IdleStateUpdate> {
        self.resting.take().map(|state| *state)
    }

    /// Records an event. Returns whether it is the end, or may be.
    fn mark(&mut self, mark: Mark) -> bool {
        if self.receipt.is_some() {
            return self.mark_answered(mark, true);
        }
        if mark != Mark::Spoke && self.early.back() != Some(&mark) {
            self.early_bytes += mark.bytes();
            self.early.push_back(mark);
            while self.early.len() > MARKS || self.early.len() > 1 && self.early_bytes > MARKS_BYTES {
                self.early_bytes -= self.early.pop_front().map_or(0, |mark| mark.bytes());
            }
        }
        false
    }

    /// Records an event once the answer has arrived. `behind` is whether the event came after the answer.
    fn mark_answered(&mut self, mark: Mark, behind: bool) -> bool {
        let receipt = self.receipt.as_ref().and_then(Option::as_ref);
        if self.ended.is_some() {
            return false;
        }
        match mark {
            Mark::Inserted(id) if receipt == Some(&id) => {
                self.inserted = true;
                self.resting = None;
                self.tells.store(true, Ordering::Relaxed);
            }
            Mark::Inserted(_) => {}
            Mark::Worked => {
                self.worked = true;
                self.resting = None;
            }
            Mark::Spoke => self.resting = None,
            Mark::Idle(state) => {
                let tells = receipt.is_some() && self.tells.load(Ordering::Relaxed);
                let untold = match (behind, self.busy) {
                    (true, false) => true,
                    (true, true) => !tells || self.idled && self.worked,
                    (false, busy) => !busy && self.worked && !tells,
                };
                if self.inserted || untold {
                    self.ended = Some(*state);
                } else {
                    self.idled |= behind;
                    self.worked = false;
                    self.resting = Some(state);
                }
            }
        }
        self.ended.is_some() || self.resting.is_some()
    }
}

impl Observer<SessionUpdate> for EndDetector {
    fn observe(&mut self, update: &SessionUpdate) -> bool {
        self.observed += 1;
        let mark = match update {
            SessionUpdate::UserMessage(message) => Mark::Inserted(message.message_id.clone()),
            SessionUpdate::UserMessageChunk(chunk) => Mark::Inserted(chunk.message_id.clone()),
            SessionUpdate::StateUpdate(state) => match &**state {
                StateUpdate::Idle(idle) => Mark::Idle(Box::new(idle.clone())),
                _ => Mark::Worked,
            },
            // An agent that answers at the end of its work has sent all updates before, and is idle. One that sends
            // them behind its answer is working, and may send none for long while a tool runs.
            SessionUpdate::AgentMessageChunk(_)
            | SessionUpdate::AgentMessage(_)
            | SessionUpdate::AgentThoughtChunk(_)
            | SessionUpdate::AgentThought(_)
            | SessionUpdate::ToolCallContentChunk(_)
            | SessionUpdate::ToolCallUpdate(_)
            | SessionUpdate::PlanUpdate(_) => Mark::Spoke,
            _ => return false,
        };
        self.mark(mark)
    }
}

#[cfg(test)]
mod tests {
    use agentwire_acp_schema::v2::{IdleStopReason, Meta};
    use serde_json::json;

    use super::*;

    fn end(busy: bool, tells: bool) -> EndDetector {
        EndDetector::new(busy, Arc::new(tells.into()))
    }

    /// Plays a turn: `-` is the answer with the id `m`, `?` one without, `m` and `o` messages of the person's, `r` running,
    /// digits are idle states. Gives the digit that ended the turn.
    fn ended_by(busy: bool, tells: bool, events: &str) -> Option<u8> {
        let mut end = end(busy, tells);
        for event in events.chars() {
            match event {
                '-' => end.accepted(Some("m".into())),
                '?' => end.accepted(None),
                'm' | 'o' => drop(end.mark(Mark::Inserted(event.to_string().into()))),
                'r' => drop(end.mark(Mark::Worked)),
                digit => {
                    let meta = Meta::from_iter([("at", json!(digit))]);
                    let idle = IdleStateUpdate::new().meta(meta).stop_reason(IdleStopReason::EndTurn);
                    end.mark(Mark::Idle(Box::new(idle)));
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
            for tells in [false, true] {
                assert_eq!(ended_by(busy, tells, events), end, "{events}, busy {busy}, tells {tells}");
            }
        }
    }

    #[test]
    fn the_end_where_the_message_is_not_told_of() {
        for (busy, tells, events, end) in [
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
            // This agent will tell, or has more to do.
            (true, true, "-1mr2", Some(2)),
            (true, true, "-1r2", Some(2)),
            (true, true, "r1-r2r3", Some(3)),
        ] {
            assert_eq!(ended_by(busy, tells, events), end, "{events}, busy {busy}, tells {tells}");
        }
    }

    /// After the answer, with whatever came before it, and what came behind.
    #[test]
    fn an_agent_that_is_idle_may_have_nothing_more_to_say() {
        let rests = |busy, tells, before: &[char], behind: &[char]| {
            let mut end = end(busy, tells);
            let play = |end: &mut EndDetector, events: &[char]| {
                for event in events {
                    let mark = match event {
                        'm' | 'o' => Mark::Inserted(event.to_string().into()),
                        'r' => Mark::Worked,
                        's' => Mark::Spoke,
                        _ => Mark::Idle(Box::default()),
                    };
                    end.mark(mark);
                }
            };
            play(&mut end, before);
            assert_eq!(end.resting(), None, "there is no answer yet");
            end.accepted(Some("m".into()));
            play(&mut end, behind);
            assert!(end.ended.is_none(), "{before:?} {behind:?}");
            end.resting().is_some()
        };
        for tells in [false, true] {
            for busy in [false, true] {
                assert!(rests(busy, tells, &['i'], &[]), "{busy} {tells}");
                assert!(rests(busy, tells, &['o', 'i'], &['o']), "{busy} {tells}");
                for (before, behind) in
                    [("", ""), ("im", ""), ("i", "m"), ("ir", ""), ("i", "r"), ("i", "s"), ("r", "")]
                {
                    let [before, behind] = [before, behind].map(|events| events.chars().collect::<Vec<_>>());
                    assert!(!rests(busy, tells, &before, &behind), "{busy} {tells} {before:?} {behind:?}");
                }
            }
        }
        // It reports its messages, but not this one.
        assert!(rests(true, true, &[], &['i']));
    }

    #[test]
    fn agent_that_reports_a_message_is_known_to() {
        let mut end = end(false, false);
        end.accepted(Some("m".into()));
        end.mark(Mark::Inserted("o".into()));
        assert!(!end.tells.load(Ordering::Relaxed));
        end.mark(Mark::Inserted("m".into()));
        assert!(end.tells.load(Ordering::Relaxed));
    }

    #[test]
    fn updates_before_the_answer_are_bounded() {
        let mut end = end(false, false);
        for number in 0..10 * MARKS {
            end.mark(Mark::Inserted(number.to_string().into()));
        }
        assert_eq!(end.early.len(), MARKS);
        // In bytes, too.
        for number in 0..10 {
            let reason = IdleStopReason::Unknown(
                [("stopReason", serde_json::Value::from("x".repeat(MARKS_BYTES / 3)))].into_iter().collect(),
            );
            let state = Box::new(IdleStateUpdate::new().stop_reason(reason));
            end.mark(Mark::Idle(state));
            end.mark(Mark::Inserted("x".repeat(MARKS_BYTES / 3 + number).into()));
            assert!(end.early_bytes <= MARKS_BYTES, "{}", end.early_bytes);
        }
    }
}
