//! A JSON Schema of every type, and the published definitions of each type. Feature `schema`.
//!
//! The types are the source and cover all revisions at once. [`DEFINITIONS`], [`MEMBERS`] and [`VARIANTS`] list the parts of
//! each revision; the generator of a revision's schema removes the rest.
//!
//! In a schema, `"x-open": true` marks a union or a set of strings of which the types keep unknown ones too, and
//! `"x-nullable": true` a member whose `null` is not the same as its absence.

mod definitions;

use schemars::{Schema, SchemaGenerator};

pub use crate::downgrade::{Member, Variant};
pub(crate) use crate::shapes::parts::{add_form_mode, union};
pub(crate) use crate::shapes::{
    ErrorSchema, FormValue, InputRequestsSchema, InputResponsesSchema, JsonObjectSchema, Milliseconds,
    OneOrMany, RequestIdSchema,
};
pub use definitions::{DEFINITIONS, INLINED, TASK_EXTENSION};

use crate::{Range, Revision, Unsupported};

/// The members that not every revision has or requires.
pub const MEMBERS: &[Member] = crate::downgrade::MEMBERS;

/// The variants of unions, each with the revisions that have it.
pub const VARIANTS: &[Variant] = crate::downgrade::VARIANTS;

/// A definition of the published schema and its type.
///
/// A type may have several: a name per range of revisions, or several names at once.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Definition {
    /// The published name, such as `CallToolRequestParams`.
    pub name: &'static str,
    /// The name of the type's schema, by which others refer to it.
    pub type_name: fn() -> std::borrow::Cow<'static, str>,
    /// The role of the definition.
    pub role: Role,
    /// The revisions that publish it.
    pub range: Range,
    /// Its JSON Schema, made with the generator: the parts of all revisions, as they are read.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// Decodes JSON text into the type and encodes it again.
    pub round_trip: fn(&str) -> Result<String, serde_json::Error>,
    /// The same, downgraded to a revision in between; `None` if no revision differs.
    pub downgrade: Option<DowngradeText>,
}

/// Decodes JSON text into a type, downgrades the value to a revision and encodes it again, if it then fits.
pub type DowngradeText = fn(&str, Revision) -> Result<Result<String, Unsupported>, serde_json::Error>;

impl Definition {
    /// Whether a revision publishes it.
    pub fn is_in(&self, revision: Revision) -> bool {
        self.range.contains(revision)
    }
}

/// The role of a definition. It decides the form of its `_meta`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// The parameters of a request.
    Params,
    /// The parameters of a notification.
    NotificationParams,
    /// A result.
    Result,
    /// A part of those.
    Plain,
    /// A name for a simple type; where it is used, the simple type is published.
    Alias,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    fn types() -> serde_json::Map<String, Value> {
        let mut generator = SchemaGenerator::default();
        for definition in DEFINITIONS.iter().chain(INLINED).chain(TASK_EXTENSION) {
            (definition.schema)(&mut generator);
        }
        generator.take_definitions(true)
    }

    /// A row about a member that no type has, or by a name that is not its name on the wire, would do
    /// nothing.
    #[test]
    fn every_rule_is_about_something() {
        let types = types();
        for rule in MEMBERS {
            let members = &types[rule.owner]["properties"];
            // The types of the extension share names with others, and come second.
            let second = types.get(&format!("{}2", rule.owner)).map(|schema| &schema["properties"]);
            let name = rule.wire_name();
            // A choice of one is a union of its spellings.
            let is_union = rule.owner == "SingleSelectSchema";
            let mut both = [Some(members), second].into_iter().flatten();
            let is_there = both.any(|members| members.get(&name).is_some());
            assert!(is_there || is_union, "{} has no member {name}", rule.owner);
        }
        for rule in VARIANTS {
            assert!(types.contains_key(rule.owner), "{}", rule.owner);
            assert!(types.contains_key(rule.kind), "{}", rule.kind);
        }
    }

    #[test]
    fn a_type_has_a_name_once_in_a_revision() {
        for &revision in Revision::ALL {
            let rows: Vec<_> = DEFINITIONS.iter().filter(|row| row.is_in(revision)).collect();
            let pairs: BTreeSet<_> = rows.iter().map(|row| (row.name, (row.type_name)())).collect();
            assert_eq!(pairs.len(), rows.len(), "{revision}");
        }
    }

    #[test]
    fn a_definition_reads_and_writes() {
        let tool = DEFINITIONS.iter().find(|row| row.name == "Tool").unwrap();
        let text = r#"{"name":"add","inputSchema":{"type":"object"}}"#;
        assert_eq!((tool.round_trip)(text).unwrap(), text);
        assert!((tool.round_trip)("{}").is_err());
    }
}
