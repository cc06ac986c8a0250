//! The shapes of JSON values that a schema allows, with its references and unions resolved.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde_json::{Value, json};

/// One of the shapes that a schema allows: a single JSON type, all references and unions resolved.
///
/// The schemas of members and items stay as they are until somebody looks at them, so that a schema that
/// contains itself is not a fault.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) kind: Kind,
    /// The definitions that were passed on the way here, outermost first.
    pub(crate) definitions: Vec<&'static str>,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Any,
    Null,
    Boolean,
    Integer {
        minimum: i128,
        maximum: i128,
        /// Whether a type that holds no more than this is what the schema asks for.
        is_sized: bool,
    },
    Number {
        minimum: f64,
        maximum: f64,
    },
    Text {
        format: Option<&'static str>,
        shortest: usize,
    },
    /// Exactly this value; most often a word.
    Constant(&'static Value),
    List {
        items: Vec<&'static Value>,
        shortest: usize,
        longest: usize,
    },
    Object(Object),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Object {
    pub(crate) members: BTreeMap<&'static str, Member>,
    /// The schema of other members; `None` if the schema has none for them.
    pub(crate) additional: Option<&'static Value>,
    /// Words that a member must not have, because they belong to other branches of a union.
    pub(crate) excluded: Vec<(&'static str, &'static str)>,
}

/// A member of an object and the schema's way to read it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Member {
    /// All of these must hold.
    pub(crate) schemas: Vec<&'static Value>,
    pub(crate) is_required: bool,
    pub(crate) default_on_error: bool,
    pub(crate) skip_invalid_items: bool,
    pub(crate) default_on_null: bool,
    pub(crate) default_value: Option<&'static Value>,
}

impl Shape {
    pub(crate) fn new(kind: Kind) -> Self {
        Self { kind, definitions: Vec::new() }
    }
}

/// The shapes that the schema's own keywords allow, without what it refers to.
pub(crate) fn own_shapes(schema: &'static Value) -> Vec<Shape> {
    if let Some(value) = schema.get("const") {
        return vec![Shape::new(Kind::Constant(value))];
    }
    if schema.get("enum").is_some() {
        return list(schema, "enum").map(|value| Shape::new(Kind::Constant(value))).collect();
    }
    let types: Vec<&str> = match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ if schema.get("properties").is_some() || schema.get("required").is_some() => vec!["object"],
        _ => return vec![Shape::new(Kind::Any)],
    };
    types.into_iter().map(|name| Shape::new(typed(schema, name))).collect()
}

fn typed(schema: &'static Value, name: &str) -> Kind {
    let number = |keyword: &str| schema.get(keyword).and_then(Value::as_u64).map(|number| number as usize);
    let format = schema.get("format").and_then(Value::as_str);
    match name {
        "null" => Kind::Null,
        "boolean" => Kind::Boolean,
        "integer" => integer(schema, format),
        "number" => Kind::Number {
            minimum: schema.get("minimum").and_then(Value::as_f64).unwrap_or(f64::MIN),
            maximum: schema.get("maximum").and_then(Value::as_f64).unwrap_or(f64::MAX),
        },
        "string" => Kind::Text { format, shortest: number("minLength").unwrap_or(0) },
        "array" => Kind::List {
            items: schema.get("items").into_iter().collect(),
            shortest: number("minItems").unwrap_or(0),
            longest: number("maxItems").unwrap_or(usize::MAX),
        },
        "object" => Kind::Object(object(schema)),
        other => panic!("no JSON type is called {other}"),
    }
}

/// The bounds of an integer: those of its format, or those that every reader can hold.
fn integer(schema: &'static Value, format: Option<&str>) -> Kind {
    let (least, most) = match format {
        Some("int32") => (i32::MIN.into(), i32::MAX.into()),
        Some("int64") => (i64::MIN.into(), i64::MAX.into()),
        Some("uint16") => (0, u16::MAX.into()),
        Some("uint32") => (0, u32::MAX.into()),
        Some("uint64") => (0, u64::MAX.into()),
        _ => (-(1 << 53) + 1, (1 << 53) - 1),
    };
    let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_f64).map(|number| number as i128);
    Kind::Integer {
        minimum: bound("minimum").map_or(least, |bound| bound.max(least)),
        maximum: bound("maximum").map_or(most, |bound| bound.min(most)),
        is_sized: format.is_some(),
    }
}

fn object(schema: &'static Value) -> Object {
    let mut object = Object {
        additional: schema.get("additionalProperties").or(schema.get("unevaluatedProperties")),
        ..Object::default()
    };
    for (name, member) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let has = |keyword: &str| member.get(keyword) == Some(&Value::Bool(true));
        object.members.insert(
            name,
            Member {
                schemas: with_meaning(name, member),
                is_required: false,
                default_on_error: has("x-deserialize-default-on-error"),
                skip_invalid_items: has("x-deserialize-skip-invalid-items"),
                default_on_null: has("x-deserialize-default-on-null"),
                default_value: member.get("default"),
            },
        );
    }
    for name in list(schema, "required").filter_map(Value::as_str) {
        object.members.entry(name).or_default().is_required = true;
    }
    if let Some(not) = schema.get("not") {
        let branches = list(not, "anyOf").flat_map(|branch| branch["properties"].as_object()).flatten();
        let words =
            branches.filter_map(|(name, member)| Some((name.as_str(), member.get("const")?.as_str()?)));
        object.excluded = words.collect();
    }
    object
}

/// Members that count something. Schemas that know no formats call them integers and mean no negative ones.
const COUNTS: &[&str] =
    &["size", "minItems", "maxItems", "minLength", "maxLength", "maxTokens", "total", "ttl", "pollInterval"];

/// Members that list what one may choose from. Without a choice the kinds of lists cannot be distinguished.
const CHOICES: &[&str] = &["enum", "anyOf", "oneOf"];

/// The meaning of a member's name beyond its schema.
fn with_meaning(name: &str, member: &'static Value) -> Vec<&'static Value> {
    static MEANING: OnceLock<[Value; 2]> = OnceLock::new();
    let types = ["integer", "number", "null", "string", "array", "object", "boolean"];
    let [count, choices] = MEANING
        .get_or_init(|| [json!({ "type": types, "minimum": 0 }), json!({ "type": types, "minItems": 1 })]);
    match name {
        name if COUNTS.contains(&name) && member.get("format").is_none() => vec![member, count],
        name if CHOICES.contains(&name) => vec![member, choices],
        _ => vec![member],
    }
}

/// The shapes that satisfy one shape of each side.
pub(crate) fn both(left: &[Shape], right: &[Shape]) -> Vec<Shape> {
    let pairs = left.iter().flat_map(|left| right.iter().map(move |right| (left, right)));
    pairs
        .filter_map(|(left, right)| {
            let definitions = [left.definitions.as_slice(), &right.definitions].concat();
            Some(Shape { kind: meet(&left.kind, &right.kind)?, definitions })
        })
        .collect()
}

fn meet(left: &Kind, right: &Kind) -> Option<Kind> {
    Some(match (left, right) {
        (Kind::Any, other) | (other, Kind::Any) => other.clone(),
        (Kind::Null, Kind::Null) => Kind::Null,
        (Kind::Boolean, Kind::Boolean) => Kind::Boolean,
        (Kind::Constant(value), other) | (other, Kind::Constant(value)) if is_of(value, other) => {
            Kind::Constant(value)
        }
        (Kind::Text { format, shortest }, Kind::Text { format: other, shortest: least }) => {
            Kind::Text { format: format.or(*other), shortest: *shortest.max(least) }
        }
        (
            Kind::Integer { minimum, maximum, is_sized },
            Kind::Integer { minimum: least, maximum: most, is_sized: sized },
        ) => Kind::Integer {
            minimum: *minimum.max(least),
            maximum: *maximum.min(most),
            is_sized: *is_sized || *sized,
        },
        (Kind::Number { minimum, maximum }, Kind::Number { minimum: least, maximum: most }) => {
            Kind::Number { minimum: minimum.max(*least), maximum: maximum.min(*most) }
        }
        (
            Kind::List { items, shortest, longest },
            Kind::List { items: others, shortest: least, longest: most },
        ) => Kind::List {
            items: [items.as_slice(), others].concat(),
            shortest: *shortest.max(least),
            longest: *longest.min(most),
        },
        (Kind::Object(left), Kind::Object(right)) => Kind::Object(merge(left, right)),
        _ => return None,
    })
}

fn is_of(value: &Value, kind: &Kind) -> bool {
    match kind {
        Kind::Text { .. } => value.is_string(),
        Kind::Integer { .. } => value.is_i64() || value.is_u64(),
        Kind::Number { .. } => value.is_number(),
        Kind::Boolean => value.is_boolean(),
        Kind::Null => value.is_null(),
        Kind::Constant(other) => *other == value,
        Kind::Any | Kind::List { .. } | Kind::Object(_) => false,
    }
}

fn merge(left: &Object, right: &Object) -> Object {
    let mut merged = left.clone();
    for (name, member) in &right.members {
        let known = merged.members.entry(name).or_default();
        known.schemas.extend(&member.schemas);
        known.is_required |= member.is_required;
        known.default_on_error |= member.default_on_error;
        known.skip_invalid_items |= member.skip_invalid_items;
        known.default_on_null |= member.default_on_null;
        known.default_value = known.default_value.or(member.default_value);
    }
    merged.additional = merged.additional.or(right.additional);
    merged.excluded.extend(&right.excluded);
    merged
}

/// The elements of a keyword whose value is a list.
pub(crate) fn list(schema: &'static Value, keyword: &str) -> impl Iterator<Item = &'static Value> + use<> {
    schema.get(keyword).and_then(Value::as_array).into_iter().flatten()
}
