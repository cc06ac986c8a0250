//! ACP's documents: the definitions of each version, from our types, in the form in which the protocol publishes them, with
//! envelopes of JSON-RPC made from the method table.

mod envelope;
mod open;

use agentwire_acp_schema::schema::{Addition, Definition};
use agentwire_acp_schema::{v1, v2};
use anyhow::{Context as _, Result, ensure};
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use self::envelope::Methods;
use super::document::{ProtocolSchema, reference};

/// The parts of one document.
struct Version {
    name: &'static str,
    /// The version's number on the wire.
    number: u32,
    definitions: Vec<&'static [Definition]>,
    /// Members and alternatives that drafts add to definitions.
    additions: &'static [Addition],
    methods: Methods,
}

/// One document for each version, and one for each with its drafts.
pub(super) fn schemas() -> Result<Vec<ProtocolSchema>> {
    let versions = [
        Version {
            name: "v1",
            number: 1,
            definitions: vec![v1::schema::DEFINITIONS],
            additions: &[],
            methods: Methods::new(v1::METHODS, &[]),
        },
        Version {
            name: "v1-unstable",
            number: 1,
            definitions: vec![v1::schema::DEFINITIONS, v1::unstable::schema::DEFINITIONS],
            additions: v1::unstable::schema::ADDITIONS,
            methods: Methods::new(v1::METHODS, v1::unstable::METHODS),
        },
        Version {
            name: "v2",
            number: 2,
            definitions: vec![v2::schema::DEFINITIONS],
            additions: &[],
            methods: Methods::new(v2::METHODS, &[]),
        },
        Version {
            name: "v2-unstable",
            number: 2,
            definitions: vec![v2::schema::DEFINITIONS, v2::unstable::schema::DEFINITIONS],
            additions: v2::unstable::schema::ADDITIONS,
            methods: Methods::new(v2::METHODS, v2::unstable::METHODS),
        },
    ];
    versions.iter().map(Version::schema).collect()
}

impl Version {
    fn schema(&self) -> Result<ProtocolSchema> {
        let mut definitions = self.generate().with_context(|| format!("ACP {}", self.name))?;
        for (name, schema) in &mut definitions {
            open::project(name, schema, self.number);
        }
        open::fill_in(&mut definitions)?;
        self.methods.stamp(&mut definitions)?;
        envelope::add(&mut definitions, &self.methods, self.number)?;
        let mut document = envelope::document(&self.methods);
        document["$defs"] = Value::Object(definitions);
        let meta = json!({ "protocol": "acp", "version": self.name, "methods": self.methods.rows() });
        Ok(ProtocolSchema { protocol: "acp", version: self.name.to_owned(), document, meta })
    }

    /// The schemas of the types, by the published name, and of the types that these refer to.
    fn generate(&self) -> Result<Map<String, Value>> {
        let mut generator = SchemaSettings::draft2020_12().into_generator();
        for definition in self.definitions.iter().copied().flatten() {
            let reference = (definition.schema)(&mut generator);
            let expected = format!("#/$defs/{}", definition.name);
            let found = reference.get("$ref").and_then(Value::as_str).unwrap_or("no definition");
            ensure!(found == expected, "the type of {} makes {found}", definition.name);
        }
        let additions: Vec<(&str, Value)> = self
            .additions
            .iter()
            .map(|addition| (addition.name, (addition.schema)(&mut generator).to_value()))
            .collect();
        let mut definitions = generator.take_definitions(true);
        for (name, addition) in additions {
            let definition =
                definitions.get_mut(name).with_context(|| format!("no definition {name} to add to"))?;
            merge(definition, addition);
        }
        if !self.additions.is_empty() {
            complete_defaults(&mut definitions);
        }
        Ok(definitions)
    }
}

/// Adds the members, required names and alternatives of an addition to its definition.
fn merge(definition: &mut Value, addition: Value) {
    let (Some(definition), Value::Object(addition)) = (definition.as_object_mut(), addition) else { return };
    for (keyword, more) in addition {
        let keyword = match keyword.as_str() {
            // Either spelling means the same here.
            "anyOf" if definition.contains_key("oneOf") => "oneOf".to_owned(),
            "oneOf" if definition.contains_key("anyOf") => "anyOf".to_owned(),
            _ => keyword,
        };
        match (definition.get_mut(&keyword), more) {
            (Some(Value::Object(members)), Value::Object(more)) => {
                for (name, member) in more {
                    members.entry(name).or_insert(member);
                }
            }
            (Some(Value::Array(items)), Value::Array(more)) => {
                for item in more {
                    if !items.contains(&item) {
                        items.push(item);
                    }
                }
            }
            (Some(_), _) => {}
            (None, more) => {
                definition.insert(keyword, more);
            }
        }
    }
}

/// Adds the defaults of draft members to the defaults of members of that type.
fn complete_defaults(definitions: &mut Map<String, Value>) {
    // A default may contain another default; the protocol nests them no deeper.
    for _ in 0..2 {
        let types = definitions.clone();
        let members = definitions
            .values_mut()
            .filter_map(|definition| definition.get_mut("properties")?.as_object_mut());
        for member in members.flat_map(|members| members.values_mut()) {
            let name = reference(member).unwrap_or_default();
            let Some(properties) = types.get(name).and_then(|schema| schema["properties"].as_object()) else {
                continue;
            };
            let Some(default) = member.get_mut("default").and_then(Value::as_object_mut) else { continue };
            for (name, property) in properties {
                if let Some(value) = property.get("default") {
                    default.insert(name.clone(), value.clone());
                }
            }
        }
    }
}
