//! Runs scripts as checks of the requirements that they name.

use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, stream};

use crate::check::Running;
use crate::engine::{Engine, shuffle};
use crate::progress::Progress;
use crate::report::{CheckResult, Excerpt, Ran};
use crate::requirements::registry::Registry;
use crate::requirements::requirement::{Requirement, Role};
use crate::requirements::revision::Revision;
use crate::scripts::script_file::ScriptFile;
use crate::setting::Setting;
use crate::settings::config::{Config, SuiteError};
use crate::verdict::Verdict;

/// A script, the requirements that it is a check of, and the revision in which it runs.
struct PlannedScript<'p> {
    file: &'p ScriptFile,
    requirements: Vec<&'p Requirement>,
    revision: Revision,
}

impl Engine {
    /// Plays each script of the configuration once, until `stop`. It has a result for each requirement that it names.
    pub(crate) async fn run_scripts(
        &self,
        play: impl Fn(Setting, ScriptFile) -> Running,
        progress: &dyn Progress,
        stop: impl Future<Output = ()>,
    ) -> Result<Ran, SuiteError> {
        let mut plan = plan(&self.config, &self.registry)?;
        let planned = plan.iter().map(|planned| planned.requirements.len()).sum();
        progress.planned(planned);
        shuffle(&mut plan, self.config.seed);
        let running = plan.into_iter().map(|planned| {
            let setting = self.setting(planned.revision);
            let run = play(setting.clone(), planned.file.clone());
            async move {
                let begun = Instant::now();
                let outcome = self.limited(run).await;
                self.script_results(&planned, &setting, &outcome.into(), begun.elapsed())
            }
        });
        let mut running = stream::iter(running).buffer_unordered(self.config.jobs.get());
        let mut results = Vec::new();
        let mut stop = std::pin::pin!(stop);
        let is_stopped = loop {
            let finished = tokio::select! {
                biased;
                () = &mut stop => break true,
                finished = running.next() => finished,
            };
            let Some(finished) = finished else { break false };
            finished.iter().for_each(|result| progress.finished(result));
            results.extend(finished);
        };
        results.sort_by(|a, b| {
            (a.revision, &a.requirement, &a.check).cmp(&(b.revision, &b.requirement, &b.check))
        });
        let is_judged = |result: &&CheckResult| matches!(result.verdict, Verdict::Pass | Verdict::Fail(_));
        let mut spoken: Vec<Revision> =
            results.iter().filter(is_judged).map(|result| result.revision).collect();
        spoken.dedup();
        Ok(Ran { spoken, results, planned, is_stopped, early_ends: self.processes.early_ends() })
    }

    fn script_results(
        &self,
        planned: &PlannedScript<'_>,
        setting: &Setting,
        verdict: &Verdict,
        time: Duration,
    ) -> Vec<CheckResult> {
        let excerpt = Excerpt::of(&setting.trace);
        let result = |requirement: &&Requirement| {
            let check = format!("script {}", planned.file.name);
            let (revision, transport) = (planned.revision, self.config.transport);
            CheckResult::new(requirement, check, revision, transport, verdict.clone(), &excerpt, time)
        };
        planned.requirements.iter().map(result).collect()
    }
}

/// The scripts that run, with the requirements among them that are judged.
fn plan<'p>(config: &'p Config, registry: &'p Registry) -> Result<Vec<PlannedScript<'p>>, SuiteError> {
    let mut plan = Vec::new();
    for file in &config.scripts {
        let wrong = |why: String| SuiteError::Script { name: file.name.clone(), why };
        let requirements = requirements(file, config, registry).map_err(wrong)?;
        let revision = revision(file, config, &requirements).map_err(wrong)?;
        let Some(revision) = revision.filter(|revision| config.revisions.contains(revision)) else {
            continue;
        };
        if let Some(other) = requirements.iter().find(|requirement| !requirement.holds_in(revision)) {
            return Err(wrong(format!("{} does not hold in {revision}", other.name())));
        }
        let is_judged = |requirement: &&Requirement| {
            config.only.is_empty()
                || config.only.iter().any(|name| *name == requirement.id || *name == requirement.name())
        };
        let requirements: Vec<_> = requirements.into_iter().filter(is_judged).collect();
        if !requirements.is_empty() {
            plan.push(PlannedScript { file, requirements, revision });
        }
    }
    Ok(plan)
}

/// The requirements that a script names.
fn requirements<'p>(
    file: &ScriptFile,
    config: &Config,
    registry: &'p Registry,
) -> Result<Vec<&'p Requirement>, String> {
    let (protocol, role) = (config.kind.protocol(), config.kind.role());
    if file.script.judged.is_client() != (role == Role::Client) {
        return Err(format!("it does not judge the {role}"));
    }
    if file.script.requirements.is_empty() {
        return Err("it names no requirement".to_owned());
    }
    let find = |name: &String| {
        let all = registry.all().iter().filter(|known| known.protocol() == protocol);
        let found = all.clone().find(|known| known.id == *name || known.name() == *name);
        let found = found.ok_or_else(|| format!("there is no requirement {name} of {protocol}"))?;
        if found.binds.contains(&role) { Ok(found) } else { Err(format!("{name} does not bind the {role}")) }
    };
    file.script.requirements.iter().map(find).collect()
}

/// The revision that a script names, or the newest that is judged and in which what it names holds.
fn revision(
    file: &ScriptFile,
    config: &Config,
    requirements: &[&Requirement],
) -> Result<Option<Revision>, String> {
    let holds = |revision: &Revision| requirements.iter().all(|requirement| requirement.holds_in(*revision));
    match &file.script.revision {
        Some(name) => name.parse().map(Some).map_err(|error: crate::UnknownRevision| error.to_string()),
        None => Ok(config.revisions.iter().copied().filter(holds).max()),
    }
}
