//! Measures the seconds of each step, prints them as a table, and compares them with those of an earlier run.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde::{Deserialize, Serialize};

/// A step that takes this many times the seconds of the kept run got slower.
const SLOWER: f64 = 1.2;

/// A step that takes fewer seconds more than this did not get slower: 5 s. Short steps vary by as much.
const NOISE: f64 = 5.0;

/// The seconds of one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Seconds {
    pub(super) compiled: f64,
    pub(super) ran: f64,
}

impl Seconds {
    pub(super) fn sum(self) -> f64 {
        self.compiled + self.ran
    }
}

/// Measures a step. All of its time counts as run, unless it is marked as compiled.
pub(super) struct Stopwatch {
    started: Instant,
    compiled: Duration,
}

impl Stopwatch {
    pub(super) fn start() -> Self {
        Self { started: Instant::now(), compiled: Duration::ZERO }
    }

    /// Runs a part of the step that compiles.
    pub(super) fn compile<T>(&mut self, part: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let result = part();
        self.compiled += started.elapsed();
        result
    }

    pub(super) fn seconds(&self) -> Seconds {
        let compiled = self.compiled.as_secs_f64();
        Seconds { compiled, ran: self.started.elapsed().as_secs_f64() - compiled }
    }
}

/// The seconds of each step of a run.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Timings(BTreeMap<String, Seconds>);

impl Timings {
    pub(super) fn add(&mut self, name: &str, seconds: Seconds) {
        self.0.insert(name.to_owned(), seconds);
    }

    /// The seconds of the steps in this order, and their sums. Steps that run beside others overlap, so the sum may exceed
    /// `elapsed`, the seconds of the whole run.
    pub(super) fn table<'a>(&self, order: impl Iterator<Item = &'a str>, elapsed: f64) -> String {
        let mut table = format!("{:<18} {:>10} {:>10}\n", "step", "compiled", "run");
        let row = |name: &str, seconds: Seconds| {
            format!("{name:<18} {:>8.1} s {:>8.1} s\n", seconds.compiled, seconds.ran)
        };
        let mut sum = Seconds::default();
        for name in order {
            if let Some(seconds) = self.0.get(name) {
                table += &row(name, *seconds);
                sum.compiled += seconds.compiled;
                sum.ran += seconds.ran;
            }
        }
        table += &row("sum", sum);
        table + &format!("{:<18} {elapsed:>8.1} s\n", "elapsed")
    }

    pub(super) fn write(&self, file: &Path) -> Result<()> {
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        let text = serde_json::to_string_pretty(self)? + "\n";
        fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
    }

    /// Compares the steps of these names with those that a file keeps, and adds to the file those that it lacks.
    ///
    /// # Errors
    ///
    /// When a step got slower; each is named with both times.
    pub(super) fn compare(&self, names: &[&str], file: &Path) -> Result<()> {
        let text = if file.exists() { &fs::read_to_string(file)? } else { "{}" };
        let mut kept: Self = serde_json::from_str(text).with_context(|| file.display().to_string())?;
        let slower = self.slower(names, &kept);
        ensure!(slower.is_empty(), "slower than in {}:\n{}", file.display(), slower.join("\n"));
        let new: Vec<_> = names.iter().copied().filter(|name| !kept.0.contains_key(*name)).collect();
        if !new.is_empty() {
            kept.0.extend(new.iter().filter_map(|name| Some(((*name).to_owned(), *self.0.get(*name)?))));
            kept.write(file)?;
            println!("== timings: kept in {}, nothing to compare with: {}", file.display(), new.join(", "));
        }
        println!("== timings: no step is 20 % slower than in {}", file.display());
        Ok(())
    }

    fn slower(&self, names: &[&str], kept: &Self) -> Vec<String> {
        let both = names.iter().filter_map(|name| {
            let [now, then] = [self, kept].map(|run| run.0.get(*name));
            Some((name, now?.sum(), then?.sum()))
        });
        both.filter(|(_, now, then)| *now > then * SLOWER && *now > then + NOISE)
            .map(|(name, now, then)| format!("{name}: {now:.1} s, kept {then:.1} s"))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timings(rows: &[(&str, f64, f64)]) -> Timings {
        let mut timings = Timings::default();
        for (name, compiled, ran) in rows {
            timings.add(name, Seconds { compiled: *compiled, ran: *ran });
        }
        timings
    }

    #[test]
    fn a_step_twenty_percent_slower_is_named() {
        let kept = timings(&[("test", 100.0, 100.0), ("fmt", 0.0, 2.0), ("gone", 1.0, 1.0)]);
        let now = timings(&[("test", 100.0, 139.0), ("fmt", 0.0, 4.0), ("new", 90.0, 0.0)]);
        assert_eq!(now.slower(&["test", "fmt", "new"], &kept), [""; 0]);
        let now = timings(&[("test", 100.0, 141.0), ("fmt", 0.0, 8.0)]);
        assert_eq!(
            now.slower(&["test", "fmt"], &kept),
            ["test: 241.0 s, kept 200.0 s", "fmt: 8.0 s, kept 2.0 s"]
        );
    }

    #[test]
    fn the_first_run_is_kept_and_the_next_is_compared_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kept.json");
        timings(&[("test", 10.0, 10.0)]).compare(&["test"], &file).unwrap();
        // One more step is kept from its first run on.
        let both = ["test", "doc"];
        timings(&[("test", 10.0, 12.0), ("doc", 10.0, 0.0)]).compare(&both, &file).unwrap();
        let error = timings(&[("test", 10.0, 10.0), ("doc", 20.0, 0.0)]).compare(&both, &file).unwrap_err();
        assert!(error.to_string().ends_with("doc: 20.0 s, kept 10.0 s"), "{error}");
        let error = timings(&[("test", 20.0, 12.0)]).compare(&["test"], &file).unwrap_err().to_string();
        assert!(error.ends_with("test: 32.0 s, kept 20.0 s"), "{error}");
    }

    #[test]
    fn the_table_has_the_order_of_the_steps_and_their_sums() {
        let all = timings(&[("a", 1.0, 2.0), ("b", 3.0, 4.0)]);
        let table = all.table(["b", "a", "c"].into_iter(), 9.0);
        let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[1], ["b", "3.0", "s", "4.0", "s"]);
        assert_eq!(rows[3], ["sum", "4.0", "s", "6.0", "s"]);
        assert_eq!(rows[4], ["elapsed", "9.0", "s"]);
    }
}
