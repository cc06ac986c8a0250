//! The smallest agent: the crates that it pulls in, and its build time from nothing.

use anyhow::{Context, Result};

use crate::load::pace::Pace;
use crate::load::rows::{Floor, Row, Unit};
use crate::load::scenario::{Sample, Scenario};
use crate::load::subject::Subject;

pub(crate) const SCENARIO: Scenario = Scenario {
    name: "the minimal agent",
    rows: &[
        Row::cost("h", "crates in a minimal agent", Unit::Crates, &[Floor::AtMost(40.0)]),
        Row::cost(
            "h-build",
            "clean release build of it (one build each)",
            Unit::Seconds,
            &[Floor::AtMostOfRival(0.5)],
        ),
    ],
    measure,
};

fn measure(subject: &Subject, _pace: &Pace) -> Result<Vec<Sample>> {
    let package = subject.package.as_ref().context("no minimal agent")?;
    Ok(vec![Some(package.crates()?.len() as f64), Some(package.build()?.time.as_secs_f64())])
}
