//! Restricts the types to one revision.

use agentwire_mcp_schema::schema::{DEFINITIONS, Definition, INLINED, MEMBERS, Member, Role, VARIANTS};
use agentwire_mcp_schema::{MethodInfo, MethodKind, Revision};
use anyhow::{Context as _, Result, ensure};
use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};

use super::format::{Format, any_object, bare};
use super::{json_rpc, shapes};
use crate::schema::document::reference;

/// Keywords of a type's schema that are not published.
const UNPUBLISHED: [&str; 5] = ["$schema", "default", "title", "x-nullable", "x-open"];

/// Formats that the generator adds for the width of a number.
const WIDTHS: [&str; 6] = ["double", "float", "int64", "uint", "uint32", "uint64"];

/// All types as one revision has them.
pub(super) struct Projection {
    pub(super) revision: Revision,
    extension: &'static [Definition],
    /// The schemas of the types, for all revisions, by the type's name.
    types: Map<String, Value>,
    format: Format,
}

impl Projection {
    pub(super) fn new(revision: Revision) -> Result<Self> {
        Self::with(revision, &[])
    }

    /// The same with the definitions of an extension.
    pub(super) fn with(revision: Revision, extension: &'static [Definition]) -> Result<Self> {
        let mut generator = SchemaGenerator::default();
        for definition in extension.iter().chain(DEFINITIONS).chain(INLINED) {
            (definition.schema)(&mut generator);
        }
        let types = generator.take_definitions(true);
        json_rpc::agrees(&types)?;
        Ok(Self { revision, extension, types, format: Format::of(revision) })
    }

    /// The definitions that have a type.
    pub(super) fn definitions(&self) -> Result<Map<String, Value>> {
        let mut definitions = Map::new();
        for definition in self.rows().filter(|definition| definition.is_in(self.revision)) {
            let schema = self.of_type(&(definition.type_name)(), definition.role)?;
            // Several types may have the same name if they have the same shape.
            if let Some(other) = definitions.insert(definition.name.to_owned(), schema.clone()) {
                ensure!(
                    bare(&other) == bare(&schema),
                    "{} has two shapes: {other} and {schema}",
                    definition.name
                );
            }
        }
        Ok(definitions)
    }

    fn rows(&self) -> impl Iterator<Item = &'static Definition> {
        self.extension.iter().chain(DEFINITIONS)
    }

    /// The schema of a type in the revision.
    pub(super) fn of_type(&self, name: &str, role: Role) -> Result<Value> {
        let schema = self.types.get(name).with_context(|| format!("there is no type {name}"))?;
        self.schema(schema, Some(name), role)
    }

    /// The parameters of a method: a reference, or their shape where the revision has no name for them.
    pub(super) fn params(&self, method: &MethodInfo) -> Result<Value> {
        let role = match method.kind {
            MethodKind::Request => Role::Params,
            _ => Role::NotificationParams,
        };
        self.reference(method.params, role)
    }

    /// The revision's definition of a type.
    pub(super) fn published_name(&self, type_name: &str) -> Option<&'static Definition> {
        self.rows().find(|row| (row.type_name)() == type_name && row.is_in(self.revision))
    }

    /// A reference to a definition.
    pub(super) fn to(&self, name: &str) -> Value {
        self.format.reference(name)
    }

    /// A type at its place of use: a reference, or its shape.
    pub(super) fn reference(&self, type_name: &str, role: Role) -> Result<Value> {
        match self.published_name(type_name) {
            Some(row) if row.role != Role::Alias => Ok(self.to(row.name)),
            _ => self.of_type(type_name, role),
        }
    }

    fn schema(&self, schema: &Value, owner: Option<&str>, role: Role) -> Result<Value> {
        let Value::Object(keywords) = schema else { return Ok(json!({})) };
        if let Some(name) = reference(schema) {
            let mut target = self.reference(name, role)?;
            describe(&mut target, keywords);
            return Ok(target);
        }
        let mut published = Map::new();
        let format = keywords.get("format").and_then(Value::as_str).unwrap_or_default();
        for (keyword, value) in keywords {
            let value = match keyword.as_str() {
                "anyOf" | "oneOf" => {
                    let mut union = self.union(value, owner, role)?;
                    describe(&mut union, keywords);
                    return Ok(union);
                }
                "properties" | "required" => continue,
                "type" if !keywords.contains_key("x-nullable") => without_null(value),
                "items" => self.schema(value, None, Role::Plain)?,
                "additionalProperties" => match self.schema(value, None, Role::Plain)? {
                    // Beside members it only allows others.
                    _ if keywords.contains_key("properties") => continue,
                    item => item,
                },
                "format" if WIDTHS.contains(&format) => continue,
                "minimum" if format.starts_with("uint") => continue,
                keyword if UNPUBLISHED.contains(&keyword) => continue,
                _ => value.clone(),
            };
            published.insert(keyword.clone(), value);
        }
        if let Some(Value::Object(properties)) = keywords.get("properties") {
            self.members(&mut published, properties, keywords, owner, role)?;
        }
        Ok(published.into())
    }

    fn members(
        &self,
        published: &mut Map<String, Value>,
        properties: &Map<String, Value>,
        keywords: &Map<String, Value>,
        owner: Option<&str>,
        role: Role,
    ) -> Result<()> {
        let required: Vec<&str> = keywords.get("required").map_or_else(Vec::new, |names| {
            names.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
        });
        let mut members = Map::new();
        let mut needed = Vec::new();
        for (name, schema) in properties {
            let rule = owner.and_then(|owner| rule(owner, name));
            if rule.is_some_and(|rule| !rule.range.contains(self.revision)) {
                continue;
            }
            let is_alone = properties.len() == 1;
            let shape = self.schema(schema, None, Role::Plain)?;
            let place = || format!("the member {name} of {}", owner.unwrap_or("an object"));
            if name == "_meta" {
                let shape = bare(&shape);
                ensure!(shape == any_object(), "{} is any object, and not {shape}", place());
            }
            let exception = match owner {
                Some(owner) => shapes::exception(self.revision, owner, name, &shape).with_context(place)?,
                None => None,
            };
            let member = match exception {
                Some(exception) => exception.map(|shape| (shape, false)),
                None if name == "_meta" => self.meta(role, owner, is_alone),
                None => Some((shape, false)),
            };
            let Some((mut member, is_needed)) = member else { continue };
            if let Value::Object(keywords) = schema {
                describe(&mut member, keywords);
            }
            members.insert(name.clone(), member);
            let by_rule = rule.and_then(|rule| rule.is_required_in(self.revision));
            if is_needed || by_rule.unwrap_or(required.contains(&name.as_str())) {
                needed.push(name.clone());
            }
        }
        if !members.is_empty() {
            published.insert("properties".to_owned(), members.into());
        }
        if !needed.is_empty() {
            published.insert("required".to_owned(), needed.into());
        }
        Ok(())
    }

    /// The schema of `_meta` in that place, and whether it is required; `None` if it is not published.
    fn meta(&self, role: Role, owner: Option<&str>, is_alone: bool) -> Option<(Value, bool)> {
        let name = match role {
            Role::Params if self.revision < Revision::V2026_07_28 => {
                // Before parameters had names, `_meta` was published once for all requests.
                let is_named = owner.is_some_and(|owner| self.published_name(owner).is_some());
                return (is_named || is_alone).then(|| (self.progress_meta(), false));
            }
            Role::NotificationParams if self.revision < Revision::V2026_07_28 => {
                let is_named = owner.is_some_and(|owner| self.published_name(owner).is_some());
                return (is_named || is_alone).then(|| (any_object(), false));
            }
            _ if self.revision < Revision::V2026_07_28 => return Some((any_object(), false)),
            Role::Params => "RequestMetaObject",
            Role::NotificationParams => "NotificationMetaObject",
            Role::Result => "ResultMetaObject",
            _ => "MetaObject",
        };
        Some((self.to(name), role == Role::Params))
    }

    /// The `_meta` of a request, with its progress token.
    pub(super) fn progress_meta(&self) -> Value {
        json!({ "type": "object", "properties": { "progressToken": self.to("ProgressToken") } })
    }

    fn union(&self, variants: &Value, owner: Option<&str>, role: Role) -> Result<Value> {
        let variants: Vec<&Value> = variants.as_array().into_iter().flatten().collect();
        if variants.iter().all(|variant| variant.get("const").is_some()) {
            return Ok(json!({ "oneOf": variants }));
        }
        let mut all = Vec::new();
        for variant in variants {
            let name = reference(variant);
            if variant.get("type") == Some(&json!("null")) || !self.has_variant(owner, name) {
                continue;
            }
            match name.filter(|name| self.types.get(*name).is_some_and(is_union)) {
                // A union in a union is published as one union.
                Some(name) => match self.of_type(name, role)? {
                    Value::Object(mut union) if union.contains_key("anyOf") => {
                        all.extend(
                            union.remove("anyOf").and_then(|all| all.as_array().cloned()).unwrap_or_default(),
                        );
                    }
                    other => all.push(other),
                },
                None => all.push(self.schema(variant, None, role)?),
            }
        }
        let is_one = all.len() == 1;
        Ok(if is_one { all.remove(0) } else { json!({ "anyOf": all }) })
    }

    fn has_variant(&self, owner: Option<&str>, variant: Option<&str>) -> bool {
        let (Some(owner), Some(variant)) = (owner, variant) else { return true };
        let rule = VARIANTS.iter().find(|rule| rule.owner == owner && rule.kind == variant);
        rule.is_none_or(|rule| rule.range.contains(self.revision))
            && !shapes::is_later_spelling(owner, variant, self.revision)
    }
}

fn rule(owner: &str, name: &str) -> Option<&'static Member> {
    MEMBERS.iter().find(|rule| rule.owner == owner && rule.wire_name() == name)
}

fn is_union(schema: &Value) -> bool {
    schema.get("anyOf").is_some()
}

fn without_null(types: &Value) -> Value {
    let Value::Array(types) = types else { return types.clone() };
    let types: Vec<Value> = types.iter().filter(|name| **name != json!("null")).cloned().collect();
    if let [only] = &types[..] { only.clone() } else { types.into() }
}

/// Replaces the description of a type by that of the member.
fn describe(schema: &mut Value, keywords: &Map<String, Value>) {
    if let (Value::Object(schema), Some(description)) = (schema, keywords.get("description")) {
        schema.insert("description".to_owned(), description.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_type_of_an_exception_is_found() {
        for (owner, member) in
            [("Tool", "inputSchema"), ("Tool", "outputSchema"), ("Tool", "_meta"), ("PingRequest", "_meta")]
        {
            let mut projection = Projection::new(Revision::V2026_07_28).unwrap();
            assert!(projection.definitions().is_ok());
            let member = &mut projection.types[owner]["properties"][member];
            assert!(member.is_object());
            *member = json!({ "type": "string" });
            assert!(projection.of_type(owner, Role::Plain).is_err(), "{owner}");
        }
    }

    #[test]
    fn a_difference_from_json_rpc_is_found() {
        let types = Projection::new(Revision::V2026_07_28).unwrap().types;
        json_rpc::agrees(&types).unwrap();
        for (name, keyword) in [("Error", "required"), ("RequestId", "type"), ("ProgressToken", "type")] {
            let mut types = types.clone();
            types[name][keyword] = json!(["string"]);
            assert!(json_rpc::agrees(&types).is_err(), "{name}");
        }
    }
}
