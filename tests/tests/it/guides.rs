//! The guides, followed as they are written: the lines of their `Cargo.toml`, their whole programs and their shell.
//! Their Rust is compiled by the tests of the documentation.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, ChildStdin, Command, Stdio};
use std::thread;

use tempfile::TempDir;

use crate::binaries::{agentwire, guide_program};
use crate::rows;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

#[test]
fn the_lines_of_cargo_toml_are_all_that_is_needed() {
    rows::for_each(&["agent", "client", "mcp"], |name| {
        let folder = tempfile::tempdir().expect("there is room");
        symlink(fs::canonicalize(REPOSITORY).expect("it is there"), folder.path().join("agentwire"))
            .expect("links can be made");
        let made = shell(folder.path(), &format!("cargo new --quiet --vcs none my-{name}"), "");
        assert_eq!(made, "");
        let project = folder.path().join(format!("my-{name}"));
        let manifest = project.join("Cargo.toml");
        let [lines] = &blocks(&guide(name), "toml")[..] else { panic!("there is one block of lines") };
        let text = fs::read_to_string(&manifest).expect("cargo has made it");
        fs::write(&manifest, text.replace("[dependencies]\n", lines)).expect("it can be written");
        // With the versions that are used here, and for this platform alone: cargo has fetched no others.
        fs::copy(Path::new(REPOSITORY).join("Cargo.lock"), project.join("Cargo.lock")).expect("it is there");
        let resolve = "host=$(rustc -vV | sed -n 's/^host: //p')
            cargo metadata --offline --filter-platform \"$host\" --format-version 1";
        let resolved = shell(&project, resolve, "");
        let packages = serde_json::from_str::<serde_json::Value>(&resolved).expect("cargo writes JSON");
        assert!(
            packages["resolve"]["root"].as_str().is_some_and(|root| root.contains(&format!("my-{name}")))
        );

        let mut rust = blocks(&guide(name), "rust,no_run");
        rust.extend(blocks(&guide(name), "rust"));
        rust.push(file(&format!("{name}.rs")));
        for used in rust.iter().flat_map(|block| crates(block)) {
            let line = lines.lines().any(|line| line.starts_with(&format!("{used} = ")));
            assert!(line, "{used} is used, and not among the lines");
        }
    });
}

#[test]
fn the_agent_behaves_as_its_guide_describes() {
    let place = Place::new("agent");
    let (asks, block) = ("chat 'run echo hello' ", place.last_block());
    assert!(block.contains(asks), "{block}");
    // The reader of the guide is asked. Without a person, the exit code shows that a permission was refused.
    let output = shell(&place.project, &block.replace(asks, &format!("{asks} || test $? = 6 ")), "");
    let in_order = [
        "Then not.",                       // no person allowed it
        "42",                              // the tool
        "I would run echo hello",          // the mode
        "add {\"a\": 2, \"b\": 40}",       // the list, by title
        "Say `run` and a command",         // the newest session goes on
        "{\"stopReason\":\"end_turn\"}\n", // for scripts
    ];
    appear_in_order(&output, &in_order);
}

#[test]
fn the_client_behaves_as_its_guide_describes() {
    let place = Place::new("client");
    // What it copies and what cargo would build is built already.
    let block = place.last_block().replace("cargo run --", "target/debug/my-client");
    let output = shell(&place.project, &block, "a\n");
    assert!(output.contains("hello\n") && output.ends_with("\n[end_turn]\n"), "{output}");
}

#[test]
fn the_server_behaves_as_its_guide_describes() {
    let place = Place::new("mcp");
    let output = shell(&place.project, &place.last_block(), "");
    appear_in_order(
        &output,
        &[
            "note(text: string)", // a tool
            "\"outputSchema\":{", // with the schemas
            "Noted.",
            "{\"notes\":[\"Buy milk\"]}",
            "{\"notes\":[\"Call Ann\"]}", // in a session
            "{\"notes\":[\"Call Ann\"]}", // by modern requests
            "`text` is missing",
            "and why it failed",
            "2 are left.", // a task, after its question
            "Removed.",    // after a question
        ],
    );
}

#[test]
fn the_server_serves_http_as_its_guide_describes() {
    let place = Place::new("mcp");
    fs::write(place.project.join("notes.txt"), "Buy milk").expect("there is room");
    let blocks = blocks(&guide("mcp"), "sh");
    let [.., listen, call, _] = &blocks[..] else { panic!("there are more") };
    assert!(listen.contains("my-mcp 127.0.0.1:8080"), "{listen}");
    let mut server = Command::new(place.project.join("target/debug/my-mcp"))
        .arg("127.0.0.1:0")
        .current_dir(&place.project)
        .stderr(Stdio::piped())
        .spawn()
        .expect("it is built");
    let mut line = String::new();
    BufReader::new(server.stderr.take().expect("it is a pipe")).read_line(&mut line).expect("it is text");
    let output = line.trim().strip_prefix("listening on ").map(|url| {
        let block = call.replace("http://127.0.0.1:8080/mcp", url);
        std::panic::catch_unwind(|| shell(&place.project, &block, ""))
    });
    server.kill().expect("it is our child");
    server.wait().expect("it is our child");
    let output = output.unwrap_or_else(|| panic!("it does not print its address: {line:?}"));
    let output = output.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    appear_in_order(&output, &["search(word: string, limit?: integer|null)", "{\"notes\":[\"Buy milk\"]}"]);
}

/// Our client, our agent, both as in the guides: each receives the messages of the other.
#[test]
fn the_programs_of_the_guides_understand_each_other() {
    let place = Place::new("client");
    let agent = guide_program("agent");
    let chat = |prompt: &str, stdin: &str| {
        let line = format!("target/debug/my-client '{prompt}' '{}' sessions", agent.display());
        shell(&place.project, &line, stdin)
    };
    let output = chat("run echo $((6 * 7))", "1\n");
    assert!(output.contains("completed]") && output.ends_with("42\n\n[end_turn]\n"), "{output}");
    // It loads that session, and gets its conversation.
    let output = chat("and again", "");
    let (before, now) =
        output.split_once("> and again").unwrap_or_else(|| panic!("the prompt is missing: {output}"));
    assert!(before.contains("> run echo") && before.ends_with("42\n\n"), "{output}");
    assert!(now.contains("Say `run`"), "{output}");
}

/// A project as a reader has it: the programs are built, and the repository is beside it.
struct Place {
    name: &'static str,
    project: PathBuf,
    _folder: TempDir,
}

impl Place {
    fn new(name: &'static str) -> Self {
        let folder = tempfile::tempdir().expect("there is room");
        let project = folder.path().join(format!("my-{name}"));
        let links = [
            (agentwire().to_owned(), folder.path().join("agentwire/target/release/agentwire")),
            (Path::new(REPOSITORY).join("docs"), folder.path().join("agentwire/docs")),
            (guide_program(name).to_owned(), project.join(format!("target/debug/my-{name}"))),
        ];
        for (program, link) in links {
            fs::create_dir_all(link.parent().expect("it is in a folder")).expect("there is room");
            symlink(program, link).expect("links can be made");
        }
        fs::create_dir(project.join("src")).expect("there is room");
        Self { name, project, _folder: folder }
    }

    /// The last shell block of the guide.
    fn last_block(&self) -> String {
        blocks(&guide(self.name), "sh").pop().expect("there is one")
    }
}

/// Runs a script and returns its stdout. It must work, and in time. An answer is typed once it asks.
fn shell(folder: &Path, script: &str, answer: &str) -> String {
    let mut child = Command::new("timeout")
        .args(["60", "sh", "-eu", "-c", script])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("there is a shell");
    let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
    let (stdin, stderr) = (stdin.expect("it is a pipe"), stderr.expect("it is a pipe"));
    let answer = answer.to_owned();
    let person = thread::spawn(move || answer_when_asked(stdin, stderr, &answer));
    let output = child.wait_with_output().expect("it is our child");
    let logged = person.join().expect("it can be talked to");
    let stdout = String::from_utf8(output.stdout).expect("it is text");
    assert!(output.status.success(), "{script}\n{}\nstdout: {stdout}\nstderr: {logged}", output.status);
    stdout
}

/// Types an answer where a question has appeared, and gives all that appeared.
fn answer_when_asked(stdin: ChildStdin, mut stderr: ChildStderr, answer: &str) -> String {
    let mut stdin = (!answer.is_empty()).then_some(stdin);
    let (mut logged, mut part) = (Vec::new(), [0; 1024]);
    while let length @ 1.. = stderr.read(&mut part).expect("it is open") {
        logged.extend_from_slice(&part[..length]);
        if logged.ends_with(b"then Enter: ")
            && let Some(mut stdin) = stdin.take()
        {
            stdin.write_all(answer.as_bytes()).expect("it waits for an answer");
        }
    }
    String::from_utf8_lossy(&logged).into_owned()
}

fn appear_in_order(output: &str, in_order: &[&str]) {
    in_order.iter().fold(output, |left, words| match left.split_once(words) {
        Some((_, left)) => left,
        None => panic!("{words:?} is missing, or not in its place: {output}"),
    });
}

fn guide(name: &str) -> String {
    file(&format!("{name}.md"))
}

fn file(name: &str) -> String {
    fs::read_to_string(Path::new(REPOSITORY).join("docs/guide").join(name)).expect("it is there")
}

/// The content of the fenced blocks of a language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let opening = format!("```{language}\n");
    let all = text.split(&opening).skip(1);
    all.map(|rest| rest.split("```").next().expect("there is a first part").to_owned()).collect()
}

/// The crates that a program names, as `Cargo.toml` spells them.
fn crates(block: &str) -> impl Iterator<Item = String> {
    let words = block.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
    let first = words.filter_map(|word| Some(word.split_once("::")?.0));
    let others = ["futures", "schemars", "serde", "serde_json", "tokio", "tower"];
    let passed_on = |name: &str| block.contains(&format!("use agentwire::{name}::"));
    let foreign =
        move |name: &&str| name.starts_with("agentwire") || others.contains(name) && !passed_on(name);
    first.filter(foreign).map(|name| match name.starts_with("agentwire") {
        true => name.replace('_', "-"),
        false => name.to_owned(),
    })
}
