//! The settings of a run that every check can read.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::fault::Faults;
use crate::link::processes::Processes;
use crate::requirements::revision::Revision;
use crate::settings::profile::Profile;
use crate::subject::{SubjectKind, Transport};
use crate::trace::Trace;
use crate::verdict::{Outcome, Stop};

/// The revision and transport of one check, and where its conversation is written down.
#[derive(Clone)]
pub(crate) struct Setting {
    pub(crate) kind: SubjectKind,
    pub(crate) revision: Revision,
    pub(crate) transport: Transport,
    pub(crate) trace: Trace,
    pub(crate) processes: Processes,
    pub(crate) faults: Faults,
    /// How long a message may take.
    pub(crate) wait: Duration,
    pub(crate) profile: Arc<Profile>,
    /// Whether tools may be called that do not declare `readOnlyHint`.
    pub(crate) call_any: bool,
}

#[cfg(test)]
impl Setting {
    /// The setting of a test, with the time that a busy machine needs.
    pub(crate) fn of_test(kind: SubjectKind, revision: Revision, transport: Transport) -> Self {
        Self {
            kind,
            revision,
            transport,
            trace: Trace::new(),
            processes: Processes::default(),
            faults: Faults::default(),
            wait: Duration::from_secs(20),
            profile: Arc::default(),
            call_any: false,
        }
    }
}

impl Setting {
    /// The tool, prompt or command with a role in the subject's profile.
    pub(crate) fn role(&self, role: &str) -> Outcome<&Value> {
        self.profile.get(self.kind, role).ok_or_else(|| Stop::missing_role(role))
    }

    /// A text that plays a role.
    pub(crate) fn text(&self, role: &str) -> Outcome<&str> {
        let value = self.role(role)?;
        value.as_str().ok_or_else(|| Stop::inconclusive(format!("`{role}` of the profile is not text")))
    }
}
