//! On which page a type stands: on that of the methods that lead to it, when they are all of one area.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::family::Family;
use super::text;

/// A page of types.
#[derive(Debug)]
pub(super) struct Area {
    pub(super) file: &'static str,
    pub(super) title: &'static str,
    pub(super) about: &'static str,
    /// How its methods begin, without `notifications/`.
    methods: &'static [&'static str],
    /// How the names of types begin that stand here although other areas lead to them too.
    types: &'static [&'static str],
}

/// All areas; where two could claim a method, the first does.
const AREAS: [Area; 11] = [
    Area {
        file: "turn",
        title: "Turns",
        about: "A prompt, what the agent says and does about it, and what it asks permission for.",
        methods: &[
            "session/prompt",
            "session/update",
            "session/request_permission",
            "session/cancel",
            "terminal/cancel",
            "tool_call/",
        ],
        types: &["ToolCall"],
    },
    Area {
        file: "session",
        title: "Sessions",
        about: "Begin, find again, configure, end.",
        methods: &["session/"],
        types: &["SessionConfig", "SessionId", "SessionMode"],
    },
    Area {
        file: "files",
        title: "Files and terminals",
        about: "What the agent does with the client's hands.",
        methods: &["fs/", "terminal/"],
        types: &["Terminal"],
    },
    Area {
        file: "elicitation",
        title: "Elicitation",
        about: "Asking the person for input.",
        methods: &["elicitation/"],
        types: &["Elicit"],
    },
    Area {
        file: "tools",
        title: "Tools",
        about: "What a model can call.",
        methods: &["tools/"],
        types: &["Tool"],
    },
    Area {
        file: "resources",
        title: "Resources",
        about: "What can be read, and word of its changes.",
        methods: &["resources/", "subscriptions/"],
        types: &["Resource"],
    },
    Area {
        file: "prompts",
        title: "Prompts and completion",
        about: "Templates, and suggestions for their arguments.",
        methods: &["prompts/", "completion/"],
        types: &[],
    },
    Area {
        file: "sampling",
        title: "Sampling and roots",
        about: "What a server asks of its client.",
        methods: &["sampling/", "roots/"],
        types: &["CreateMessage", "ListRoots", "Root", "Sampling"],
    },
    Area {
        file: "tasks",
        title: "Tasks",
        about: "Calls whose result is fetched later.",
        methods: &["tasks"],
        types: &["CancelTask", "CreateTask", "GetTask", "ListTasks", "RelatedTask", "Task"],
    },
    Area {
        file: "proxies",
        title: "Proxies, providers and tunnels",
        about: "What stands between a client, an agent and a model.",
        methods: &["proxy/", "providers/", "mcp/"],
        types: &[],
    },
    Area {
        file: "connection",
        title: "Connection",
        about: "Who speaks, what they can do, and the exchange itself.",
        methods: &[""],
        types: &["ClientCapabilities", "Implementation", "LoggingLevel", "ServerCapabilities"],
    },
];
/// What is shown or said, wherever it is.
const CONTENT: Area = Area {
    file: "content",
    title: "Content",
    about: "Text, pictures, sound and resources, in whatever has content.",
    methods: &[],
    types: &[
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
};
const SHARED: Area = Area {
    file: "shared",
    title: "Shared",
    about: "What several of these pages use.",
    methods: &[],
    types: &[],
};
const MESSAGES: Area = Area {
    file: "messages",
    title: "Messages",
    about: "The envelopes of JSON-RPC, and lists of what may be in them.",
    methods: &[],
    types: &[],
};

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
    let stands_in = |area: &Area, name: &str| area.types.iter().any(|begin| name.starts_with(begin));
    let area = |name: &str| {
        let mut areas: Vec<&'static Area> =
            reached.get(name).into_iter().flatten().map(|i| &AREAS[*i]).collect();
        if areas.len() > 1 {
            // What stands between two peers repeats what they say, and owns none of it.
            areas.retain(|area| area.file != "proxies");
        }
        match areas[..] {
            _ if stands_in(&CONTENT, name) => &CONTENT,
            // What comes in place of another result no method leads to.
            [] => {
                AREAS.iter().find(|area| area.file == "tasks" && stands_in(area, name)).unwrap_or(&MESSAGES)
            }
            [only] => only,
            _ => areas.into_iter().find(|area| stands_in(area, name)).unwrap_or(&SHARED),
        }
    };
    family.names().into_iter().map(|name| (name.to_owned(), area(name))).collect()
}

/// The areas that have types, in the order in which they are listed.
pub(super) fn used(assigned: &BTreeMap<String, &'static Area>) -> impl Iterator<Item = &'static Area> {
    let files: BTreeSet<&str> = assigned.values().map(|area| area.file).collect();
    AREAS.iter().chain([&CONTENT, &SHARED, &MESSAGES]).filter(move |area| files.contains(area.file))
}

/// Notes that an area leads to a definition and to all that it refers to.
fn reach(family: &Family<'_>, name: &str, area: usize, reached: &mut BTreeMap<String, BTreeSet<usize>>) {
    if !reached.entry(name.to_owned()).or_default().insert(area) {
        return;
    }
    for definition in family.definition(name).into_iter().flatten() {
        let mut names = BTreeSet::new();
        references(definition, &mut names);
        for name in names {
            reach(family, &name, area, reached);
        }
    }
}

fn references(schema: &Value, names: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            if let Some(name) = members.get("$ref").and_then(Value::as_str) {
                names.insert(name.rsplit('/').next().unwrap_or(name).to_owned());
            }
            members.values().for_each(|value| references(value, names));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, names)),
        _ => {}
    }
}
