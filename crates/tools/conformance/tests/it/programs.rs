//! Scripts against small programs of the shell.

use std::fs;
use std::path::Path;
use std::time::Duration;

use agentwire_conformance::{
    CommandLine, Config, Report, ScriptFile, Sender, SubjectKind, SuiteError, Target, Verdict,
};

/// An agent that answers each line with the same.
const ECHO: &str =
    r#"while read -r line; do echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}'; done"#;

const HEADER: &str =
    r#"{"recording":1,"script":"agent","revision":"1","requirements":["INIT-06","acp/RPC-01"]}"#;
const ASK: &str = r#"{"from":"client","message":{"jsonrpc":"2.0","id":1,"method":"initialize"}}"#;
const ANSWER: &str = r#"{"from":"agent","message":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}}"#;

async fn run(scripts: &[(&str, &[&str])], program: &str) -> Result<Report, SuiteError> {
    let folder = tempfile::tempdir().unwrap();
    for (name, lines) in scripts {
        fs::write(folder.path().join(format!("{name}.jsonl")), lines.join("\n")).unwrap();
    }
    let command = CommandLine::new(["sh", "-c", program]).unwrap();
    let mut config = Config::new(SubjectKind::AcpAgent, Target::Command(command));
    config.scripts = ScriptFile::read_all(folder.path()).unwrap();
    config.wait = Duration::from_secs(5);
    config.run(&()).await
}

#[tokio::test]
async fn each_requirement_of_a_script_has_its_verdict_and_its_bytes() {
    let two = ANSWER.replace("protocolVersion\":1", "protocolVersion\":2");
    let scripts: &[(&str, &[&str])] =
        &[("good", &[HEADER, ASK, ANSWER, r#"{"quiet":true}"#]), ("bad", &[HEADER, ASK, &two])];
    let report = run(scripts, ECHO).await.unwrap();
    let found: Vec<_> = report.results.iter().map(|result| (&*result.requirement, &*result.check)).collect();
    let (good, bad) = ("script good", "script bad");
    assert_eq!(
        found,
        [("acp/INIT-06", bad), ("acp/INIT-06", good), ("acp/RPC-01", bad), ("acp/RPC-01", good)]
    );
    for result in &report.results {
        let Verdict::Fail(failure) = &result.verdict else {
            assert_eq!((&result.verdict, &*result.check), (&Verdict::Pass, good));
            continue;
        };
        assert_eq!(result.check, bad);
        let expected =
            r#"event 2 of the script bad: {"id":1,"jsonrpc":"2.0","result":{"protocolVersion":2}}"#;
        assert_eq!(failure.expected, expected);
        assert_eq!(failure.seen, r#"{"id":1,"jsonrpc":"2.0","result":{"protocolVersion":1}}"#);
        let said = result.trace.iter().find(|event| event.from == Sender::Subject).unwrap();
        assert_eq!(said.bytes, br#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}"#);
    }
}

#[tokio::test]
async fn a_program_that_says_too_much_fails_and_one_that_says_nothing_is_not_judged() {
    let scripts: &[(&str, &[&str])] = &[("one", &[HEADER, ASK, ANSWER])];
    let verdict = async |program: &str| run(scripts, program).await.unwrap().results.remove(0).verdict;
    let talkative = format!("{ECHO}; echo '{{}}'");
    assert!(matches!(verdict(&talkative).await, Verdict::Fail(failure) if failure.seen == "{}"));
    assert!(matches!(verdict("exit 3").await, Verdict::Inconclusive { .. }));
}

#[tokio::test]
async fn scripts_that_are_no_checks_of_the_program_are_refused() {
    for (header, why) in [
        (r#"{"recording":1,"script":"client","requirements":["INIT-06"]}"#, "it does not judge the agent"),
        (r#"{"recording":1,"script":"agent"}"#, "it names no requirement"),
        (
            r#"{"recording":1,"script":"agent","requirements":["NO-01"]}"#,
            "there is no requirement NO-01 of acp",
        ),
        (r#"{"recording":1,"script":"agent","requirements":["INIT-01"]}"#, "INIT-01 does not bind the agent"),
        (
            r#"{"recording":1,"script":"agent","revision":"2","requirements":["INIT-07"]}"#,
            "acp/INIT-07 does not hold in 2",
        ),
    ] {
        let error = run(&[("wrong", &[header])], ECHO).await.unwrap_err();
        assert_eq!(error.to_string(), format!("the script wrong: {why}"));
    }
}

#[test]
fn malformed_scripts_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = |path: &Path| ScriptFile::read_all(path).unwrap_err().to_string();
    assert!(error(folder.path()).ends_with("has no script"));
    assert!(error(&folder.path().join("none")).contains("none: "));
    let file = folder.path().join("recording.jsonl");
    fs::write(&file, r#"{"recording":1}"#).unwrap();
    for path in [folder.path(), &file] {
        assert!(
            error(path)
                .ends_with("recording.jsonl: it is not a script: its first line has no member `script`")
        );
    }
}
