//! Versions of a protocol that share their pages, and the range of versions in which something exists.

use std::collections::BTreeSet;

use serde_json::Value;

use super::text::text;
use crate::schema::document::ProtocolSchema;

/// Versions that share their pages, oldest first.
pub(super) struct Family<'a> {
    pub(super) title: &'static str,
    pub(super) folder: &'static str,
    pub(super) about: &'static str,
    /// The senders of the method table, each with the heading of its methods.
    pub(super) directions: &'static [(&'static str, &'static str)],
    /// Whether the last of the versions is a draft of the first.
    draft: bool,
    pub(super) versions: Vec<&'a ProtocolSchema>,
}

/// A method, over all versions.
pub(super) struct Row<'a> {
    pub(super) method: String,
    pub(super) kind: String,
    pub(super) from: String,
    pub(super) newest: &'a Value,
    pub(super) presence: String,
}

const ACP_DIRECTIONS: &[(&str, &str)] = &[
    ("client", "The client calls the agent"),
    ("agent", "The agent calls the client"),
    ("both", "Either calls the other"),
    ("proxy", "In chains of proxies"),
];
const MCP_DIRECTIONS: &[(&str, &str)] = &[
    ("client", "The client calls the server"),
    ("server", "The server calls the client"),
    ("both", "Either calls the other"),
];

impl<'a> Family<'a> {
    /// All families with at least one version.
    pub(super) fn all(all: &'a [ProtocolSchema]) -> Vec<Self> {
        let of = |protocol: &str, begin: &str| {
            let is_extension = |one: &ProtocolSchema| one.meta.get("extension").is_some();
            all.iter()
                .filter(|one| {
                    one.protocol == protocol && one.version.starts_with(begin) && !is_extension(one)
                })
                .collect()
        };
        let families = [
            Self {
                title: "ACP version 1",
                folder: "acp-v1",
                about: "The Agent Client Protocol between an editor and an agent. Items marked *draft* are proposed and may \
                        change; they are behind the feature `unstable`.",
                directions: ACP_DIRECTIONS,
                draft: true,
                versions: of("acp", "v1"),
            },
            Self {
                title: "ACP version 2",
                folder: "acp-v2",
                about: "The draft of the next version of the Agent Client Protocol, behind the feature `v2`. Items \
                        marked *draft* are not yet part of it, and are behind the feature `unstable` too.",
                directions: ACP_DIRECTIONS,
                draft: true,
                versions: of("acp", "v2"),
            },
            Self {
                title: "MCP",
                folder: "mcp",
                about: "The Model Context Protocol between an agent and its tools, in all revisions. *Since* and *until* \
                        name the first and the last revision with an item; items without a mark are in all of them. \
                        The tasks extension of 2026-07-28 has [pages of its own](../mcp-tasks/README.md).",
                directions: MCP_DIRECTIONS,
                draft: false,
                versions: of("mcp", ""),
            },
            Self {
                title: "MCP tasks",
                folder: "mcp-tasks",
                about: "The extension of the Model Context Protocol, `io.modelcontextprotocol/tasks`, in which a call continues \
                        as a task after its response. It belongs to the revision 2026-07-28.",
                directions: MCP_DIRECTIONS,
                draft: false,
                versions: all.iter().filter(|one| one.meta.get("extension").is_some()).collect(),
            },
        ];
        families.into_iter().filter(|family| !family.versions.is_empty()).collect()
    }

    /// The names of all definitions.
    pub(super) fn names(&self) -> BTreeSet<&'a str> {
        self.versions
            .iter()
            .flat_map(|version| version.definitions())
            .map(|(name, _)| name.as_str())
            .collect()
    }

    /// A definition in each version; `None` if it does not exist.
    pub(super) fn definition(&self, name: &str) -> Vec<Option<&'a Value>> {
        self.versions.iter().map(|version| version.definition(name)).collect()
    }

    /// Every method, from the newest version that has it, in the order of the tables.
    pub(super) fn methods(&self) -> Vec<Row<'a>> {
        let tables: Vec<&[Value]> = self.versions.iter().map(|version| table(version)).collect();
        let mut rows: Vec<Row<'a>> = Vec::new();
        // Extensions have their own pages.
        let all = tables.iter().rev().copied().flatten().filter(|row| row.get("extension").is_none());
        for row in all {
            let same = |other: &Value| {
                ["method", "kind", "from"].iter().all(|key| text(row, key) == text(other, key))
            };
            let known = rows.iter().any(|known| same(known.newest));
            if !known {
                let present: Vec<bool> = tables.iter().map(|table| table.iter().any(same)).collect();
                let [method, kind, from] = ["method", "kind", "from"].map(|key| text(row, key).to_owned());
                rows.push(Row { method, kind, from, newest: row, presence: self.presence(&present) });
            }
        }
        rows
    }

    /// The range of versions in which something exists; empty when in all. `present` has a value for each version.
    pub(super) fn presence(&self, present: &[bool]) -> String {
        let first = present.iter().position(|present| *present).unwrap_or_default();
        let last = present.iter().rposition(|present| *present).unwrap_or_default();
        let version = |index: usize| self.versions.get(index).map_or("", |version| version.version.as_str());
        if self.draft {
            return if first > 0 { "*draft*".to_owned() } else { String::new() };
        }
        if first == last && first + 1 < present.len() {
            return format!("only in {}", version(first));
        }
        let gap = present[first..=last].contains(&false);
        let since = (first > 0).then(|| format!("since {}", version(first)));
        let until = (last + 1 < present.len()).then(|| format!("until {}", version(last)));
        let gap = gap.then(|| "not in all between".to_owned());
        [since, until, gap].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

fn table(version: &ProtocolSchema) -> &[Value] {
    version.meta["methods"].as_array().map_or(&[], Vec::as_slice)
}
