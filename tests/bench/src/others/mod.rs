//! `cargo xtask conformance others`: programs of other projects before our suite, and the page with what it found.
//!
//! They are installed and started as `cargo xtask interop` does it: each run has a home of its own and no network.

mod page;
mod program;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agentwire_test_support::{cargo, packages};
use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use self::page::Row;
use self::program::{Places, Program};
use crate::interop::peers::{self, Peers};
use crate::interop::scratch::Scratch;
use crate::rivals::RIVALS;

/// How long one program may be judged.
const LIMIT: Duration = Duration::from_secs(1800);

/// Judges every program, or those with a part of a name such as `rmcp mcp-client stdio`, and writes the page when there is a report
/// of each.
pub(crate) fn judge(root: &Path, names: &[String]) -> Result<()> {
    let text = fs::read_to_string(root.join("tests/conformance/others/programs.json"))?;
    let programs: Vec<Program> = serde_json::from_str(&text).context("programs.json")?;
    let is_named =
        |program: &&Program| names.is_empty() || names.iter().any(|name| program.full_name().contains(name));
    ensure!(programs.iter().any(|program| is_named(&program)), "no program has such a name");
    let (peers, places) = install(root)?;
    let folder = cargo::target(root)?.join("conformance/others");
    fs::create_dir_all(&folder)?;
    for program in programs.iter().filter(is_named) {
        let begun = Instant::now();
        let row = Row::of(program, program.version(root)?, &run(&peers, &places, program, &folder)?);
        println!("{}, {:.0} s", row.line(), begun.elapsed().as_secs_f64());
        if !row.is_judged() {
            // It was not reached, so this is not a report of it.
            fs::remove_file(program.report(&folder))?;
        }
    }
    // The programs may be judged one after another, by several runs.
    let mut rows = Vec::new();
    for program in &programs {
        let Ok(report) = fs::read_to_string(program.report(&folder)) else {
            println!("no page, since {} over {} was not judged", program.name, program.transport);
            return Ok(());
        };
        rows.push(Row::of(program, program.version(root)?, &serde_json::from_str(&report)?));
    }
    page::expect_bytes(&rows)?;
    Ok(fs::write(root.join("docs/conformance/results.md"), page::render(&rows))?)
}

fn install(root: &Path) -> Result<(Peers, Places)> {
    let peers = peers::install(root, cargo::programs(root)?.join("agentwire"))?;
    let others = root.join("tests/conformance/others");
    let python = peers.python_path().display().to_string();
    for package in ["acp-next", "fastmcp"] {
        packages::pip(&others.join(package), &peers.installed().join(package), &python)?;
    }
    let workspace = root.join(RIVALS);
    for package in ["rival-mcp", "rival-http-mcp", "rival-client-steps"] {
        // One at a time, so that each has the features of its own manifest alone.
        cargo::build(&workspace, &["--release", "--package", package])?;
    }
    let rivals = cargo::target(&workspace)?.join("release");
    Ok((peers, Places { others, rivals }))
}

/// The results of one program.
fn run(peers: &Peers, places: &Places, program: &Program, folder: &Path) -> Result<Value> {
    let scratch = Scratch::new(peers, LIMIT)?;
    let json = program.report(folder);
    let launch = program.launch(&scratch, places)?;
    let mut words = peers.agentwire(&["check", &program.subject, "--transport", &program.transport]);
    words.extend(program.options(&scratch, places, &json)?);
    words.push("--".to_owned());
    words.extend(launch.words);
    let mut check = scratch.command(&words)?;
    if program.product().is_some() {
        // The suite begins sessions in the temporary folder, and products write in the session's folder alone.
        check.env("TMPDIR", scratch.project());
    }
    let output = check.output().context("agentwire check")?;
    drop(launch.model);
    let text: PathBuf = json.with_extension("txt");
    fs::write(&text, [output.stdout, output.stderr].concat())?;
    if let Err(error) = scratch.expect_no_processes() {
        println!("{}: {error:#}", program.name);
    }
    match output.status.code() {
        Some(0 | 1) => Ok(serde_json::from_str(&fs::read_to_string(&json)?)?),
        code => bail!("{}: check ended with {code:?}, see {}", program.name, text.display()),
    }
}
