//! Changes a valid value at one place: another type, a missing or unknown member, a number that no type holds.

use serde_json::{Value, json};

use crate::place::{Place, places};

/// A valid instance with one thing changed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Mutation {
    /// The mutation, in a word.
    pub what: &'static str,
    /// The mutated value.
    pub value: Value,
    /// The same as text. Only here can a number be larger than any type.
    pub text: String,
}

/// Stands in a value for a number that no type holds.
pub(crate) const OVERFLOW: &str = "\u{10ffff}1e400";

/// Single changes at every place of a value: those that are wanted, by place and by what is done there.
pub fn mutations(value: &Value, mut wanted: impl FnMut(&str, &'static str) -> bool) -> Vec<Mutation> {
    places(value).iter().flat_map(|place| at(value, place, &mut wanted)).collect()
}

fn at(value: &Value, place: &Place, wanted: &mut impl FnMut(&str, &'static str) -> bool) -> Vec<Mutation> {
    let Some(there) = place.of(value) else { return Vec::new() };
    let pattern = place.pattern();
    let mut made = Vec::new();
    let mut replace = |what, with: Value| {
        if with != *there && wanted(&pattern, what) {
            let mut changed = value.clone();
            if let Some(spot) = place.of_mut(&mut changed) {
                *spot = with;
            }
            made.push(Mutation::new(what, changed));
        }
    };
    replace("null", Value::Null);
    wrong_types(there, &mut replace);
    match there {
        Value::String(text) => {
            replace("empty string", "".into());
            replace("unknown word", "no-such-word".into());
            replace("wrong case", swap_case(text).into());
        }
        Value::Number(_) => {
            replace("negative number", json!(-1));
            replace("fraction", json!(0.5));
            replace("number of 33 bits", json!(1_u64 << 32));
            replace("number of 64 bits", json!(u64::MAX));
            replace("huge number", json!(18_446_744_073_709_551_616.0));
            replace("overflowing number", OVERFLOW.into());
        }
        Value::Object(members) => {
            let mut more = members.clone();
            more.insert("x-no-such-member".to_owned(), json!({ "a": [1, null] }));
            replace("unknown member", more.into());
            // Derived code would fill a struct from a list, by position. An empty list is an empty object.
            if !members.is_empty() {
                replace("list of the members", members.values().cloned().collect());
            }
        }
        Value::Array(items) => {
            let mut more = items.clone();
            more.insert(0, json!([[]]));
            replace("wrong item", more.into());
        }
        Value::Null | Value::Bool(_) => {}
    }
    let mut without = value.clone();
    if place.remove(&mut without) && wanted(&pattern, "missing") {
        made.push(Mutation::new("missing", without));
    }
    made
}

fn wrong_types(there: &Value, replace: &mut impl FnMut(&'static str, Value)) {
    if !there.is_boolean() {
        replace("boolean", json!(true));
    }
    if !there.is_number() {
        replace("number", json!(7));
    }
    if !there.is_string() {
        replace("string", json!("7"));
    }
    if !there.is_array() {
        replace("list", json!(["7"]));
    }
    if !there.is_object() {
        replace("object", json!({ "x": 7 }));
    }
}

fn swap_case(text: &str) -> String {
    let swap = |letter: char| {
        if letter.is_ascii_lowercase() { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() }
    };
    text.chars().map(swap).collect()
}

impl Mutation {
    /// Whether it holds a number that a type may be too small for. The validator does not look at the formats that
    /// say so.
    pub fn is_large(&self) -> bool {
        ["overflowing number", "number of 33 bits", "number of 64 bits"].contains(&self.what)
    }

    /// The text of a type that has read this, as a value in which numbers that no type holds stand as they do in
    /// [`value`](Self::value).
    ///
    /// # Errors
    ///
    /// When it is not JSON.
    pub fn written(text: &str) -> Result<Value, serde_json::Error> {
        serde_json::from_str(&text.replace("1e400", &Value::from(OVERFLOW).to_string()))
    }

    fn new(what: &'static str, value: Value) -> Self {
        let quoted = Value::from(OVERFLOW).to_string();
        let text = value.to_string().replace(&quoted, "1e400");
        Self { what, value, text }
    }
}
