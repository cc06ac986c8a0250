//! The answers of a build without a feature to the commands, options and variables of that feature.

use std::process::{Command, Output};

/// The command lines that need a feature.
struct Part {
    feature: &'static str,
    is_on: bool,
    /// Each line, and the part of the command that its refusal names.
    lines: &'static [(&'static str, &'static str)],
}

const PARTS: &[Part] = &[
    Part {
        feature: "agents",
        is_on: cfg!(feature = "agents"),
        lines: &[("agents --help", "`agentwire agents`")],
    },
    Part {
        feature: "check",
        is_on: cfg!(feature = "check"),
        lines: &[("check --help", "`agentwire check`"), ("stand-in --help", "`agentwire stand-in`")],
    },
    // Its commands are in every build.
    Part { feature: "editor", is_on: cfg!(feature = "editor"), lines: &[] },
    Part {
        feature: "manual",
        is_on: cfg!(feature = "manual"),
        lines: &[("completions --help", "`agentwire completions`"), ("man --help", "`agentwire man`")],
    },
    Part {
        feature: "nodes",
        is_on: cfg!(feature = "nodes"),
        lines: &[
            ("server --http 0 --redis redis://127.0.0.1:1 --help", "`--redis`"),
            ("server --http 0 --redis-prefix=x --help", "`--redis-prefix`"),
        ],
    },
    Part {
        feature: "record",
        is_on: cfg!(feature = "record"),
        lines: &[
            ("record --help", "`agentwire record`"),
            ("replay --help", "`agentwire replay`"),
            ("reduce --help", "`agentwire reduce`"),
            ("chat --record x.jsonl --help", "`--record`"),
            ("--trace=x.jsonl chat --help", "`--trace`"),
            ("call --mask x --help", "`--mask`"),
            ("call --no-mask --help", "`--no-mask`"),
        ],
    },
    Part {
        feature: "telemetry",
        is_on: cfg!(feature = "telemetry"),
        lines: &[
            ("chat --otlp http://127.0.0.1:1 --help", "`--otlp`"),
            ("server --http 0 --metrics 0 --help", "`--metrics`"),
        ],
    },
];

fn agentwire() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agentwire"));
    for variable in ["AGENTWIRE_REDIS", "OTEL_EXPORTER_OTLP_ENDPOINT"] {
        command.env_remove(variable);
    }
    command
}

fn run(line: &str) -> Output {
    agentwire().args(line.split(' ')).output().unwrap()
}

fn sentence(what: &str, feature: &str) -> String {
    let wanted = PARTS.iter().filter(|part| part.is_on || part.feature == feature);
    let features: Vec<_> = wanted.map(|part| part.feature).collect();
    let features = features.join(",");
    format!(
        "{what} is not in this build: `cargo install --path crates/tools/cli --features {features}` adds it"
    )
}

#[test]
fn commands_and_options_of_a_missing_feature_are_refused_in_one_line() {
    for Part { feature, is_on, lines } in PARTS {
        for (line, what) in *lines {
            let output = run(line);
            let stderr = String::from_utf8(output.stderr).unwrap();
            if *is_on {
                assert_eq!(output.status.code(), Some(0), "{line}: {stderr}");
                assert!(!output.stdout.is_empty(), "{line}");
            } else {
                assert_eq!(output.status.code(), Some(2), "{line}: {stderr}");
                assert_eq!(stderr, format!("error: {}\n", sentence(what, feature)), "{line}");
                assert_eq!(output.stdout, b"", "{line}");
            }
        }
    }
}

#[test]
fn unknown_commands_and_options_are_errors_of_every_build() {
    for line in ["chek", "chat --recrod x"] {
        let output = run(line);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(stderr.contains("Usage:") && !stderr.contains("not in this build"), "{line}: {stderr}");
    }
}

#[cfg(not(feature = "check"))]
#[test]
fn refusal_is_json_too() {
    let output = run("--json check");
    let line: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(line["exitCode"], 2);
    assert_eq!(line["error"]["message"], sentence("`agentwire check`", "check"));
}

#[cfg(not(feature = "nodes"))]
#[test]
fn server_that_cannot_share_does_not_start() {
    let mut server = agentwire();
    server.args(["server", "--http", "0"]).env("AGENTWIRE_REDIS", "redis://127.0.0.1:1");
    let output = server.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let expected = format!("error: {}\n", sentence("support for $AGENTWIRE_REDIS", "nodes"));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), expected);
}

#[cfg(not(feature = "telemetry"))]
#[test]
fn collector_of_the_environment_is_warned_of_once() {
    let mut command = agentwire();
    command.args(["chat", "hello"]).env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1");
    let output = command.stdin(std::process::Stdio::null()).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let expected = format!("warning: {}", sentence("support for $OTEL_EXPORTER_OTLP_ENDPOINT", "telemetry"));
    assert_eq!(
        stderr.lines().filter(|line| line.contains("not in this build")).collect::<Vec<_>>(),
        [expected]
    );
}

#[cfg(not(feature = "agents"))]
#[test]
fn agent_that_is_no_program_may_be_an_installed_one() {
    let output = run("chat --agent no-such-agent hello");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{stderr}");
    assert!(stderr.contains(&sentence("support for installed agents", "agents")), "{stderr}");
}
