//! `docs/reference/`: pages of the methods and types of both protocols, made from the generated documents alone.

mod areas;
mod family;
mod prose;
mod text;
mod types;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use self::areas::Area;
use self::family::Family;
pub(super) use self::prose::Prose;
use self::text::GENERATED;
use super::document::ProtocolSchema;

/// All pages, by their path in `docs/reference/`.
pub(super) fn pages(all: &[ProtocolSchema]) -> BTreeMap<String, String> {
    let families = Family::all(all);
    let mut pages = BTreeMap::from([("README.md".to_owned(), contents(&families))]);
    for family in &families {
        let areas = areas::assign(family);
        pages.insert(format!("{}/README.md", family.folder), methods(family, &areas));
        for area in areas::used(&areas) {
            pages.insert(format!("{}/{}.md", family.folder, area.file), types::page(family, &areas, area));
        }
    }
    pages
}

fn contents(families: &[Family<'_>]) -> String {
    let mut page = format!(
        "{GENERATED}# Reference\n\nThe methods and types on the wire, as this project implements them.\n\n"
    );
    page.push_str("| | methods | types | |\n|---|---|---|---|\n");
    for family in families {
        let (methods, types) = (family.methods().len(), family.names().len());
        let schemas: Vec<String> = family
            .versions
            .iter()
            .map(|version| format!("[{0}](../schema/{1}/{0}.json)", version.version, version.protocol))
            .collect();
        let _ = writeln!(
            page,
            "| [{}]({}/README.md) | {methods} | {types} | JSON Schema: {} |",
            family.title,
            family.folder,
            schemas.join(", "),
        );
    }
    page.push_str("\nThe method table of each schema is the file `….meta.json` beside it.\n");
    page
}

/// The page of a family's methods, with links to its types.
fn methods(family: &Family<'_>, areas: &BTreeMap<String, &'static Area>) -> String {
    let mut page = format!("{GENERATED}# {}\n\n{}\n\n", family.title, family.about);
    page.push_str("## Types\n\n");
    for area in areas::used(areas) {
        let count = areas.values().filter(|other| other.file == area.file).count();
        let _ = writeln!(page, "- [{}]({}.md): {} {count} types.", area.title, area.file, area.about);
    }
    let mut rows = family.methods();
    for (from, heading) in family.directions {
        let (these, others): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.from == *from);
        rows = others;
        if these.is_empty() {
            continue;
        }
        let _ =
            write!(page, "\n## {heading}\n\n| method | params | result | needs | |\n|---|---|---|---|---|\n");
        for row in these {
            let cell = |name: &str| row.newest[name].as_str().map(|name| types::link(areas, name));
            let result = match row.kind.as_str() {
                "request" => cell("result").unwrap_or_default(),
                _ => "*a notification*".to_owned(),
            };
            let gate = row.newest["gate"].as_str().map(types::cell).unwrap_or_default();
            let marks = row.presence;
            let params = cell("params").or_else(|| message(family, areas, &row.method)).unwrap_or_default();
            let _ = writeln!(page, "| `{}` | {params} | {result} | {gate} | {marks} |", row.method);
        }
    }
    page.push_str(
        "\n*Needs*: the capability that must be advertised before the method is sent. If it begins with the name of a side, \
         that side advertises it: usually the receiver; for notifications about an offer of the sender, such as a \
         changed list, the sender.\n",
    );
    page
}

/// The definition of a method's whole message, for params without a definition.
fn message(family: &Family<'_>, areas: &BTreeMap<String, &'static Area>, method: &str) -> Option<String> {
    let is_message = |schema: Option<&Value>| {
        schema.is_some_and(|schema| schema["properties"]["method"]["const"] == method)
    };
    let names = family.names().into_iter();
    names
        .rev()
        .find(|name| family.definition(name).into_iter().any(is_message))
        .map(|name| types::link(areas, name))
}
