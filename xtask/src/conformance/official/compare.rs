//! Compares the suite's results at several nodes with those at one: they must be equal.

use std::collections::{BTreeMap, BTreeSet};

use super::checks::{Check, Status};
use super::requirements::Requirements;

/// The checks of scenarios, by their names.
pub(super) type Scenarios = BTreeMap<String, Vec<Check>>;

/// The differences between one node and several.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Comparison {
    /// The scored scenarios and checks that are the same.
    pub(super) same: (usize, usize),
    /// A line for each difference in a scored scenario.
    pub(super) scored: Vec<String>,
    /// The others.
    pub(super) unscored: Vec<String>,
}

impl Comparison {
    /// Adds a run at one node, and the same at several.
    pub(super) fn add(&mut self, run: &str, required: &Requirements, one: &Scenarios, several: &Scenarios) {
        let names: BTreeSet<&String> = one.keys().chain(several.keys()).collect();
        for name in names {
            let [at_one, at_several] = [one, several].map(|of| tally(of.get(name)));
            let is_scored = !required.unscored.contains_key(name);
            if at_one == at_several {
                if is_scored {
                    self.same.0 += 1;
                    self.same.1 += at_one.values().sum::<usize>();
                }
                continue;
            }
            let keys: BTreeSet<_> = at_one.keys().chain(at_several.keys()).collect();
            for key in keys {
                let [before, after] = [&at_one, &at_several].map(|of| of.get(key).copied().unwrap_or(0));
                if before != after {
                    let (check, status) = key;
                    let line = format!(
                        "{run}: {name}: {check} is a {status} {before} times at one node, {after} at several"
                    );
                    if is_scored { &mut self.scored } else { &mut self.unscored }.push(line);
                }
            }
        }
    }

    /// Prints the differences, and how much is the same. Returns the number of differences that are scored.
    pub(super) fn print(&self) -> usize {
        for (word, lines) in [("DIFFERS", &self.scored), ("unscored, differs", &self.unscored)] {
            lines.iter().for_each(|line| println!("{word}  {line}"));
        }
        let (scenarios, checks) = self.same;
        println!(
            "scored, at one node and at several: {checks} checks of {scenarios} scenarios are the same, {} differ",
            self.scored.len()
        );
        self.scored.len()
    }
}

/// The number of times that a scenario had each check with each status.
fn tally(checks: Option<&Vec<Check>>) -> BTreeMap<(&str, &'static str), usize> {
    let mut tally = BTreeMap::new();
    for check in checks.into_iter().flatten() {
        let status = match check.status {
            Status::Success => "success",
            Status::Failure => "failure",
            Status::Warning => "warning",
            Status::Skipped => "skip",
            Status::Info => continue,
        };
        *tally.entry((&*check.id, status)).or_default() += 1;
    }
    tally
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenarios(list: &[(&str, &[(&str, Status)])]) -> Scenarios {
        let check = |(id, status): &(&str, Status)| Check {
            id: (*id).into(),
            status: *status,
            message: String::new(),
        };
        list.iter().map(|(name, checks)| ((*name).into(), checks.iter().map(check).collect())).collect()
    }

    #[test]
    fn only_scored_differences_count() {
        let one = scenarios(&[
            ("ping", &[("a", Status::Success), ("b", Status::Success), ("c", Status::Info)]),
            ("tools", &[("a", Status::Success), ("a", Status::Success)]),
            ("extra", &[("a", Status::Success)]),
        ]);
        let several = scenarios(&[
            ("ping", &[("b", Status::Success), ("a", Status::Success)]),
            ("tools", &[("a", Status::Success), ("a", Status::Failure)]),
            ("extra", &[]),
        ]);
        let required = Requirements {
            unscored: BTreeMap::from([("extra".into(), "an extension".into())]),
            ..Requirements::default()
        };
        let mut comparison = Comparison::default();
        comparison.add("server 1", &required, &one, &several);
        assert_eq!(comparison.same, (1, 2));
        assert_eq!(
            comparison.scored,
            [
                "server 1: tools: a is a failure 0 times at one node, 1 at several",
                "server 1: tools: a is a success 2 times at one node, 1 at several",
            ]
        );
        assert_eq!(
            comparison.unscored,
            ["server 1: extra: a is a success 1 times at one node, 0 at several"]
        );
        let mut gone = Comparison::default();
        gone.add("server 1", &Requirements::default(), &one, &Scenarios::new());
        assert_eq!((gone.same, gone.scored.len()), ((0, 0), 4));
    }
}
