//! The findings of a run at any time, so that a run that is stopped keeps them.

use super::plan::{Kind, Planned};
use crate::check::{Check, Run};
use crate::progress::Progress;
use crate::report::{CheckResult, Excerpt};
use crate::requirements::revision::Revision;
use crate::setting::Setting;
use crate::trace::Sender;
use crate::verdict::{Outcome, Stop};

/// The findings so far.
pub(super) struct Found<'p, 'r, C: 'static> {
    pub(super) progress: &'r dyn Progress,
    pub(super) results: Vec<CheckResult>,
    pub(super) spoken: Vec<Revision>,
    pub(super) audits: Vec<Audit<'p, C>>,
}

impl<C> Found<'_, '_, C> {
    /// Lets each audit of the revision look at a conversation.
    pub(super) async fn audit(&mut self, kind: &Kind<C>, setting: &Setting) {
        for audit in self.audits.iter_mut().filter(|audit| audit.planned.revision == setting.revision) {
            audit.look(kind, setting);
            // A long conversation takes each audit a while, and a signal is seen between two of them.
            tokio::task::yield_now().await;
        }
    }

    pub(super) fn add(&mut self, result: CheckResult) {
        self.progress.finished(&result);
        self.results.push(result);
    }
}

/// An audit, and the worst that it has found in a conversation.
pub(super) struct Audit<'p, C: 'static> {
    pub(super) planned: Planned<'p, C>,
    pub(super) finding: Option<(Outcome, Excerpt)>,
}

impl<C> Audit<'_, C> {
    pub(super) fn look(&mut self, kind: &Kind<C>, setting: &Setting) {
        let outcome = audited(self.planned.check, kind, setting);
        if self.finding.as_ref().is_none_or(|(known, _)| weight(&outcome) > weight(known)) {
            self.finding = Some((outcome, Excerpt::of(&setting.trace)));
        }
    }
}

/// The weight of one conversation's finding: a failure decides, and a finding without anything to look at counts last.
fn weight(outcome: &Outcome) -> u8 {
    match outcome {
        Err(Stop::NotApplicable(_)) => 0,
        Ok(()) => 1,
        Err(Stop::Inconclusive(_)) => 2,
        Err(Stop::Failed(_) | Stop::Ended(_)) => 3,
    }
}

fn audited<C>(check: &Check<C>, kind: &Kind<C>, setting: &Setting) -> Outcome {
    match check.run {
        Run::Audit(_) if setting.trace.messages(Sender::Subject).is_empty() => {
            Err(Stop::not_applicable("the subject sent no message"))
        }
        Run::Audit(audit) => audit(&(kind.context)(setting.clone()), &setting.trace),
        Run::Alone(_) | Run::Shared(_) => Ok(()),
    }
}
