//! The definitions of both crates, by the document that they must agree with.

use std::sync::OnceLock;

use agentwire_acp_schema::schema::Addition;
use agentwire_acp_schema::schema::Definition as AcpDefinition;
use agentwire_acp_schema::{v1, v2};
use agentwire_mcp_schema::Revision;
use agentwire_mcp_schema::schema::{DEFINITIONS, Definition, DowngradeText};
use agentwire_schema_tests::{Document, superset};

/// A definition's name and the type that speaks it.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) round_trip: fn(&str) -> Result<String, serde_json::Error>,
    pub(crate) downgrade: Option<DowngradeText>,
}

/// All documents that are generated.
pub(crate) const DOCUMENTS: &[&str] = &[
    "acp/v1.json",
    "acp/v1-unstable.json",
    "acp/v2.json",
    "acp/v2-unstable.json",
    "mcp/2024-11-05.json",
    "mcp/2025-03-26.json",
    "mcp/2025-06-18.json",
    "mcp/2025-11-25.json",
    "mcp/2026-07-28.json",
];

/// The definitions of a document that have a type.
pub(crate) fn of(document: &Document) -> Vec<Row> {
    match document.name() {
        "acp/v1.json" => acp(v1::schema::DEFINITIONS, &[]),
        "acp/v1-unstable.json" => acp(v1::unstable::schema::DEFINITIONS, v1::unstable::schema::ADDITIONS),
        "acp/v2.json" => acp(v2::schema::DEFINITIONS, &[]),
        "acp/v2-unstable.json" => acp(v2::unstable::schema::DEFINITIONS, v2::unstable::schema::ADDITIONS),
        name => mcp(document, revision_of(name).unwrap_or_else(|| panic!("no document is called {name}"))),
    }
}

/// The document of that name. All tests share it: to compile its validators takes longer than most of them.
pub(crate) fn load(name: &str) -> &'static Document {
    static LOADED: [OnceLock<Document>; DOCUMENTS.len()] = [const { OnceLock::new() }; DOCUMENTS.len()];
    let at = DOCUMENTS.iter().position(|known| *known == name);
    let at = at.unwrap_or_else(|| panic!("no document is called {name}"));
    LOADED[at].get_or_init(|| Document::generated(name).expect("run `cargo xtask schema`"))
}

pub(crate) fn revision_of(name: &str) -> Option<Revision> {
    Revision::parse(name.strip_prefix("mcp/")?.strip_suffix(".json")?)
}

/// Of a draft only what it adds: the rest is in the version's own document.
fn acp(definitions: &[AcpDefinition], additions: &[Addition]) -> Vec<Row> {
    let added = additions.iter().map(|added| (added.name, added.round_trip));
    let rows = definitions.iter().map(|definition| (definition.name, definition.round_trip)).chain(added);
    rows.map(|(name, round_trip)| Row { name, round_trip, downgrade: None }).collect()
}

/// The superset that the types of a document's protocol read, if it is more than the document: MCP's speak all revisions.
pub(crate) fn superset_of(name: &str) -> Option<&'static Document> {
    static REVISIONS: OnceLock<Document> = OnceLock::new();
    let documents = || DOCUMENTS.iter().filter(|name| revision_of(name).is_some()).map(|name| load(name));
    let make = || superset("mcp", &documents().collect::<Vec<_>>()).expect("a schema");
    revision_of(name).map(|_| REVISIONS.get_or_init(make))
}

/// Also params that got their name later: earlier revisions have them inside of the request.
fn mcp(document: &Document, revision: Revision) -> Vec<Row> {
    let is_inlined = |definition: &Definition| {
        definition.name.ends_with("Params")
            && definition.range.since > revision
            && document.pointer(definition.name).is_some()
    };
    let there = DEFINITIONS.iter().filter(|definition| definition.is_in(revision) || is_inlined(definition));
    let row = |Definition { name, round_trip, downgrade, .. }: &Definition| Row {
        name,
        round_trip: *round_trip,
        downgrade: *downgrade,
    };
    there.map(row).collect()
}

/// Definitions that no type speaks, because JSON-RPC or the table of methods makes them, or because others only
/// share their members.
pub(crate) fn is_envelope(document: &str, name: &str) -> bool {
    let mut words = ["Request", "Response", "Notification"].iter();
    if revision_of(document).is_none() {
        let sides = ["Agent", "Client", "Proxy", "Ext"];
        let is_union = |word: &&str| sides.iter().any(|side| name == format!("{side}{word}"));
        return words.any(is_union) || ["Error", "ErrorCode", "RequestId"].contains(&name);
    }
    let shared = [
        "Annotated",
        "BaseMetadata",
        "CacheableResult",
        "ClientResult",
        "EmptyResult",
        "EnumSchema",
        "Icons",
        "InputResponseRequestParams",
        "MetaObject",
        "MultiSelectEnumSchema",
        "PaginatedResult",
        "ResourceContents",
        "ServerResult",
        "SingleSelectEnumSchema",
        "TaskAugmentedRequestParams",
    ];
    let is_message =
        ["Request", "Notification", "ResultResponse", "Error"].iter().any(|end| name.ends_with(end));
    is_message || name.starts_with("JSON") || shared.contains(&name)
}
