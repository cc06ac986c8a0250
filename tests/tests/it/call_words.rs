//! The arguments of `agentwire call`, its answers to forms, and what it makes of a result, with the exact texts.

use std::fs;
use std::process::Command;

use agentwire_tests::Recording;
use serde_json::{Value, json};

use crate::binaries::{acting, agentwire, recorded};
use crate::program::{Ended, Program, SOON};
use crate::rows;

fn run(arguments: &[&str]) -> Ended {
    Program::run(arguments, SOON)
}

/// A server whose tool `any` has this result.
fn answering(result: &Value) -> String {
    acting(&json!({
        "initialize": [{ "answer": { "protocolVersion": "2025-11-25", "serverInfo": { "name": "a", "version": "1" }, "capabilities": { "tools": {} } } }],
        "tools/list": [{ "answer": { "tools": [] } }],
        "tools/call": [{ "answer": result }],
    }))
}

fn server() -> String {
    recorded("mcp", "server")
}

#[test]
fn arguments_get_the_types_of_the_schema() {
    let ours = server();
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("it is written");
        path.to_str().expect("UTF-8").to_owned()
    };
    let note = format!("message@{}", file("note", "a note"));
    let object = format!("@{}", file("object.json", "{\"a\": 1, \"b\": 41}"));
    let part = format!("@{}", file("part.json", "{\"a\": 1}"));
    let rows: [(&[&str], &str); 7] = [
        (&["add", "a=2", "b:=40"], "{\"sum\":42}\n"),
        (&["add", &object], "{\"sum\":42}\n"),
        (&["add", &part, "b=2"], "{\"sum\":3}\n"),
        (&["echo", "message=2"], "2\n"),
        (&["echo", "message=a=b@c"], "a=b@c\n"),
        (&["echo", &note], "a note\n"),
        (&["echo", "{\"message\": \"hi\", \"more\": 1}"], "hi\n"),
    ];
    for era in ["legacy", "modern"] {
        rows::for_each(&rows, |(arguments, expected)| {
            let ended = run(&[&["call", "--era", era, &ours], *arguments].concat());
            assert_eq!((ended.exits(0).stdout.as_str(), ended.stderr.as_str()), (*expected, ""));
        });
    }
    let mut call = Program::start(&["call", &ours, "add", "-", "b=40"]);
    call.write(b"{\"a\": 2}");
    call.close_stdin();
    assert_eq!(call.end(SOON).exits(0).stdout, "{\"sum\":42}\n");
}

#[test]
fn wrong_arguments_are_named() {
    let ours = server();
    let rows: [(&[&str], i32, &str); 9] = [
        (&["add", "a=two", "b=1"], 2, "argument `a`: `two` is not a number"),
        (&["add", "a=1"], 2, "argument `b` is missing: add(a: number, b: number)"),
        (
            &["slow", "secnds=1"],
            2,
            "the tool has no argument `secnds`: slow(seconds: number, steps?: integer = 1); did you mean `seconds`?",
        ),
        (&["slow", "seconds=1", "steps=1.5"], 2, "argument `steps`: `1.5` is not an integer"),
        (&["add", "a"], 2, "`a` is not an argument: write NAME=VALUE, NAME:=JSON, NAME@FILE, @FILE, or -"),
        (
            &["add", "a@/no/such/file"],
            2,
            "/no/such/file: it cannot be read: No such file or directory (os error 2)",
        ),
        (
            &["slow"],
            5,
            "the tool failed; argument `seconds` is missing: slow(seconds: number, steps?: integer = 1)",
        ),
        (&["ad", "a=1"], 2, "the server has no tool `ad`; did you mean `add`?"),
        (&["fail"], 5, "the tool failed"),
    ];
    rows::for_each(&rows, |(arguments, code, expected)| {
        let ended = run(&[&["call", &ours], *arguments].concat());
        assert_eq!(ended.exits(*code).stderr, format!("error: {expected}\n"));
    });
    // A call that is made at once is explained afterwards.
    let ended = run(&["call", &ours, "ad", "{}"]);
    ended
        .exits(2)
        .reports("error: the server has no tool `ad`; did you mean `add`?: the server refused tools/call: ");
    let ended = run(&["call", "--json", &ours, "ad", "{}"]);
    assert_eq!(ended.exits(2).objects()[0]["error"]["code"], -32602, "{ended}");
}

#[test]
fn forms_are_answered_by_the_command_line() {
    let ours = server();
    for era in ["legacy", "modern"] {
        let run = |answers: &[&str]| run(&[&["call", "--era", era, &ours, "order"], answers].concat());
        let ended = run(&["--answer", "drink=tea", "--answer", "cups=2"]);
        assert_eq!(ended.exits(0).stdout, "ordered: 2 × tea\n");
        assert_eq!(ended.stderr, "answered with --answer: What may it be? (drink, cups)\n");
        let ended = run(&["--answer", "drink=wine"]);
        assert_eq!(
            ended.exits(2).stderr,
            "error: --answer drink: \"wine\" is not one of the choices; the tool had already been called\n"
        );
        let ended = run(&["--answer", "food=cake"]);
        let expected = "declined, because nobody is at a terminal to be asked: What may it be?\n\
            to answer it: --answer drink=… --answer cups=…\n\
            --answer food: the server did not ask for it\n\
            error: nobody is at a terminal to answer the question of the server; --answer NAME=VALUE answers a form\n";
        assert_eq!(ended.exits(6).stderr, expected);
    }
    let job = ["seconds=0", "ask=true", "--answer", "sure=true"];
    let ended = run(&[&["call", "--era", "modern", &ours, "task"], &job[..]].concat());
    assert_eq!(ended.exits(0).stdout, "did 1 steps\n");
}

/// A server may answer a call of an unknown tool with an error result.
#[test]
fn tool_that_is_not_there_has_not_failed() {
    let server = acting(&json!({
        "initialize": [{ "answer": { "protocolVersion": "2025-11-25", "serverInfo": { "name": "a", "version": "1" }, "capabilities": { "tools": {} } } }],
        "tools/list": [{ "answer": { "tools": [{ "name": "add", "inputSchema": { "type": "object" } }] } }],
        "tools/call": [{ "answer": { "content": [{ "type": "text", "text": "unknown" }], "isError": true } }],
    }));
    let ended = run(&["call", &server, "ad"]);
    assert_eq!(ended.exits(2).stderr, "error: the server has no tool `ad`; did you mean `add`?\n");
    assert_eq!(ended.stdout, "unknown\n");
    let ended = run(&["--json", "call", &server, "ad"]);
    assert_eq!(ended.exits(2).objects().len(), 1, "the result is the object: {ended}");
}

/// A server whose tools need a form: it fails without one.
#[test]
fn a_tool_that_fails_for_want_of_a_person_is_not_permitted() {
    let schema = json!({ "type": "object", "properties": { "sure": { "type": "boolean" } } });
    let server = acting(&json!({
        "initialize": [{ "answer": { "protocolVersion": "2025-11-25", "serverInfo": { "name": "a", "version": "1" }, "capabilities": { "tools": {} } } }],
        "tools/list": [{ "answer": { "tools": [] } }],
        "tools/call": [
            { "ask": ["elicitation/create", { "message": "Sure?", "requestedSchema": schema }] },
            { "answer": { "content": [{ "type": "text", "text": "not sure" }], "isError": true } },
        ],
    }));
    let ended = run(&["call", &server, "any", "{}"]);
    assert_eq!(ended.exits(6).stdout, "not sure\n");
    let expected = "declined, because nobody is at a terminal to be asked: Sure?\n\
        to answer it: --answer sure=…\n\
        error: the tool failed, and nobody is at a terminal to answer the question of the server; --answer NAME=VALUE answers a form\n";
    assert_eq!(ended.stderr, expected);
}

#[test]
fn each_kind_of_content_is_shown_and_saved() {
    let content = json!([
        { "type": "text", "text": "A text." },
        { "type": "image", "mimeType": "image/png", "data": "AAEC" },
        { "type": "audio", "mimeType": "audio/wav", "data": "AAE=" },
        { "type": "resource_link", "uri": "a://b", "name": "b", "mimeType": "text/plain" },
        { "type": "resource", "resource": { "uri": "a://notes", "mimeType": "text/plain", "text": "Some notes." } },
        { "type": "resource", "resource": { "uri": "file:///x/../data.bin", "blob": "AA==" } },
    ]);
    let server = answering(&json!({ "content": content }));
    let expected = "A text.\n\
        [an image, image/png, 3 bytes]\n\
        [a sound, audio/wav, 2 bytes]\n\
        [b](a://b), text/plain\n\
        [a resource, a://notes, text/plain]\n\
        Some notes.\n\
        [a file, file:///x/../data.bin, 1 bytes]\n";
    let ended = run(&["call", &server, "any", "{}"]);
    assert_eq!((ended.exits(0).stdout.as_str(), ended.stderr.as_str()), (expected, ""));

    let folder = tempfile::tempdir().expect("a folder");
    let directory = folder.path().to_str().expect("UTF-8");
    for (image, sound, data) in
        [("image.png", "sound.wav", "data.bin"), ("image-2.png", "sound-2.wav", "data-2.bin")]
    {
        let ended = run(&["call", &server, "any", "{}", "--save", directory]);
        ended.exits(0).prints(&format!("[an image, image/png, 3 bytes, saved as {directory}/{image}]\n"));
        ended.prints(&format!("[a sound, audio/wav, 2 bytes, saved as {directory}/{sound}]\n"));
        ended.prints(&format!("[a file, file:///x/../data.bin, 1 bytes, saved as {directory}/{data}]\n"));
        assert_eq!(fs::read(folder.path().join(image)).expect("it is saved"), [0, 1, 2]);
    }
    assert_eq!(fs::read_dir(folder.path()).expect("it is a folder").count(), 6);

    let structured = answering(&json!({ "content": [], "structuredContent": { "b": 1.10, "a": [] } }));
    let ended = run(&["call", &structured, "any", "{}"]);
    assert_eq!(ended.exits(0).stdout, "{\n  \"a\": [],\n  \"b\": 1.1\n}\n");
    let ended = run(&["call", &structured, "any", "{}", "--save", directory]);
    let nothing = "error: nothing was saved: there is no image, sound or other file in the result\n";
    assert_eq!(ended.exits(1).stderr, nothing);
}

/// Simulates a full disk by a limit on the size of files: a write fills the room that is left, and fails.
#[test]
fn a_full_disk_costs_the_file_and_not_the_rest_of_the_result() {
    let large = "A".repeat(100_000);
    let server = answering(&json!({ "content": [
        { "type": "text", "text": "A text." },
        { "type": "image", "mimeType": "image/png", "data": large },
        { "type": "audio", "mimeType": "audio/wav", "data": "AAE=" },
        { "type": "text", "text": "The answer." },
    ] }));
    let folder = tempfile::tempdir().expect("a folder");
    let directory = folder.path().to_str().expect("UTF-8");
    let mut limited = Command::new("sh");
    // The limit would kill the server when it records its messages.
    let unrecorded = format!("unset {}; trap '' XFSZ; ulimit -f 40; exec \"$0\" \"$@\"", Recording::FOLDER);
    limited.arg("-c").arg(unrecorded).arg(agentwire());
    limited.args(["call", &server, "any", "{}", "--save", directory]);
    let ended = Program::start_other(limited).end(SOON);
    let why = format!(
        "an image, image/png: it is not saved, because {directory}/image.png: File too large (os error 27)"
    );
    ended.exits(1).reports(&format!("error: {why}"));
    let saved = format!("[a sound, audio/wav, 2 bytes, saved as {directory}/sound.wav]");
    assert_eq!(ended.stdout, format!("A text.\n[{why}]\n{saved}\nThe answer.\n"));
    let names: Vec<_> =
        fs::read_dir(directory).expect("a folder").map(|file| file.expect("a file").file_name()).collect();
    assert_eq!(names, ["sound.wav"], "nothing is left of the image");
}
