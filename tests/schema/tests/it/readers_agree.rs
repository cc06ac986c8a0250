//! One text means the same to everything that reads it: `Members`, typed serde, `Value`, frames, and the types of both
//! protocols, whatever the order of their members. What they must say is known from how the text was made.

use std::collections::BTreeMap;

use agentwire_acp_schema::v1::{ContentBlock, SessionUpdate, ToolCall};
use agentwire_jsonrpc::runtime::Members;
use agentwire_jsonrpc::{Frame, Message, RawJson, code, read};
use agentwire_mcp_schema::ContentBlock as McpContentBlock;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value};

const CASES: u32 = 1000;

/// The depth from which on nothing is decoded; the object around a value counts.
const TOO_DEEP: usize = 128;

/// A JSON value as it is written.
#[derive(Clone, Debug)]
enum Node {
    /// A literal, and what a `Value` holds of it; `None` if it holds nothing like that.
    Atom(&'static str, Option<Value>),
    Text(Written),
    List(Vec<Node>),
    Object(Vec<(Written, Node)>),
    /// So many arrays around null.
    Deep(usize),
}

/// A string as it is written between its quotes, and its meaning.
#[derive(Clone, Debug)]
struct Written {
    text: String,
    says: String,
}

const PIECES: &[(&str, &str)] = &[
    ("a", "a"),
    ("type", "type"),
    (r"\u0074ype", "type"),
    ("text", "text"),
    ("_meta", "_meta"),
    (r"\ud83d", "\u{fffd}"),
    (r"\uDE00!", "\u{fffd}!"),
    (r"\ud83d\ude00", "\u{1f600}"),
    (r"\ud83d\\ude00", "\u{fffd}\\ude00"),
    (r"\\u0024", "\\u0024"),
    (r#"\"}"#, "\"}"),
    (r"\\", "\\"),
    ("é😀", "é😀"),
    (r"\n\u001b[", "\n\u{1b}["),
    ("$serde_json::private::", "$serde_json::private::"),
    ("$serde_json::private::RawValue", "$serde_json::private::RawValue"),
    (r"\u0024serde_json::private::Raw\u0056alue", "$serde_json::private::RawValue"),
    (r"$serde\u005Fjson::private::Number", "$serde_json::private::Number"),
    ("$serde_json", "$serde_json"),
    ("", ""),
];

fn written() -> impl Strategy<Value = Written> {
    prop::collection::vec(0..PIECES.len(), 1..3).prop_map(|pieces| {
        // Two halves that meet would be a whole; a space keeps them apart.
        let joined = |side: fn(&(&'static str, &'static str)) -> &'static str| {
            pieces.iter().map(|piece| side(&PIECES[*piece])).collect::<Vec<_>>().join(" ")
        };
        Written { text: joined(|piece| piece.0), says: joined(|piece| piece.1) }
    })
}

fn atoms() -> impl Strategy<Value = Node> {
    let numbers = vec![
        Node::Atom("0", Some(0.into())),
        Node::Atom("-7", Some((-7).into())),
        Node::Atom("1.5", Some(1.5.into())),
        Node::Atom("18446744073709551615", Some(u64::MAX.into())),
        Node::Atom("18446744073709551616", Some(18_446_744_073_709_551_616_f64.into())),
        Node::Atom("1e999", None),
        Node::Atom("-1e400", None),
        Node::Atom("null", Some(Value::Null)),
        Node::Atom("true", Some(true.into())),
    ];
    prop_oneof![
        4 => prop::sample::select(numbers),
        4 => written().prop_map(Node::Text),
        1 => prop::sample::select(vec![Node::Deep(100), Node::Deep(140)]),
    ]
}

fn nodes() -> impl Strategy<Value = Node> {
    atoms().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Node::List),
            prop::collection::vec((written(), inner), 0..5).prop_map(Node::Object),
        ]
    })
}

impl Node {
    fn write(&self, text: &mut String) {
        match self {
            Self::Atom(atom, _) => text.push_str(atom),
            Self::Text(written) => {
                text.push('"');
                text.push_str(&written.text);
                text.push('"');
            }
            Self::List(items) => {
                text.push('[');
                for (index, item) in items.iter().enumerate() {
                    text.push_str(if index > 0 { " , " } else { "" });
                    item.write(text);
                }
                text.push(']');
            }
            Self::Object(members) => write_object(members, text),
            Self::Deep(depth) => text.push_str(&format!("{}null{}", "[".repeat(*depth), "]".repeat(*depth))),
        }
    }

    fn depth(&self) -> usize {
        match self {
            Self::Atom(..) | Self::Text(_) => 0,
            Self::List(items) => 1 + items.iter().map(Self::depth).max().unwrap_or(0),
            Self::Object(members) => 1 + members.iter().map(|(_, value)| value.depth()).max().unwrap_or(0),
            Self::Deep(depth) => *depth,
        }
    }

    fn is_reserved(&self) -> bool {
        match self {
            Self::Atom(..) | Self::Text(_) | Self::Deep(_) => false,
            Self::List(items) => items.iter().any(Self::is_reserved),
            Self::Object(members) => members
                .iter()
                .any(|(name, value)| name.says.starts_with("$serde_json::private::") || value.is_reserved()),
        }
    }

    /// The string as a `Value`; `None` if none can hold it.
    fn value(&self) -> Option<Value> {
        match self {
            Self::Atom(_, value) => value.clone(),
            Self::Text(written) => Some(written.says.clone().into()),
            Self::List(items) => items.iter().map(Self::value).collect::<Option<Vec<_>>>().map(Value::Array),
            Self::Object(members) => {
                let member = |(name, value): &(Written, Self)| Some((name.says.clone(), value.value()?));
                members.iter().map(member).collect::<Option<Map<_, _>>>().map(Value::Object)
            }
            Self::Deep(depth) => Some((0..*depth).fold(Value::Null, |inner, _| Value::Array(vec![inner]))),
        }
    }
}

fn write_object(members: &[(Written, Node)], text: &mut String) {
    text.push('{');
    for (index, (name, value)) in members.iter().enumerate() {
        text.push_str(if index > 0 { " , \"" } else { "\"" });
        text.push_str(&name.text);
        text.push_str("\" :\t");
        value.write(text);
    }
    text.push('}');
}

fn check_all(check: impl Fn(&[(Written, Node)]) -> Result<(), TestCaseError>) {
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let members = prop::collection::vec((written(), nodes()), 0..5);
    runner.run(&members, |members| check(&members)).unwrap_or_else(|why| panic!("{why}"));
}

#[test]
fn members_typed_reading_values_and_frames() {
    check_all(|members| {
        let whole = Node::Object(members.to_vec());
        let mut text = String::new();
        whole.write(&mut text);
        let raw = RawJson::parse(text.as_str().into());
        let frame =
            Frame::parse(format!(r#"{{"jsonrpc":"2.0","id":7,"method":"m","params":{text}}}"#).into());
        if whole.is_reserved() {
            prop_assert!(raw.is_err() && read::<Value>(&text).is_err(), "{text}");
            prop_assert!(read::<BTreeMap<String, RawJson>>(&text).is_err(), "{text}");
            let Frame::Malformed(malformed) = frame else { panic!("{text}: {frame:?}") };
            prop_assert_eq!(malformed.error.code, code::INVALID_REQUEST);
            return Ok(());
        }
        let Frame::Single(Message::Request(request)) = frame else { panic!("{text}: {frame:?}") };
        let raw = raw.unwrap();
        prop_assert_eq!(request.params.as_ref().unwrap(), &raw);

        let found: Vec<_> = Members::of(raw.as_str()).collect();
        prop_assert_eq!(found.len(), members.len(), "{}", text);
        for ((name, value), (written, node)) in found.iter().zip(members) {
            let mut expected = String::new();
            node.write(&mut expected);
            prop_assert_eq!(name.as_ref(), written.says.as_str(), "{}", text);
            prop_assert_eq!(*value, expected.as_str(), "{}", text);
        }

        let typed: BTreeMap<String, RawJson> = raw.decode().unwrap();
        let names: BTreeMap<_, _> = members.iter().map(|(name, value)| (&name.says, value)).collect();
        prop_assert!(typed.keys().eq(names.keys().copied()), "{text}");

        let expected = whole.value().filter(|_| whole.depth() < TOO_DEEP);
        prop_assert_eq!(raw.decode::<Value>().ok(), expected.clone(), "{}", text);
        prop_assert_eq!(read::<Value>(&text).ok(), expected.clone());
        let map = raw.decode::<Map<String, Value>>().ok();
        prop_assert_eq!(map.map(Value::Object), expected.clone());
        // A value that is decoded once more stays what it is.
        if let Some(value) = expected {
            prop_assert_eq!(serde_json::from_value::<Value>(value.clone()).unwrap(), value);
        }
        // What is said of one member is said of it alone.
        for (name, node) in names {
            let alone = node.value().filter(|_| node.depth() < TOO_DEEP);
            prop_assert_eq!(typed[name].decode::<Value>().ok(), alone, "{} in {}", name, text);
        }
        Ok(())
    });
}

/// Members that a type knows are left to other tests.
fn is_foreign(name: &Written) -> bool {
    !["type", "text", "_meta"].contains(&name.says.as_str())
        && !name.says.starts_with("$serde_json::private::")
}

#[test]
fn types_read_the_same_wherever_their_tag_stands() {
    check_all(|members| {
        let foreign: Vec<_> = members.iter().filter(|(name, _)| is_foreign(name)).cloned().collect();
        let whole = Node::Object(foreign.clone());
        if whole.is_reserved() {
            return Ok(());
        }
        let mut text = String::new();
        write_object(&foreign, &mut text);
        let inside = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap();
        let both = |known: &str| match inside {
            "" => [format!("{{{known}}}"), format!("{{{known}}}")],
            inside => [format!("{{{known},{inside}}}"), format!("{{{inside},{known}}}")],
        };

        // A variant that is known passes over what it does not know, whatever that is.
        let [first, last] = both(r#""type":"text","text":"half \ud83d""#);
        for text in [&first, &last] {
            let Ok(ContentBlock::Text(block)) = read::<ContentBlock>(text) else { panic!("{text}") };
            prop_assert_eq!(block.text, "half \u{fffd}");
            let Ok(McpContentBlock::Text(block)) = read::<McpContentBlock>(text) else { panic!("{text}") };
            prop_assert_eq!(block.text, "half \u{fffd}");
        }

        // One that is not known is kept, and is a value where it can be one.
        let expected = whole.value().filter(|_| whole.depth() < TOO_DEEP).map(|mut value| {
            value["type"] = "foreign".into();
            value
        });
        for text in both(r#""type":"foreign""#) {
            let Ok(ContentBlock::Unknown(acp)) = read::<ContentBlock>(&text) else { panic!("{text}") };
            let Ok(McpContentBlock::Unknown(mcp)) = read::<McpContentBlock>(&text) else { panic!("{text}") };
            prop_assert_eq!(&acp, &mcp);
            prop_assert_eq!(&acp.decode::<Value>().ok(), &expected, "{}", text);
        }

        // The bag of a call that is not a tag's: what can be held is there, and nothing else is lost.
        let [first, last] = both(r#""toolCallId":"c","title":"t","sessionUpdate":"tool_call""#);
        for update in [first, last] {
            let Ok(SessionUpdate::ToolCall(call)) = read::<SessionUpdate>(&update) else {
                panic!("{update}")
            };
            prop_assert_eq!(*call, ToolCall::new("c", "t"), "{}", update);
        }
        Ok(())
    });
}
