//! `agentwire chat` with `--allow`, `--deny` and `--approve-reads`, in both versions of the protocol.

use serde_json::{Value, json};

use crate::binaries::acting;
use crate::chat::script;
use crate::program::{Ended, Program, SOON};

const YES: &str = "\\\"optionId\\\":\\\"yes\\\"";
const NO: &str = "\\\"optionId\\\":\\\"no\\\"";

/// An agent of version 1 that asks for permission for a call, and sends the answer that it gets. `before` are the updates that it
/// sends first.
fn asks(before: &[Value], call: &Value) -> String {
    let options = json!([
        { "optionId": "yes", "name": "Yes", "kind": "allow_once" },
        { "optionId": "no", "name": "No", "kind": "reject_once" },
    ]);
    let params = json!({ "sessionId": "s1", "options": options, "toolCall": call });
    let mut steps: Vec<Value> = before.iter().map(|update| json!({ "update": update })).collect();
    steps.extend([
        json!({ "ask": ["session/request_permission", params] }),
        json!("hear"),
        json!({ "answer": { "stopReason": "end_turn" } }),
    ]);
    acting(&script(json!({}), json!({ "session/prompt": steps })))
}

fn chat(agent: &str, arguments: &[&str]) -> Ended {
    Program::run(&[&["chat", "--json", "--agent", agent, "hello"], arguments].concat(), SOON)
}

#[test]
fn a_kind_a_path_and_a_command_are_allowed_and_denied() {
    let at = |kind: &str, path: &str| json!({ "toolCallId": "t", "title": "T", "kind": kind, "locations": [{ "path": path }] });
    let run = |command: &str| json!({ "toolCallId": "t", "title": "T", "kind": "execute", "rawInput": { "command": command } });
    let inside = at("edit", "/srv/src/a.rs");
    let cwd = tempfile::tempdir().unwrap();
    let cwd = cwd.path().to_str().unwrap();
    let relative = at("edit", &format!("{cwd}/src/a.rs"));
    for (call, arguments, code, answer) in [
        (&at("read", "/x"), &["--approve-reads"][..], 0, YES),
        (&at("edit", "/x"), &["--approve-reads"], 6, NO),
        (&inside, &["--allow", "edit"], 0, YES),
        (&inside, &["--allow", "edit:/srv/src/**"], 0, YES),
        (&inside, &["--allow", "edit:/srv/lib/**"], 6, NO),
        (&relative, &["--allow", "edit:src/**", "--cwd", cwd], 0, YES),
        (&run("git status"), &["--allow", "execute:git *"], 0, YES),
        (&run("git status; rm x"), &["--allow", "execute:git *"], 6, NO),
        (&run("git -c alias.x=id x"), &["--allow", "execute:git *"], 6, NO),
        (&run("git -c alias.x=id x"), &["--allow", "execute:git -c"], 0, YES),
        (&run("npm-check -u"), &["--allow", "execute:npm*"], 0, YES),
        (&run("npm run x && rm x"), &["--allow", "execute:npm*"], 6, NO),
        (&run("cd x && npm-check"), &["--yes", "--deny", "execute:npm*"], 6, NO),
        (&run("rm x"), &["--yes", "--deny", "execute:rm"], 6, NO),
        (&run("ls"), &["--yes", "--deny", "execute:rm"], 0, YES),
        (&inside, &["--allow", "edit", "--deny", "edit:/srv/**"], 6, NO),
    ] {
        let ended = chat(&asks(&[], call), arguments);
        ended.exits(code).prints(answer);
    }
}

/// A request may name its call by the id alone.
#[test]
fn earlier_updates_of_a_call_count() {
    let call = json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": "Clean up", "kind": "execute",
        "rawInput": { "command": ["bash", "-lc", "rm -r build"] } });
    let bare = json!({ "toolCallId": "t" });
    let agent = asks(std::slice::from_ref(&call), &bare);
    chat(&agent, &["--yes", "--deny", "execute:rm"])
        .exits(6)
        .prints(NO)
        .reports("rejected by --deny execute:rm: Clean up\n");
    chat(&agent, &["--allow", "execute:rm"]).exits(0).prints(YES);
    // The data of the request in its place hides nothing.
    let hides = json!({ "toolCallId": "t", "kind": "read", "rawInput": { "command": "ls" } });
    chat(&asks(&[call], &hides), &["--yes", "--deny", "execute:rm"]).exits(6).prints(NO);
    // Of an unknown call nothing is said: it is denied, and not allowed.
    let unknown = asks(&[], &json!({ "toolCallId": "other" }));
    chat(&unknown, &["--yes", "--deny", "execute:rm"]).exits(6).prints(NO);
    chat(&unknown, &["--allow", "execute:rm"]).exits(6).prints(NO);
    // So it is with a call whose kind was never said.
    let announced = json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": "Clean up" });
    let vague = asks(&[announced], &bare);
    chat(&vague, &["--yes", "--deny", "execute"]).exits(6).reports("rejected by --deny execute: Clean up\n");
    chat(&vague, &["--yes", "--deny", "read"]).exits(6).prints(NO);
    chat(&vague, &["--allow", "other"]).exits(6).prints(NO);
}

/// An answer that holds for always is not an answer to a later call with the same title.
#[test]
fn an_allowed_call_does_not_hide_a_denied_one() {
    let call = |id: &str, command: &str| {
        json!({ "update": { "sessionUpdate": "tool_call", "toolCallId": id, "title": "Bash", "kind": "execute",
            "rawInput": { "command": command } } })
    };
    let options = json!([
        { "optionId": "yes", "name": "Always", "kind": "allow_always" },
        { "optionId": "no", "name": "No", "kind": "reject_once" },
    ]);
    let ask = |id: &str| {
        let call = json!({ "toolCallId": id, "title": "Bash" });
        json!({ "ask": ["session/request_permission",
            { "sessionId": "s1", "options": options, "toolCall": call }] })
    };
    let (first, second) = ([call("1", "ls"), ask("1")], [call("2", "rm x"), ask("2")]);
    let (hear, end) = (json!("hear"), json!({ "answer": { "stopReason": "end_turn" } }));
    let steps = [&first[..], std::slice::from_ref(&hear), &second, &[hear.clone(), end]].concat();
    let agent = acting(&script(json!({}), json!({ "session/prompt": steps })));
    let ended = chat(&agent, &["--yes", "--deny", "execute:rm"]);
    ended.exits(6).prints(YES).prints(NO).reports("rejected by --deny execute:rm: Bash\n");
}

#[test]
fn the_rules_hold_in_version_2() {
    let run = ["chat", "--protocol", "2", "/run echo hi"];
    for json in [&[][..], &["--json"]] {
        let chat = |more: &[&str]| Program::run(&[&run[..], more, json].concat(), SOON);
        let denied = chat(&["--yes", "--deny", "execute:echo"]);
        denied.exits(6).reports("rejected by --deny execute:echo: Run echo hi\n");
        chat(&["--allow", "execute:rm"]).exits(6);
        chat(&["--allow", "execute:echo"]).exits(0).shows("hi");
        chat(&["--allow", "execute"]).exits(0).shows("hi");
        chat(&["--allow", "execute", "--deny", "execute"]).exits(6);
    }
}

/// The client's own files and terminals are not asked for call by call.
#[test]
fn a_rule_for_a_kind_selects_the_offered_capabilities() {
    let initialized = |arguments: &[&str]| {
        let hears =
            script(json!({}), json!({ "initialize": ["hear", { "answer": { "protocolVersion": 1 } }] }));
        let hears = acting(&hears);
        let ended =
            Program::run(&[&["chat", "--json", "--agent", &hears, "hello"], arguments].concat(), SOON);
        let text = ended.exits(0).objects()[0].to_string();
        let has = |words: &str| text.contains(&words.replace('"', "\\\""));
        [has("\"readTextFile\":true"), has("\"writeTextFile\":true"), has("\"terminal\":true")]
    };
    assert_eq!(initialized(&[]), [true, false, false]);
    assert_eq!(initialized(&["--yes"]), [true, true, true]);
    assert_eq!(initialized(&["--allow", "execute"]), [true, false, true]);
    assert_eq!(initialized(&["--allow", "execute:git"]), [true, false, false]);
    assert_eq!(initialized(&["--yes", "--deny", "read"]), [false, false, true]);
    assert_eq!(initialized(&["--yes", "--deny", "execute:rm"]), [true, true, false]);
}

#[test]
fn a_denied_path_is_kept_from_the_agent() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    for name in [".env", "note"] {
        std::fs::write(folder.path().join(name), format!("what is in {name}")).unwrap();
    }
    let read = |name: &str| json!({ "ask": ["fs/read_text_file", { "sessionId": "s1", "path": format!("{path}/{name}") }] });
    let steps =
        json!([read(".env"), "hear", read("note"), "hear", { "answer": { "stopReason": "end_turn" } }]);
    let agent = acting(&script(json!({}), json!({ "session/prompt": steps })));
    let ended =
        Program::run(&["chat", "--cwd", path, "--deny", "read:.env", "--agent", &agent, "hello"], SOON);
    ended.exits(0).shows("what is in note");
    assert!(!ended.stdout.contains("what is in .env"), "{ended}");
    // Neither path of a directory behind a link leads to it.
    #[cfg(unix)]
    {
        let link = folder.path().with_extension("link");
        std::os::unix::fs::symlink(folder.path(), &link).unwrap();
        let cwd = link.to_str().unwrap();
        let ended =
            Program::run(&["chat", "--cwd", cwd, "--deny", "read:.env", "--agent", &agent, "hello"], SOON);
        std::fs::remove_file(&link).unwrap();
        ended.exits(0).shows("what is in note");
        assert!(!ended.stdout.contains("what is in .env"), "{ended}");
    }
}

/// Codex cancels the turn when a permission is refused.
#[test]
fn a_turn_that_is_cancelled_because_of_a_refusal_is_not_permitted() {
    let options = json!([{ "optionId": "cancel", "name": "No", "kind": "reject_once" }]);
    let call = json!({ "toolCallId": "t", "title": "T", "kind": "execute" });
    let params = json!({ "sessionId": "s1", "options": options, "toolCall": call });
    let ask = json!({ "ask": ["session/request_permission", params] });
    let turn = |steps: Value| {
        let agent = acting(&script(json!({}), json!({ "session/prompt": steps })));
        Program::run(&["chat", "--agent", &agent, "hello"], SOON)
    };
    let stop = |reason: &str| json!({ "answer": { "stopReason": reason } });
    turn(json!([ask, "hear", stop("cancelled")])).exits(6).reports("error: a permission was refused");
    turn(json!([ask, "hear", stop("max_tokens")])).exits(1).reports("error: the agent stopped: max_tokens");
    turn(json!([stop("cancelled")])).exits(1).reports("error: the agent cancelled the turn");
}

#[test]
fn a_rule_that_nothing_can_match_is_wrong_usage() {
    let chat = |rule| Program::run(&["chat", "--allow", rule, "hello"], SOON);
    chat("write")
        .exits(2)
        .reports("a rule begins with one of: read, edit, delete, move, search, execute, think, fetch");
    chat("execute:a | b").exits(2).reports("--allow execute:a | b: ");
    chat("execute:npm?").exits(2).reports("escapes; `*` alone stands for other characters");
}
