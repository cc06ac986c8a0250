//! The processor time and the memory that an agent can make `agentwire chat` spend.

use std::time::Duration;

use serde_json::{Value, json};

use crate::binaries::acting;
use crate::chat::script;
use crate::program::{Ended, Program};

/// Two unoptimised programs move some hundred megabytes, on a machine that does other things too.
const A_WHILE: Duration = Duration::from_secs(240);

/// In MiB. What is delivered takes 16 less than an unoptimised program.
const MAX_MEMORY: u64 = 125;

/// A turn of version 1 in which these steps are done.
fn turn(steps: &[Value]) -> Ended {
    let end = json!({ "answer": { "stopReason": "end_turn" } });
    let steps: Vec<_> = steps.iter().chain([&end]).collect();
    chat(&script(json!({}), json!({ "session/prompt": steps })), "1")
}

fn chat(script: &Value, protocol: &str) -> Ended {
    let agent = acting(script);
    let ended = Program::run(&["chat", "--protocol", protocol, "--agent", &agent, "hello"], A_WHILE);
    ended.exits(0);
    ended
}

fn chunk(text: &str) -> Value {
    json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } })
}

fn repeat(times: usize, step: Value) -> Value {
    json!({ "repeat": [times, step] })
}

/// Asserts that what comes behind something large costs about as much as it does alone.
#[track_caller]
fn costs_the_same_behind(large: Value, small: Value) {
    let alone = turn(std::slice::from_ref(&small)).cpu;
    let first = turn(std::slice::from_ref(&large)).cpu;
    let both = turn(&[large, small]).cpu;
    assert!(
        both < 2 * (alone + first) + Duration::from_millis(500),
        "alone {alone:?}, {first:?} first, both {both:?}"
    );
}

#[test]
fn a_piece_of_text_costs_the_same_however_long_the_message_is() {
    // In pieces that make one text of 3 MiB.
    let large = repeat(48, json!({ "large": ["/content/text", 64 << 10, chunk("")] }));
    let small = repeat(10_000, json!({ "update": chunk("twenty bytes of text") }));
    costs_the_same_behind(large, small);
}

#[test]
fn a_status_costs_the_same_however_much_the_call_holds() {
    let text = json!({ "type": "content", "content": { "type": "text", "text": "" } });
    let call = json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "title": "Look", "content": [text] });
    let large = json!({ "large": ["/content/0/content/text", 3 << 20, call] });
    let status = |status: &str| json!({ "update": { "sessionUpdate": "tool_call_update", "toolCallId": "c", "status": status } });
    costs_the_same_behind(large, repeat(2000, status("in_progress")));
}

#[test]
fn a_line_of_a_command_costs_the_same_however_much_it_has_written() {
    let output = |data: &str| {
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c",
            "_meta": { "terminal_output": { "terminal_id": "t", "data": data } } })
    };
    let large = repeat(48, json!({ "large": ["/_meta/terminal_output/data", 64 << 10, output("")] }));
    costs_the_same_behind(large, repeat(10_000, json!({ "update": output("a line\n") })));
}

#[test]
fn a_mode_costs_the_same_however_long_the_commands_are() {
    let commands = json!({ "sessionUpdate": "available_commands_update",
        "availableCommands": [{ "name": "go", "description": "" }] });
    let large = json!({ "large": ["/availableCommands/0/description", 3 << 19, commands] });
    let mode = json!({ "update": { "sessionUpdate": "current_mode_update", "currentModeId": "ask" } });
    costs_the_same_behind(large, repeat(10_000, mode));
}

#[test]
fn names_of_options_that_are_gone_are_not_kept() {
    let option = json!({ "id": "#", "name": "", "type": "boolean", "currentValue": true });
    let update = json!({ "sessionUpdate": "config_option_update", "configOptions": [option] });
    let ended = turn(&[repeat(128, json!({ "large": ["/configOptions/0/name", 3 << 19, update] }))]);
    ended.reports("! 127 more parts of updates are left out\n");
    assert!(ended.peak_memory < MAX_MEMORY, "{} MiB", ended.peak_memory);
}

#[test]
fn titles_are_kept_as_far_as_they_are_shown() {
    let call = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "#", "title": "" });
    let titles = repeat(128, json!({ "large": ["/title", 3 << 19, call] }));
    let ended = turn(std::slice::from_ref(&titles));
    assert_eq!(ended.stderr.matches("…\n").count(), 128, "{ended}");
    assert!(ended.peak_memory < MAX_MEMORY, "version 1: {} MiB", ended.peak_memory);

    let idle =
        json!({ "update": { "sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn" } });
    let greeting = json!({ "protocolVersion": 2, "info": { "name": "a", "version": "1" }, "capabilities": { "session": {} } });
    let newer = json!({
        "initialize": [{ "answer": greeting }],
        "session/prompt": [{ "answer": { "messageId": "u1" } }, titles, idle],
    });
    let ended = chat(&script(json!({}), newer), "2");
    assert!(ended.peak_memory < MAX_MEMORY, "version 2: {} MiB", ended.peak_memory);
}

/// An agent of version 2 may send each message as a whole later.
#[test]
fn the_ends_of_many_messages_are_not_all_kept() {
    let message = json!({ "sessionUpdate": "agent_message_chunk", "messageId": "#", "content": { "type": "text", "text": "" } });
    let idle =
        json!({ "update": { "sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn" } });
    let greeting = json!({ "protocolVersion": 2, "info": { "name": "a", "version": "1" }, "capabilities": { "session": {} } });
    let messages = repeat(4000, json!({ "large": ["/content/text", 32 << 10, message] }));
    let agent = json!({
        "initialize": [{ "answer": greeting }],
        "session/prompt": [{ "answer": { "messageId": "u1" } }, messages, idle],
    });
    let ended = chat(&script(json!({}), agent), "2");
    assert!(ended.peak_memory < MAX_MEMORY, "{} MiB", ended.peak_memory);
}

#[test]
fn the_longest_text_that_an_agent_may_send_is_shown() {
    let length = 31 << 20;
    let ended = turn(&[json!({ "large": ["/content/text", length, chunk("")] })]);
    assert!(ended.stdout.len() > length, "{} bytes are shown", ended.stdout.len());
    assert!(ended.peak_memory < MAX_MEMORY, "{} MiB", ended.peak_memory);
}
