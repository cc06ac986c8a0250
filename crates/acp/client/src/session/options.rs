//! The modes and options that sessions have offered on this connection.

use std::collections::{HashMap, HashSet};

use agentwire_acp_schema::v1::{
    SessionConfigId, SessionConfigValueId, SessionId, SessionModeId, SessionModeState,
};
use agentwire_sync::{Mutex, MutexGuard};

/// The maximum number of sessions for which only updates have arrived: the answer that opens the session is pending, or
/// the agent invented the session.
const UNKNOWN_SESSIONS: usize = 1024;

/// The memory limit of the modes and options of all sessions together, in bytes, estimated. A session over it is not
/// checked, and the agent decides.
const BYTES: usize = 8 << 20;

/// The memory of an id beside its text, in bytes.
const ID: usize = 64;

/// The modes and options of each session.
#[derive(Debug, Default)]
pub(crate) struct SessionOptions(Mutex<Sessions>);

#[derive(Debug, Default)]
struct Sessions {
    by_id: HashMap<SessionId, SessionOffer>,
    /// The sum of the sessions' bytes.
    bytes: usize,
}

#[derive(Debug, Default)]
struct SessionOffer {
    /// Whether this connection has the answer that opened the session. Then modes and options that it did not offer are
    /// refused.
    set_up: bool,
    /// `None` if no answer has listed the modes.
    modes: Option<Vec<SessionModeId>>,
    options: Options,
    /// Whether a message has listed the options.
    lists_options: bool,
    /// The bytes that were added to the sum for it.
    bytes: usize,
}

impl SessionOffer {
    /// Estimates its memory, in bytes.
    fn weigh(&self) -> usize {
        let modes: usize = self.modes.iter().flatten().map(|mode| ID + mode.len()).sum();
        let values = |values: &Values| match values {
            Values::OneOf(values) => values.iter().map(|value| ID + value.len()).sum(),
            Values::OnOrOff | Values::Unknown => 0,
        };
        let options: usize = self.options.iter().map(|(id, of)| 2 * ID + id.len() + values(of)).sum();
        modes + options
    }
}

/// The configuration options of a session, by id.
pub(crate) type Options = HashMap<SessionConfigId, Values>;

/// The possible values of an option.
#[derive(Debug)]
pub(crate) enum Values {
    OneOf(HashSet<SessionConfigValueId>),
    OnOrOff,
    /// The type of the option is unknown.
    Unknown,
}

/// The value that an option is set to.
pub(crate) enum Value<'a> {
    Id(&'a SessionConfigValueId),
    Boolean,
    /// The type of the value is unknown.
    Unknown,
}

impl SessionOptions {
    /// Records the answer that opens a session, when it arrives. Earlier updates may have listed options that it omits. A new
    /// session has no modes and options that are not listed. For a session that is opened again they stay unknown, because
    /// some agents do not list them again.
    pub(crate) fn set_up(
        &self,
        session: &SessionId,
        is_new: bool,
        modes: Option<&SessionModeState>,
        options: Option<Options>,
    ) {
        let mut sessions = self.lock();
        let offer = sessions.by_id.entry(session.clone()).or_default();
        offer.set_up = true;
        if let Some(modes) = modes {
            offer.modes = Some(modes.available_modes.iter().map(|mode| mode.id.clone()).collect());
        } else if is_new {
            offer.modes.get_or_insert_default();
        }
        offer.lists_options |= is_new;
        if let Some(options) = options {
            offer.options = options;
            offer.lists_options = true;
        }
        sessions.count(session);
    }

    /// Records the answer to the change of an option, which lists all options of the session. An empty list is ignored:
    /// there is at least the changed option.
    pub(crate) fn set_answered(&self, session: &SessionId, options: Options) {
        if !options.is_empty() {
            self.set_updated(session, options);
        }
    }

    /// Takes over all options of a session from an update.
    pub(crate) fn set_updated(&self, session: &SessionId, options: Options) {
        self.change(session, |offer| {
            offer.options = options;
            offer.lists_options = true;
        });
    }

    fn change(&self, session: &SessionId, change: impl FnOnce(&mut SessionOffer)) {
        let mut sessions = self.lock();
        if let Some(offer) = sessions.by_id.get_mut(session) {
            change(offer);
        } else if sessions.has_room_for_unknown(session) {
            change(sessions.by_id.entry(session.clone()).or_default());
        }
        sessions.count(session);
    }

    /// Removes a session that is closed or deleted.
    pub(crate) fn forget(&self, session: &SessionId) {
        let mut sessions = self.lock();
        let forgotten = sessions.by_id.remove(session);
        sessions.bytes -= forgotten.as_ref().map_or(0, |offer| offer.bytes);
        drop(sessions);
        drop(forgotten);
    }

    /// Checks that the session has offered a mode.
    pub(crate) fn check_mode(&self, session: &SessionId, mode: &SessionModeId) -> Result<(), String> {
        let sessions = self.lock();
        let offered =
            sessions.by_id.get(session).filter(|offer| offer.set_up).and_then(|offer| offer.modes.as_ref());
        if offered.is_some_and(|modes| !modes.contains(mode)) {
            return Err(format!("the session did not offer the mode {mode:?}"));
        }
        Ok(())
    }

    /// Checks that the session has offered an option and its value.
    pub(crate) fn check_value(
        &self,
        session: &SessionId,
        option: &SessionConfigId,
        value: Value<'_>,
    ) -> Result<(), String> {
        let sessions = self.lock();
        let Some(offer) = sessions.by_id.get(session) else { return Ok(()) };
        match (offer.options.get(option), value) {
            (None, _) if offer.set_up && offer.lists_options => {
                Err(format!("the session did not offer the option {option:?}"))
            }
            (Some(Values::Unknown), _) => {
                Err(format!("the option {option:?} is of a type that this version does not know"))
            }
            (Some(Values::OneOf(values)), Value::Id(value)) if !values.contains(value) => {
                Err(format!("the option {option:?} did not offer the value {value:?}"))
            }
            (Some(Values::OneOf(_)), Value::Boolean | Value::Unknown) => {
                Err(format!("the option {option:?} has a list of values, and this is none of them"))
            }
            (Some(Values::OnOrOff), Value::Id(_) | Value::Unknown) => {
                Err(format!("the option {option:?} is on or off"))
            }
            _ => Ok(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Sessions> {
        self.0.lock()
    }
}

impl Sessions {
    /// Returns whether there is room for another session of which only an update has arrived.
    fn has_room_for_unknown(&self, session: &SessionId) -> bool {
        let unknown = self.by_id.values().filter(|offer| !offer.set_up).count();
        unknown < UNKNOWN_SESSIONS && self.bytes + session.len() <= BYTES
    }

    /// Counts what a session has offered now. Forgets it where there is no room.
    fn count(&mut self, session: &SessionId) {
        let Some(offer) = self.by_id.get_mut(session) else { return };
        let others = self.bytes - offer.bytes;
        offer.bytes = ID + session.len() + offer.weigh();
        if others + offer.bytes > BYTES {
            (offer.modes, offer.options, offer.lists_options) = (None, Options::new(), false);
            offer.bytes = ID + session.len();
        }
        self.bytes = others + offer.bytes;
    }
}

/// An answer that opens a session.
pub(crate) trait OpenedSession: 'static {
    /// The type of an option in the answer's version.
    type Option;

    /// Returns the id of a new session, the modes and the options of the answer.
    fn offered(&self) -> Offered<'_, Self::Option>;
}

pub(crate) type Offered<'a, O> = (Option<&'a SessionId>, Option<&'a SessionModeState>, Option<&'a [O]>);

#[cfg(test)]
mod tests {
    use agentwire_acp_schema::v1::{SessionConfigOption, SessionConfigSelectOption};

    use super::*;
    use crate::rules::options;

    /// An agent that invents sessions, each with as many options as a message holds.
    #[test]
    fn sessions_are_kept_as_far_as_there_is_room_and_then_the_agent_decides() {
        let sessions = SessionOptions::default();
        let options = || {
            let values: Vec<_> =
                (0..10_000).map(|value| SessionConfigSelectOption::new(value.to_string(), "A")).collect();
            options(&[SessionConfigOption::select("o", "O", "1", values)])
        };
        let ours = SessionId::from("ours");
        sessions.set_up(&ours, true, None, Some(options()));
        let unknown = SessionConfigValueId::from("unknown");
        assert!(sessions.check_value(&ours, &"o".into(), Value::Id(&unknown)).is_err());
        for number in 0..100 {
            sessions.set_updated(&SessionId::from(format!("made up {number}")), options());
            assert!(sessions.lock().bytes <= BYTES);
        }
        assert!(
            sessions.check_value(&ours, &"o".into(), Value::Id(&unknown)).is_err(),
            "what was kept stays"
        );
        // There is no room for another session, so its options are unknown, and any value is sent.
        let other = SessionId::from("other");
        let many = (0..20).map(|value| (format!("{value}{}", "x".repeat(1 << 19)).into(), Values::OnOrOff));
        sessions.set_up(&other, true, None, Some(many.collect()));
        assert!(sessions.lock().bytes <= BYTES);
        assert!(sessions.check_value(&other, &"o".into(), Value::Boolean).is_ok());
        for number in 0..100 {
            sessions.forget(&SessionId::from(format!("made up {number}")));
        }
        sessions.forget(&ours);
        sessions.forget(&other);
        assert_eq!(sessions.lock().bytes, 0);
    }
}
