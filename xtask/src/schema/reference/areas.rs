//! The page of each type: that of the methods that lead to it, if they are all of one area.

use std::collections::{BTreeMap, BTreeSet};

use super::family::Family;
use super::text::text;
use crate::schema::document::references;

/// A page of types.
#[derive(Debug)]
pub(super) struct Area {
    pub(super) file: &'static str,
    pub(super) title: &'static str,
    pub(super) about: &'static str,
    /// Prefixes of its methods, without `notifications/`.
    methods: &'static [&'static str],
    /// Prefixes of types that belong here although other areas lead to them too.
    types: &'static [&'static str],
}

const fn area(
    file: &'static str,
    title: &'static str,
    about: &'static str,
    methods: &'static [&'static str],
    types: &'static [&'static str],
) -> Area {
    Area { file, title, about, methods, types }
}

/// All areas. A method belongs to the first that matches.
const AREAS: [Area; 11] = [
    area(
        "turn",
        "Turns",
        "A prompt, the agent's updates, and permission requests.",
        &[
            "session/prompt",
            "session/update",
            "session/request_permission",
            "session/cancel",
            "terminal/cancel",
            "tool_call/",
        ],
        &["ToolCall"],
    ),
    area(
        "session",
        "Sessions",
        "Open, list, load, configure and close sessions.",
        &["session/"],
        &["SessionConfig", "SessionId", "SessionMode"],
    ),
    area(
        "files",
        "Files and terminals",
        "The client's files and terminals, for the agent.",
        &["fs/", "terminal/"],
        &["Terminal"],
    ),
    area("elicitation", "Elicitation", "Input from the user.", &["elicitation/"], &["Elicit"]),
    area("tools", "Tools", "What a model can call.", &["tools/"], &["Tool"]),
    area(
        "resources",
        "Resources",
        "Resources to read, and notifications of their changes.",
        &["resources/", "subscriptions/"],
        &["Resource"],
    ),
    area(
        "prompts",
        "Prompts and completion",
        "Templates, and suggestions for their arguments.",
        &["prompts/", "completion/"],
        &[],
    ),
    area(
        "sampling",
        "Sampling and roots",
        "Requests of a server to its client.",
        &["sampling/", "roots/"],
        &["CreateMessage", "ListRoots", "Root", "Sampling"],
    ),
    area(
        "tasks",
        "Tasks",
        "Calls whose result is fetched later.",
        &["tasks"],
        &["CancelTask", "CreateTask", "GetTask", "ListTasks", "RelatedTask", "Task"],
    ),
    area(
        "proxies",
        "Proxies, providers and tunnels",
        "Components between a client, an agent and a model.",
        &["proxy/", "providers/", "mcp/"],
        &[],
    ),
    area(
        "connection",
        "Connection",
        "Versions, capabilities, authentication, cancellation and progress.",
        &[""],
        &["ClientCapabilities", "Implementation", "LoggingLevel", "ServerCapabilities"],
    ),
];
/// Content, whichever methods lead to it.
const CONTENT: Area = area(
    "content",
    "Content",
    "Text, images, audio and resources.",
    &[],
    &[
        "Annotat",
        "AudioContent",
        "BlobResourceContents",
        "ContentBlock",
        "EmbeddedResource",
        "Icon",
        "ImageContent",
        "ResourceContents",
        "ResourceLink",
        "Role",
        "TextContent",
        "TextResourceContents",
    ],
);
const SHARED: Area = area("shared", "Shared", "Types that several of these pages use.", &[], &[]);
const MESSAGES: Area =
    area("messages", "Messages", "The envelopes of JSON-RPC, and the unions of their contents.", &[], &[]);

/// The area of each definition.
pub(super) fn assign(family: &Family<'_>) -> BTreeMap<String, &'static Area> {
    let mut reached: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for row in family.methods() {
        let method = row.method.trim_start_matches("notifications/");
        let of = |area: &Area| area.methods.iter().any(|begin| method.starts_with(begin));
        let Some(index) = AREAS.iter().position(of) else { continue };
        for name in [text(row.newest, "params"), text(row.newest, "result")]
            .into_iter()
            .filter(|name| !name.is_empty())
        {
            reach(family, name, index, &mut reached);
        }
    }
    let belongs_to = |area: &Area, name: &str| area.types.iter().any(|begin| name.starts_with(begin));
    let area = |name: &str| {
        let mut areas: Vec<&'static Area> =
            reached.get(name).into_iter().flatten().map(|i| &AREAS[*i]).collect();
        if areas.len() > 1 {
            // Methods of proxies repeat those of clients and agents.
            areas.retain(|area| area.file != "proxies");
        }
        match areas[..] {
            _ if belongs_to(&CONTENT, name) => &CONTENT,
            // No method leads to a result that replaces another.
            [] => {
                AREAS.iter().find(|area| area.file == "tasks" && belongs_to(area, name)).unwrap_or(&MESSAGES)
            }
            [only] => only,
            _ => areas.into_iter().find(|area| belongs_to(area, name)).unwrap_or(&SHARED),
        }
    };
    family.names().into_iter().map(|name| (name.to_owned(), area(name))).collect()
}

/// The areas that have types, in their order above.
pub(super) fn used(assigned: &BTreeMap<String, &'static Area>) -> impl Iterator<Item = &'static Area> {
    let files: BTreeSet<&str> = assigned.values().map(|area| area.file).collect();
    AREAS.iter().chain([&CONTENT, &SHARED, &MESSAGES]).filter(move |area| files.contains(area.file))
}

/// Records that an area leads to a definition and to all that it refers to.
fn reach(family: &Family<'_>, name: &str, area: usize, reached: &mut BTreeMap<String, BTreeSet<usize>>) {
    if !reached.entry(name.to_owned()).or_default().insert(area) {
        return;
    }
    for definition in family.definition(name).into_iter().flatten() {
        for name in references(definition) {
            reach(family, name, area, reached);
        }
    }
}
