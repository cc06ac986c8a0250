//! Runs checks against the faults that they have to catch.

use std::time::Duration;

use futures_util::{StreamExt as _, stream};

use super::Engine;
use super::plan::{Kind, Planned};
use crate::check::Run;
use crate::fault::Mutant;
use crate::report::MutantResult;
use crate::settings::config::SuiteError;
use crate::verdict::Verdict;

/// How long a mutant may be silent before the suite says that a message is missing.
const MUTANT_WAIT: Duration = Duration::from_secs(3);

impl Engine {
    /// Runs each check against each of its mutants: in the newest revision in which it applies, and in older ones as long as
    /// it is not caught, because not every fault is possible in every revision.
    pub(crate) async fn run_mutants<C: Clone>(
        &self,
        kind: &Kind<C>,
    ) -> Result<Vec<MutantResult>, SuiteError> {
        let plan = self.plan(kind)?;
        let mut checks: Vec<Vec<&Planned<'_, C>>> = Vec::new();
        for planned in plan.iter().rev() {
            match checks
                .iter_mut()
                .find(|same| same.iter().any(|other| std::ptr::eq(other.check, planned.check)))
            {
                Some(same) => same.push(planned),
                None => checks.push(vec![planned]),
            }
        }
        checks.reverse();
        let cases = checks.iter().flat_map(|same| {
            let mutants = same.iter().take(1).flat_map(|planned| planned.check.mutants);
            mutants.map(move |mutant| (same, mutant))
        });
        let running = cases.map(|(same, mutant)| async move {
            let mut result = None;
            for planned in same {
                let verdict = self.run_mutant(planned, mutant, kind).await;
                let is_caught = matches!(verdict, Verdict::Fail(_));
                if result.is_none() || is_caught {
                    let name = planned.requirement.name();
                    let named = (planned.check.path(), mutant.name);
                    result = Some(MutantResult::new(name, named.0, named.1, planned.revision, verdict));
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
        mutant: &Mutant,
        kind: &Kind<C>,
    ) -> Verdict {
        let setting = self.setting(planned.revision, Some(mutant), MUTANT_WAIT.min(self.config.wait));
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
