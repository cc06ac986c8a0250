//! Audits of all messages that agents send.

mod shapes;

use serde_json::{Value, json};

use self::shapes::{Difference, Shapes};
use super::Agent;
use super::turn::update_in;
use crate::acp_messages::is_version;
use crate::check::{ANY, Check, audit};
use crate::requirements::revision::Revision;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<Agent>] = &[
    audit!(own_methods_begin_with_an_underscore, ANY),
    audit!(objects_have_no_other_fields, ANY),
    audit!(names_are_spelled_as_specified, ANY),
    audit!(error_messages_are_one_sentence, ANY),
    audit!(paths_are_absolute, ANY),
    audit!(lines_count_from_one, ANY),
    audit!(trace_context_is_sound, ANY),
    audit!(messages_are_of_the_agreed_version, ANY),
    audit!(updates_match_the_schema, ANY),
];

/// Each message of the agent with the method that it belongs to: its own, or that of the request that it answers.
fn attributed(trace: &Trace) -> Vec<(String, Value)> {
    let mut asked: Vec<(Value, String)> = Vec::new();
    let mut found = Vec::new();
    for (from, message) in trace.exchanged() {
        let method = message.get("method").and_then(Value::as_str).map(str::to_owned);
        match (from, method, message.get("id")) {
            (Sender::Suite, Some(method), Some(id)) => asked.push((id.clone(), method)),
            (Sender::Subject, Some(method), _) => found.push((method, message)),
            (Sender::Subject, None, Some(id)) => {
                let method =
                    asked.iter().rev().find(|(known, _)| known == id).map(|(_, method)| method.clone());
                found.push((method.unwrap_or_default(), message));
            }
            _ => {}
        }
    }
    found
}

/// Only conversations in which no other version was agreed say something of this one.
fn agreed(agent: &Agent, trace: &Trace) -> Outcome {
    let answers = attributed(trace).into_iter().filter(|(method, _)| method == "initialize");
    let mut versions = answers.filter_map(|(_, message)| message.pointer("/result/protocolVersion").cloned());
    match versions.find(|version| !is_version(version, agent.version())) {
        Some(version) => Err(Stop::not_applicable(format!("version {version} was agreed"))),
        None => Ok(()),
    }
}

/// The params or the result of a message.
fn part(message: &Value) -> Option<&Value> {
    message.get("params").or_else(|| message.get("result"))
}

/// The differences from the schema in all messages, each with its message.
fn differences(agent: &Agent, trace: &Trace) -> Vec<(Difference, Value)> {
    let shapes = Shapes::of(agent.revision());
    let mut found = Vec::new();
    for (method, message) in attributed(trace) {
        let mut differences = Vec::new();
        if let Some(part) = part(&message) {
            differences.extend(shapes.differences(&method, part));
        }
        if let Some(error) = message.get("error") {
            differences.extend(shapes.error(error));
        }
        found.extend(differences.into_iter().map(|difference| (difference, message.clone())));
    }
    found
}

/// Calls a function with each key, value and the key's object in a message, except in data of others' making.
pub(super) fn each_field<'m>(
    value: &'m Value,
    see: &mut dyn FnMut(&'m str, &'m Value) -> Outcome,
) -> Outcome {
    const FOREIGN: [&str; 8] =
        ["_meta", "rawInput", "rawOutput", "data", "requestedSchema", "env", "headers", "params_of_tool"];
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| each_field(item, see)),
        Value::Object(object) => object.iter().try_for_each(|(key, value)| {
            see(key, value)?;
            if FOREIGN.contains(&key.as_str()) { Ok(()) } else { each_field(value, see) }
        }),
        _ => Ok(()),
    }
}

fn own_methods_begin_with_an_underscore(agent: &Agent, trace: &Trace) -> Outcome {
    agreed(agent, trace)?;
    let shapes = Shapes::of(agent.revision());
    for message in trace.messages(Sender::Subject) {
        let Some(method) = message["method"].as_str() else { continue };
        // INIT-11 is about methods of the other version.
        let is_specified = shapes.has_method(method) || is_of_other_version(agent, &message);
        let is_known = method.starts_with('_') || method.starts_with("$/") || is_specified;
        ensure!(
            is_known,
            "methods of the specification, or names that begin with an underscore",
            "`{method}`"
        );
    }
    Ok(())
}

fn objects_have_no_other_fields(agent: &Agent, trace: &Trace) -> Outcome {
    agreed(agent, trace)?;
    for (difference, message) in differences(agent, trace) {
        if let Difference::Unknown(path) = difference {
            return Err(Stop::failed(
                "custom data in `_meta` only",
                format!("the field {path} in `{message}`"),
            ));
        }
    }
    Ok(())
}

/// RPC-08 is about keys, and other requirements about the kinds of updates and the reasons for a stop.
fn names_are_spelled_as_specified(_: &Agent, trace: &Trace) -> Outcome {
    const TAGS: [&str; 4] = ["type", "kind", "status", "priority"];
    for message in trace.messages(Sender::Subject) {
        let Some(part) = part(&message) else { continue };
        each_field(part, &mut |key, value| {
            let tag = value.as_str().filter(|_| TAGS.contains(&key)).unwrap_or_default();
            let is_snake = tag.starts_with('_') || tag.chars().all(|c| !c.is_ascii_uppercase() && c != '-');
            ensure!(is_snake, format!("a value of `{key}` in snake_case"), "`{tag}` in `{message}`");
            Ok(())
        })?;
    }
    Ok(())
}

fn error_messages_are_one_sentence(_: &Agent, trace: &Trace) -> Outcome {
    for message in trace.messages(Sender::Subject) {
        if let Some(text) = message.pointer("/error/message").and_then(Value::as_str) {
            let is_short =
                !text.trim().is_empty() && !text.trim().contains('\n') && text.chars().count() <= 500;
            ensure!(is_short, "one short sentence as the message of an error", "`{message}`");
        }
    }
    Ok(())
}

/// Whether a path is absolute on some system.
pub(super) fn is_absolute(path: &str) -> bool {
    let drive = path.as_bytes();
    path.starts_with('/') || path.starts_with("\\\\") || drive.get(1) == Some(&b':') && drive.len() > 2
}

/// FS-03, TERM-10, TC-05 and LIST-05 are about the other paths.
fn paths_are_absolute(_: &Agent, trace: &Trace) -> Outcome {
    for message in trace.messages(Sender::Subject) {
        let Some(part) = part(&message) else { continue };
        each_field(part, &mut |key, value| {
            let paths = value.as_array().filter(|_| key == "additionalDirectories").into_iter().flatten();
            for path in paths.filter_map(Value::as_str) {
                ensure!(is_absolute(path), "every file path is absolute", "`{path}` in `{message}`");
            }
            Ok(())
        })?;
    }
    Ok(())
}

fn lines_count_from_one(_: &Agent, trace: &Trace) -> Outcome {
    for message in trace.messages(Sender::Subject) {
        let Some(part) = part(&message) else { continue };
        each_field(part, &mut |key, value| {
            ensure!(key != "line" || *value != json!(0), "lines that count from one", "`{message}`");
            Ok(())
        })?;
    }
    Ok(())
}

fn trace_context_is_sound(_: &Agent, trace: &Trace) -> Outcome {
    for message in trace.messages(Sender::Subject) {
        let Some(part) = part(&message) else { continue };
        each_field(part, &mut |key, meta| {
            if key != "_meta" {
                return Ok(());
            }
            if let Some(parent) = meta.get("traceparent") {
                let is_sound = parent.as_str().is_some_and(is_traceparent);
                ensure!(is_sound, "a `traceparent` as W3C defines it", "`{message}`");
            }
            for name in ["tracestate", "baggage"] {
                // W3C allows empty members.
                let is_pair = |pair: &str| pair.trim().is_empty() || pair.contains('=');
                let is_list = |list: &Value| list.as_str().is_some_and(|list| list.split(',').all(is_pair));
                let are_pairs = meta.get(name).is_none_or(is_list);
                ensure!(are_pairs, format!("pairs in `{name}` as W3C defines them"), "`{message}`");
            }
            Ok(())
        })?;
    }
    Ok(())
}

fn is_traceparent(text: &str) -> bool {
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    let is_hex = text.chars().all(|c| c == '-' || c.is_ascii_digit() || ('a'..='f').contains(&c));
    is_hex && lengths.starts_with(&[2, 32, 16, 2])
}

/// Whether a message has a kind or a method that only the other version has.
fn is_of_other_version(agent: &Agent, message: &Value) -> bool {
    let (kinds, methods): (&[&str], &[&str]) = if agent.revision() == Revision::Acp2 {
        (&["plan", "tool_call", "current_mode_update"], &["fs/", "terminal/"])
    } else {
        let kinds = &[
            "state_update",
            "user_message",
            "agent_message",
            "agent_thought",
            "tool_call_content_chunk",
            "terminal_update",
            "terminal_output_chunk",
        ];
        (kinds, &[])
    };
    let kind = update_in(message).and_then(|update| update["sessionUpdate"].as_str()).unwrap_or_default();
    let method = message["method"].as_str().unwrap_or_default();
    kinds.contains(&kind) || methods.iter().any(|begin| method.starts_with(begin))
}

fn messages_are_of_the_agreed_version(agent: &Agent, trace: &Trace) -> Outcome {
    agreed(agent, trace)?;
    for message in trace.messages(Sender::Subject) {
        let what = format!("only messages of version {}, which was agreed", agent.version());
        ensure!(!is_of_other_version(agent, &message), what, "`{message}`");
    }
    Ok(())
}

fn updates_match_the_schema(agent: &Agent, trace: &Trace) -> Outcome {
    agreed(agent, trace)?;
    let shapes = Shapes::of(agent.revision());
    let sessions = sessions(trace);
    for message in trace.messages(Sender::Subject) {
        let is_update = message.get("method").is_some_and(|method| method == "session/update");
        // INIT-11 is about updates of the other version.
        if !is_update || is_of_other_version(agent, &message) {
            continue;
        }
        for difference in shapes.differences("session/update", &message["params"]) {
            if let Difference::Malformed(what) = difference
                && !has_own_requirement(agent, &message, &what)
            {
                return Err(Stop::failed(
                    "updates as the schema defines them",
                    format!("{what} in `{message}`"),
                ));
            }
        }
        let session = message["params"]["sessionId"].as_str().unwrap_or_default();
        let is_known = sessions.as_ref().is_none_or(|known| known.iter().any(|known| known == session));
        ensure!(is_known, "the id of an existing session in each update", "`{message}`");
    }
    Ok(())
}

/// Whether PR-08, PR-24, MODE-04 or TC-03b is about a malformed update.
fn has_own_requirement(agent: &Agent, message: &Value, what: &str) -> bool {
    let kinds: &[&str] = if agent.revision() == Revision::Acp2 {
        &["usage_update"]
    } else {
        &["usage_update", "available_commands_update", "current_mode_update"]
    };
    kinds.iter().any(|kind| super::turn::is_update(message, kind)) || what.contains(" has no toolCallId")
}

/// The ids of the sessions that were begun, opened or listed. None if a session was begun whose id never came.
fn sessions(trace: &Trace) -> Option<Vec<String>> {
    let (mut begun, mut ids) = (0, Vec::new());
    for (from, message) in trace.exchanged() {
        let method = message["method"].as_str().unwrap_or_default();
        let mut named = Vec::new();
        if from == Sender::Suite {
            begun += i32::from(method == "session/new" || method == "session/fork");
            // The suite opens a session or sends to one.
            named.extend(message.pointer("/params/sessionId").filter(|_| method != "session/prompt"));
        } else if method.is_empty() {
            let result = &message["result"];
            named
                .extend(result["sessions"].as_array().into_iter().flatten().map(|known| &known["sessionId"]));
            named.extend(result.get("sessionId"));
        }
        ids.extend(named.into_iter().filter_map(Value::as_str).map(str::to_owned));
    }
    let answers = attributed(trace).into_iter();
    let answered = answers.filter(|(method, _)| method == "session/new" || method == "session/fork").count();
    (usize::try_from(begun).is_ok_and(|begun| begun <= answered)).then_some(ids)
}

/// Calls a function with each content block in a message.
pub(super) fn each_content(message: &Value, see: &mut dyn FnMut(&Value) -> Outcome) -> Outcome {
    let Some(part) = part(message) else { return Ok(()) };
    each_field(part, &mut |key, value| {
        let blocks = match (key, value) {
            ("content", Value::Array(blocks)) => blocks.as_slice(),
            ("content", block) => std::slice::from_ref(block),
            _ => &[],
        };
        blocks.iter().try_for_each(&mut *see)
    })
}
