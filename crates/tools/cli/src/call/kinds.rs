//! The types that a schema allows for an argument, and the conversion of texts to these types.

use std::collections::BTreeSet;

use agentwire_jsonrpc::{Printable, RawJson, did_you_mean};
use serde_json::{Map, Value};

use crate::failure::Usage;
use crate::output::schema_reference::{reference, resolve};
use crate::output::signature::elements;
use crate::output::text;

/// The most subschemas of an argument that are read.
const BUDGET: usize = 100;

/// The most allowed values of an argument that are read.
const CHOICES: usize = 1000;

/// The most allowed values that an error names.
const SHOWN_CHOICES: usize = 20;

/// The most bytes of an allowed value that an error shows.
const SHOWN: usize = 80;

/// The types and the enumerated values that a schema allows.
#[derive(Debug, Default)]
pub(super) struct Kinds<'a> {
    pub(super) types: BTreeSet<&'a str>,
    choices: Vec<&'a Value>,
    /// The schemas of an array's first elements, as in a tuple.
    prefix: &'a [Value],
    /// The schema of its other elements.
    items: Option<&'a Value>,
    /// Whether the schema, or one of its alternatives, does not limit the type.
    allows_any: bool,
}

impl<'a> Kinds<'a> {
    pub(super) fn of(root: &'a Map<String, Value>, schema: Option<&'a Value>) -> Self {
        let mut kinds = Self::default();
        let mut open: Vec<_> = schema.into_iter().collect();
        for _ in 0..BUDGET {
            match open.pop() {
                Some(schema) => kinds.add(root, schema, &mut open),
                None => break,
            }
        }
        kinds.allows_any |= !open.is_empty() || kinds.types.is_empty() && kinds.choices.is_empty();
        kinds
    }

    fn add(&mut self, root: &'a Map<String, Value>, schema: &'a Value, open: &mut Vec<&'a Value>) {
        let Some(schema) = schema.as_object() else {
            self.allows_any = true;
            return;
        };
        if let Some(found) = reference(schema).and_then(|name| resolve(root, name)) {
            return open.push(found);
        }
        if let Some(value) = schema.get("const") {
            return self.choices.push(value);
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return self.choices.extend(values.iter().take(CHOICES));
        }
        let parts = ["anyOf", "oneOf", "allOf"].iter().filter_map(|part| schema.get(*part)?.as_array());
        let parts: Vec<_> = parts.flatten().take(BUDGET).collect();
        match schema.get("type") {
            Some(Value::String(name)) => drop(self.types.insert(name)),
            Some(Value::Array(names)) => {
                self.types.extend(names.iter().take(BUDGET).filter_map(Value::as_str))
            }
            _ if !parts.is_empty() => open.extend(parts),
            _ if schema.contains_key("properties") => drop(self.types.insert("object")),
            _ if schema.contains_key("prefixItems") => drop(self.types.insert("array")),
            _ => self.allows_any = true,
        }
        let (prefix, items) = elements(schema);
        if self.prefix.is_empty() && self.items.is_none() {
            (self.prefix, self.items) = (prefix, items);
        }
    }

    /// Converts a text to a value. Returns the reason if the text does not fit the schema.
    pub(super) fn value(&self, root: &'a Map<String, Value>, text: &str) -> Result<RawJson, String> {
        let is_chosen =
            |choice: &&&Value| choice.as_str().map_or_else(|| choice.to_string() == text, |it| it == text);
        if let Some(choice) = self.choices.iter().find(is_chosen) {
            return RawJson::encode(choice).map_err(|why| why.to_string());
        }
        if self.allows_any || self.types.contains("string") {
            return RawJson::encode(text).map_err(|why| why.to_string());
        }
        let json = RawJson::parse(text.trim().to_owned().into()).ok();
        match json {
            Some(json) if self.types.iter().any(|name| is_a(&json, name)) => Ok(json),
            _ if self.types.contains("array") => {
                self.element(root, 0, text).and_then(|element| array(&[element]).map_err(|Usage(why)| why))
            }
            _ => Err(self.complaint(text)),
        }
    }

    /// Converts a text to the element at a place of an array.
    pub(super) fn element(
        &self,
        root: &'a Map<String, Value>,
        place: usize,
        text: &str,
    ) -> Result<RawJson, String> {
        let kinds = Self::of(root, self.prefix.get(place).or(self.items));
        // An array of arrays takes its elements as JSON.
        if kinds.types.contains("array") {
            return Err("is not a JSON array".into());
        }
        kinds.value(root, text)
    }

    /// The error for a text that fits none of the types, such as `is not a number`.
    fn complaint(&self, text: &str) -> String {
        let mut nouns: Vec<_> = self.types.iter().map(|name| noun(name)).collect();
        if !self.choices.is_empty() {
            let mut names: Vec<_> =
                self.choices.iter().take(SHOWN_CHOICES).map(|choice| choice_text(choice)).collect();
            let meant = did_you_mean(text, names.iter().map(String::as_str));
            if self.choices.len() > SHOWN_CHOICES {
                names.push("…".into());
            }
            nouns.push(format!("one of {}{meant}", names.join(", ")));
        }
        match &nouns[..] {
            [noun] => format!("is not {noun}"),
            nouns => format!("is neither {}", nouns.join(" nor ")),
        }
    }
}

fn choice_text(choice: &Value) -> String {
    let text = choice.as_str().map_or_else(|| choice.to_string(), str::to_owned);
    text::beginning(Printable::one_line(&text), SHOWN)
}

fn noun(name: &str) -> String {
    match name {
        "integer" => "an integer".into(),
        "number" => "a number".into(),
        "boolean" => "`true` or `false`".into(),
        "object" => "a JSON object".into(),
        "array" => "a JSON array".into(),
        "null" => "`null`".into(),
        name => text::beginning(Printable::one_line(name), SHOWN),
    }
}

/// Whether a value is of a type of JSON Schema.
fn is_a(value: &RawJson, name: &str) -> bool {
    let text = value.as_str();
    let is_number = text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    match name {
        "number" => is_number,
        // 1.0 is an integer too.
        "integer" => {
            let is_plain = !text.contains(['.', 'e', 'E']);
            is_number && (is_plain || text.parse::<f64>().is_ok_and(|number| number.fract() == 0.0))
        }
        "boolean" => matches!(text, "true" | "false"),
        "null" => text == "null",
        "object" => text.starts_with('{'),
        "array" => text.starts_with('['),
        _ => false,
    }
}

/// An array of these elements.
pub(super) fn array(elements: &[RawJson]) -> Result<RawJson, Usage> {
    RawJson::encode(elements).map_err(|why| Usage(why.to_string()))
}
