//! Plans and runs the checks of one subject.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, stream};

use crate::check::{Check, Run, Running};
use crate::fault::{Faults, Mutant};
use crate::registry::Registry;
use crate::report::{CheckResult, MutantResult};
use crate::requirement::Requirement;
use crate::revision::Revision;
use crate::setting::Setting;
use crate::suite::{Config, Progress, SuiteError};
use crate::trace::Trace;
use crate::verdict::{Outcome, Stop, Verdict};

/// How long a mutant may be silent before the suite says that a message is missing.
const MUTANT_WAIT: Duration = Duration::from_secs(3);

/// The checks for one kind of subject, and how a check reaches it.
pub(crate) struct Kind<C: 'static> {
    checks: Vec<&'static Check<C>>,
    context: Box<dyn Fn(Setting) -> C + Send + Sync>,
    plain: fn(C) -> Running,
}

impl<C> Kind<C> {
    pub(crate) fn new(
        checks: &'static [&'static [Check<C>]],
        context: impl Fn(Setting) -> C + Send + Sync + 'static,
        plain: fn(C) -> Running,
    ) -> Self {
        Self { checks: checks.iter().copied().flatten().collect(), context: Box::new(context), plain }
    }
}

/// Runs checks.
pub(crate) struct Engine {
    config: Config,
    profile: Arc<crate::profile::Profile>,
    registry: Registry,
}

/// A check in one revision.
struct Planned<'p, C: 'static> {
    check: &'static Check<C>,
    requirement: &'p Requirement,
    revision: Revision,
}

impl Engine {
    pub(crate) fn new(config: &Config, registry: Registry) -> Self {
        Self { config: config.clone(), profile: Arc::new(config.profile.clone()), registry }
    }

    /// Runs every check that applies, and every audit over all conversations of its revision.
    pub(crate) async fn run<C: Clone>(
        &self,
        kind: &Kind<C>,
        progress: &dyn Progress,
    ) -> Result<Vec<CheckResult>, SuiteError> {
        let plan = self.plan(kind)?;
        progress.planned(plan.len());
        let (audits, alone): (Vec<_>, Vec<_>) =
            plan.into_iter().partition(|planned| matches!(planned.check.run, Run::Audit(_)));
        let mut findings: Vec<Option<(Outcome, Trace)>> = audits.iter().map(|_| None).collect();
        let mut results = Vec::new();

        // Audits need a conversation in each revision, also where nothing else runs.
        let plain = self.audited_revisions(&audits).into_iter().map(|revision| (None, revision));
        let jobs = plain.chain(alone.iter().map(|planned| (Some(planned), planned.revision)));
        let running = jobs.map(|(planned, revision)| async move {
            let setting = self.setting(revision, None, self.config.wait);
            let begun = Instant::now();
            let run = match planned.map(|planned| &planned.check.run) {
                Some(Run::Alone(run)) => run((kind.context)(setting.clone())),
                _ => (kind.plain)((kind.context)(setting.clone())),
            };
            let outcome = self.limited(run).await;
            (planned, setting, outcome, begun.elapsed())
        });
        let mut running = stream::iter(running).buffer_unordered(self.config.jobs.get());
        while let Some((planned, setting, outcome, time)) = running.next().await {
            for (audit, finding) in audits.iter().zip(&mut findings) {
                if audit.revision == setting.revision && !matches!(finding, Some((Err(_), _))) {
                    *finding = Some((audited(audit.check, kind, &setting), setting.trace.clone()));
                }
            }
            if let Some(planned) = planned {
                let result = self.result(planned, outcome, &setting.trace, time);
                progress.finished(&result);
                results.push(result);
            }
        }
        drop(running);
        for (planned, finding) in audits.iter().zip(findings) {
            let (outcome, trace) = finding.unwrap_or_else(|| {
                (Err(Stop::inconclusive("no conversation took place in this revision")), Trace::new())
            });
            let result = self.result(planned, outcome, &trace, Duration::ZERO);
            progress.finished(&result);
            results.push(result);
        }
        results.sort_by(|a, b| (a.revision, &a.requirement).cmp(&(b.revision, &b.requirement)));
        Ok(results)
    }

    /// Runs each check against each of its mutants, in the newest revision in which it applies.
    pub(crate) async fn run_mutants<C: Clone>(
        &self,
        kind: &Kind<C>,
    ) -> Result<Vec<MutantResult>, SuiteError> {
        let plan = self.plan(kind)?;
        let newest = plan.iter().filter(|planned| {
            let later = |other: &&Planned<'_, C>| {
                std::ptr::eq(other.check, planned.check) && other.revision > planned.revision
            };
            plan.iter().find(later).is_none()
        });
        let cases =
            newest.flat_map(|planned| planned.check.mutants.iter().map(move |mutant| (planned, mutant)));
        let running = cases.map(|(planned, mutant)| async move {
            let verdict = self.run_mutant(planned, mutant, kind).await;
            MutantResult::new(
                planned.requirement.name(),
                planned.check.name,
                mutant.name,
                planned.revision,
                verdict,
            )
        });
        Ok(stream::iter(running).buffered(self.config.jobs.get()).collect().await)
    }

    async fn run_mutant<C: Clone>(
        &self,
        planned: &Planned<'_, C>,
        mutant: &Mutant,
        kind: &Kind<C>,
    ) -> Verdict {
        let setting = self.setting(planned.revision, Some(mutant), MUTANT_WAIT.min(self.config.wait));
        let context = (kind.context)(setting.clone());
        let outcome = match &planned.check.run {
            Run::Alone(run) => self.limited(run(context)).await,
            Run::Audit(audit) => {
                // A mutant may well spoil the conversation; what counts is what the audit finds in it.
                let _spoilt = self.limited((kind.plain)(context.clone())).await;
                audit(&context, &setting.trace)
            }
        };
        Verdict::from(outcome)
    }

    fn plan<'p, C>(&'p self, kind: &Kind<C>) -> Result<Vec<Planned<'p, C>>, SuiteError> {
        let Config { kind: subject, transport, revisions, only, .. } = &self.config;
        let mut planned = Vec::new();
        let mut unknown: Vec<&String> = only.iter().collect();
        for check in &kind.checks {
            let Some(requirement) = self.registry.get(subject.protocol(), check.id) else {
                return Err(SuiteError::UnknownRequirement(check.id.to_owned()));
            };
            let is_named = |name: &String| *name == requirement.id || *name == requirement.name();
            unknown.retain(|name| !is_named(name));
            if !only.is_empty() && !only.iter().any(is_named) || !check.on.contains(transport) {
                continue;
            }
            let held = revisions.iter().copied().filter(|revision| requirement.holds_in(*revision));
            let spoken = held.filter(|revision| transport_of(*transport, *revision));
            planned.extend(spoken.map(|revision| Planned { check, requirement, revision }));
        }
        match unknown.first() {
            Some(name) => Err(SuiteError::UnknownRequirement((*name).clone())),
            None => Ok(planned),
        }
    }

    fn audited_revisions<C>(&self, audits: &[Planned<'_, C>]) -> Vec<Revision> {
        let mut revisions: Vec<Revision> = audits.iter().map(|planned| planned.revision).collect();
        revisions.sort_unstable();
        revisions.dedup();
        revisions
    }

    fn setting(&self, revision: Revision, mutant: Option<&Mutant>, wait: Duration) -> Setting {
        Setting {
            kind: self.config.kind,
            revision,
            transport: self.config.transport,
            trace: Trace::new(),
            faults: Faults::of(mutant),
            wait,
            profile: Arc::clone(&self.profile),
            seed: self.config.seed,
        }
    }

    async fn limited(&self, run: Running) -> Outcome {
        let seconds = self.config.timeout.as_secs();
        tokio::time::timeout(self.config.timeout, run)
            .await
            .unwrap_or_else(|_| Err(Stop::inconclusive(format!("the check did not end within {seconds} s"))))
    }

    fn result<C>(
        &self,
        planned: &Planned<'_, C>,
        outcome: Outcome,
        trace: &Trace,
        time: Duration,
    ) -> CheckResult {
        CheckResult::new(
            planned.requirement,
            planned.check.name,
            planned.revision,
            self.config.transport,
            outcome.into(),
            trace,
            time,
        )
    }
}

fn audited<C>(check: &Check<C>, kind: &Kind<C>, setting: &Setting) -> Outcome {
    match check.run {
        Run::Audit(audit) => audit(&(kind.context)(setting.clone()), &setting.trace),
        Run::Alone(_) => Ok(()),
    }
}

/// Whether a revision has a transport. Servers offer HTTP+SSE for the first revision only.
fn transport_of(transport: crate::subject::Transport, revision: Revision) -> bool {
    use crate::subject::Transport;
    match transport {
        Transport::Stdio => true,
        Transport::Http => revision >= Revision::Mcp20250326,
        Transport::Sse => revision == Revision::Mcp20241105,
    }
}
