//! The parts that the suites of scenarios share: the selection of scenarios, and the use of their samples.

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::options::Options;
use super::pace::{Pace, median};
use super::scenario::{self, Measured, Scenario};
use super::stdio::minimal;
use super::subject::Subject;
use super::table::Report;

/// Prints the reports, writes their samples and judges the floors.
pub(super) fn finish(reports: &[Report<'_>], pace: &Pace, others: &[f64], options: &Options) -> Result<()> {
    let worst = others.iter().copied().fold(0.0, f64::max);
    let usual = median(others.iter().copied());
    println!(
        "{} cores, medians of {} repetitions; other programs used {:.0} % of one core in the median repetition, {:.0} % in \
         the worst",
        std::thread::available_parallelism()?,
        pace.repetitions,
        usual * 100.0,
        worst * 100.0,
    );
    if usual > 0.1 {
        println!(
            "The machine was busy: two programs that wait for each other fare differently then. Take this as a hint."
        );
    }
    reports.iter().for_each(Report::print);
    let rows: Vec<_> = reports.iter().flat_map(Report::json).collect();
    let others = json!({ "median": usual, "worst": worst });
    options.write_json(&json!({ "repetitions": pace.repetitions, "others": others, "rows": rows }))?;
    if options.rivals_only {
        println!("\nOur side was left out (--rivals-only): no floor was judged.");
        ensure!(!options.check, "--check needs our side");
        return Ok(());
    }
    options.report_misses(&reports.iter().flat_map(Report::misses).collect::<Vec<_>>())
}

/// Checks each subject before it is measured.
pub(super) fn check(subjects: &[Subject], check: fn(&Subject) -> Result<()>) -> Result<()> {
    for subject in subjects {
        check(subject).with_context(|| format!("{} does not behave as every subject must", subject.label))?;
    }
    Ok(())
}

/// The scenarios to run.
pub(super) struct Wanted<'a> {
    only: &'a [String],
    pub(super) build: bool,
}

impl<'a> Wanted<'a> {
    /// Those that the options name, of all scenarios of a suite.
    pub(super) fn new(options: &'a Options, all: impl Iterator<Item = &'static Scenario>) -> Result<Self> {
        let keys: Vec<&str> = all.flat_map(|scenario| scenario.rows).map(|row| row.key).collect();
        for key in &options.only {
            ensure!(keys.contains(&key.as_str()), "no row {key}; the rows are {}", keys.join(", "));
        }
        let wanted = Self { only: &options.only, build: false };
        let by_default = options.only.is_empty() && !options.quick && options.against.is_none();
        let asked = !options.only.is_empty() && wanted.has(&minimal::SCENARIO);
        Ok(Self { build: options.build || by_default || asked, ..wanted })
    }

    fn has(&self, scenario: &Scenario) -> bool {
        self.only.is_empty() || scenario.rows.iter().any(|row| self.only.iter().any(|key| key == row.key))
    }

    pub(super) fn any(&self, scenarios: &[Scenario]) -> bool {
        scenarios.iter().any(|scenario| self.has(scenario))
    }

    pub(super) fn measure(
        &self,
        scenarios: &[Scenario],
        subjects: &[Subject],
        pace: &Pace,
        others: &mut Vec<f64>,
    ) -> Result<Vec<Measured>> {
        let mut measured = Vec::new();
        for scenario in scenarios.iter().filter(|scenario| self.has(scenario)) {
            eprintln!("measuring {}", scenario.name);
            measured.extend(scenario::run(scenario, subjects, |_| true, pace, pace.repetitions, others)?);
        }
        Ok(measured)
    }
}
