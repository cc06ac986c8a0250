//! Commands that the agent runs by itself, as both versions report them.

use agentwire_acp_schema::v1::{SessionUpdate, TerminalId};
use agentwire_acp_schema::v2;
use agentwire_acp_toolkit::{
    Applied, Change, CommandExit, Conversation, ConversationLimits, Entry, TerminalChange,
};
use serde_json::{Value, json};

fn older(conversation: &mut Conversation, update: Value) -> Applied {
    conversation.apply(serde_json::from_value::<SessionUpdate>(update).unwrap())
}

fn newer(conversation: &mut Conversation, update: Value) -> Applied {
    conversation.apply(serde_json::from_value::<v2::SessionUpdate>(update).unwrap())
}

/// The position from which output is new, and whether the command has ended.
fn changed(applied: &Applied) -> Option<(Option<u64>, bool)> {
    applied.terminal.map(|TerminalChange { output, ended, .. }| (output, ended))
}

fn output(conversation: &Conversation, id: &str) -> String {
    let (_, terminal) = conversation.terminal_of(&TerminalId::from(id)).expect("there is such a terminal");
    terminal.output().to_owned()
}

#[test]
fn a_terminal_of_version_2_grows_and_ends() {
    let mut conversation = Conversation::new();
    let update = |mut members: Value| {
        members["sessionUpdate"] = "terminal_update".into();
        members["terminalId"] = "t".into();
        members
    };
    let chunk =
        |data: &str| json!({ "sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": data });
    let begun = newer(&mut conversation, update(json!({ "command": "make", "cwd": "/w" })));
    assert_eq!((begun.change, changed(&begun)), (Change::Nothing, Some((None, false))));
    // "one\n", and "zwhö" whose last character comes in two pieces.
    assert_eq!(changed(&newer(&mut conversation, chunk("b25lCg=="))), Some((Some(0), false)));
    assert_eq!(changed(&newer(&mut conversation, chunk("endoww=="))), Some((Some(4), false)));
    assert_eq!(output(&conversation, "t"), "one\nzwh");
    assert_eq!(changed(&newer(&mut conversation, chunk("tg=="))), Some((Some(7), false)));
    assert_eq!(output(&conversation, "t"), "one\nzwhö");
    // All of the output again, with more behind it.
    let whole = update(json!({ "output": { "data": "b25lCnp3aMO2IQ==" } }));
    assert_eq!(changed(&newer(&mut conversation, whole.clone())), Some((Some(9), false)));
    assert_eq!(changed(&newer(&mut conversation, whole)), Some((None, false)));
    // Other output in its place.
    let other = update(json!({ "output": { "data": "b3RoZXI=" } }));
    assert_eq!(changed(&newer(&mut conversation, other)), Some((Some(0), false)));
    assert_eq!(output(&conversation, "t"), "other");
    let end = update(json!({ "exitStatus": { "exitCode": 2 } }));
    assert_eq!(changed(&newer(&mut conversation, end.clone())), Some((None, true)));
    assert_eq!(changed(&newer(&mut conversation, end)), Some((None, false)));
    let (_, terminal) = conversation.terminal_of(&TerminalId::from("t")).unwrap();
    assert_eq!((terminal.command.as_deref(), terminal.cwd.as_deref()), (Some("make"), Some("/w")));
    assert_eq!((terminal.exit.clone(), terminal.position()), (Some(CommandExit::of_code(2)), 5));
    assert_eq!(CommandExit::of_code(2).to_string(), "exit code 2");
    assert_eq!(CommandExit::of_signal("SIGKILL\u{1b}").to_string(), "signal SIGKILL^[");
}

#[test]
fn terminal_of_version_1_is_read_from_the_meta_of_a_call() {
    let mut conversation = Conversation::new();
    let update = |kind: &str, members: Value| {
        let mut members = members;
        (members["sessionUpdate"], members["toolCallId"]) = (kind.into(), "c".into());
        members
    };
    let call = json!({ "title": "ls", "_meta": { "terminal_info": { "terminal_id": "t", "cwd": "/w" }, "kept": 1 } });
    let applied = older(&mut conversation, update("tool_call", call));
    assert_eq!((applied.change, changed(&applied)), (Change::Added(0), Some((None, false))));
    for (name, position) in [("terminal_output", 0), ("terminal_output_delta", 2)] {
        let meta = json!({ name: { "terminal_id": "t", "data": "a\n" } });
        let applied = older(&mut conversation, update("tool_call_update", json!({ "_meta": meta })));
        assert_eq!((applied.change, changed(&applied)), (Change::Nothing, Some((Some(position), false))));
    }
    let end = json!({ "status": "failed", "_meta": { "terminal_exit": { "terminal_id": "t", "exit_code": 1, "signal": null } } });
    let applied = older(&mut conversation, update("tool_call_update", end));
    assert!(matches!(applied.change, Change::Updated { index: 0, fields } if fields.status));
    assert_eq!(changed(&applied), Some((None, true)));
    let (_, terminal) = conversation.terminal_of(&TerminalId::from("t")).unwrap();
    assert_eq!((terminal.output(), terminal.tool_call_id.as_deref()), ("a\na\n", Some("c")));
    assert_eq!((terminal.cwd.as_deref(), terminal.exit.clone()), (Some("/w"), Some(CommandExit::of_code(1))));
    let Some(Entry::ToolCall(entry)) = conversation.entry(0) else { panic!("it is a call") };
    assert_eq!(entry.call.meta.as_ref().map(|meta| meta.as_str()), Some(r#"{"kept":1}"#));
    // Without a name of its own a terminal has that of its call, and what cannot be read changes nothing.
    let unnamed = json!({ "_meta": { "terminal_output": { "data": "b" }, "terminal_exit": 7 } });
    assert_eq!(
        changed(&older(&mut conversation, update("tool_call_update", unnamed))),
        Some((Some(0), false))
    );
    assert_eq!(output(&conversation, "c"), "b");
}

#[test]
fn terminals_have_a_limit() {
    const LIMIT: usize = 1 << 20;
    let mut conversation = Conversation::new().limits(ConversationLimits::new(LIMIT).terminals(64 << 10));
    let write = |id: &str, data: &str| {
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c",
        "_meta": { "terminal_output": { "terminal_id": id, "data": data } } })
    };
    let _ = older(&mut conversation, write("t", &"x".repeat(300_000)));
    for _ in 0..200 {
        let _ = older(&mut conversation, write("t", &"0123456789".repeat(100)));
        assert!(conversation.weight() < 70 << 10, "{}", conversation.weight());
    }
    let (_, terminal) = conversation.terminal_of(&TerminalId::from("t")).unwrap();
    assert_eq!((terminal.output().len(), terminal.position()), (16 << 10, 500_000));
    assert!(terminal.output().ends_with("0123456789"));
    (0..1000).for_each(|number| {
        let _ = older(&mut conversation, write(&number.to_string(), "x"));
    });
    assert!(conversation.weight() < 70 << 10 && conversation.terminal(0).is_none());
    assert_eq!(output(&conversation, "999"), "x");
    let long = older(&mut conversation, write(&"x".repeat(LIMIT), "x"));
    assert!(long.terminal.is_none() && long.omitted >= LIMIT);
}
