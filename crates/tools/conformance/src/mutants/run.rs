//! Runs checks against the faults that they have to catch.

use std::time::Duration;

use futures_util::{StreamExt as _, stream};

use crate::check::Run;
use crate::engine::Engine;
use crate::engine::plan::{Kind, Planned};
use crate::fault::Faults;
use crate::mutants::Mutants;
use crate::mutants::mutant::FaultOf;
use crate::mutants::result::MutantResult;
use crate::setting::Setting;
use crate::settings::config::{Config, SuiteError};
use crate::subject::SubjectKind;
use crate::verdict::Verdict;

/// The silence of a mutant after which the suite reports a missing message.
const MUTANT_WAIT: Duration = Duration::from_secs(3);

impl Config {
    /// Runs each check against its mutants, made of this program, which has to be conformant.
    ///
    /// # Errors
    ///
    /// Fails if the configuration makes no sense.
    pub async fn run_mutants(&self) -> Result<Vec<MutantResult>, SuiteError> {
        let engine = self.engine()?;
        match self.kind {
            SubjectKind::AcpAgent => engine.run_mutants(&self.acp_agents()?).await,
            SubjectKind::AcpClient => engine.run_mutants(&self.acp_clients()?).await,
            SubjectKind::AcpProxy => engine.run_mutants(&self.acp_proxies()?).await,
            SubjectKind::AcpConductor => engine.run_mutants(&self.acp_conductors()?).await,
            SubjectKind::McpServer => engine.run_mutants(&self.mcp_servers()).await,
            SubjectKind::McpClient => engine.run_mutants(&self.mcp_clients()?).await,
        }
    }
}

impl Engine {
    /// Runs each check against each of its mutants: in the newest revision in which it applies, and in older ones as long as
    /// it is not caught, because not every fault is possible in every revision.
    async fn run_mutants<C: Clone>(&self, kind: &Kind<C>) -> Result<Vec<MutantResult>, SuiteError> {
        let (plan, mutants) = (self.plan(kind)?, Mutants::load(self.config.kind)?);
        let mut checks: Vec<Vec<&Planned<'_, C>>> = Vec::new();
        for planned in plan.iter().rev() {
            match checks
                .iter_mut()
                .find(|same| same.iter().any(|other| std::ptr::eq(other.requirement, planned.requirement)))
            {
                Some(same) => same.push(planned),
                None => checks.push(vec![planned]),
            }
        }
        checks.reverse();
        let cases = checks.iter().flat_map(|same| {
            let mutants = same.iter().take(1).flat_map(|planned| mutants.of(&planned.requirement.id));
            mutants.map(move |mutant| (same, mutant))
        });
        let running = cases.map(|(same, (name, fault))| async move {
            let mut result = None;
            for planned in same {
                let verdict = self.run_mutant(planned, fault, kind).await;
                let is_caught = matches!(verdict, Verdict::Fail(_));
                if result.is_none() || is_caught {
                    result = Some(MutantResult {
                        requirement: planned.requirement.name(),
                        check: planned.check.path().to_owned(),
                        mutant: name.to_owned(),
                        revision: planned.revision,
                        verdict,
                    });
                }
                if is_caught {
                    break;
                }
            }
            result
        });
        let results: Vec<_> = stream::iter(running).buffered(self.config.jobs.get()).collect().await;
        Ok(results.into_iter().flatten().collect())
    }

    async fn run_mutant<C: Clone>(
        &self,
        planned: &Planned<'_, C>,
        fault: &FaultOf,
        kind: &Kind<C>,
    ) -> Verdict {
        let wait = MUTANT_WAIT.min(self.config.wait);
        let setting = Setting { faults: Faults::new(fault()), wait, ..self.setting(planned.revision) };
        let context = (kind.context)(setting.clone());
        let outcome = match &planned.check.run {
            Run::Alone(run) | Run::Shared(run) => self.limited(run(context)).await,
            Run::Audit(audit) => {
                // A mutant may well spoil the conversation; what counts is what the audit finds in it.
                let _spoilt = self.limited((kind.plain)(context.clone())).await;
                audit(&context, &setting.trace)
            }
        };
        Verdict::from(outcome)
    }
}
