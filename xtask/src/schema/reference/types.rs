//! Pages of types: their members, alternatives and constants.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;

use super::areas::Area;
use super::family::Family;
use super::text::{GENERATED, text, upper_first};
use crate::schema::document;

/// The depth to which members of objects without a definition are listed.
const DEPTH_LIMIT: usize = 3;

type Areas = BTreeMap<String, &'static Area>;

/// The page of an area.
pub(super) fn page(family: &Family<'_>, areas: &Areas, area: &Area) -> String {
    let mut page = format!("{GENERATED}# {}: {}\n\n", family.title, lower_first(area.title));
    let _ = writeln!(page, "{} The methods are [here](README.md).", area.about);
    for name in areas.iter().filter(|(_, other)| other.file == area.file).map(|(name, _)| name) {
        definition(&mut page, family, areas, name);
    }
    page
}

/// A definition's name, with a link to it.
pub(super) fn link(areas: &Areas, name: &str) -> String {
    match areas.get(name) {
        Some(area) => format!("[{name}]({}.md#{})", area.file, name.to_lowercase()),
        None => name.to_owned(),
    }
}

/// Text for a cell of a table.
pub(super) fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

fn lower_first(title: &str) -> String {
    let mut letters = title.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

fn definition(page: &mut String, family: &Family<'_>, areas: &Areas, name: &str) {
    let versions = family.definition(name);
    let Some(newest) = versions.iter().rev().copied().flatten().next() else { return };
    let _ = write!(page, "\n## {name}\n\n");
    let description = text(newest, "description");
    let first = description.split("\n\n").next().unwrap_or_default();
    let mut facts = Vec::new();
    for row in family.methods() {
        let kinds = [("params", "The params of"), ("result", "The result of")];
        facts.extend(
            kinds
                .iter()
                .filter(|(key, _)| text(row.newest, key) == name)
                // Most descriptions name the method already.
                .filter(|_| !first.contains(&format!("`{}`", row.method)))
                .map(|(_, say)| format!("{say} `{}`", row.method)),
        );
    }
    facts.dedup();
    let present: Vec<bool> = versions.iter().map(Option::is_some).collect();
    let presence = family.presence(&present);
    let mark = if has_presence(description, &presence) {
        String::new()
    } else {
        format!("{}.", upper_first(&presence))
    };
    let facts = facts.iter().map(|fact| format!("{fact}.")).chain([mark]).filter(|fact| !fact.is_empty());
    let facts = facts.collect::<Vec<_>>().join(" ");
    for paragraph in [facts.as_str(), description].iter().filter(|paragraph| !paragraph.is_empty()) {
        let _ = write!(page, "{paragraph}\n\n");
    }
    let members = members(page, family, areas, &versions);
    let alternatives = alternatives(page, family, areas, &versions);
    if !members && !alternatives {
        let _ = writeln!(page, "Type: {}", kind(newest, areas));
    }
}

/// Writes the table of an object's members; true if there are any.
fn members(page: &mut String, family: &Family<'_>, areas: &Areas, versions: &[Option<&Value>]) -> bool {
    let mut rows = Vec::new();
    member_rows(&mut rows, family, areas, versions, "", DEPTH_LIMIT);
    if rows.is_empty() {
        return false;
    }
    page.push_str("| member | type | | what it is |\n|---|---|---|---|\n");
    for row in &rows {
        let _ = writeln!(page, "{row}");
    }
    true
}

/// Whether a text already has the range of versions; an empty range counts as present.
fn has_presence(description: &str, presence: &str) -> bool {
    let text = if presence == "*draft*" { "A draft.".to_owned() } else { upper_first(presence) };
    presence.is_empty() || description.contains(&text)
}

/// Whether a member of an object has a description.
fn is_explained(schema: &Value) -> bool {
    let members = schema["properties"].as_object().into_iter().flatten();
    members.into_iter().any(|(_, member)| !text(member, "description").is_empty())
}

fn member_rows(
    rows: &mut Vec<String>,
    family: &Family<'_>,
    areas: &Areas,
    versions: &[Option<&Value>],
    prefix: &str,
    depth: usize,
) {
    let properties = |schema: &Value| {
        schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
    };
    let names: BTreeSet<String> =
        versions.iter().flatten().flat_map(|schema| -> Vec<String> { properties(schema) }).collect();
    let is_required = |schema: &Value, name: &str| {
        schema["required"].as_array().is_some_and(|required| required.iter().any(|other| other == name))
    };
    let last = versions.iter().rev().flatten().next();
    let mut names: Vec<String> = names.into_iter().collect();
    names.sort_by_key(|name| (last.is_none_or(|schema| !is_required(schema, name)), name == "_meta"));
    for name in names {
        let members: Vec<Option<&Value>> =
            versions.iter().map(|schema| schema.and_then(|schema| schema["properties"].get(&name))).collect();
        let Some(newest) = members.iter().rev().copied().flatten().next() else { continue };
        // For each version: whether it has the member, whether it has the type, whether it requires the member.
        let present: Vec<bool> = members.iter().map(Option::is_some).collect();
        let exists: Vec<bool> = versions.iter().map(Option::is_some).collect();
        let required: Vec<bool> =
            versions.iter().map(|schema| schema.is_some_and(|schema| is_required(schema, &name))).collect();
        let presence = if present == exists { String::new() } else { family.presence(&present) };
        let need = match &required {
            all if *all == present => "required".to_owned(),
            none if !none.contains(&true) => String::new(),
            some => format!("required {}", family.presence(some)),
        };
        let description = cell(text(newest, "description"));
        let mark = format!("{}.", upper_first(&presence));
        let description = match description.strip_suffix(&mark) {
            Some(before) if !presence.is_empty() => before.trim_end().to_owned(),
            _ => description,
        };
        let marks = [need, if has_presence(&description, &presence) { String::new() } else { presence }]
            .into_iter()
            .filter(|mark| !mark.trim().is_empty())
            .collect::<Vec<_>>()
            .join("; ");
        rows.push(format!("| `{prefix}{name}` | {} | {marks} | {description} |", kind(newest, areas)));
        // A definition is described on its own.
        if depth > 0 && reference(newest).is_none() && is_explained(newest) {
            member_rows(rows, family, areas, &members, &format!("{prefix}{name}."), depth - 1);
        }
    }
}

/// Writes the list of a union's alternatives, or of constants; true if there are any.
fn alternatives(page: &mut String, family: &Family<'_>, areas: &Areas, versions: &[Option<&Value>]) -> bool {
    let listed: Vec<Vec<(String, &str)>> = versions
        .iter()
        .map(|schema| {
            let all = schema.map(alternatives_of).unwrap_or_default();
            let own = schema.map_or("", |schema| text(schema, "description"));
            let about =
                |one| Some(text(one, "description")).filter(|about| *about != own).unwrap_or_default();
            all.into_iter().map(|one| (alternative(one, areas), about(one))).collect()
        })
        .collect();
    if versions.iter().flatten().all(|schema| schema["$ref"].is_string()) {
        return false;
    }
    let exists: Vec<bool> = versions.iter().map(Option::is_some).collect();
    let mut seen = BTreeSet::new();
    let mut begun = false;
    for (what, description) in listed.iter().rev().flatten() {
        if !seen.insert(what) {
            continue;
        }
        if !begun {
            page.push_str(if page.ends_with("|\n") { "\nAnd one of:\n\n" } else { "One of:\n\n" });
            begun = true;
        }
        let present: Vec<bool> =
            listed.iter().map(|all| all.iter().any(|(other, _)| other == what)).collect();
        let presence = if present == exists { String::new() } else { family.presence(&present) };
        let mark =
            if has_presence(description, &presence) { String::new() } else { format!(" ({presence})") };
        let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
        let description = if description.is_empty() { description } else { format!(": {description}") };
        let _ = writeln!(page, "- {what}{mark}{description}");
    }
    begun
}

fn alternatives_of(schema: &Value) -> Vec<&Value> {
    // A reference alone.
    if schema["$ref"].is_string() {
        return vec![schema];
    }
    let unions = ["anyOf", "oneOf", "enum"].iter().filter_map(|key| schema[*key].as_array());
    unions.flatten().collect()
}

/// An alternative: its tag and the type of the rest, its constant, or its type.
fn alternative(schema: &Value, areas: &Areas) -> String {
    if schema.is_string() {
        return format!("`{schema}`");
    }
    let tag = schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .find(|(_, member)| member.get("const").is_some());
    let reference = reference(schema).map(|name| link(areas, name));
    match (tag, reference) {
        (Some((name, member)), Some(reference)) => format!("`{name}` {}: {reference}", kind(member, areas)),
        (Some((name, member)), None) => {
            let mut members = vec![format!("`{name}` {}", kind(member, areas))];
            let others =
                schema["properties"].as_object().into_iter().flatten().filter(|(other, _)| *other != name);
            members.extend(others.map(|(other, member)| format!("`{other}`: {}", kind(member, areas))));
            members.join(" with ")
        }
        (None, Some(reference)) => reference,
        (None, None) => match (schema["title"].as_str(), schema["properties"].as_object()) {
            (Some("other"), _) => "anything else".to_owned(),
            (_, Some(members)) => {
                let member = |(name, member)| format!("`{name}`: {}", kind(member, areas));
                format!("object with {}", members.iter().map(member).collect::<Vec<_>>().join(", "))
            }
            _ => kind(schema, areas),
        },
    }
}

fn reference(schema: &Value) -> Option<&str> {
    let inner = schema["allOf"].as_array().and_then(|all| all.first()).unwrap_or(schema);
    document::reference(schema).or_else(|| document::reference(inner))
}

/// A type in a few words.
fn kind(schema: &Value, areas: &Areas) -> String {
    if let Some(constant) = schema.get("const") {
        return format!("`{constant}`");
    }
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ");
    }
    if let Some(several) = schema["allOf"].as_array().filter(|several| several.len() > 1) {
        return several.iter().map(|one| kind(one, areas)).collect::<Vec<_>>().join(" and ");
    }
    if let Some(name) = reference(schema) {
        return link(areas, name);
    }
    let alternatives = alternatives_of(schema);
    if !alternatives.is_empty() {
        let mut kinds: Vec<String> = alternatives.into_iter().map(|one| alternative(one, areas)).collect();
        kinds.dedup();
        return kinds.join(" or ");
    }
    let types = match &schema["type"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => vec!["anything"],
    };
    let named = |name: &str| match name {
        "array" => match schema.get("items") {
            Some(items) => format!("list of {}", kind_of_items(items, areas)),
            None => "list".to_owned(),
        },
        "object" => match schema
            .get("additionalProperties")
            .filter(|values| values.as_object().is_some_and(|o| !o.is_empty()))
        {
            Some(values) => format!("map to {}", kind(values, areas)),
            None => "object".to_owned(),
        },
        other => match schema["format"].as_str().filter(|_| other != "null") {
            Some(format) => format!("{other} ({format})"),
            None => other.to_owned(),
        },
    };
    types.into_iter().map(named).collect::<Vec<_>>().join(" or ")
}

fn kind_of_items(items: &Value, areas: &Areas) -> String {
    let kind = kind(items, areas);
    if kind.contains(" or ") { format!("({kind})") } else { kind }
}
