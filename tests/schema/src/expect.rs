//! Derives from a schema alone if a reader must take a value, and which parts of it the reader must keep.

mod branches;
mod objects;

use serde_json::Value;

use crate::Document;
use crate::kept::{Kept, same};
use crate::mutate::OVERFLOW;
use crate::rules::Rules;
use crate::shape::{Kind, Object, Shape};

/// The treatment of a value by a reader.
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

    /// Values with views are read by the stable types, which keep the additions of drafts as they are.
    fn value(&self, schemas: &[&'static Value], value: &Value, at: At<'_>) -> Reading {
        let reading = self.inner(schemas, value, at);
        if !at.names.is_empty() {
            return reading;
        }
        let shapes = self.document.shapes_of_all(schemas);
        if !shapes.iter().flat_map(|shape| &shape.definitions).any(|name| (self.rules.is_viewed)(name)) {
            return reading;
        }
        match reading {
            Reading::Taken(_) if !overflows(value) => Reading::Taken(Kept::Free),
            _ => Reading::Either(LOOSE),
        }
    }

    fn inner(&self, schemas: &[&'static Value], value: &Value, at: At<'_>) -> Reading {
        let shapes = self.document.shapes_of_all(schemas);
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

    /// A value without a schema.
    fn anything(&self, value: &Value) -> Reading {
        match overflows(value) {
            true if self.rules.keeps_text => Reading::Either(OVERFLOWS),
            true => Reading::Refused(OVERFLOWS.to_owned()),
            false => taken(value),
        }
    }

    /// A value that is kept as text is right whatever it is, but a writer may not be allowed to send it.
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
        self.document.shapes_of_all(&[schema]).iter().any(is_plain)
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

/// A list of one means the same as its item without a list, if the schema allows both.
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
