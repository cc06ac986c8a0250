//! Tests how the output of tool calls is drawn, and to which stream messages go.

use super::*;

/// Ten lines, one after the other: each update has all of them so far.
#[test]
fn output_that_replaces_itself_is_shown_once() {
    let lines: Vec<_> = (1..=10).map(|number| format!("line {number}\n")).collect();
    let updates = (1..=10).map(|end| ToolCallUpdate::new("1").content([text(&lines[..end].concat())]).into());
    let shown = show(std::iter::once(ToolCall::new("1", "Run").into()).chain(updates));
    let expected: String = lines.iter().map(|line| format!("  {line}")).collect();
    assert_eq!(shown, format!("○ Run\n{expected}"));
    // Only the last three lines, below a line that counts the others.
    let window = |end: usize| {
        let start = end.saturating_sub(3);
        let count = if start > 0 { format!("({start} lines before)\n") } else { String::new() };
        ToolCallUpdate::new("1").content([text(&(count + &lines[start..end].concat()))]).into()
    };
    let shown = show(std::iter::once(ToolCall::new("1", "Run").into()).chain((1..=10).map(window)));
    assert_eq!(shown, format!("○ Run\n{expected}"));
}

#[test]
fn an_interrupted_line_is_continued() {
    let told = |texts: &str| ToolCallUpdate::new("1").content([text(texts)]).into();
    let shown = show([
        ToolCall::new("1", "Run").into(),
        told("one\ntw"),
        told("one\ntwo\nthr"),
        told("one\ntwo\nthree"),
    ]);
    assert_eq!(shown, "○ Run\n  one\n  two\n  three\n");
    let shown = show([ToolCall::new("1", "Run").into(), told("one"), chunk("So:"), told("one\ntwo")]);
    assert_eq!(shown, "○ Run\n  one\nSo:\n○ Run\n  two\n");
}

#[test]
fn long_output_is_folded() {
    let lines: Vec<_> = (1..=100).map(|number| format!("{number}\n")).collect();
    let ends = || ToolCallUpdate::new("1").status(ToolCallStatus::Completed).into();
    let run = |count: usize| {
        let told =
            (1..=count).map(|end| ToolCallUpdate::new("1").content([text(&lines[..end].concat())]).into());
        show(std::iter::once(ToolCall::new("1", "Run").into()).chain(told).chain([ends()]))
    };
    let indented = |lines: &[String]| lines.iter().map(|line| format!("  {line}")).collect::<String>();
    let (first, last) = (indented(&lines[..20]), indented(&lines[80..]));
    assert_eq!(run(100), format!("○ Run\n{first}● Run\n  … 60 lines\n{last}"));
    assert_eq!(run(41), format!("○ Run\n{first}● Run\n  … 1 line\n{}", indented(&lines[21..41])));
    assert_eq!(run(40), format!("○ Run\n{first}● Run\n{}", indented(&lines[20..40])));
    assert_eq!(run(20), format!("○ Run\n{first}● Run\n"));
}

#[test]
fn the_last_output_is_shown_as_a_whole() {
    let paper = Paper::default();
    let mut screen = Screen::new(Box::new(paper.clone()), Style::default());
    let mut renderer = Renderer::new(false, true);
    assert!(!renderer.draw_last(&mut screen).unwrap());
    let mut conversation = Conversation::new();
    let lines: String = (1..=50).map(|number| format!("{number}\n")).collect();
    let call = ToolCall::new("1", "Count").status(ToolCallStatus::Failed).content([text(&lines)]);
    let applied = conversation.apply(call);
    renderer.draw(&mut screen, &conversation, &applied, &|_, _| None).unwrap();
    assert!(paper.text().contains("\n  … 10 lines, :last shows all\n"));
    assert!(renderer.draw_last(&mut screen).unwrap());
    let indented: String = lines.lines().map(|line| format!("  {line}\n")).collect();
    assert_eq!(paper.text(), format!("Count\n{indented}"));
}

#[test]
fn a_long_line_is_cut() {
    let shown = show([ToolCall::new("1", "Run").content([text(&format!("{}\nb", "ä".repeat(3000)))]).into()]);
    assert_eq!(shown, format!("○ Run\n  {}…\n  b\n", "ä".repeat(1000)));
}

/// The form in which codex and claude report the commands that they run by themselves.
#[test]
fn commands_of_the_agent_are_shown_while_they_run() {
    let output =
        |name: &str, data: &str| update(json!({ "_meta": { name: { "terminal_id": "t", "data": data } } }));
    let shown = show([
        ToolCall::new("1", "ls")
            .status(ToolCallStatus::InProgress)
            .content([ToolCallContent::from(Terminal::new("t"))])
            .into(),
        output("terminal_output", "a\nb"),
        output("terminal_output_delta", "c\n"),
        update(
            json!({ "status": "failed", "_meta": { "terminal_exit": { "terminal_id": "t", "exit_code": 2 } } }),
        ),
        update(json!({ "_meta": { "terminal_output": { "terminal_id": "t", "data": "late\n" } } })),
    ]);
    assert_eq!(shown, "◐ ls\n  a\n  bc\n✗ ls\n  exit code 2\n  late\n");
    // Without content that names it, and with a signal that comes after the end.
    let shown = show([
        ToolCall::new("1", "ls").into(),
        output("terminal_output_delta", "a\n"),
        update(json!({ "status": "completed" })),
        update(json!({ "_meta": { "terminal_exit": { "terminal_id": "t", "signal": "SIGKILL" } } })),
    ]);
    assert_eq!(shown, "○ ls\n  a\n● ls\n  signal SIGKILL\n");
}

fn newer(updates: &[serde_json::Value]) -> String {
    let paper = Paper::default();
    let mut screen = Screen::new(Box::new(paper.clone()), Style::default());
    let mut renderer = Renderer::default();
    let mut conversation = Conversation::new();
    for update in updates {
        let update: agentwire_acp_schema::v2::SessionUpdate = serde_json::from_value(update.clone()).unwrap();
        let applied = conversation.apply(update);
        renderer.draw(&mut screen, &conversation, &applied, &|_, _| None).unwrap();
    }
    renderer.end_turn(&mut screen, &conversation, &|_, _| None).unwrap();
    paper.text()
}

#[test]
fn commands_of_an_agent_of_version_2_are_shown() {
    let terminal = |mut members: serde_json::Value| {
        members["sessionUpdate"] = "terminal_update".into();
        members["terminalId"] = "t".into();
        members
    };
    let chunk =
        |data: &str| json!({ "sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": data });
    let call = |status: &str| {
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "1", "title": "make", "status": status,
        "content": [{ "type": "terminal", "terminalId": "t" }] })
    };
    let shown = newer(&[
        terminal(json!({ "command": "make" })),
        chunk("YQo="),
        call("in_progress"),
        chunk("Ygo="),
        terminal(json!({ "exitStatus": { "exitCode": 0 } })),
        call("completed"),
    ]);
    assert_eq!(shown, "◐ make\n  a\n  b\n● make\n  exit code 0\n");
    // One that no call names is shown at the end of the turn.
    let shown = newer(&[
        terminal(json!({ "command": "make" })),
        chunk("YQo="),
        terminal(json!({ "exitStatus": { "exitCode": 1 } })),
    ]);
    assert_eq!(shown, "● make\n  a\n  exit code 1\n");
}

#[test]
fn a_plan_is_shown_when_it_changes() {
    let plan = |status: &str| {
        json!({ "sessionUpdate": "plan_update", "plan": { "type": "items", "planId": "p",
        "entries": [{ "content": "Look", "priority": "high", "status": status }] } })
    };
    let shown = newer(&[plan("pending"), plan("pending"), plan("cancelled")]);
    assert_eq!(shown, "Plan\n  ○ Look\nPlan\n  ✗ Look\n");
    let none =
        json!({ "sessionUpdate": "plan_update", "plan": { "type": "items", "planId": "p", "entries": [] } });
    assert_eq!(newer(std::slice::from_ref(&none)), "");
    assert_eq!(newer(&[plan("pending"), none]), "Plan\n  ○ Look\nPlan: none\n");
}

/// The oldest call shows its last lines before it is dropped from the memory.
#[test]
fn no_last_line_is_lost_where_many_calls_run() {
    let lines: String = (1..=30).map(|number| format!("{number}\n")).collect();
    let runs = |id: &str| ToolCall::new(id, id).status(ToolCallStatus::InProgress);
    let first = runs("first").content([text(&lines)]).into();
    let others = (0..64).map(|number| runs(&number.to_string()).into());
    let shown = show(std::iter::once(first).chain(others));
    assert!(shown.contains("\n◐ 62\n◐ first\n  21\n  22\n") && shown.ends_with("\n  30\n◐ 63\n"), "{shown}");
}

#[test]
fn a_mode_is_shown_once() {
    let mode = |value: &str| {
        let option = json!({ "id": "mode", "name": "Mode", "category": "mode", "type": "select", "currentValue": value,
            "options": [{ "value": "plan", "name": "Plan" }, { "value": "code", "name": "Code" }] });
        let option: SessionConfigOption = serde_json::from_value(option).unwrap();
        SessionUpdate::from(ConfigOptionUpdate::new([option]))
    };
    let current = |value: &str| SessionUpdate::from(CurrentModeUpdate::new(value));
    let shown =
        show([current("plan"), mode("plan"), mode("plan"), current("plan"), mode("code"), current("code")]);
    assert_eq!(shown, "mode: plan\nMode: code\n");
}

#[test]
fn a_path_is_shown_once() {
    let diff = |path: &str| Diff::new(path, "b\n").old_text("a\n");
    let shown = show([ToolCall::new("1", "Edit `/a.txt`").content([diff("/a.txt")]).into()]);
    assert_eq!(shown, "○ Edit `/a.txt`\n  -a\n  +b\n");
    let shown = show([ToolCall::new("1", "Edit /a.txt.bak").content([diff("/a.txt")]).into()]);
    assert_eq!(shown, "○ Edit /a.txt.bak\n  /a.txt\n  -a\n  +b\n");
}

/// The text of the agent's messages alone goes to the stream of the answer.
#[test]
fn the_answer_has_a_stream_of_its_own() {
    let (details, answer) = (Paper::default(), Paper::default());
    let screen = Screen::new(Box::new(details.clone()), Style::default());
    let mut screen = screen.with_answer(Box::new(answer.clone()));
    let mut renderer = Renderer { is_replay: true, ..Renderer::default() };
    let mut conversation = Conversation::new();
    renderer.stream(&mut screen, MessageKind::User, 1, "earlier".into()).unwrap();
    renderer.stream(&mut screen, MessageKind::Agent, 2, "answer".into()).unwrap();
    renderer.is_replay = false;
    renderer.stream(&mut screen, MessageKind::Thought, 3, "hm".into()).unwrap();
    renderer.stream(&mut screen, MessageKind::Agent, 4, "Let me ".into()).unwrap();
    renderer.stream(&mut screen, MessageKind::Agent, 4, "see.".into()).unwrap();
    let applied = conversation.apply(ToolCall::new("1", "Look"));
    renderer.draw(&mut screen, &conversation, &applied, &|_, _| None).unwrap();
    renderer.stream(&mut screen, MessageKind::Agent, 5, "**Done**.".into()).unwrap();
    screen.stop_spinner().unwrap();
    assert_eq!(details.text(), "> earlier\nanswer\nhm\n○ Look\n");
    assert_eq!(answer.text(), "Let me see.\n**Done**.\n");
}

/// With both streams in one file, a text begins on a line of its own.
#[test]
fn the_answer_begins_on_a_new_line_after_open_details() {
    let both = Paper::default();
    let screen = Screen::new(Box::new(both.clone()), Style::default());
    let mut screen = screen.with_answer(Box::new(both.clone()));
    screen.output_piece(1, "42").unwrap();
    Renderer::default().stream(&mut screen, MessageKind::Agent, 1, "It is 42".into()).unwrap();
    screen.stop_spinner().unwrap();
    assert_eq!(both.text(), "  42\nIt is 42\n");
}

/// A message that an agent of version 2 sends as a whole, again and again, keeps its end.
#[test]
fn a_message_that_grows_is_shown_once() {
    let mut renderer = Renderer::default();
    renderer.add_to_message(1, "Let ");
    assert_eq!(renderer.new_part(1, "Let me"), "me");
    assert_eq!(renderer.new_part(1, "Let me see."), " see.");
    assert_eq!(renderer.new_part(1, "Let me see."), "");
    assert_eq!(renderer.new_part(1, "No."), "No.");
}

/// Commands that run side by side: only the output of a call has the line that names the call above it.
#[test]
fn a_call_is_named_where_its_output_is_shown() {
    let updates = |id: &'static str, from: usize| {
        let text = (from..from + 15).map(|number| format!("{id} {number}\n")).collect::<String>();
        let meta = json!({ "terminal_output": { "terminal_id": id, "data": text } });
        let update = json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "_meta": meta });
        serde_json::from_value::<SessionUpdate>(update).unwrap()
    };
    let ends = |id: &'static str| ToolCallUpdate::new(id).status(ToolCallStatus::Completed).into();
    let runs = |id: &'static str| {
        let terminal = ToolCallContent::from(Terminal::new(id));
        ToolCall::new(id, id).content([terminal]).status(ToolCallStatus::InProgress).into()
    };
    let output = (0..60).step_by(15).flat_map(|from| [updates("a", from), updates("b", from)]);
    let shown = show([runs("a"), runs("b")].into_iter().chain(output).chain([ends("a"), ends("b")]));
    let lines = |id: &str, range: std::ops::Range<usize>| {
        range.map(|number| format!("  {id} {number}\n")).collect::<String>()
    };
    let first = |range: std::ops::Range<usize>| {
        format!("◐ a\n{}◐ b\n{}", lines("a", range.clone()), lines("b", range))
    };
    let last = |id: &str| format!("● {id}\n  … 20 lines\n{}", lines(id, 40..60));
    let expected = format!("◐ a\n◐ b\n{}{}{}{}", first(0..15), first(15..20), last("a"), last("b"));
    assert_eq!(shown, expected);
}

#[test]
fn left_out_count_is_shown_once() {
    let told = |first: &str, count: usize| {
        let blocks =
            std::iter::once(text(first)).chain((1..count).map(|number| text(&format!("{number}\n"))));
        ToolCallUpdate::new("1").content(blocks).into()
    };
    let shown = show([
        ToolCall::new("1", "Run").into(),
        told("a", 210),
        told("ab", 210),
        told("abc", 210),
        told("abcd", 211),
    ]);
    let said: Vec<_> = shown.lines().filter(|line| line.ends_with(" more")).collect();
    assert_eq!(said, ["  … 10 more", "  … 11 more"]);
}
