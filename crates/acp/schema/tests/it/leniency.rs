//! Malformed members: which count as missing, which are dropped, which are errors.

use agentwire_acp_schema::v1::{ContentBlock, SessionNotification, SessionUpdate};
use agentwire_jsonrpc::{RawJson, Skipped, collect_skipped};
use serde_json::Value;

use crate::messages::types;

/// Values that are well-formed JSON and of no use to any member below, among them some that not even a
/// `serde_json::Value` can hold.
const JUNK: &[&str] = &["[[]]", "[{\"x\":[]}]", "1e999", "-1.5"];

fn deep() -> String {
    "[".repeat(2000) + &"]".repeat(2000)
}

/// Puts each piece of junk in the place marked `@`: the message must read as if the member were not there.
#[track_caller]
fn counts_as_missing(method: &str, with: &str, without: &str) {
    let params = types(method).params;
    let expected = params(without).expect("the message without the member is right");
    for junk in JUNK.iter().copied().chain([&*deep()]) {
        match params(&with.replace('@', junk)) {
            Ok(written) => assert_eq!(written, expected, "{method}: {:.40} in {with}", junk),
            Err(error) => panic!("{method}: {:.40} in {with}: {error}", junk),
        }
    }
}

#[test]
fn malformed_optional_members_count_as_missing() {
    let update = |members: &str| format!(r#"{{"sessionId":"s","update":{{{members}}}}}"#);
    let chunk = r#""sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"t"}"#;
    let without = update(chunk);
    for member in ["messageId", "_meta"] {
        counts_as_missing("session/update", &update(&format!(r#"{chunk},"{member}":@"#)), &without);
        counts_as_missing("session/update", &update(&format!(r#""{member}":@,{chunk}"#)), &without);
    }
    let with = update(
        r#""sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"t","annotations":@}"#,
    );
    counts_as_missing("session/update", &with, &without);

    let call = r#""sessionUpdate":"tool_call","toolCallId":"c","title":"t""#;
    for member in ["kind", "status", "name"] {
        counts_as_missing("session/update", &update(&format!(r#"{call},"{member}":@"#)), &update(call));
    }
    let info = r#""sessionUpdate":"session_info_update""#;
    counts_as_missing("session/update", &update(&format!(r#"{info},"title":@"#)), &update(info));

    let hello = r#"{"protocolVersion":1"#;
    for member in ["clientCapabilities", "clientInfo", "_meta"] {
        counts_as_missing("initialize", &format!(r#"{hello},"{member}":@}}"#), &format!("{hello}}}"));
    }
    for member in ["fs", "terminal", "session", "auth", "elicitation"] {
        let with = format!(r#"{hello},"clientCapabilities":{{"{member}":@}}}}"#);
        counts_as_missing("initialize", &with, &format!("{hello}}}"));
    }
}

/// JavaScript writes text that was cut inside a character with half a surrogate pair at its end.
#[test]
fn half_a_character_is_a_replacement_character_wherever_it_stands() {
    let text = r#"{"sessionId":"s","update":{"content":{"type":"text","text":"smile \ud83d","annotations":{"audience":["\udc00"]}},
        "messageId":"\ud83d","sessionUpdate":"agent_message_chunk","_meta":{"a":"\ud83d"}}}"#;
    let read: SessionNotification = agentwire_jsonrpc::read(text).unwrap();
    let SessionUpdate::AgentMessageChunk(chunk) = read.update else { panic!("a chunk") };
    assert_eq!(chunk.message_id.unwrap().as_str(), "\u{fffd}");
    let ContentBlock::Text(content) = chunk.content else { panic!("text") };
    assert_eq!(content.text, "smile \u{fffd}");
    assert!(chunk.meta.is_some());
}

/// A capability is advertised by an object, for which PHP writes `[]` if it is empty.
#[test]
fn empty_array_reads_as_empty_object() {
    let result = types("initialize").result.unwrap();
    let hello = r#"{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":@,"loadSession":true}}"#;
    let written = |text: &str| result(&hello.replace('@', text)).unwrap()["agentCapabilities"].clone();
    let both = r#"{"close":{},"list":{}}"#;
    assert_eq!(
        written(r#"{"list":[],"close":{},"_meta":[]}"#)["sessionCapabilities"]["list"].to_string(),
        "{}"
    );
    assert_eq!(written(r#"{"list":[ ],"close":[]}"#)["sessionCapabilities"].to_string(), both);
    assert_eq!(written("[]")["sessionCapabilities"].to_string(), "{}");
    assert_eq!(written(r#"{"list":[1],"close":{}}"#)["sessionCapabilities"].to_string(), r#"{"close":{}}"#);
    assert_eq!(written(r#"{"list":null}"#)["sessionCapabilities"].to_string(), "{}");
    assert_eq!(written("true")["loadSession"], Value::Bool(true));
}

#[test]
fn bad_items_are_dropped_one_by_one() {
    let cases = [
        (
            "session/update",
            "params",
            r#"{"sessionId":"s","update":{"sessionUpdate":"plan","entries":@}}"#,
            "/update/entries",
            r#"{"content":"c","priority":"low","status":"pending"}"#,
        ),
        (
            "session/update",
            "params",
            r#"{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","content":@}}"#,
            "/update/content",
            r#"{"type":"terminal","terminalId":"t"}"#,
        ),
        (
            "session/update",
            "params",
            r#"{"sessionId":"s","update":{"sessionUpdate":"compaction_update","compactionId":"c","status":"failed","summary":@}}"#,
            "/update/summary",
            r#"{"type":"text","text":"t"}"#,
        ),
        (
            "session/new",
            "result",
            r#"{"sessionId":"s","configOptions":@}"#,
            "/configOptions",
            r#"{"id":"i","name":"n","type":"boolean","currentValue":true}"#,
        ),
        ("session/list", "result", r#"{"sessions":@}"#, "/sessions", r#"{"sessionId":"s","cwd":"/"}"#),
        (
            "initialize",
            "result",
            r#"{"protocolVersion":1,"authMethods":@}"#,
            "/authMethods",
            r#"{"id":"i","name":"n"}"#,
        ),
    ];
    for (method, part, message, place, good) in cases {
        let types = types(method);
        let rewrite = if part == "params" { types.params } else { types.result.unwrap() };
        let mixed = format!(r#"[1,{good},{{}},null,["x"],1e999,{good},{}]"#, deep());
        let written = rewrite(&message.replace('@', &mixed)).unwrap();
        let expected: Value = serde_json::from_str(&format!("[{good},{good}]")).unwrap();
        assert_eq!(written.pointer(place), Some(&expected), "{method}: {written}");
        // What is not an array at all counts as missing or as empty; the message stands.
        let written = rewrite(&message.replace('@', "\"x\"")).unwrap();
        let empty = Value::Array(vec![]);
        assert_eq!(written.pointer(place).unwrap_or(&empty), &empty, "{method}: {written}");
    }
}

#[test]
fn null_means_empty_and_anything_else_is_an_error() {
    let cases = [
        ("session/new", r#"{"cwd":"/","mcpServers":@}"#),
        ("session/new", r#"{"cwd":"/","mcpServers":[],"additionalDirectories":@}"#),
        ("session/load", r#"{"cwd":"/","sessionId":"s","mcpServers":@}"#),
        ("session/resume", r#"{"cwd":"/","sessionId":"s","mcpServers":@}"#),
        ("session/new", r#"{"cwd":"/","mcpServers":[{"name":"n","command":"c","args":@,"env":[]}]}"#),
        ("session/new", r#"{"cwd":"/","mcpServers":[{"name":"n","command":"c","args":[],"env":@}]}"#),
        ("session/new", r#"{"cwd":"/","mcpServers":[{"type":"http","name":"n","url":"u","headers":@}]}"#),
        ("terminal/create", r#"{"sessionId":"s","command":"c","args":@}"#),
        ("terminal/create", r#"{"sessionId":"s","command":"c","env":@}"#),
    ];
    for (method, message) in cases {
        let params = types(method).params;
        let empty = params(&message.replace('@', "[]")).unwrap();
        assert_eq!(params(&message.replace('@', "null")).unwrap(), empty, "{message}");
        // An object is a list of names and values there.
        let is_pairs = ["\"env\":@", "\"headers\":@"].iter().any(|pairs| message.contains(pairs));
        for wrong in
            ["\"x\"", "{}", "5", "[5]", "true"].into_iter().filter(|wrong| !is_pairs || *wrong != "{}")
        {
            assert!(params(&message.replace('@', wrong)).is_err(), "{wrong} in {message}");
        }
    }
}

/// A list that a schema requires, and that may be empty, is read as empty if it is missing.
#[test]
fn required_list_that_is_missing_is_empty() {
    let servers = |server: &str| format!(r#"{{"cwd":"/","mcpServers":[{server}]}}"#);
    let rows = [
        (r#"{"cwd":"/"}"#.to_owned(), r#"{"cwd":"/","mcpServers":[]}"#.to_owned()),
        (
            servers(r#"{"name":"n","command":"c"}"#),
            servers(r#"{"name":"n","command":"c","args":[],"env":[]}"#),
        ),
        (
            servers(r#"{"type":"http","name":"n","url":"u"}"#),
            servers(r#"{"type":"http","name":"n","url":"u","headers":[]}"#),
        ),
    ];
    let params = types("session/new").params;
    for (without, with) in rows {
        assert_eq!(params(&without).unwrap(), params(&with).unwrap(), "{without}");
    }
    assert!((types("session/prompt").params)(r#"{"sessionId":"s"}"#).is_err());
}

#[test]
fn version_with_a_fraction_of_zero_is_a_whole_number() {
    let params = types("initialize").params;
    for one in ["1.0", "1e0", "10E-1"] {
        let read = params(&format!(r#"{{"protocolVersion":{one}}}"#)).unwrap();
        assert_eq!(read["protocolVersion"], 1, "{one}");
    }
    let why = params(r#"{"protocolVersion":"1"}"#).expect_err("it is text").to_string();
    assert!(why.contains("expected a version of the protocol: a whole number from 0 to 65535"), "{why}");
}

#[test]
fn members_without_a_keyword_stay_strict() {
    let cases = [
        ("fs/read_text_file", r#"{"sessionId":"s","path":"/a","line":"x"}"#),
        ("fs/read_text_file", r#"{"sessionId":"s","path":"/a","limit":-1}"#),
        ("terminal/create", r#"{"sessionId":"s","command":"c","cwd":5}"#),
        ("terminal/create", r#"{"sessionId":"s","command":"c","outputByteLimit":"5"}"#),
        ("session/list", r#"{"cursor":5}"#),
        ("session/prompt", r#"{"sessionId":"s","prompt":[{"type":"text"}]}"#),
        ("session/prompt", r#"{"sessionId":5,"prompt":[]}"#),
        ("initialize", r#"{"protocolVersion":"1"}"#),
        ("initialize", r#"{"protocolVersion":70000}"#),
        ("initialize", r#"{"protocolVersion":1.5}"#),
        ("initialize", r#"{"protocolVersion":-1.0}"#),
        ("initialize", r#"{"protocolVersion":65536.0}"#),
        ("initialize", r#"{"protocolVersion":null}"#),
        ("initialize", "{}"),
        ("session/set_config_option", r#"{"sessionId":"s","configId":"c","value":true}"#),
        ("session/set_config_option", r#"{"sessionId":"s","configId":"c","type":"boolean","value":1}"#),
        ("elicitation/create", r#"{"message":"m","mode":"form","sessionId":"s","requestedSchema":[1]}"#),
    ];
    for (method, message) in cases {
        assert!((types(method).params)(message).is_err(), "{message}");
    }
}

/// The parts that reading an update skips.
fn skipped(update: &str) -> Skipped {
    let raw = RawJson::parse(format!(r#"{{"sessionId":"s","update":{update}}}"#).into()).expect("it is JSON");
    let (read, skipped) = collect_skipped(|| raw.decode::<SessionNotification>());
    read.expect("it is read without what is bad");
    skipped
}

#[test]
fn skipped_parts_are_named() {
    let commands = r#"{"name":"a","description":""},{"name":1},{"name":"b","description":"","input":7},null"#;
    let update =
        format!(r#"{{"sessionUpdate":"available_commands_update","availableCommands":[{commands}]}}"#);
    let skipped_parts = skipped(&update);
    let mut parts: Vec<_> = skipped_parts.parts.iter().map(|part| (part.kind, part.index)).collect();
    parts.sort_unstable();
    let input = ("AvailableCommandInput", None);
    assert_eq!(parts, [("AvailableCommand", Some(1)), ("AvailableCommand", Some(3)), input]);
    assert_eq!(skipped_parts.more, 0);
    let first =
        skipped_parts.parts.iter().find(|part| part.index == Some(1)).expect("it was found").to_string();
    assert!(first.starts_with("AvailableCommand[1]: invalid type: integer"), "{first}");

    // What is not a list at all, also behind text that was cut inside a character; but null is nothing.
    let call = r#""sessionUpdate":"tool_call","toolCallId":"c","title":"\ud83d""#;
    let kinds = |update: &str| skipped(update).parts.iter().map(|part| part.kind).collect::<Vec<_>>();
    assert_eq!(kinds(&format!(r#"{{{call},"locations":7,"content":null}}"#)), ["ToolCallLocation"]);
    assert_eq!(kinds(&format!(r#"{{{call},"locations":null,"kind":7}}"#)), ["ToolKind"]);
    assert_eq!(kinds(&format!("{{{call}}}")), [""; 0]);
}

/// Lenient decoding also reports the places of parts that strict decoding leaves out.
#[test]
fn part_that_is_left_out_has_its_place() {
    let text = r#"{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","kind":7,
        "locations":[{"path":"/a"},5],"content":[{"type":"content","content":{"type":"text","text":"x","annotations":3}}]}}"#;
    let raw = RawJson::parse(text.replace('\n', " ").into()).expect("it is JSON");
    let (read, skipped) = collect_skipped(|| raw.decode_leniently::<SessionNotification>());
    let strictly = raw.decode::<SessionNotification>().expect("it is read without what is bad");
    assert_eq!(read.expect("so is this"), strictly);
    let mut places: Vec<_> = skipped.parts.iter().map(|part| &*part.place).collect();
    places.sort_unstable();
    let expected = ["update.content[0].content.annotations", "update.kind", "update.locations[1]"];
    assert_eq!(places, expected);
    assert!(skipped.to_string().contains("update.kind: invalid type: integer `7`"), "{skipped}");
}

#[test]
fn description_of_skipped_parts_is_bounded_and_printable() {
    let bad = vec![r#"{"type":"text","text":1}"#; 1000].join(",");
    let update = format!(r#"{{"sessionUpdate":"plan","entries":[{bad}]}}"#);
    let plan = skipped(&update);
    assert_eq!((plan.parts.len(), plan.more), (Skipped::MAX_PARTS, 1000 - Skipped::MAX_PARTS));
    let priority = format!("\\u001b[2J{}", "x".repeat(1000));
    let entry = format!(r#"{{"content":"","priority":"low","status":["{priority}"]}}"#);
    let plan = skipped(&format!(r#"{{"sessionUpdate":"plan","entries":[{entry}]}}"#));
    let why = &plan.parts[0].why;
    assert!(why.chars().count() <= 256 && !why.contains('\u{1b}'), "{why}");
}

/// A method, and its params with this value in them.
type Form<'a> = (&'a str, &'a dyn Fn(&str) -> String);

/// Some editors send objects, because they pass on the entry of a configuration file.
#[test]
fn object_of_names_and_values_reads_as_list() {
    let stdio = |env: &str| {
        format!(r#"{{"cwd":"/","mcpServers":[{{"name":"n","command":"c","args":[],"env":{env}}}]}}"#)
    };
    let http = |headers: &str| {
        format!(r#"{{"cwd":"/","mcpServers":[{{"type":"http","name":"n","url":"u","headers":{headers}}}]}}"#)
    };
    let forms: [Form<'_>; 2] = [("session/new", &stdio), ("session/new", &http)];
    let rows = [
        ("{}", "[]"),
        (
            r#"{"A":"x","B":1,"C":true}"#,
            r#"[{"name":"A","value":"x"},{"name":"B","value":"1"},{"name":"C","value":"true"}]"#,
        ),
    ];
    for (method, form) in forms {
        let params = types(method).params;
        for (object, list) in rows {
            assert_eq!(params(&form(object)).unwrap(), params(&form(list)).unwrap(), "{method}: {object}");
        }
        for wrong in [r#"{"A":null}"#, r#"{"A":{}}"#, r#"{"A":[]}"#, r#""A=1""#, "[1]"] {
            assert!(params(&form(wrong)).is_err(), "{method}: {wrong}");
        }
    }
    // No configuration file has the variables of a terminal.
    let terminal = types("terminal/create").params;
    assert!(terminal(r#"{"sessionId":"s","command":"c","env":{"A":"x"}}"#).is_err());
}
