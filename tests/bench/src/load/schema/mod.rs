//! `cargo xtask bench schema`: decodes and encodes the most frequent messages with our types, with the rivals' and with
//! plain structs for these messages alone.
//!
//! The measuring programs are in `tests/bench/rivals`. ACP's is built twice, with and without the rival, because the rival enables
//! `serde_json/preserve_order`, which makes maps larger and slower for the whole program.
//!
//! A ratio is the median of the repetitions' ratios and not a ratio of medians: the machine may become slower between
//! repetitions.

mod build;

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use agentwire_test_support::{cargo, process};
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::load::options::Options;
use crate::load::pace::median;
use crate::load::process::Load;
use crate::load::rows::{Floor, Judgement, Medians};
use crate::load::table::print_aligned;
use crate::rivals::RIVALS;

/// A program: its package, and the features it is built with.
type Program = (&'static str, &'static [&'static str]);

/// The programs of each protocol's table. The subjects after ours are the limit and the rival, in this order.
const TABLES: [(&str, &[Program]); 2] = [
    ("ACP", &[("rival-schema-acp", &[]), ("rival-schema-acp", &["rival"])]),
    ("MCP", &[("rival-schema-mcp", &[])]),
];

/// Of the speed of plain structs, and of the rival. A message that is mostly text and numbers takes `serde_json`'s time in
/// all subjects: its ratio is about 1, and it may miss the second floor by noise alone.
const FLOORS: [Floor; 2] = [Floor::OfLimit(0.8), Floor::OfRival(1.0)];

/// Explains the tables.
const NOTE: &str = "\
Nanoseconds of processor time, medians. Ratios are of speed: 1 is as fast, more is faster. Decoding includes dropping.
The limit is derived: strict, without room for what is unknown, its unions tagged by serde, which buffers them. What our
types leave undecoded (a call's arguments, structured content) the limit leaves so too; rmcp makes a tree of it.
Type against type, params or result: rmcp itself tries them inside unions of all messages, which costs it more.
ACP's rival is compared in a program of its own, so its ratio is to our time there and not to the one shown.";

/// One message and one operation.
struct Measured {
    key: String,
    title: String,
    operation: String,
    bytes: u64,
    /// With the limit, then with the rival.
    comparisons: Vec<Comparison>,
}

/// Nanoseconds of two subjects, for each repetition in which they took turns.
struct Comparison {
    label: String,
    ours: Vec<f64>,
    theirs: Vec<f64>,
}

pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    ensure!(!options.rivals_only, "`bench schema` compares, so our side cannot be left out");
    let (begun, load) = (Instant::now(), Load::now()?);
    let mut tables = Vec::new();
    for (title, programs) in TABLES {
        let mut measured = Vec::new();
        for program in programs {
            measure(root, *program, options, &mut measured)?;
        }
        tables.push((title, measured));
    }
    let others = Load::now()?.others_since(load, begun.elapsed());
    println!("{NOTE}\nOther programs used {:.0} % of one core meanwhile.", others * 100.0);
    for (title, measured) in tables.iter().filter(|(_, measured)| !measured.is_empty()) {
        println!("\n{title}");
        print(measured);
    }
    ensure!(
        tables.iter().any(|(_, measured)| !measured.is_empty()),
        "no such row: {}",
        options.only.join(", ")
    );
    let mut rows: Vec<Value> = tables.iter().flat_map(|(_, measured)| measured).map(Measured::json).collect();
    let mut misses: Vec<String> =
        tables.iter().flat_map(|(_, measured)| measured).flat_map(Measured::misses).collect();
    if options.build || (!options.quick && options.only.is_empty()) {
        let builds = build::measure(root)?;
        println!("\nClean release builds without features");
        build::print(&builds);
        rows.extend(builds.iter().map(build::Build::json));
        misses.extend(builds.iter().flat_map(build::Build::misses));
    }
    options.write_json(&json!({ "others": others, "rows": rows }))?;
    options.report_misses(&misses)
}

/// Builds one program alone, so that no other package's features reach it, runs it, and adds its samples to the rows.
fn measure(
    root: &Path,
    (package, features): Program,
    options: &Options,
    measured: &mut Vec<Measured>,
) -> Result<()> {
    eprintln!("building {package} in release mode");
    let rivals = root.join(RIVALS);
    cargo::build(&rivals, &["--release", "--package", package, "--features", &features.join(",")])?;
    eprintln!("running {package}");
    let mut program = Command::new(cargo::target(&rivals)?.join("release").join(package));
    if options.quick {
        program.arg("--quick");
    }
    for key in &options.only {
        program.args(["--only", key]);
    }
    let lines =
        process::output(&mut program)?.lines().map(serde_json::from_str).collect::<Result<Vec<_>, _>>();
    add(lines.with_context(|| format!("{package} printed an unexpected line"))?, measured);
    Ok(())
}

/// A line that a program prints: one subject's samples of one operation.
#[derive(Deserialize)]
struct Line {
    #[serde(rename = "row")]
    key: String,
    title: String,
    operation: String,
    bytes: u64,
    subject: String,
    nanoseconds: Vec<f64>,
}

/// Adds comparisons to their rows. The first of the lines of one message and operation is ours.
fn add(lines: Vec<Line>, measured: &mut Vec<Measured>) {
    let mut ours: Option<Line> = None;
    for line in lines {
        let Some(first) =
            ours.as_ref().filter(|first| (&first.key, &first.operation) == (&line.key, &line.operation))
        else {
            ours = Some(line);
            continue;
        };
        let comparison =
            Comparison { label: line.subject, ours: first.nanoseconds.clone(), theirs: line.nanoseconds };
        match measured.iter_mut().find(|row| (&row.key, &row.operation) == (&line.key, &line.operation)) {
            Some(row) => row.comparisons.push(comparison),
            None => measured.push(Measured {
                key: line.key,
                title: line.title,
                operation: line.operation,
                bytes: line.bytes,
                comparisons: vec![comparison],
            }),
        }
    }
}

impl Comparison {
    /// Our speed as a multiple of theirs.
    fn ratio(&self) -> f64 {
        median(self.ours.iter().zip(&self.theirs).map(|(ours, theirs)| theirs / ours))
    }

    fn json(&self) -> Value {
        let side =
            |samples: &Vec<f64>| json!({ "median": median(samples.iter().copied()), "samples": samples });
        json!({ "with": self.label, "ratio": self.ratio(), "ours": side(&self.ours), "theirs": side(&self.theirs) })
    }
}

impl Measured {
    /// Speeds, ours being 1.
    fn speeds(&self) -> Medians {
        let speed = |at: usize| self.comparisons.get(at).map(|comparison| 1.0 / comparison.ratio());
        Medians { ours: Some(1.0), limit: speed(0), rival: speed(1), ..Medians::default() }
    }

    fn judgement(&self) -> Judgement {
        Judgement::new(FLOORS, self.speeds())
    }

    fn misses(&self) -> Vec<String> {
        self.judgement().misses(format_args!("{} {}", self.key, self.operation))
    }

    fn line(&self) -> Vec<String> {
        let nanoseconds = |samples: &[f64]| format!("{:.0}", median(samples.iter().copied()));
        let mut line =
            vec![self.key.clone(), format!("{}: {}", self.operation, self.title), self.bytes.to_string()];
        line.extend(self.comparisons.first().map(|comparison| nanoseconds(&comparison.ours)));
        line.extend(self.comparisons.iter().map(|comparison| nanoseconds(&comparison.theirs)));
        line.extend(self.comparisons.iter().map(|comparison| format!("{:.2}", comparison.ratio())));
        line.push(self.judgement().text());
        line
    }

    fn json(&self) -> Value {
        let comparisons: Vec<Value> = self.comparisons.iter().map(Comparison::json).collect();
        json!({
            "row": self.key, "operation": self.operation, "what": self.title, "bytes": self.bytes,
            "nanoseconds": comparisons, "floors": self.judgement().json(),
        })
    }
}

fn print(measured: &[Measured]) {
    let Some(first) = measured.first() else { return };
    let mut header: Vec<String> = ["row", "what", "bytes", "ours"].map(str::to_owned).into();
    header.extend(first.comparisons.iter().map(|comparison| comparison.label.clone()));
    header.extend(["/ limit", "/ rival", "floors"].map(str::to_owned));
    let lines: Vec<Vec<String>> =
        std::iter::once(header).chain(measured.iter().map(Measured::line)).collect();
    print_aligned(&lines);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_programs_make_one_row() -> Result<()> {
        let line = |subject: &str, nanoseconds: [u64; 2]| -> serde_json::Result<Line> {
            let line = json!({
                "row": "chunk", "title": "a chunk", "bytes": 7, "operation": "decode", "subject": subject,
                "nanoseconds": nanoseconds,
            });
            serde_json::from_value(line)
        };
        let mut measured = Vec::new();
        add(vec![line("ours", [10, 20])?, line("limit", [9, 16])?], &mut measured);
        add(vec![line("ours", [100, 200])?, line("rival", [300, 600])?], &mut measured);
        let [row] = measured.as_mut_slice() else { panic!("{} rows", measured.len()) };
        assert_eq!(row.comparisons[1].ratio(), 3.0, "each with our time of its own program");
        assert!(row.misses().is_empty(), "0.8 or 0.9 of the limit");
        row.comparisons[0].theirs = vec![1.0, 1.0];
        assert_eq!(row.misses().len(), 1);
        Ok(())
    }
}
