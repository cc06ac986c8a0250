//! When a turn of version 2 is over.

use std::collections::VecDeque;

use agentwire_acp_schema::v2::{IdleStateUpdate, MessageId, SessionUpdate, StateUpdate};

use crate::updates::Watch;

/// How much of what happened before the answer came is kept.
const MARKS: usize = 256;

/// Finds the end of a turn among the updates of its session.
///
/// The agent answers a prompt when its message is part of the conversation, and says later that it is idle. An answer
/// is seen when its caller looks, which may be after updates that came behind it; so the order of the two says nothing,
/// and the message's id does: the turn is over with the first `idle` after the message. Agents should tell of the
/// message, and some do not. Where one does not, and the session was idle when the prompt was sent, the turn is over with
/// the first `idle` after anything was done; where the session was busy, with the first that follows the work that the
/// prompt may have been added to and any that was done after.
#[derive(Debug)]
pub(crate) struct End {
    /// Whether the agent was at work when the prompt was sent.
    busy: bool,
    /// The id in the answer to the prompt, if there was one in it. None until it is answered.
    receipt: Option<Option<MessageId>>,
    /// What happened before that.
    early: VecDeque<Mark>,
    /// Whether the message has become part of the conversation.
    inserted: bool,
    /// Whether the agent has done anything since the last `idle`.
    worked: bool,
    /// How often it was idle, without that being the end.
    idles: usize,
    ended: Option<IdleStateUpdate>,
}

#[derive(Debug, PartialEq)]
enum Mark {
    Inserted(MessageId),
    Worked,
    Idle(Box<IdleStateUpdate>),
}

impl End {
    pub(crate) fn new(busy: bool) -> Self {
        Self {
            busy,
            receipt: None,
            early: VecDeque::new(),
            inserted: false,
            worked: false,
            idles: 0,
            ended: None,
        }
    }

    /// The prompt is part of the conversation.
    pub(crate) fn accepted(&mut self, message_id: Option<MessageId>) {
        self.receipt = Some(message_id);
        for mark in std::mem::take(&mut self.early) {
            self.mark(mark);
        }
    }

    /// The state that ended the turn, once it has.
    pub(crate) fn take(&mut self) -> Option<IdleStateUpdate> {
        self.ended.take()
    }

    /// Whether that is the end.
    fn mark(&mut self, mark: Mark) -> bool {
        let Some(receipt) = &self.receipt else {
            if self.early.back() != Some(&mark) {
                if self.early.len() == MARKS {
                    self.early.pop_front();
                }
                self.early.push_back(mark);
            }
            return false;
        };
        if self.ended.is_some() {
            return false;
        }
        match mark {
            Mark::Inserted(id) => self.inserted |= receipt.as_ref() == Some(&id),
            Mark::Worked => self.worked = true,
            Mark::Idle(state) => {
                let untold =
                    if self.busy { receipt.is_none() || self.idles > 0 && self.worked } else { self.worked };
                if self.inserted || untold {
                    self.ended = Some(*state);
                } else {
                    self.idles += 1;
                    self.worked = false;
                }
            }
        }
        self.ended.is_some()
    }
}

impl Watch<SessionUpdate> for End {
    fn hear(&mut self, update: &SessionUpdate) -> bool {
        let mark = match update {
            SessionUpdate::UserMessage(message) => Mark::Inserted(message.message_id.clone()),
            SessionUpdate::UserMessageChunk(chunk) => Mark::Inserted(chunk.message_id.clone()),
            SessionUpdate::StateUpdate(state) => match &**state {
                StateUpdate::Idle(idle) => Mark::Idle(Box::new(idle.clone())),
                _ => Mark::Worked,
            },
            SessionUpdate::AgentMessage(_)
            | SessionUpdate::AgentMessageChunk(_)
            | SessionUpdate::AgentThought(_)
            | SessionUpdate::AgentThoughtChunk(_) => Mark::Worked,
            _ => return false,
        };
        self.mark(mark)
    }
}

#[cfg(test)]
mod tests {
    use agentwire_acp_schema::v2::{
        ContentChunk, IdleStopReason, Meta, RunningStateUpdate, UpdateSessionNotification, UserMessage,
    };

    use super::*;

    /// Plays a turn: `-` is the answer with the id `m`, `?` one without, `m` and `o` messages of the person's, `r` running,
    /// `a` something that the agent says, digits are idle states. Gives the digit that ended the turn.
    fn ended_by(busy: bool, events: &str) -> Option<u8> {
        let mut end = End::new(busy);
        for event in events.chars() {
            let update = match event {
                '-' => {
                    end.accepted(Some("m".into()));
                    continue;
                }
                '?' => {
                    end.accepted(None);
                    continue;
                }
                'm' | 'o' => UserMessage::new(event.to_string()).into(),
                'r' => UpdateSessionNotification::state("s", RunningStateUpdate::new()).update,
                'a' => SessionUpdate::AgentMessageChunk(ContentChunk::new("a", "text")),
                digit => {
                    let meta: Meta = [("at".to_owned(), digit.to_string().into())].into_iter().collect();
                    let idle = IdleStateUpdate::new().meta(meta).stop_reason(IdleStopReason::EndTurn);
                    UpdateSessionNotification::state("s", idle).update
                }
            };
            end.hear(&update);
        }
        end.take().map(|state| state.meta.unwrap()["at"].as_str().unwrap().parse().unwrap())
    }

    #[test]
    fn the_end_is_the_first_idle_after_the_message() {
        for (busy, events, end) in [
            // In whichever order the answer, the message and the work are told.
            (false, "-mra1", Some(1)),
            (false, "m-ra1", Some(1)),
            (false, "mra1-", Some(1)),
            (false, "rm-a1", Some(1)),
            // The first, and nothing that follows.
            (false, "mr1r2-", Some(1)),
            // Not yet.
            (false, "mra-", None),
            (false, "mr1", None),
            // A state that is said again is no end.
            (false, "1-", None),
            (false, "1-2mr3", Some(3)),
            // Another's prompt, or the agent's own work, before it.
            (true, "o1mr-2", Some(2)),
            (true, "1-mr2", Some(2)),
            (true, "-1mr2", Some(2)),
            // Added to work that goes on.
            (true, "m-a1", Some(1)),
            // A command that does nothing.
            (false, "-m1", Some(1)),
            // Agents that do not tell of the message.
            (false, "-ra1", Some(1)),
            (false, "-a1", Some(1)),
            (false, "?r1", Some(1)),
            (false, "r1?", Some(1)),
            (true, "?1", Some(1)),
            (true, "-1r2", Some(2)),
        ] {
            assert_eq!(ended_by(busy, events), end, "{events} of a session that is busy: {busy}");
        }
    }

    #[test]
    fn what_comes_before_the_answer_is_bounded() {
        let mut end = End::new(false);
        for number in 0..10 * MARKS {
            end.hear(&UserMessage::new(number.to_string()).into());
        }
        assert_eq!(end.early.len(), MARKS);
    }
}
