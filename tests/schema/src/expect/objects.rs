//! Objects: what a reader does with each member, and with members that the schema does not know.

use serde_json::{Map, Value};

use super::{At, LOOSE, OVERFLOWS, Reader, Reading, as_object, overflows};
use crate::kept::{Entry, Kept};
use crate::shape::{Kind, Member, Object, Shape};

impl Reader<'_> {
    pub(super) fn object(
        &self,
        object: &Object,
        value: &Map<String, Value>,
        definitions: &[&str],
    ) -> Reading {
        let mut kept = Kept::object();
        let mut doubt = None;
        for (name, member) in &object.members {
            let neutral = self.neutral(name, member, definitions);
            let reading = match value.get(*name) {
                Some(there) => self.member(name, member, there, definitions),
                None if member.is_required && self.forgives(name, member, definitions) => {
                    Some(Reading::Either("a reader may do without it"))
                }
                None if member.is_required => Some(Reading::Refused(format!("`{name}` is missing"))),
                None => None,
            };
            match reading {
                Some(Reading::Taken(value)) => {
                    if matches!(value, Kept::Nothing) {
                        kept.ignore();
                    }
                    kept.insert(name, Entry { kept: value, neutral });
                }
                Some(Reading::Either(why)) => doubt = Some(why),
                Some(refused) => return refused,
                None if self.is_viewed(member) => {
                    kept.insert(name, Entry { kept: Kept::Free, neutral });
                }
                None => kept.insert(name, Entry { kept: Kept::Nothing, neutral }),
            }
        }
        for (name, other) in value.iter().filter(|(name, _)| !object.members.contains_key(name.as_str())) {
            match self.other_member(object, other, definitions) {
                Some(Reading::Taken(value)) => kept.insert(name, Entry { kept: value, neutral: Vec::new() }),
                Some(Reading::Either(why)) => doubt = Some(why),
                Some(refused) => return refused,
                None => kept.may_keep(name, other),
            }
        }
        doubt.map_or(Reading::Taken(kept), Reading::Either)
    }

    /// Reads a member that the schema does not list. `None` if a reader may keep or ignore it.
    fn other_member(&self, object: &Object, value: &Value, definitions: &[&str]) -> Option<Reading> {
        let is_result = self.rules.keeps_text && object.members.contains_key("_meta");
        match object.additional.filter(|_| !is_result) {
            Some(schema) if self.rules.keeps_text && self.is_plain(schema) => {
                Some(match self.text(&[schema], value) {
                    Reading::Taken(value) => Reading::Taken(value),
                    _ => Reading::Either(OVERFLOWS),
                })
            }
            Some(schema) if *schema != Value::Bool(false) => {
                Some(self.value(&[schema], value, At::default()))
            }
            _ if object.members.is_empty() || self.rules.keeps_all(definitions) => {
                Some(Reading::Taken(Kept::Exact(value.clone())))
            }
            _ if self.rules.keeps_text && overflows(value) => Some(Reading::Either(OVERFLOWS)),
            _ => None,
        }
    }

    /// Reads one member; nothing where it counts as missing.
    pub(super) fn member(
        &self,
        name: &str,
        member: &Member,
        value: &Value,
        definitions: &[&str],
    ) -> Option<Reading> {
        if value.is_null() && (member.default_on_null || self.rules.null_is_absent && !member.is_required) {
            let is_loose = self.rules.is_loose_member(definitions, name) || self.must_have_items(member);
            return Some(if is_loose { Reading::Either(LOOSE) } else { Reading::Taken(Kept::Nothing) });
        }
        let reading = match value {
            Value::Array(list) if member.skip_invalid_items => {
                let shapes = self.document.shapes_of_all(&member.schemas);
                let items = shapes.iter().find_map(|shape| match &shape.kind {
                    Kind::List { items, .. } => Some(items.clone()),
                    _ => None,
                });
                match self.list(&items.unwrap_or_default(), list, true) {
                    Reading::Taken(Kept::List(kept)) if kept.is_empty() && self.must_have_items(member) => {
                        Reading::Either(LOOSE)
                    }
                    reading => reading,
                }
            }
            _ => self.value(&member.schemas, value, At { owner: definitions, member: name, ..At::default() }),
        };
        match reading {
            Reading::Refused(_) if self.rules.is_loose_member(definitions, name) => {
                Some(Reading::Either(LOOSE))
            }
            Reading::Taken(_) if value.is_null() && self.rules.is_loose_member(definitions, name) => {
                Some(Reading::Either(LOOSE))
            }
            Reading::Taken(_) if self.rules.is_free(name) => Some(Reading::Taken(Kept::Free)),
            Reading::Refused(_)
                if value.is_null() && member.is_required && self.forgives(name, member, definitions) =>
            {
                Some(Reading::Either("a reader may do without it"))
            }
            Reading::Refused(_) | Reading::Either(_)
                if member.default_on_error && member.is_required && self.must_have_items(member) =>
            {
                Some(Reading::Either("an empty list is what a reader makes of it and no writer may say"))
            }
            Reading::Refused(_) if member.default_on_error => Some(Reading::Taken(Kept::Nothing)),
            Reading::Either(_) if member.default_on_error => Some(Reading::Taken(Kept::Free)),
            reading => Some(reading),
        }
    }

    fn is_viewed(&self, member: &Member) -> bool {
        let shapes = self.document.shapes_of_all(&member.schemas);
        shapes.iter().flat_map(|shape| &shape.definitions).any(|name| (self.rules.is_viewed)(name))
    }

    fn must_have_items(&self, member: &Member) -> bool {
        let must = |shape: &Shape| matches!(shape.kind, Kind::List { shortest: 1.., .. });
        self.document.shapes_of_all(&member.schemas).iter().any(must)
    }

    /// Whether a reader may go on without what is required.
    fn forgives(&self, name: &str, member: &Member, definitions: &[&str]) -> bool {
        let is_list = |shape: &Shape| matches!(shape.kind, Kind::List { .. });
        let mut shapes = self.document.shapes_of_all(&member.schemas).iter().any(is_list);
        shapes &= self.rules.missing_list_is_empty || member.default_on_null;
        shapes || self.rules.forgives(definitions, name)
    }

    /// The values that a writer may send of a member instead of leaving it out, and the other way round.
    fn neutral(&self, name: &str, member: &Member, definitions: &[&str]) -> Vec<Value> {
        let mut neutral: Vec<_> = member.default_value.into_iter().cloned().collect();
        if name == "params" {
            neutral.push(Value::Object(Map::new()));
        }
        neutral.extend(self.rules.default(definitions, name));
        let shapes = self.document.shapes_of_all(&member.schemas);
        let has_null = shapes.iter().any(|shape| matches!(shape.kind, Kind::Null | Kind::Any));
        if !has_null && shapes.iter().any(|shape| matches!(shape.kind, Kind::List { .. })) {
            neutral.push(Value::Array(Vec::new()));
        }
        let is_map = |object: &Object| object.members.is_empty();
        if !has_null && shapes.iter().filter_map(as_object).any(is_map) {
            neutral.push(Value::Object(Map::new()));
        }
        if (has_null || member.default_on_null) && !self.rules.null_says_something(definitions, name) {
            neutral.push(Value::Null);
        }
        neutral
    }
}
