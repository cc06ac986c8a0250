//! Runs scenarios. The subjects take turns, so that other load on the machine affects all of them.

use std::time::Instant;

use anyhow::{Context, Result};

use super::pace::{Pace, median};
use super::process::Load;
use super::rows::Row;
use super::subject::Subject;

/// A measured value; none when the program never answered.
pub(crate) type Sample = Option<f64>;

/// One way to load a program, which fills one or more rows.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) rows: &'static [Row],
    /// One sample for each row.
    pub(crate) measure: fn(&Subject, &Pace) -> Result<Vec<Sample>>,
}

/// The samples of one row, for each subject that has any.
pub(crate) struct Measured {
    pub(crate) row: &'static Row,
    pub(crate) samples: Vec<Vec<Sample>>,
}

impl Measured {
    /// The median of one subject's samples; none if it has none, or one without an answer.
    pub(crate) fn median(&self, subject: usize) -> Option<f64> {
        let samples: Option<Vec<f64>> = self.samples[subject].iter().copied().collect();
        samples.filter(|samples| !samples.is_empty()).map(|samples| median(samples.into_iter()))
    }
}

/// Runs a scenario `repetitions` times over the subjects that it applies to. Adds to `others` the share of a core that
/// other programs used during each repetition.
pub(crate) fn run(
    scenario: &Scenario,
    subjects: &[Subject],
    applies: impl Fn(&Subject) -> bool,
    pace: &Pace,
    repetitions: usize,
    others: &mut Vec<f64>,
) -> Result<Vec<Measured>> {
    let mut measured: Vec<Measured> = Vec::new();
    for row in scenario.rows {
        measured.push(Measured { row, samples: vec![Vec::new(); subjects.len()] });
    }
    for repetition in 0..repetitions {
        let (begun, load) = (Instant::now(), Load::now()?);
        for turn in 0..subjects.len() {
            // The first subject is the last one in the next repetition.
            let index = (turn + repetition) % subjects.len();
            let subject = &subjects[index];
            if !applies(subject) {
                continue;
            }
            let samples = (scenario.measure)(subject, pace)
                .with_context(|| format!("{}, {}", scenario.name, subject.label))?;
            for (row, sample) in measured.iter_mut().zip(samples) {
                row.samples[index].push(sample);
            }
        }
        others.push(Load::now()?.others_since(load, begun.elapsed()));
    }
    Ok(measured)
}
