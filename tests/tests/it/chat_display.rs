//! The display of a turn: at a wide and a narrow terminal, without colours, at a terminal that knows no escape, and
//! without a terminal.

use std::ffi::OsStr;

use serde_json::{Value, json};

use crate::binaries::acting;
use crate::chat::{chat as piped, script, update};
use crate::emulator::screen;
use crate::program::{Program, SOON};
use crate::terminal::{Terminal, answer, converse, leaves, next};

fn message_chunk(text: &str) -> Value {
    update("agent_message_chunk", json!({ "content": { "type": "text", "text": text } }))
}

fn call(members: Value) -> Value {
    update("tool_call_update", members)
}

fn agent(steps: &[Value]) -> Value {
    let end = json!({ "answer": { "stopReason": "end_turn" } });
    let steps: Vec<_> = steps.iter().chain([&end]).collect();
    script(json!({}), json!({ "session/prompt": steps }))
}

/// A turn with all that is drawn.
fn turn() -> Value {
    let plan = json!([
        { "content": "Look", "priority": "high", "status": "completed" },
        { "content": "Change it", "priority": "high", "status": "in_progress" },
    ]);
    let diff =
        json!({ "type": "diff", "path": "/work/a.txt", "oldText": "one\ntwo\n", "newText": "one\nthree\n" });
    let output = |data: &str| json!({ "terminal_output": { "terminal_id": "t", "data": data } });
    agent(&[
        update("plan", json!({ "entries": plan })),
        call(json!({ "toolCallId": "e", "title": "Edit a.txt", "status": "completed", "content": [diff] })),
        call(json!({ "toolCallId": "r", "title": "make", "status": "in_progress",
            "content": [{ "type": "terminal", "terminalId": "t" }] })),
        call(json!({ "toolCallId": "r", "_meta": output("cc a.c\ncc ") })),
        call(json!({ "toolCallId": "r", "_meta": output("b.c\n") })),
        call(json!({ "toolCallId": "r", "status": "failed",
            "_meta": { "terminal_exit": { "terminal_id": "t", "exit_code": 2 } } })),
        message_chunk("# Result\nIt is **done"),
        message_chunk("**, but `make` fails:\n- with code 2"),
        update("usage_update", json!({ "used": 50, "size": 200 })),
    ])
}

fn at_terminal(columns: u16, variables: &[(&str, &OsStr)], script: &Value) -> String {
    let terminal = Terminal::with_columns(columns);
    let arguments = ["chat", "--agent", &acting(script), "hello"];
    let ended = Program::start_at_with(&terminal, variables, &arguments).end(SOON);
    ended.exits(0);
    ended.stdout
}

#[test]
fn a_turn_at_a_terminal() {
    let expected = "\
{1:Plan}
  {32:●} Look
  {33:◐} Change it
{32:●} Edit a.txt
{2:  /work/a.txt}
  {2: one}
  {31:-two}
  {32:+three}
{33:◐} make
  {2:cc a.c}
  {2:cc b.c}
{31:✗} make
{31:  exit code 2}
{1:Result}
It is {1:done}, but {36:make} fails:
• with code 2
{2:context: 25 % of 200 tokens}

";
    assert_eq!(screen(80, &at_terminal(80, &[], &turn())), expected);
}

#[test]
fn a_turn_at_a_narrow_terminal() {
    let long = "These are more than forty columns of text.";
    let steps =
        [call(json!({ "toolCallId": "r", "title": long, "status": "completed" })), message_chunk(long)];
    let expected = "\
{32:●} These are more than forty columns of t
ext.
These are more than forty columns of tex
t.

";
    assert_eq!(screen(40, &at_terminal(40, &[], &agent(&steps))), expected);
}

/// The same as text, with Markdown as it came.
const PLAIN: &str = "\
Plan
  ● Look
  ◐ Change it
● Edit a.txt
  /work/a.txt
   one
  -two
  +three
◐ make
  cc a.c
  cc b.c
✗ make
  exit code 2
# Result
It is **done**, but `make` fails:
- with code 2
context: 25 % of 200 tokens

";

#[test]
fn a_turn_without_colours() {
    let shown = at_terminal(80, &[("NO_COLOR", OsStr::new("1"))], &turn());
    assert_eq!(screen(80, &shown), PLAIN);
}

#[test]
fn a_turn_at_a_terminal_that_knows_no_escape() {
    let shown = at_terminal(80, &[("TERM", OsStr::new("dumb"))], &turn());
    assert!(!shown.contains('\x1b'), "{shown:?}");
    assert_eq!(shown.replace("\r\n", "\n") + "\n", PLAIN);
}

const DETAILS: &str = "\
Plan
  ● Look
  ◐ Change it
● Edit a.txt
  /work/a.txt
   one
  -two
  +three
◐ make
  cc a.c
  cc b.c
✗ make
  exit code 2
context: 25 % of 200 tokens
";

const ANSWER: &str = "# Result\nIt is **done**, but `make` fails:\n- with code 2\n";

#[test]
fn a_turn_without_a_terminal() {
    let ended = piped(&turn(), &["hello"]);
    ended.exits(0);
    assert_eq!((&*ended.stdout, &*ended.stderr), (ANSWER, DETAILS));
    let ended = piped(&turn(), &["--format", "quiet", "hello"]);
    ended.exits(0);
    assert_eq!((&*ended.stdout, &*ended.stderr), (ANSWER, ""));
}

#[test]
fn a_turn_as_json_names_its_session() {
    for form in [&["--format", "json"][..], &["--json"]] {
        let ended = piped(&turn(), &[form, &["hello"]].concat());
        let objects = ended.exits(0).objects();
        let updates: Vec<_> = objects.iter().filter(|object| object.get("update").is_some()).collect();
        assert_eq!((updates.len(), &*ended.stderr), (9, ""), "{ended}");
        assert!(updates.iter().all(|update| update["sessionId"] == "s1"), "{ended}");
        ended.prints("{\"update\":{").prints("},\"sessionId\":\"s1\"}\n");
    }
    let refuse = json!({ "refuse": { "code": -32000, "message": "no more" } });
    let failing = script(json!({}), json!({ "session/prompt": [refuse] }));
    let ended = piped(&failing, &["--format", "json", "hello"]);
    let objects = ended.exits(3).objects();
    let last = objects.last().expect("there are objects");
    assert_eq!((&last["error"]["message"], &last["exitCode"]), (&json!("no more"), &json!(3)), "{ended}");
}

#[test]
fn output_that_is_sent_again_and_again_is_shown_once_and_folded() {
    let lines: Vec<_> = (1..=100).map(|number| format!("line {number}\n")).collect();
    let content = |text: String| json!([{ "type": "content", "content": { "type": "text", "text": text } }]);
    // The last ten lines, each time.
    let told = (1..=100).map(|end: usize| {
        let text = lines[end.saturating_sub(10)..end].concat();
        call(
            json!({ "toolCallId": "r", "title": "count", "status": "in_progress", "content": content(text) }),
        )
    });
    let end = call(json!({ "toolCallId": "r", "status": "completed" }));
    let steps: Vec<_> = told.chain([end]).collect();
    let indented = |lines: &[String]| lines.iter().map(|line| format!("  {line}")).collect::<String>();
    let (first, last) = (indented(&lines[..20]), indented(&lines[80..]));
    let ended = piped(&agent(&steps), &["hello"]);
    ended.exits(0);
    assert_eq!(ended.stderr, format!("◐ count\n{first}● count\n  … 60 lines\n{last}"), "{ended}");

    let (terminal, mut chat, mut seen) = converse(&["chat", "--agent", &acting(&agent(&steps))]);
    chat.write(b":last\r");
    next(&chat, &mut seen, "No output was shown in part.");
    next(&chat, &mut seen, "> ");
    chat.write(b"hello\r");
    next(&chat, &mut seen, "… 60 lines, :last shows all");
    next(&chat, &mut seen, "> ");
    chat.write(b":last\r");
    next(&chat, &mut seen, "line 50");
    next(&chat, &mut seen, "line 100");
    next(&chat, &mut seen, "> ");
    chat.write(b"\x04");
    leaves(chat, &terminal, 0);
}

#[test]
fn a_line_stands_between_the_earlier_conversation_and_the_new_turn() {
    let replay = json!([
        update("user_message_chunk", json!({ "content": { "type": "text", "text": "What was it?" } })),
        message_chunk("It was this."),
        { "answer": {} },
    ]);
    let load = json!({ "loadSession": true });
    let turn = json!([message_chunk("And now that."), { "answer": { "stopReason": "end_turn" } }]);
    let agent = script(load, json!({ "session/load": replay, "session/prompt": turn }));
    let ended = piped(&agent, &["--session", "s1", "What is it?"]);
    ended.exits(0);
    let details = "> What was it?\nIt was this.\n── end of the earlier conversation ──\n> What is it?\n";
    assert_eq!((&*ended.stdout, &*ended.stderr), ("And now that.\n", details));
    let ended = piped(&agent, &["--session", "s1", "--no-replay", "What is it?"]);
    ended.exits(0);
    assert_eq!((&*ended.stdout, &*ended.stderr), ("And now that.\n", ""));
    let ended = piped(&agent, &["--json", "--session", "s1", "--no-replay", "What is it?"]);
    assert_eq!(ended.exits(0).stdout.matches("\"update\"").count(), 1, "{ended}");
}

/// The output of our commands is shown while they run.
#[test]
fn the_output_of_a_command_that_runs_is_shown() {
    let mut chat = Program::start(&["chat", "--yes", "/run echo first; sleep 600"]);
    chat.close_stdin();
    chat.stderr.words("  first\n");
    chat.signal(rustix::process::Signal::INT);
    chat.end(SOON).reports("[cancelled]");
}

#[test]
fn a_permission_at_a_terminal() {
    let options = json!([
        { "optionId": "yes", "name": "Yes", "kind": "allow_once" },
        { "optionId": "no", "name": "No", "kind": "reject_once" },
    ]);
    let diff = json!({ "type": "diff", "path": "/a.txt", "oldText": "a\n", "newText": "b\n" });
    let subject = json!({ "toolCallId": "t", "title": "Edit /a.txt", "kind": "edit", "locations": [{ "path": "/a.txt" }],
        "content": [diff] });
    let ask =
        json!(["session/request_permission", { "sessionId": "s1", "toolCall": subject, "options": options }]);
    let script = agent(&[json!({ "ask": ask }), message_chunk("As you wish.")]);
    let terminal = Terminal::new();
    let mut chat = Program::start_at(&terminal, &["chat", "--agent", &acting(&script), "hello"]);
    let mut seen = 0;
    next(&chat, &mut seen, "\x1b[2K> ");
    answer(&mut chat, &mut seen, "> ", "a", "As you wish.");
    chat.stdout.words("As you wish.\r\n");
    let shown = chat.stdout.text();
    leaves(chat, &terminal, 0);
    let expected = "\
{2:○} Edit /a.txt
  {31:-a}
  {32:+b}
The agent asks for permission:
  kind: edit
  Edit /a.txt
  1) allow once (a): Yes
  2) reject once (r): No
Type 1-2, a, r, then Enter:
> a
As you wish.

";
    assert_eq!(screen(80, &shown), expected);
}

#[test]
fn a_form_at_a_terminal() {
    let properties =
        json!({ "branch": { "type": "string", "title": "Branch" }, "force": { "type": "boolean" } });
    let schema = json!({ "type": "object", "properties": properties, "required": ["branch"] });
    let form =
        json!({ "sessionId": "s1", "message": "What to clone?", "mode": "form", "requestedSchema": schema });
    let script = agent(&[json!({ "ask": ["elicitation/create", form] }), message_chunk("Cloned.")]);
    let terminal = Terminal::new();
    let mut chat = Program::start_at(&terminal, &["chat", "--agent", &acting(&script), "hello"]);
    let mut seen = 0;
    next(&chat, &mut seen, "\x1b[2KBranch *: ");
    chat.write(b"main\r");
    next(&chat, &mut seen, "\x1b[2Kforce: ");
    chat.write(b"n\r");
    next(&chat, &mut seen, "\x1b[2KSend this? [y/n] ");
    answer(&mut chat, &mut seen, "Send this? [y/n] ", "y", "Cloned.");
    chat.stdout.words("Cloned.\r\n");
    let shown = screen(80, &chat.stdout.text());
    leaves(chat, &terminal, 0);
    let expected = "\
{1:the agent asks:} What to clone?
Branch *: main
force: n
Send this? [y/n] y
Cloned.

";
    assert_eq!(shown, expected);
}
