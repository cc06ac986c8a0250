//! Plans and runs the checks of one subject.

mod found;
pub(crate) mod plan;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::stream::FuturesUnordered;
use futures_util::{StreamExt as _, stream};

use self::found::{Audit, Found};
use self::plan::{Done, Job, Kind, Planned, transport_of};
use crate::check::{Run, Running};
use crate::conversation::shared::Shared;
use crate::fault::Faults;
use crate::link::processes::{Processes, STDERR_TIME};
use crate::progress::Progress;
use crate::report::{CheckResult, Excerpt, Ran};
use crate::requirements::registry::Registry;
use crate::requirements::revision::Revision;
use crate::secrets::Secrets;
use crate::setting::Setting;
use crate::settings::config::{Config, SuiteError};
use crate::subject::Transport;
use crate::trace::Trace;
use crate::verdict::{Outcome, Stop};

/// Runs checks.
pub(crate) struct Engine {
    pub(crate) config: Config,
    profile: Arc<crate::settings::profile::Profile>,
    secrets: Secrets,
    pub(crate) processes: Processes,
    pub(crate) registry: Registry,
}

impl Engine {
    pub(crate) fn new(config: &Config, registry: Registry) -> Self {
        let (profile, secrets) = (Arc::new(config.profile.clone()), Secrets::of(config));
        Self { config: config.clone(), profile, secrets, processes: Processes::new(config), registry }
    }

    /// Runs every check that applies, and every audit over all conversations of its revision, until `stop`.
    pub(crate) async fn run<C: Clone>(
        &self,
        kind: &Kind<C>,
        progress: &dyn Progress,
        stop: impl Future<Output = ()>,
    ) -> Result<Ran, SuiteError> {
        let plan = self.plan(kind)?;
        let planned = plan.len();
        progress.planned(planned);
        let mut found = Found { progress, results: Vec::new(), spoken: Vec::new(), audits: Vec::new() };
        let is_stopped = tokio::select! {
            biased;
            () = stop => true,
            () = self.judge(plan, kind, &mut found) => false,
        };
        for Audit { planned, finding } in std::mem::take(&mut found.audits) {
            let (outcome, excerpt) = match finding {
                // The conversations that are missing might have failed.
                Some((Ok(()) | Err(Stop::NotApplicable(_) | Stop::Inconclusive(_)), _)) | None
                    if is_stopped =>
                {
                    continue;
                }
                Some(finding) => finding,
                None => {
                    let why = "no conversation took place in this revision";
                    (Err(Stop::inconclusive(why)), Excerpt::of(&Trace::new()))
                }
            };
            found.add(self.result(&planned, outcome, &excerpt, Duration::ZERO));
        }
        let Found { mut results, spoken, .. } = found;
        results.sort_by(|a, b| (a.revision, &a.requirement).cmp(&(b.revision, &b.requirement)));
        Ok(Ran { spoken, results, planned, is_stopped, early_ends: self.processes.early_ends() })
    }

    /// Runs a plan. What is found is in `found` at any time.
    async fn judge<'p, C: Clone>(
        &'p self,
        plan: Vec<Planned<'p, C>>,
        kind: &Kind<C>,
        found: &mut Found<'p, '_, C>,
    ) {
        let plan = self.spoken(plan, kind, found).await;
        found.spoken = revisions_of(&plan);
        let (audits, alone): (Vec<_>, Vec<_>) =
            plan.into_iter().partition(|planned| matches!(planned.check.run, Run::Audit(_)));
        let audited = revisions_of(&audits);
        found.audits = audits.into_iter().map(|planned| Audit { planned, finding: None }).collect();
        let may_share = kind.share.is_some() && self.config.transport == Transport::Stdio;
        let mut waiting: VecDeque<_> = self.jobs(&alone, &audited, may_share).into();
        let (mut running, mut ended) = (FuturesUnordered::new(), Vec::new());
        loop {
            while running.len() < self.config.jobs.get()
                && let Some(job) = waiting.pop_front()
            {
                running.push(self.run_next(kind, job));
            }
            let Some(Done { rest, planned, setting, outcome, time, traces }) = running.next().await else {
                break;
            };
            rest.into_iter().rev().for_each(|job| waiting.push_front(job));
            for trace in traces {
                found.audit(kind, &Setting { trace, ..setting.clone() }).await;
            }
            match planned {
                Some(planned) if matches!(outcome, Err(Stop::Ended(_))) => {
                    ended.push((planned, setting, outcome, time))
                }
                Some(planned) => found.add(self.result(planned, outcome, &Excerpt::of(&setting.trace), time)),
                None => {}
            }
        }
        let is_broken = self.ends_at_start(kind, ended.iter().map(|(_, setting, ..)| setting.revision)).await;
        for (planned, setting, outcome, time) in ended {
            let outcome =
                outcome.map_err(|stop| if is_broken { stop.while_preparing() } else { stop.into_failure() });
            found.add(self.result(planned, outcome, &Excerpt::of(&setting.trace), time));
        }
    }

    /// Whether the program also ends before its first message where no check depends on that: in a preparation, or now, in
    /// an ordinary conversation of a revision in which a check has seen it end so.
    async fn ends_at_start<C>(&self, kind: &Kind<C>, seen: impl ExactSizeIterator<Item = Revision>) -> bool {
        let (count, mut revisions) = (seen.len(), seen.collect::<Vec<_>>());
        revisions.sort_unstable();
        revisions.dedup();
        for revision in revisions {
            let context = (kind.context)(self.setting(revision));
            // Whatever else goes wrong there, the program has started.
            let _outcome = self.limited((kind.plain)(context)).await;
        }
        self.processes.unstarted() > count
    }

    /// The checks in the order that the seed stands for. On stdio, where each conversation starts the program, checks of a revision
    /// share one. A job without a check is an ordinary conversation: audits need one in each revision, also where nothing else runs.
    fn jobs<'p, C>(
        &self,
        checks: &'p [Planned<'p, C>],
        audited: &[Revision],
        may_share: bool,
    ) -> Vec<Job<'p, C>> {
        let alone = |revision, check| Job { revision, checks: vec![check], shared: None };
        let mut jobs: Vec<_> = audited.iter().map(|revision| alone(*revision, None)).collect();
        let is_shared = |planned: &&Planned<'_, C>| may_share && matches!(planned.check.run, Run::Shared(_));
        let (shared, rest): (Vec<_>, Vec<_>) = checks.iter().partition(is_shared);
        jobs.extend(rest.into_iter().map(|planned| alone(planned.revision, Some(planned))));
        for planned in shared {
            match jobs.iter_mut().find(|job| job.shared.is_some() && job.revision == planned.revision) {
                Some(job) => job.checks.push(Some(planned)),
                None => jobs
                    .push(Job { shared: Some(Shared::default()), ..alone(planned.revision, Some(planned)) }),
            }
        }
        shuffle(&mut jobs, self.config.seed);
        for job in &mut jobs {
            shuffle(&mut job.checks, self.config.seed);
        }
        // Those of several checks take the longest.
        jobs.sort_by_key(|job| std::cmp::Reverse(job.checks.len()));
        jobs
    }

    /// Runs the next check of a job, or has an ordinary conversation. In a conversation that other checks had, only those end that
    /// pass or do not apply; the others have one of their own.
    async fn run_next<'p, C>(&self, kind: &Kind<C>, mut job: Job<'p, C>) -> Done<'p, C> {
        let begun = Instant::now();
        let planned = job.checks.pop().flatten();
        let Some(shared) = &job.shared else {
            let (setting, outcome) = self.attempt(kind, job.revision, planned, None).await;
            let traces = vec![setting.trace.clone()];
            return Done { rest: Vec::new(), planned, setting, outcome, time: begun.elapsed(), traces };
        };
        let (mut setting, mut outcome) = self.attempt(kind, job.revision, planned, Some(shared)).await;
        let (is_good, was_reused) =
            (matches!(outcome, Ok(()) | Err(Stop::NotApplicable(_))), shared.was_reused());
        let is_slow = !is_good && begun.elapsed() >= self.config.wait;
        if !is_good || job.checks.is_empty() {
            shared.end();
        }
        let mut traces = shared.ended();
        if !is_good && was_reused {
            (setting, outcome) = self.attempt(kind, job.revision, planned, None).await;
            traces.push(setting.trace.clone());
        }
        let rest = match job.checks.is_empty() {
            true => Vec::new(),
            // The others would wait in vain one after another.
            false if is_slow => job.split(),
            false => vec![job],
        };
        Done { rest, planned, setting, outcome, time: begun.elapsed(), traces }
    }

    async fn attempt<C>(
        &self,
        kind: &Kind<C>,
        revision: Revision,
        planned: Option<&Planned<'_, C>>,
        shared: Option<&Shared>,
    ) -> (Setting, Outcome) {
        let setting = self.setting(revision);
        let context = (kind.context)(setting.clone());
        let context = match (shared, kind.share) {
            (Some(shared), Some(share)) => share(context, shared.clone()),
            _ => context,
        };
        let run = match planned.map(|planned| &planned.check.run) {
            Some(Run::Alone(run) | Run::Shared(run)) => run(context),
            _ => (kind.plain)(context),
        };
        let outcome = self.limited(run).await;
        (setting, outcome)
    }

    /// The part of a plan in revisions that the subject speaks. The rest has its results at once.
    async fn spoken<'p, C: Clone>(
        &'p self,
        plan: Vec<Planned<'p, C>>,
        kind: &Kind<C>,
        found: &mut Found<'p, '_, C>,
    ) -> Vec<Planned<'p, C>> {
        let probes = revisions_of(&plan).into_iter().map(|revision| async move {
            let setting = self.setting(revision);
            let outcome = self.limited((kind.speaks)((kind.context)(setting.clone()))).await;
            (revision, outcome, setting.trace)
        });
        let mut probed: Vec<_> = stream::iter(probes).buffered(self.config.jobs.get()).collect().await;
        if probed.iter().all(|(_, outcome, _)| outcome.is_err()) {
            explain(&mut probed).await;
        }
        let silent = probed.into_iter().filter_map(|(revision, outcome, trace)| {
            let stop = outcome.err()?.while_preparing();
            Some((revision, stop, Excerpt::of(&trace)))
        });
        let silent: Vec<_> = silent.collect();
        let mut spoken = Vec::new();
        for planned in plan {
            match silent.iter().find(|(revision, ..)| *revision == planned.revision) {
                Some((_, stop, excerpt)) => {
                    found.add(self.result(&planned, Err(stop.clone()), excerpt, Duration::ZERO));
                }
                None => spoken.push(planned),
            }
        }
        spoken
    }

    pub(crate) fn plan<'p, C>(&'p self, kind: &Kind<C>) -> Result<Vec<Planned<'p, C>>, SuiteError> {
        let Config { kind: subject, transport, revisions, only, .. } = &self.config;
        let mut planned = Vec::new();
        let mut unknown: Vec<&String> = only.iter().collect();
        for requirement in self.registry.of(subject.protocol()) {
            let path = requirement.checks.get(&subject.role());
            let Some(check) = path.and_then(|path| kind.checks.get(path.as_str()).copied()) else { continue };
            let is_named = |name: &String| *name == requirement.id || *name == requirement.name();
            if !only.is_empty() && !only.iter().any(is_named) || !check.on.contains(transport) {
                continue;
            }
            unknown.retain(|name| !is_named(name));
            let held = revisions.iter().copied().filter(|revision| requirement.holds_in(*revision));
            let spoken = held.filter(|revision| transport_of(*transport, *revision));
            planned.extend(spoken.map(|revision| Planned { check, requirement, revision }));
        }
        match unknown.first() {
            Some(name) => Err(self.not_checked(name)),
            None => Ok(planned),
        }
    }

    /// The error for a requirement, named with its protocol or without, that no check of the program covers.
    fn not_checked(&self, name: &str) -> SuiteError {
        let Config { kind, transport, .. } = self.config;
        let is_full = name.contains('/');
        let name = if is_full { name.to_owned() } else { format!("{}/{name}", kind.protocol()) };
        match self.registry.nearest_to(&name) {
            Some(nearest) => SuiteError::UnknownRequirement { name, nearest },
            None => SuiteError::NoCheck { name, kind, transport },
        }
    }

    pub(crate) fn setting(&self, revision: Revision) -> Setting {
        Setting {
            kind: self.config.kind,
            revision,
            transport: self.config.transport,
            trace: Trace::new().hiding(&self.secrets),
            processes: self.processes.clone(),
            faults: Faults::default(),
            wait: self.config.wait,
            profile: Arc::clone(&self.profile),
            call_any: self.config.call_any,
        }
    }

    pub(crate) async fn limited(&self, run: Running) -> Outcome {
        let seconds = self.config.timeout.as_secs();
        tokio::time::timeout(self.config.timeout, run)
            .await
            .unwrap_or_else(|_| Err(Stop::inconclusive(format!("the check did not end within {seconds} s"))))
    }

    fn result<C>(
        &self,
        planned: &Planned<'_, C>,
        outcome: Outcome,
        excerpt: &Excerpt,
        time: Duration,
    ) -> CheckResult {
        CheckResult::new(
            planned.requirement,
            planned.check.path().to_owned(),
            planned.revision,
            self.config.transport,
            outcome.into(),
            excerpt,
            time,
        )
    }
}

/// The revisions of a plan, each once.
fn revisions_of<C>(plan: &[Planned<'_, C>]) -> Vec<Revision> {
    let mut revisions: Vec<Revision> = plan.iter().map(|planned| planned.revision).collect();
    revisions.sort_unstable();
    revisions.dedup();
    revisions
}

/// Adds the last line of the program's standard error to the findings of each revision: it has the reason why a program cannot
/// start.
async fn explain(probed: &mut [(Revision, Outcome, Trace)]) {
    // The line may come after the end of its standard output.
    tokio::time::sleep(STDERR_TIME).await;
    for (_, outcome, trace) in probed {
        if let (Err(stop), Some(line)) = (outcome, trace.last_error_line()) {
            stop.remark(&format!("; the last line on its standard error is `{line}`"));
        }
    }
}

/// Brings items into the order that a seed stands for (Fisher and Yates, with the numbers of SplitMix64).
pub(crate) fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut state = seed;
    for last in (1..items.len()).rev() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let other = usize::try_from((number ^ (number >> 31)) % (last as u64 + 1)).unwrap_or(0);
        items.swap(last, other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::{SubjectKind, Target};

    #[tokio::test]
    async fn a_requirement_that_is_not_checked_is_named_with_the_reason() {
        let error = async |only: &str| {
            let mut config = Config::new(SubjectKind::McpServer, Target::Url("http://127.0.0.1:1/".into()));
            config.only = vec![only.to_owned()];
            config.run(&()).await.unwrap_err().to_string()
        };
        let expected = "no check of an mcp-server over stdio covers mcp/HTP-03";
        assert_eq!([error("HTP-03").await, error("mcp/HTP-03").await], [expected; 2]);
        let expected = "no requirement is called mcp/RPC-6; the nearest one is mcp/RPC-06";
        assert_eq!(error("RPC-6").await, expected);
    }

    #[test]
    fn a_seed_stands_for_an_order() {
        let order = |seed| {
            let mut items: Vec<u32> = (0..100).collect();
            shuffle(&mut items, seed);
            items
        };
        assert_eq!(order(7), order(7));
        assert_ne!(order(7), order(8));
        let mut sorted = order(7);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..100).collect::<Vec<_>>());
    }
}
