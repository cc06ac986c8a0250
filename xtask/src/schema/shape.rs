//! A normal form of JSON Schema: documents that demand the same have the same shape.
//!
//! The same set of values can be written in many ways. These are equal here:
//!
//! - a lone `allOf` and its content; an `allOf` of objects and the object with the members of all of them;
//! - `anyOf` and `oneOf`, in any order and nested in any way;
//! - `const`, an `enum` of one value, and a union of constants; and a constant with or without its own type beside it;
//! - `"type": ["string", "null"]` and a union with `null`; a list of types and a union of types;
//! - `true`, `{}` and, for `items` and `additionalProperties`, nothing at all: each allows anything;
//! - `$defs` and `definitions`; and all annotations for readers.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Number, Value};

/// Keywords without an effect on which values are valid.
const EXPLANATIONS: [&str; 12] = [
    "$comment",
    "$defs",
    "$id",
    "$schema",
    "definitions",
    "deprecated",
    "description",
    "discriminator",
    "example",
    "examples",
    "title",
    "x-docs-ignore",
];

/// Keywords whose value is a schema, and their notation in a path.
const INNER: [(&str, &str); 9] = [
    ("additionalProperties", ADDITIONAL),
    ("contains", "[contains]"),
    ("else", " else"),
    ("if", " if"),
    ("items", "[]"),
    ("not", " not"),
    ("propertyNames", " names"),
    ("then", " then"),
    ("unevaluatedProperties", ".**"),
];

const ADDITIONAL: &str = ".*";

/// The demands of a schema, which must all hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shape {
    /// `null` is allowed too.
    pub(super) nullable: bool,
    /// The definitions that must hold as well.
    pub(super) references: BTreeSet<String>,
    /// The types that are allowed; none means any.
    pub(super) types: BTreeSet<String>,
    /// The constants that are allowed, as JSON text.
    pub(super) words: Option<BTreeSet<String>>,
    pub(super) properties: BTreeMap<String, Shape>,
    pub(super) required: BTreeSet<String>,
    /// Schemas under other keywords, by their notation in a path.
    pub(super) inner: BTreeMap<&'static str, Shape>,
    /// One of these must hold, if there are any.
    pub(super) alternatives: Vec<Shape>,
    /// Demands that could not be merged into this one.
    pub(super) also: Vec<Shape>,
    /// All other keywords, with their value as JSON text.
    pub(super) keywords: BTreeMap<String, String>,
}

impl Shape {
    /// Reads a schema.
    pub(super) fn read(schema: &Value) -> Self {
        match schema {
            Value::Object(members) => Self::read_members(members),
            Value::Bool(false) => Self {
                keywords: BTreeMap::from([("false".to_owned(), "true".to_owned())]),
                ..Self::default()
            },
            _ => Self::default(),
        }
    }

    fn read_members(members: &Map<String, Value>) -> Self {
        let mut this = Self::default();
        let mut parts = Vec::new();
        for (keyword, value) in members {
            match keyword.as_str() {
                keyword if EXPLANATIONS.contains(&keyword) => {}
                "$ref" => {
                    let target = value.as_str().unwrap_or_default();
                    this.references.insert(target.rsplit('/').next().unwrap_or(target).to_owned());
                }
                "type" => this.types = strings(value),
                "const" => this.words = Some(BTreeSet::from([canonical(value)])),
                "enum" => this.words = Some(list(value).iter().map(canonical).collect()),
                "required" => this.required = strings(value),
                "properties" => {
                    let properties = value.as_object().into_iter().flatten();
                    this.properties =
                        properties.map(|(name, value)| (name.clone(), Self::read(value))).collect();
                }
                "anyOf" | "oneOf" if this.alternatives.is_empty() => {
                    this.alternatives = list(value).iter().map(Self::read).collect();
                }
                "anyOf" | "oneOf" => {
                    let alternatives = list(value).iter().map(Self::read).collect();
                    parts.push(Self { alternatives, ..Self::default() }.simplified());
                }
                "allOf" => parts.extend(list(value).iter().map(Self::read)),
                _ => match INNER.iter().find(|(name, _)| name == keyword) {
                    Some((_, path)) => {
                        let inner = Self::read(value);
                        if *path == " not" || inner != Self::default() {
                            this.inner.insert(path, inner);
                        }
                    }
                    None => {
                        this.keywords.insert(keyword.clone(), canonical(value));
                    }
                },
            }
        }
        this.split_null();
        for part in parts {
            this.add(part);
        }
        this.simplified()
    }

    /// Moves `null` from the types and constants into `nullable`.
    fn split_null(&mut self) {
        if self.types.len() > 1 && self.types.remove("null") {
            self.nullable = true;
        }
        if let Some(words) = &mut self.words
            && words.len() > 1
            && words.contains("null")
            && (self.nullable || self.types.is_empty())
        {
            words.remove("null");
            self.nullable = true;
        }
    }

    /// Adds demands.
    pub(super) fn add(&mut self, other: Self) {
        if !self.demands_anything()
            && other.keywords.iter().all(|(key, value)| agrees(&self.keywords, key, value))
        {
            let keywords = std::mem::take(&mut self.keywords);
            *self = other;
            self.keywords.extend(keywords);
        } else if self.takes(&other) {
            self.references.extend(other.references);
            self.types.extend(other.types);
            self.words = self.words.take().or(other.words);
            self.properties.extend(other.properties);
            self.required.extend(other.required);
            self.inner.extend(other.inner);
            self.alternatives.extend(other.alternatives);
            self.also.extend(other.also);
            self.keywords.extend(other.keywords);
        } else if !self.also.contains(&other) {
            self.also.push(other);
            self.also.sort();
        }
    }

    /// Whether the other's demands can be merged into this shape without a conflict.
    fn takes(&self, other: &Self) -> bool {
        // `additionalProperties` is about the properties beside it and must stay with them.
        let closes = |shape: &Self| shape.inner.contains_key(ADDITIONAL);
        let apart = closes(other) || closes(self) && !other.properties.is_empty();
        !apart
            && !self.nullable
            && !other.nullable
            && (self.types.is_empty() || other.types.is_empty() || self.types == other.types)
            && (self.words.is_none() || other.words.is_none() || self.words == other.words)
            && (self.alternatives.is_empty() || other.alternatives.is_empty())
            && other.properties.iter().all(|(key, value)| agrees(&self.properties, key, value))
            && other.inner.iter().all(|(key, value)| agrees(&self.inner, key, value))
            && other.keywords.iter().all(|(key, value)| agrees(&self.keywords, key, value))
    }

    /// Whether there are demands, and not only annotations.
    pub(super) fn demands_anything(&self) -> bool {
        let annotations = self.keywords.keys().filter(|key| is_annotation(key)).cloned();
        let rest = Self { keywords: BTreeMap::new(), ..self.clone() };
        rest != Self::default() || annotations.count() < self.keywords.len()
    }

    /// Whether it is only a union.
    pub(super) fn is_union(&self) -> bool {
        let rest =
            Self { alternatives: Vec::new(), nullable: false, keywords: BTreeMap::new(), ..self.clone() };
        !self.alternatives.is_empty()
            && rest == Self::default()
            && self.keywords.keys().all(|key| is_annotation(key))
    }

    /// The definition that it names, if it is only a reference.
    pub(super) fn reference(&self) -> Option<&str> {
        let name = self.references.first()?;
        let alone = Self { references: self.references.clone(), ..Self::default() };
        (self.references.len() == 1 && *self == alone).then_some(name)
    }

    /// Whether it is only a list of types.
    pub(super) fn is_types(&self) -> bool {
        !self.types.is_empty() && *self == Self { types: self.types.clone(), ..Self::default() }
    }

    /// The normal form. The parts must be in normal form already.
    pub(super) fn simplified(mut self) -> Self {
        self.flatten();
        self.join_alternatives();
        self.lift_null();
        if self.alternatives.len() == 1
            && let Some(only) = self.alternatives.pop()
        {
            let nullable = std::mem::take(&mut self.nullable);
            self.add(only);
            self.nullable |= nullable;
        }
        let implied =
            self.words.iter().flatten().all(|word| self.types.iter().any(|kind| is_of_type(word, kind)));
        if self.words.is_some() && implied {
            self.types.clear();
        }
        self
    }

    /// Replaces an alternative that is a union by its alternatives.
    fn flatten(&mut self) {
        let mut flat = Vec::new();
        for alternative in self.alternatives.drain(..) {
            if alternative.is_union() && alternative.keywords.is_empty() {
                flat.extend(alternative.alternatives);
                flat.extend(alternative.nullable.then(null));
            } else if alternative.nullable {
                flat.push(Self { nullable: false, ..alternative });
                flat.push(null());
            } else {
                flat.push(alternative);
            }
        }
        self.alternatives = flat;
    }

    /// Joins alternatives that are constants under the same conditions, and those that are types.
    fn join_alternatives(&mut self) {
        let mut joined: Vec<Self> = Vec::new();
        for alternative in self.alternatives.drain(..) {
            let alike = joined.iter_mut().find(|other| {
                let kinds = alternative.is_types() && other.is_types();
                kinds && alternative != null() && **other != null() || alternative.is_constant_like(other)
            });
            match alike {
                Some(other) => {
                    other.types.extend(alternative.types);
                    if let (Some(words), Some(more)) = (&mut other.words, alternative.words) {
                        words.extend(more);
                    }
                }
                None => joined.push(alternative),
            }
        }
        joined.sort();
        joined.dedup();
        self.alternatives = joined;
    }

    /// Whether both are only constants under the same conditions.
    fn is_constant_like(&self, other: &Self) -> bool {
        let conditions = |shape: &Self| {
            let alone = Self {
                words: shape.words.clone(),
                types: shape.types.clone(),
                keywords: shape.keywords.clone(),
                ..Self::default()
            };
            (shape.words.is_some() && *shape == alone).then(|| (shape.types.clone(), shape.keywords.clone()))
        };
        conditions(self).is_some_and(|own| conditions(other) == Some(own))
    }

    /// Moves the alternative `null` into `nullable`, if the shape is only a union.
    fn lift_null(&mut self) {
        if self.alternatives.len() > 1 && self.is_union() && self.alternatives.contains(&null()) {
            self.alternatives.retain(|alternative| *alternative != null());
            self.nullable = true;
        }
    }
}

/// The type `null` alone.
fn null() -> Shape {
    Shape { types: BTreeSet::from(["null".to_owned()]), ..Shape::default() }
}

/// Keywords about reading, without an effect on which values are valid.
fn is_annotation(keyword: &str) -> bool {
    keyword == "default" || keyword.starts_with("x-")
}

fn agrees<K: Ord, V: PartialEq>(map: &BTreeMap<K, V>, key: &K, value: &V) -> bool {
    map.get(key).is_none_or(|own| own == value)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn strings(value: &Value) -> BTreeSet<String> {
    let one = std::slice::from_ref(value);
    let all = value.as_array().map_or(one, Vec::as_slice);
    all.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// JSON text in which `1.0` is `1`.
fn canonical(value: &Value) -> String {
    fn whole(value: &Value) -> Value {
        match value {
            Value::Number(number) => Value::Number(whole_number(number)),
            Value::Array(items) => items.iter().map(whole).collect(),
            Value::Object(members) => {
                members.iter().map(|(key, value)| (key.clone(), whole(value))).collect()
            }
            other => other.clone(),
        }
    }
    whole(value).to_string()
}

fn whole_number(number: &Number) -> Number {
    match number.as_f64() {
        Some(value) if !number.is_i64() && value.fract() == 0.0 && value.abs() < 9e15 => {
            (value as i64).into()
        }
        _ => number.clone(),
    }
}

/// Whether a constant has this type.
fn is_of_type(word: &str, kind: &str) -> bool {
    match kind {
        "string" => word.starts_with('"'),
        "boolean" => word == "true" || word == "false",
        "null" => word == "null",
        "array" => word.starts_with('['),
        "object" => word.starts_with('{'),
        "number" => word.parse::<f64>().is_ok(),
        "integer" => word.parse::<i64>().is_ok(),
        _ => false,
    }
}
