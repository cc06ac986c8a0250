//! The shapes of what servers send, written by hand: which members an object has in which revision, and of which type.
//!
//! An object may have members that no revision defines. One that only another revision defines does not belong there.

use serde_json::Value;

use self::Kind::{Any, Bool, Each, Int, List, Map, Num, Obj, Text};
use crate::requirements::revision::Revision;

const A: Revision = Revision::Mcp20241105;
const B: Revision = Revision::Mcp20250326;
const C: Revision = Revision::Mcp20250618;
const D: Revision = Revision::Mcp20251125;
const E: Revision = Revision::Mcp20260728;

/// The JSON type of a member.
#[derive(Clone, Copy)]
enum Kind {
    Any,
    Text,
    Int,
    Num,
    Bool,
    Map,
    List,
    /// An object with a shape of its own.
    Obj(&'static str),
    /// An array of them.
    Each(&'static str),
}

/// A member of an object: its name, the first and the last revision that define it, its type, and whether it has to be there.
type Member = (&'static str, Revision, Revision, Kind, bool);

/// The members of each object. `Result` stands for what each result has.
#[rustfmt::skip]
const SHAPES: &[(&str, &[Member])] = &[
    ("Result", &[("_meta", A, E, Map, false), ("resultType", E, E, Text, true)]),
    ("initialize", &[
        ("protocolVersion", A, D, Text, true), ("capabilities", A, D, Obj("Capabilities"), true),
        ("serverInfo", A, D, Obj("Implementation"), true), ("instructions", A, D, Text, false),
    ]),
    ("server/discover", &[
        ("supportedVersions", E, E, List, true), ("capabilities", E, E, Obj("Capabilities"), true),
        ("instructions", E, E, Text, false), ("ttlMs", E, E, Int, true), ("cacheScope", E, E, Text, true),
    ]),
    ("Implementation", &[
        ("name", A, E, Text, true), ("version", A, E, Text, true), ("title", C, E, Text, false),
        ("description", D, E, Text, false), ("icons", D, E, Each("Icon"), false), ("websiteUrl", D, E, Text, false),
    ]),
    ("Icon", &[
        ("src", D, E, Text, true), ("mimeType", D, E, Text, false), ("sizes", D, E, List, false), ("theme", D, E, Text, false),
    ]),
    ("Capabilities", &[
        ("experimental", A, E, Map, false), ("logging", A, E, Map, false), ("prompts", A, E, Obj("ListCapability"), false),
        ("resources", A, E, Obj("ResourcesCapability"), false), ("tools", A, E, Obj("ListCapability"), false),
        ("completions", B, E, Map, false), ("tasks", D, D, Map, false), ("extensions", E, E, Map, false),
    ]),
    ("ListCapability", &[("listChanged", A, E, Bool, false)]),
    ("ResourcesCapability", &[("listChanged", A, E, Bool, false), ("subscribe", A, E, Bool, false)]),
    ("tools/list", &[
        ("tools", A, E, Each("Tool"), true), ("nextCursor", A, E, Text, false),
        ("ttlMs", E, E, Int, true), ("cacheScope", E, E, Text, true),
    ]),
    ("Tool", &[
        ("name", A, E, Text, true), ("description", A, E, Text, false), ("inputSchema", A, E, Map, true),
        ("annotations", B, E, Obj("ToolAnnotations"), false), ("title", C, E, Text, false),
        ("outputSchema", C, E, Map, false), ("_meta", C, E, Map, false), ("icons", D, E, Each("Icon"), false),
        ("execution", D, D, Map, false),
    ]),
    ("ToolAnnotations", &[
        ("title", B, E, Text, false), ("readOnlyHint", B, E, Bool, false), ("destructiveHint", B, E, Bool, false),
        ("idempotentHint", B, E, Bool, false), ("openWorldHint", B, E, Bool, false),
    ]),
    ("tools/call", &[
        ("content", A, E, Each("Content"), true), ("isError", A, E, Bool, false), ("structuredContent", C, D, Map, false),
        ("structuredContent", E, E, Any, false),
    ]),
    ("Content", &[
        ("type", A, E, Text, true), ("text", A, E, Text, false), ("data", A, E, Text, false), ("mimeType", A, E, Text, false),
        ("resource", A, E, Obj("Contents"), false), ("annotations", A, E, Obj("Annotations"), false), ("_meta", C, E, Map, false),
        ("uri", C, E, Text, false), ("name", C, E, Text, false), ("title", C, E, Text, false),
        ("description", C, E, Text, false), ("size", C, E, Int, false), ("icons", D, E, Each("Icon"), false),
    ]),
    ("Annotations", &[
        ("audience", A, E, List, false), ("priority", A, E, Num, false), ("lastModified", C, E, Text, false),
    ]),
    ("Contents", &[
        ("uri", A, E, Text, true), ("mimeType", A, E, Text, false), ("text", A, E, Text, false), ("blob", A, E, Text, false),
        ("_meta", C, E, Map, false),
    ]),
    ("resources/list", &[
        ("resources", A, E, Each("Resource"), true), ("nextCursor", A, E, Text, false),
        ("ttlMs", E, E, Int, true), ("cacheScope", E, E, Text, true),
    ]),
    ("Resource", &[
        ("uri", A, E, Text, true), ("name", A, E, Text, true), ("description", A, E, Text, false), ("mimeType", A, E, Text, false),
        ("annotations", A, E, Obj("Annotations"), false), ("size", A, E, Int, false), ("title", C, E, Text, false),
        ("_meta", C, E, Map, false), ("icons", D, E, Each("Icon"), false),
    ]),
    ("resources/templates/list", &[
        ("resourceTemplates", A, E, Each("ResourceTemplate"), true), ("nextCursor", A, E, Text, false),
        ("ttlMs", E, E, Int, true), ("cacheScope", E, E, Text, true),
    ]),
    ("ResourceTemplate", &[
        ("uriTemplate", A, E, Text, true), ("name", A, E, Text, true), ("description", A, E, Text, false),
        ("mimeType", A, E, Text, false), ("annotations", A, E, Obj("Annotations"), false), ("title", C, E, Text, false),
        ("_meta", C, E, Map, false), ("icons", D, E, Each("Icon"), false),
    ]),
    ("resources/read", &[
        ("contents", A, E, Each("Contents"), true), ("ttlMs", E, E, Int, true), ("cacheScope", E, E, Text, true),
    ]),
    ("prompts/list", &[
        ("prompts", A, E, Each("Prompt"), true), ("nextCursor", A, E, Text, false),
        ("ttlMs", E, E, Int, true), ("cacheScope", E, E, Text, true),
    ]),
    ("Prompt", &[
        ("name", A, E, Text, true), ("description", A, E, Text, false), ("arguments", A, E, Each("PromptArgument"), false),
        ("title", C, E, Text, false), ("_meta", C, E, Map, false), ("icons", D, E, Each("Icon"), false),
    ]),
    ("PromptArgument", &[
        ("name", A, E, Text, true), ("description", A, E, Text, false), ("required", A, E, Bool, false), ("title", C, E, Text, false),
    ]),
    ("prompts/get", &[("messages", A, E, Each("PromptMessage"), true), ("description", A, E, Text, false)]),
    ("PromptMessage", &[("role", A, E, Text, true), ("content", A, E, Obj("Content"), true)]),
    ("completion/complete", &[("completion", A, E, Obj("Completion"), true)]),
    ("Completion", &[("values", A, E, List, true), ("total", A, E, Int, false), ("hasMore", A, E, Bool, false)]),
    ("notifications/progress", &[
        ("progressToken", A, E, Any, true), ("progress", A, E, Num, true), ("total", A, E, Num, false),
        ("message", B, E, Text, false),
    ]),
    ("notifications/message", &[("level", A, E, Text, true), ("data", A, E, Any, true), ("logger", A, E, Text, false)]),
    ("notifications/resources/updated", &[("uri", A, E, Text, true)]),
];

/// The kinds of content, and the first revision that has them.
const CONTENT: &[(&str, Revision)] =
    &[("text", A), ("image", A), ("resource", A), ("audio", B), ("resource_link", C)];

/// The messages that a server sends by itself, and the first and last revision that have it.
const METHODS: &[(&str, Revision, Revision)] = &[
    ("ping", A, D),
    ("sampling/createMessage", A, D),
    ("roots/list", A, D),
    ("elicitation/create", C, D),
    ("tasks/get", D, D),
    ("tasks/result", D, D),
    ("tasks/list", D, D),
    ("tasks/cancel", D, D),
    ("notifications/cancelled", A, E),
    ("notifications/progress", A, E),
    ("notifications/message", A, E),
    ("notifications/resources/list_changed", A, E),
    ("notifications/resources/updated", A, E),
    ("notifications/prompts/list_changed", A, E),
    ("notifications/tools/list_changed", A, E),
    ("notifications/tasks/status", D, D),
    ("notifications/elicitation/complete", D, D),
    ("notifications/subscriptions/acknowledged", E, E),
    // Of the extension for tasks.
    ("notifications/tasks", E, E),
];

/// Returns the first fault of a message that a server sends by itself in a revision.
pub(in crate::mcp_server) fn fault_of_call(message: &Value, revision: Revision) -> Option<String> {
    let method = message["method"].as_str().unwrap_or_default();
    let known = METHODS.iter().find(|(known, ..)| *known == method);
    if let Some((_, since, until)) = known
        && !(*since..=*until).contains(&revision)
    {
        return Some(format!("the method {method} is not one of revision {revision}"));
    }
    fault_of(method, message.get("params")?, method, revision)
}

/// Returns the first fault of the result of a request in a revision.
pub(in crate::mcp_server) fn fault_of_result(
    method: &str,
    result: &Value,
    revision: Revision,
) -> Option<String> {
    if !result.is_object() {
        return Some("the result is not an object".to_owned());
    }
    let whole = fault_of("Result", result, "the result", revision);
    // A question to the client and a task stand where the result will be.
    let is_other = result.get("resultType").is_some_and(|kind| kind != "complete")
        || revision == D && result.get("task").is_some();
    whole.or_else(|| (!is_other).then(|| fault_of(method, result, "the result", revision)).flatten())
}

/// Returns the first fault of an object with a shape.
fn fault_of(shape: &str, object: &Value, place: &str, revision: Revision) -> Option<String> {
    let (_, members) = SHAPES.iter().find(|(name, _)| *name == shape)?;
    let Some(object) = object.as_object() else {
        return Some(format!("{place} is not an object"));
    };
    let is_held = |(_, since, until, ..): &&Member| (*since..=*until).contains(&revision);
    for (name, _, _, kind, is_required) in members.iter().filter(is_held) {
        match object.get(*name) {
            None if *is_required => return Some(format!("{place} has no `{name}`")),
            None => {}
            Some(value) => {
                let fault = fault_of_member(*kind, value, &format!("`{name}` of {place}"), revision);
                if fault.is_some() {
                    return fault;
                }
            }
        }
    }
    // Objects are open: a member of a later revision, or of the server's own, does no harm.
    (shape == "Content").then(|| fault_of_content(object, place, revision)).flatten()
}

fn fault_of_member(kind: Kind, value: &Value, place: &str, revision: Revision) -> Option<String> {
    let (fits, name) = match kind {
        Any => (true, "anything"),
        Text => (value.is_string(), "text"),
        Int => (value.as_f64().is_some_and(|number| number.fract() == 0.0), "integer"),
        Num => (value.is_number(), "number"),
        Bool => (value.is_boolean(), "boolean"),
        Map => (value.is_object(), "object"),
        List | Each(_) => (value.is_array(), "array"),
        Obj(shape) => return fault_of(shape, value, place, revision),
    };
    if !fits {
        return Some(format!("{place} is no {name}"));
    }
    let Each(shape) = kind else { return None };
    value.as_array()?.iter().find_map(|item| fault_of(shape, item, &format!("an item in {place}"), revision))
}

fn fault_of_content(
    content: &serde_json::Map<String, Value>,
    place: &str,
    revision: Revision,
) -> Option<String> {
    let kind = content.get("type")?.as_str()?;
    let Some((_, since)) = CONTENT.iter().find(|(known, _)| *known == kind) else {
        return Some(format!("{place} has the type `{kind}`, which no revision defines"));
    };
    if *since > revision {
        return Some(format!("{place} has the type `{kind}`, which revision {revision} does not define"));
    }
    let needed: &[&str] = match kind {
        "text" => &["text"],
        "image" | "audio" => &["data", "mimeType"],
        "resource" => &["resource"],
        _ => &["uri", "name"],
    };
    let missing = needed.iter().find(|name| !content.contains_key(**name))?;
    Some(format!("{place} has the type `{kind}` and no `{missing}`"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn results_are_held_against_their_revision() {
        let tool = json!({"name": "a", "inputSchema": {"type": "object"}, "title": "A", "own": 1});
        let result = json!({"tools": [tool], "own": 1});
        assert_eq!(fault_of_result("tools/list", &result, C), None);
        assert_eq!(fault_of_result("tools/list", &result, B), None);
        let fault = fault_of_result("tools/list", &result, E).expect("the type is missing");
        assert_eq!(fault, "the result has no `resultType`");
        let question = json!({"resultType": "input_required", "inputRequests": {}});
        assert_eq!(fault_of_result("tools/call", &question, E), None);
    }

    #[test]
    fn content_has_what_its_type_needs() {
        let result = |content: Value| json!({"content": [content]});
        let picture = result(json!({"type": "image", "data": ""}));
        assert!(fault_of_result("tools/call", &picture, A).is_some_and(|fault| fault.contains("mimeType")));
        let sound = result(json!({"type": "audio", "data": "", "mimeType": "audio/wav"}));
        assert!(fault_of_result("tools/call", &sound, A).is_some());
        assert_eq!(fault_of_result("tools/call", &sound, B), None);
    }
}
