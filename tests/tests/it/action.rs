//! The GitHub Action: its script under the environment that `action.yml` gives it, against our own server and agent.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use agentwire_test_support::write_program;
use serde_json::Value;
use tempfile::TempDir;

use crate::binaries::agentwire;
use crate::program::{Ended, Program, SOON};

const REPORTS: [&str; 5] = ["report.html", "report.xml", "report.sarif", "report.json", "report.md"];

/// The variable that the command passes on to the program under test.
const VARIABLE: &str = "TOKEN";

/// A repository whose workflow uses the action.
struct Job {
    folder: TempDir,
    action: Action,
}

/// The content of `action.yml`.
struct Action {
    /// The default of each input.
    defaults: BTreeMap<String, String>,
    /// The variables of the step that checks, and the input that each has.
    variables: Vec<(String, String)>,
}

impl Action {
    fn folder() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../.github/actions/conformance")
    }

    fn read() -> Self {
        let text = fs::read_to_string(Self::folder().join("action.yml")).expect("the action");
        let (inputs, steps) = text.split_once("\nruns:\n").expect("inputs, and then steps");
        let mut defaults = BTreeMap::new();
        let mut input = None;
        for line in inputs.lines() {
            if let Some(name) = line.strip_prefix("  ").and_then(|line| line.strip_suffix(':')) {
                input = Some(name.to_owned());
            } else if let (Some(name), Some(value)) = (&input, line.strip_prefix("    default: ")) {
                defaults.insert(name.clone(), value.trim_matches('"').to_owned());
            }
        }
        let (_, check) = steps.split_once("- name: Check\n").expect("the step that checks");
        let variable = |line: &str| {
            let (name, value) = line.trim().split_once(": ${{ inputs.")?;
            name.starts_with("CHECK_").then(|| (name.to_owned(), value.trim_end_matches(" }}").to_owned()))
        };
        Self { defaults, variables: check.lines().filter_map(variable).collect() }
    }
}

impl Job {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is room");
        fs::create_dir(folder.path().join("bin")).expect("there is room");
        symlink(agentwire(), folder.path().join("bin/agentwire")).expect("there is room");
        Self { folder, action: Action::read() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Runs the step that checks, with these inputs.
    fn run(&self, inputs: &[(&str, &str)]) -> Ended {
        let folder = Action::folder();
        let mut command = Command::new(folder.join("check.sh"));
        let path = std::env::var("PATH").unwrap_or_default();
        command
            .current_dir(self.folder.path())
            .env("PATH", format!("{}:{path}", self.path("bin").display()))
            .env("GITHUB_ACTION_PATH", &folder)
            .env("GITHUB_STEP_SUMMARY", self.path("summary.md"))
            .env(VARIABLE, "of the job");
        for (name, input) in &self.action.variables {
            let given = inputs.iter().find(|(given, _)| given == input).map(|(_, value)| *value);
            command.env(name, given.or(self.action.defaults.get(input).map(String::as_str)).unwrap_or(""));
        }
        for (name, _) in inputs {
            assert!(
                self.action.variables.iter().any(|(_, input)| input == name),
                "no input is called {name}"
            );
        }
        let mut program = Program::start_other(command);
        program.close_stdin();
        program.end(3 * SOON)
    }

    /// The revisions of the results in the report.
    fn revisions(&self) -> Vec<String> {
        let report: Value = serde_json::from_str(&self.text("conformance/report.json")).expect("JSON");
        let results = report.pointer("/reports/0/results").and_then(Value::as_array).expect("results");
        let revision = |result: &Value| result["revision"].as_str().expect("a revision").to_owned();
        let mut revisions: Vec<String> = results.iter().map(revision).collect();
        revisions.sort_unstable();
        revisions.dedup();
        revisions
    }

    /// All reports are there, and the summary is the one in Markdown.
    fn has_reports(&self) {
        for name in REPORTS {
            assert!(!self.text(&format!("conformance/{name}")).is_empty(), "{name} is empty");
        }
        assert!(self.text("summary.md").ends_with(&self.text("conformance/report.md")));
    }
}

#[test]
fn a_server_and_an_agent_that_conform_pass_and_leave_all_reports() {
    for (subject, command, given, judged) in [
        ("mcp-server", "agentwire server", "2025-06-18\n2025-11-25", vec!["2025-06-18", "2025-11-25"]),
        ("acp-agent", "agentwire agent", "1 ", vec!["1"]),
    ] {
        let job = Job::new();
        let inputs = [("subject", subject), ("command", command), ("revision", given)];
        let ended = job.run(&inputs);
        ended.exits(0).prints(" passed, 0 failed, ");
        job.has_reports();
        assert_eq!(job.revisions(), judged);
        assert!(job.text("summary.md").contains(&format!("| {subject} {command} | `agentwire ")), "{ended}");
    }
}

#[test]
fn the_program_sees_the_variables_of_the_job_and_not_those_of_the_action() {
    let job = Job::new();
    let seen = job.path("seen");
    let command = format!("sh -c 'env > {}; exec agentwire server'", seen.display());
    let inputs = [("subject", "mcp-server"), ("command", &command), ("revision", "2025-11-25")];
    job.run(&inputs).exits(0);
    let seen = job.text("seen");
    assert!(seen.contains(&format!("{VARIABLE}=of the job")) && !seen.contains("CHECK_"), "{seen}");
}

#[test]
fn the_token_is_in_a_file_for_the_time_of_the_run_and_in_no_argument() {
    let job = Job::new();
    let program = job.path("bin/agentwire");
    fs::remove_file(&program).expect("it is there");
    let script = r#"#!/bin/sh
for argument; do
    echo "$argument" >> arguments
    case $argument in --header-file=*) cat "${argument#*=}" > headers; echo "${argument#*=}" > file;; esac
done
"#;
    write_program(&program, script);
    job.run(&[("subject", "mcp-server"), ("url", "http://127.0.0.1:9/mcp"), ("token", "s3cret")]).exits(0);
    assert!(!job.text("arguments").contains("s3cret"), "{}", job.text("arguments"));
    assert_eq!(job.text("headers"), "Authorization: Bearer s3cret\n");
    assert!(!Path::new(job.text("file").trim()).exists(), "the file is left behind");
}

#[test]
fn a_program_that_does_not_exist_fails_the_step() {
    let job = Job::new();
    let inputs = [("subject", "mcp-server"), ("command", "./no-such-program --stdio")];
    let ended = job.run(&inputs);
    ended
        .exits(1)
        .reports("nothing of `./no-such-program --stdio` could be judged")
        .reports("could not be started");
    job.has_reports();
    assert!(
        job.text("summary.md").contains("| mcp-server `./no-such-program --stdio` | unknown |"),
        "{ended}"
    );
}

#[test]
fn inputs_that_are_missing_or_wrong_are_named_and_leave_no_summary() {
    let job = Job::new();
    fs::create_dir(job.path("conformance")).expect("there is room");
    fs::write(job.path("conformance/report.md"), "of an earlier run").expect("there is room");
    job.run(&[("command", "agentwire server")]).exits(2).reports("`subject` is missing");
    job.run(&[("subject", "mcp-server")]).exits(2).reports("`command` and `url` are both missing");
    let wrong = [("subject", "mcp-server"), ("command", "agentwire server"), ("revision", "*")];
    job.run(&wrong).exits(2).reports("--revision");
    assert!(!job.path("summary.md").exists(), "{}", job.text("summary.md"));
}

#[test]
fn a_baseline_that_is_stale_fails_the_step() {
    let job = Job::new();
    let entry = "[[known]]\nrequirement = \"mcp/RPC-06\"\nreason = \"Mended since.\"\n";
    fs::write(job.path("known.toml"), entry).expect("there is room");
    let inputs = [
        ("subject", "mcp-server"),
        ("command", "agentwire server"),
        ("revision", "2025-11-25"),
        ("baseline", "known.toml"),
    ];
    job.run(&inputs).exits(1).reports("the baseline is stale: mcp/RPC-06").prints(" passed, 0 failed, ");
    job.has_reports();
}

/// The runner takes lines that begin with `::` as commands, also those that a program under test makes up.
#[test]
fn text_of_the_program_is_no_command_to_the_runner() {
    let job = Job::new();
    let inputs = [("subject", "mcp-server"), ("command", "./no-such-program"), ("revision", "2025-11-25")];
    let ended = job.run(&inputs);
    let lines: Vec<&str> = ended.stdout.lines().collect();
    let secret =
        lines.first().and_then(|line| line.strip_prefix("::stop-commands::")).expect("the first line");
    assert!(secret.len() == 32, "{ended}");
    assert_eq!(lines.last(), Some(&format!("::{secret}::").as_str()), "{ended}");
    let other = job.run(&inputs);
    assert!(!other.stdout.contains(secret), "the word is the same each time: {other}");
}
