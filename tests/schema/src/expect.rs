mod branches;

use serde_json::{Map, Value};

use crate::Document;
use crate::kept::{Entry, Kept};
use crate::mutate::OVERFLOW;
use crate::rules::Rules;
use crate::shape::{Kind, Member, Object, Shape, shapes_of_all};

/// What a reader does with a value.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Reading {
    /// It takes the value, and this is what it must keep of it.
    Taken(Kept),
    /// It must refuse, for this reason.
    Refused(String),
    /// The schema is about writing here, and a reader may take it or not.
    Either(&'static str),
}

/// Where in a schema something is read.
#[derive(Clone, Copy, Default)]
struct At<'n> {
    /// Names that it has without being referred to.
    names: &'n [&'n str],
    /// The definitions whose member it is.
    owner: &'n [&'n str],
    /// The name of that member.
    member: &'n str,
    /// Whether it is already known that no type looks into it.
    is_text: bool,
}

const LOOSE: &str = "the rules leave it open";

const OVERFLOWS: &str = "no type holds the number";

/// Reads by the schema alone: what a document and its rules of leniency say about a value.
///
/// It knows no type of ours, so it can judge them.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'d> {
    document: &'d Document,
    rules: &'d Rules,
}

impl<'d> Reader<'d> {
    /// A reader of a document's definitions.
    pub fn new(document: &'d Document, rules: &'d Rules) -> Self {
        Self { document, rules }
    }

    /// Reads a value as the schema at a pointer.
    pub fn read(&self, pointer: &str, value: &Value) -> Reading {
        let schemas: Vec<_> = self.document.schema(pointer).into_iter().collect();
        let name = pointer.rsplit('/').next().unwrap_or(pointer);
        if self.rules.is_draft && overflows(value) {
            return Reading::Either(OVERFLOWS);
        }
        self.value(&schemas, value, At { names: &[name], ..At::default() })
    }

    /// What has views is read by the stable types, which keep what drafts add as it is.
    fn value(&self, schemas: &[&'static Value], value: &Value, at: At<'_>) -> Reading {
        let reading = self.inner(schemas, value, at);
        if !at.names.is_empty() {
            return reading;
        }
        let shapes = shapes_of_all(self.document, schemas);
        if !shapes.iter().flat_map(|shape| &shape.definitions).any(|name| (self.rules.is_viewed)(name)) {
            return reading;
        }
        match reading {
            Reading::Taken(_) if !overflows(value) => Reading::Taken(Kept::Free),
            _ => Reading::Either(LOOSE),
        }
    }

    fn inner(&self, schemas: &[&'static Value], value: &Value, at: At<'_>) -> Reading {
        let shapes = shapes_of_all(self.document, schemas);
        if !at.is_text && self.rules.is_text(at.owner, at.member, at.names, &shapes) && value.is_object() {
            return self.text(schemas, value);
        }
        let is_any = |shape: &Shape| matches!(shape.kind, Kind::Any);
        if shapes.iter().all(is_any) && !shapes.is_empty() {
            return self.anything(value);
        }
        if shapes.iter().any(is_any) {
            let others: Vec<_> = shapes.iter().filter(|shape| !is_any(shape)).cloned().collect();
            return match value {
                Value::Object(members) => match self.one_of(&others, members, at) {
                    taken @ Reading::Taken(_) => taken,
                    Reading::Either(why) => Reading::Either(why),
                    Reading::Refused(_) => self.anything(value),
                },
                _ => self.anything(value),
            };
        }
        if value.as_str() == Some(OVERFLOW) {
            return Reading::Refused(OVERFLOWS.to_owned());
        }
        if let Value::Object(members) = value {
            return self.one_of(&shapes, members, at);
        }
        let mut readings: Vec<_> = shapes.iter().map(|shape| self.flat(shape, value)).collect();
        let has_words = shapes.iter().any(|shape| matches!(shape.kind, Kind::Constant(Value::String(_))));
        let names = || shapes.iter().flat_map(|shape| &shape.definitions).chain(at.names).copied();
        match one_or_many(best(&mut readings), &shapes) {
            Reading::Refused(_) | Reading::Taken(Kept::Foreign { .. })
                if names().any(|name| self.rules.is_loose(name)) =>
            {
                Reading::Either(LOOSE)
            }
            Reading::Refused(_) if has_words && value.is_string() && !self.is_closed(&shapes, at) => {
                Reading::Taken(Kept::Foreign { value: value.clone(), may_go: Vec::new() })
            }
            Reading::Refused(_) if value.is_null() && names().any(|name| self.rules.may_be_null(name)) => {
                Reading::Either("JSON-RPC has null here")
            }
            best => best,
        }
    }

    fn is_closed(&self, shapes: &[Shape], at: At<'_>) -> bool {
        // What publishes a branch for all others is open, whatever the rules say of versions that do not.
        let is_rest = |shape: &Shape| as_object(shape).is_some_and(|object| !object.excluded.is_empty());
        if shapes.iter().any(is_rest) {
            return false;
        }
        let names = shapes.iter().flat_map(|shape| &shape.definitions).chain(at.names);
        names.copied().any(|name| self.rules.is_closed(name))
            || self.rules.is_closed_member(at.owner, at.member)
    }

    /// What has no schema.
    fn anything(&self, value: &Value) -> Reading {
        match overflows(value) {
            true if self.rules.keeps_text => Reading::Either(OVERFLOWS),
            true => Reading::Refused(OVERFLOWS.to_owned()),
            false => taken(value),
        }
    }

    /// What is kept as text is right whatever it is, but perhaps it is nothing that a writer may say.
    fn text(&self, schemas: &[&'static Value], value: &Value) -> Reading {
        if overflows(value) {
            return Reading::Either(OVERFLOWS);
        }
        match self.value(schemas, value, At { is_text: true, ..At::default() }) {
            Reading::Taken(kept) if kept.compare(value).is_ok() && !kept.is_beyond_schema() => taken(value),
            _ => Reading::Taken(Kept::Odd(value.clone())),
        }
    }

    /// Whether a schema is of plain JSON, which no type looks into.
    fn is_plain(&self, schema: &'static Value) -> bool {
        let is_plain = |shape: &Shape| match &shape.kind {
            Kind::Object(object) => object.members.is_empty(),
            kind => matches!(kind, Kind::Any),
        };
        shapes_of_all(self.document, &[schema]).iter().any(is_plain)
    }

    /// Anything but an object.
    fn flat(&self, shape: &Shape, value: &Value) -> Reading {
        let is_right = match &shape.kind {
            Kind::Any => true,
            Kind::Null => value.is_null(),
            Kind::Boolean => value.is_boolean(),
            Kind::Constant(constant) => same(constant, value),
            Kind::Text { format: Some(format), .. } if self.is_odd(format, value) => {
                return Reading::Taken(Kept::Odd(value.clone()));
            }
            Kind::Text { shortest, .. } => match value.as_str() {
                Some(text) if text.chars().count() < *shortest => return Reading::Either("too short"),
                text => text.is_some(),
            },
            Kind::Number { minimum, maximum } => match value.as_f64() {
                Some(number) if number < *minimum || number > *maximum => {
                    return Reading::Either("out of range");
                }
                number => number.is_some(),
            },
            Kind::Integer { minimum, maximum, is_sized } => match integer(value) {
                Some(_) if value.is_f64() => return Reading::Either("an integer spelled as a fraction"),
                Some(number) if (*minimum..=*maximum).contains(&number) => true,
                Some(_) if !is_sized => return Reading::Either("out of range"),
                _ => false,
            },
            Kind::List { items, shortest, longest } => {
                return match value.as_array() {
                    Some(list) if list.len() < *shortest || list.len() > *longest => {
                        Reading::Either("a list of another length")
                    }
                    Some(list) => self.list(items, list, false),
                    None => refused(&shape.kind, value),
                };
            }
            Kind::Object(_) => false,
        };
        if is_right { taken(value) } else { refused(&shape.kind, value) }
    }

    /// Whether a string is not what its format asks of a writer; no reader looks at that.
    fn is_odd(&self, format: &str, value: &Value) -> bool {
        value.is_string() && !self.document.is_of_format(format, value)
    }

    fn list(&self, items: &[&'static Value], list: &[Value], skips: bool) -> Reading {
        let mut kept = Vec::new();
        for item in list {
            match self.value(items, item, At::default()) {
                Reading::Taken(item) => kept.push(item),
                Reading::Refused(_) if skips => {}
                Reading::Either(_) if skips => return Reading::Taken(Kept::Free),
                other => return other,
            }
        }
        Reading::Taken(Kept::List(kept))
    }

    fn object(&self, object: &Object, value: &Map<String, Value>, definitions: &[&str]) -> Reading {
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
        let keeps = object.members.is_empty() || self.rules.keeps_all(definitions);
        for (name, other) in value.iter().filter(|(name, _)| !object.members.contains_key(name.as_str())) {
            let is_result = self.rules.keeps_text && object.members.contains_key("_meta");
            match object.additional.filter(|_| !is_result) {
                Some(schema) if self.rules.keeps_text && self.is_plain(schema) => {
                    match self.text(&[schema], other) {
                        Reading::Taken(value) => {
                            kept.insert(name, Entry { kept: value, neutral: Vec::new() })
                        }
                        _ => doubt = Some(OVERFLOWS),
                    }
                }
                Some(schema) if *schema != Value::Bool(false) => {
                    match self.value(&[schema], other, At::default()) {
                        Reading::Taken(value) => {
                            kept.insert(name, Entry { kept: value, neutral: Vec::new() })
                        }
                        Reading::Either(why) => doubt = Some(why),
                        refused @ Reading::Refused(_) => return refused,
                    }
                }
                _ if keeps => {
                    kept.insert(name, Entry { kept: Kept::Exact(other.clone()), neutral: Vec::new() });
                }
                _ if self.rules.keeps_text && overflows(other) => doubt = Some(OVERFLOWS),
                _ => kept.may_keep(name, other),
            }
        }
        doubt.map_or(Reading::Taken(kept), Reading::Either)
    }

    /// Reads one member; nothing where it counts as missing.
    fn member(&self, name: &str, member: &Member, value: &Value, definitions: &[&str]) -> Option<Reading> {
        if value.is_null() && (member.default_on_null || self.rules.null_is_absent && !member.is_required) {
            let is_loose = self.rules.is_loose_member(definitions, name) || self.must_have_items(member);
            return Some(if is_loose { Reading::Either(LOOSE) } else { Reading::Taken(Kept::Nothing) });
        }
        let reading = match value {
            Value::Array(list) if member.skip_invalid_items => {
                let shapes = shapes_of_all(self.document, &member.schemas);
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
        let shapes = shapes_of_all(self.document, &member.schemas);
        shapes.iter().flat_map(|shape| &shape.definitions).any(|name| (self.rules.is_viewed)(name))
    }

    fn must_have_items(&self, member: &Member) -> bool {
        let must = |shape: &Shape| matches!(shape.kind, Kind::List { shortest: 1.., .. });
        shapes_of_all(self.document, &member.schemas).iter().any(must)
    }

    /// Whether a reader may go on without what is required.
    fn forgives(&self, name: &str, member: &Member, definitions: &[&str]) -> bool {
        let is_list = |shape: &Shape| matches!(shape.kind, Kind::List { .. });
        let mut shapes = shapes_of_all(self.document, &member.schemas).iter().any(is_list);
        shapes &= self.rules.missing_list_is_empty;
        shapes || self.rules.forgives(definitions, name)
    }

    /// What a writer may say of a member instead of leaving it out, and the other way round.
    fn neutral(&self, name: &str, member: &Member, definitions: &[&str]) -> Vec<Value> {
        let mut neutral: Vec<_> = member.default_value.into_iter().cloned().collect();
        if name == "params" {
            neutral.push(Value::Object(Map::new()));
        }
        neutral.extend(self.rules.default(definitions, name));
        let shapes = shapes_of_all(self.document, &member.schemas);
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

fn best(readings: &mut Vec<Reading>) -> Reading {
    let rank = |reading: &Reading| match reading {
        Reading::Taken(kept) => (0, kept.losses()),
        Reading::Either(_) => (1, 0),
        Reading::Refused(_) => (2, 0),
    };
    let first = (0..readings.len()).min_by_key(|at| rank(&readings[*at]));
    first.map_or_else(|| Reading::Refused("no shape is meant".to_owned()), |at| readings.swap_remove(at))
}

fn taken(value: &Value) -> Reading {
    Reading::Taken(Kept::Exact(value.clone()))
}

fn overflows(value: &Value) -> bool {
    match value {
        Value::String(text) => text == OVERFLOW,
        Value::Array(items) => items.iter().any(overflows),
        Value::Object(members) => members.values().any(overflows),
        _ => false,
    }
}

fn refused(kind: &Kind, value: &Value) -> Reading {
    Reading::Refused(format!("{value} is not {kind:.40?}"))
}

/// Where one may stand without a list around it, a list of one says the same.
fn one_or_many(reading: Reading, shapes: &[Shape]) -> Reading {
    match reading {
        Reading::Taken(Kept::List(items)) if items.len() == 1 && has_objects(shapes) => {
            Reading::Taken(Kept::OneOrMany(items))
        }
        other => other,
    }
}

fn as_object(shape: &Shape) -> Option<&Object> {
    if let Kind::Object(object) = &shape.kind { Some(object) } else { None }
}

fn has_objects(shapes: &[Shape]) -> bool {
    shapes.iter().any(|shape| as_object(shape).is_some())
}

fn integer(value: &Value) -> Option<i128> {
    let whole = || value.as_f64().filter(|number| number.fract() == 0.0).map(|number| number as i128);
    value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from)).or_else(whole)
}

/// Equal, however a number is spelled.
pub(crate) fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(name, value)| right.get(name).is_some_and(|other| same(value, other)))
        }
        _ => left == right,
    }
}
