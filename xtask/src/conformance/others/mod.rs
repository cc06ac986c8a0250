//! `cargo xtask conformance others`: programs of other projects before our suite, and the page with what it found.
//!
//! They are installed where `cargo xtask interop` installs them. Each run has a home of its own and no network.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use serde::Deserialize;
use serde_json::Value;

use crate::{cargo, packages, process};

/// A port without a listener: the proxy of programs that would reach other machines.
const UNREACHABLE: &str = "http://127.0.0.1:9";

/// An entry of `tests/conformance/others/programs.json`.
///
/// In its texts `{node}` stands for the program that runs JavaScript, `{python}` for the one that runs Python, `{peers}` for the
/// folder of what is installed, `{sources}` for `tests/interop`, `{others}` for `tests/conformance/others`, `{rivals}` for
/// the programs of `xtask/rivals` and `{system}` for this system's name in package names.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    name: String,
    subject: String,
    #[serde(default = "stdio")]
    transport: String,
    command: Vec<String>,
    #[serde(default)]
    environment: Vec<String>,
    /// A file in `tests/conformance/others`, or a profile that is built in.
    profile: Option<String>,
    /// How many checks run at a time. One if several processes of the program get in each other's way in the same home.
    jobs: Option<u8>,
    #[serde(default)]
    revisions: Vec<String>,
}

impl Program {
    /// Where the report of its last run is.
    fn report(&self, folder: &Path) -> PathBuf {
        let name = format!("{}-{}-{}", self.name, self.subject, self.transport).replace([' ', '/', '@'], "-");
        folder.join(format!("{name}.json"))
    }
}

fn stdio() -> String {
    "stdio".to_owned()
}

/// Where programs and their parts are.
struct Places {
    agentwire: PathBuf,
    node: PathBuf,
    python: String,
    rivals: PathBuf,
    root: PathBuf,
}

/// Judges every program, or those with a part of a name, and writes the page when there is a report of each.
pub(super) fn judge(root: &Path, names: &[String]) -> Result<()> {
    let text = fs::read_to_string(root.join("tests/conformance/others/programs.json"))?;
    let programs: Vec<Program> = serde_json::from_str(&text).context("programs.json")?;
    let is_named =
        |program: &&Program| names.is_empty() || names.iter().any(|name| program.name.contains(name));
    ensure!(programs.iter().any(|program| is_named(&program)), "no program has such a name");
    let places = install(root)?;
    let folder = cargo::target(root)?.join("conformance/others");
    fs::create_dir_all(&folder)?;
    for program in programs.iter().filter(is_named) {
        let begun = Instant::now();
        let row = Row::of(program, &places.judge(program, &folder)?);
        println!("{}, {:.0} s", row.line(), begun.elapsed().as_secs_f64());
        if row.count("pass") + row.count("fail") == 0 {
            // It was not reached, so this is no report of it.
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
        rows.push(Row::of(program, &serde_json::from_str(&report)?));
    }
    Ok(fs::write(root.join("docs/conformance/results.md"), page(&rows))?)
}

fn install(root: &Path) -> Result<Places> {
    let (sources, peers) = (root.join("tests/interop"), root.join("tests/interop/.peers"));
    let python = process::output(Command::new("python3").args(["-c", "import sys; print(sys.executable)"]))?;
    let python = python.trim().to_owned();
    for folder in ["npm", "agents"] {
        packages::npm(&sources.join(folder), &peers.join(folder))?;
    }
    for folder in ["pypi", "pypi-1"] {
        packages::pip(&sources.join(folder), &peers.join(folder), &python)?;
    }
    packages::pip(&root.join("tests/conformance/others/fastmcp"), &peers.join("fastmcp"), &python)?;
    cargo::build(root, &["--package", "agentwire-cli"])?;
    let rivals = root.join("xtask/rivals");
    cargo::build(&rivals, &["--release", "--package", "rival-mcp", "--package", "rival-http-mcp"])?;
    let node = packages::node(&peers.join("npm"), 0)?;
    Ok(Places {
        agentwire: cargo::target(root)?.join("debug/agentwire"),
        node,
        python,
        rivals: cargo::target(&rivals)?.join("release"),
        root: root.to_owned(),
    })
}

impl Places {
    /// The results of one program.
    fn judge(&self, program: &Program, folder: &Path) -> Result<Value> {
        let home = tempfile::Builder::new().prefix("agentwire-others-").tempdir()?;
        let json = program.report(folder);
        let (html, text) = (json.with_extension("html"), json.with_extension("txt"));
        let mut check = Command::new(&self.agentwire);
        check.args([
            "check",
            &program.subject,
            "--transport",
            &program.transport,
            "--jobs",
            &program.jobs.unwrap_or(4).to_string(),
            "--timeout",
            "8",
        ]);
        check.arg("--json-file").arg(&json).arg("--html").arg(&html);
        for revision in &program.revisions {
            check.args(["--revision", revision]);
        }
        if let Some(profile) = &program.profile {
            let file = self.root.join("tests/conformance/others").join(profile);
            let profile = if file.exists() { file.display().to_string() } else { profile.clone() };
            check.args(["--profile", &profile]);
        }
        check.arg("--").args(program.command.iter().map(|word| self.fill(word)));
        let offline = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"];
        check.current_dir(home.path()).env("HOME", home.path()).envs(offline.map(|name| (name, UNREACHABLE)));
        check.envs([
            ("NO_PROXY", "127.0.0.1,localhost"),
            ("no_proxy", "127.0.0.1,localhost"),
            ("DO_NOT_TRACK", "1"),
        ]);
        for variable in &program.environment {
            let variable = self.fill(variable);
            let (name, value) = variable.split_once('=').context("environment is NAME=VALUE")?;
            check.env(name, value);
        }
        let output = check.output().context("agentwire check")?;
        fs::write(&text, [output.stdout, output.stderr].concat())?;
        match output.status.code() {
            Some(0 | 1) => Ok(serde_json::from_str(&fs::read_to_string(&json)?)?),
            code => bail!("{}: check ended with {code:?}, see {}", program.name, text.display()),
        }
    }

    fn fill(&self, text: &str) -> String {
        let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
        let processor = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
        let path = |part: &str| self.root.join(part).display().to_string();
        text.replace("{node}", &self.node.display().to_string())
            .replace("{python}", &self.python)
            .replace("{peers}", &path("tests/interop/.peers"))
            .replace("{sources}", &path("tests/interop"))
            .replace("{others}", &path("tests/conformance/others"))
            .replace("{rivals}", &self.rivals.display().to_string())
            .replace("{system}", &format!("{system}-{processor}"))
    }
}

/// A program's line in the page.
struct Row {
    name: String,
    version: String,
    subject: String,
    transport: String,
    counts: BTreeMap<String, usize>,
    /// The requirements that failed, by level, with the revisions.
    failed: BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

impl Row {
    fn of(program: &Program, report: &Value) -> Self {
        let report = &report["reports"][0];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mut row = Self {
            name: program.name.clone(),
            version: text(&report["subject"]),
            subject: program.subject.clone(),
            transport: program.transport.clone(),
            counts: BTreeMap::new(),
            failed: BTreeMap::new(),
        };
        for result in report["results"].as_array().into_iter().flatten() {
            let verdict = text(&result["verdict"]);
            *row.counts.entry(verdict.clone()).or_default() += 1;
            if verdict == "fail" {
                let level = row.failed.entry(text(&result["level"])).or_default();
                level.entry(text(&result["requirement"])).or_default().push(text(&result["revision"]));
            }
        }
        row
    }

    fn count(&self, verdict: &str) -> usize {
        self.counts.get(verdict).copied().unwrap_or_default()
    }

    fn failures(&self, level: &str) -> String {
        let ids = self.failed.get(level).into_iter().flatten();
        let ids: Vec<String> =
            ids.map(|(id, _)| id.split('/').next_back().unwrap_or(id).to_owned()).collect();
        if ids.is_empty() { "none".to_owned() } else { ids.join(", ") }
    }

    fn line(&self) -> String {
        let [passed, failed] = ["pass", "fail"].map(|verdict| self.count(verdict));
        format!(
            "{} over {}: {passed} passed, {failed} failed; must: {}",
            self.name,
            self.transport,
            self.failures("must")
        )
    }
}

/// The page with all results.
fn page(rows: &[Row]) -> String {
    let mut page = String::from(include_str!("others.md"));
    for subject in ["acp-agent", "acp-client", "mcp-server", "mcp-client"] {
        let _ = write!(
            page,
            "\n## {subject}\n\n| program | says of itself | transport | passed | failed | not applicable | inconclusive | broken: must | broken: should |\n\
             |---|---|---|--:|--:|--:|--:|---|---|\n"
        );
        for row in rows.iter().filter(|row| row.subject == subject) {
            let [passed, failed, not, unclear] =
                ["pass", "fail", "not-applicable", "inconclusive"].map(|verdict| row.count(verdict));
            let version = if row.version.is_empty() { "nothing" } else { &row.version };
            let _ = writeln!(
                page,
                "| {} | {version} | {} | {passed} | {failed} | {not} | {unclear} | {} | {} |",
                row.name,
                row.transport,
                row.failures("must"),
                row.failures("should")
            );
        }
    }
    page.push_str(include_str!("bytes.md"));
    page
}
