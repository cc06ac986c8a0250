//! Reads arguments with placeholders for the members whose faults are known.

use std::collections::BTreeMap;
use std::vec;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::Value;

use super::fault::{Fault, FaultKind};
use super::placeholder::Placeholder;
use crate::decode::string_arg::StringArg;

/// The source of a member.
#[derive(Clone, Copy)]
pub(super) enum Node<'a> {
    Json(&'a Value),
    /// An argument of a prompt.
    Text(&'a str),
    /// The arguments of a prompt.
    Texts(&'a BTreeMap<String, String>),
    Placeholder,
}

/// A reader of a value, of which these faults are known.
pub(super) struct Reader<'a> {
    node: Node<'a>,
    /// How many steps of their paths lead here.
    depth: usize,
    known: Vec<&'a Fault>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(node: Node<'a>, known: &'a [Fault]) -> Self {
        Self { node, depth: 0, known: known.iter().collect() }
    }

    /// A reader of a part of this value.
    fn part(&self, name: &str, node: Node<'a>) -> Self {
        let leads_there =
            |fault: &&&Fault| fault.path().nth(self.depth).is_some_and(|step| step.name == name);
        let known: Vec<_> = self.known.iter().filter(leads_there).copied().collect();
        let depth = self.depth + 1;
        let is_wrong = known.iter().any(|fault| fault.path().len() == depth);
        Self { node: if is_wrong { Node::Placeholder } else { node }, depth, known }
    }

    /// The members in the order in which the type declares them. Placeholders come last, as not every type takes them.
    fn members(&self, declared: &[&str]) -> Members<'a> {
        let member = |name: &str, node| {
            let place = declared.iter().position(|declared| *declared == name).unwrap_or(usize::MAX);
            Member { place, name: name.to_owned(), reader: self.part(name, node) }
        };
        let mut members: Vec<_> = match self.node {
            Node::Json(Value::Object(object)) => {
                object.iter().map(|(name, value)| member(name, Node::Json(value))).collect()
            }
            Node::Texts(texts) => texts.iter().map(|(name, text)| member(name, Node::Text(text))).collect(),
            _ => Vec::new(),
        };
        for fault in self.known.iter().filter(|fault| fault.path().len() == self.depth + 1) {
            match (fault.kind, fault.path().last()) {
                (FaultKind::Missing, Some(step)) => members.push(member(&step.name, Node::Placeholder)),
                (FaultKind::Unknown, Some(step)) => members.retain(|member| member.name != step.name),
                _ => {}
            }
        }
        members.sort_by_key(|member| (matches!(member.reader.node, Node::Placeholder), member.place));
        Members { rest: members.into_iter(), next: None }
    }

    /// A whole number that has no 64 bits. A tree of values keeps about its size.
    fn long_number(&self) -> Option<f64> {
        let Node::Json(Value::Number(number)) = self.node else { return None };
        let is_long = number.as_u64().is_none() && number.as_i64().is_none();
        number.as_f64().filter(|number| is_long && number.fract() == 0.0)
    }

    fn read_members<'de, V: Visitor<'de>>(
        self,
        declared: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_map(self.members(declared)).map_err(|fault| fault.placed(declared))
    }
}

/// The types without parts, which a placeholder and a text know how to read.
macro_rules! scalars {
    ($($method:ident)+) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            match self.node {
                Node::Placeholder => Placeholder::default().$method(visitor),
                Node::Text(text) => StringArg::new(text).$method(visitor),
                _ => self.deserialize_any(visitor),
            }
        })+
    };
}

/// Reads everything but an object, whose members [`Reader::read_members`] reads.
impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.node {
            Node::Placeholder => Placeholder::default().deserialize_any(visitor),
            Node::Text(text) => visitor.visit_str(text),
            Node::Texts(_) | Node::Json(Value::Object(_)) => self.read_members(&[], visitor),
            Node::Json(Value::Null) => visitor.visit_unit(),
            Node::Json(Value::Bool(bool)) => visitor.visit_bool(*bool),
            Node::Json(Value::String(text)) => visitor.visit_str(text),
            Node::Json(Value::Array(array)) => {
                visitor.visit_seq(Elements { rest: array.iter(), place: 0, array: &self })
            }
            Node::Json(Value::Number(number)) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(number), ..) => visitor.visit_u64(number),
                (_, Some(number), _) => visitor.visit_i64(number),
                (.., Some(number)) => visitor.visit_f64(number),
                _ => Err(Fault::invalid_type(Unexpected::Other("a number"), &visitor)),
            },
        }
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match (self.node, self.long_number()) {
            (Node::Placeholder, _) => visitor.visit_i128(0),
            (Node::Text(text), _) => StringArg::new(text).deserialize_i128(visitor),
            #[allow(clippy::cast_possible_truncation, reason = "the value is not used")]
            (_, Some(number)) => visitor.visit_i128(number as i128),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match (self.node, self.long_number()) {
            (Node::Placeholder, _) => visitor.visit_u128(0),
            (Node::Text(text), _) => StringArg::new(text).deserialize_u128(visitor),
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the value is not used"
            )]
            (_, Some(number)) if number > 0.0 => visitor.visit_u128(number as u128),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.node {
            Node::Json(Value::Null) | Node::Placeholder => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.node {
            // The value may be text of JSON, which only its own reader knows.
            Node::Json(value) if name.starts_with("$serde_json::") => {
                value.clone().deserialize_newtype_struct(name, visitor).map_err(Fault::custom)
            }
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.node {
            Node::Json(Value::String(text)) => {
                let text: StrDeserializer<'_, Fault> = text.as_str().into_deserializer();
                text.deserialize_enum(name, variants, visitor)
            }
            Node::Json(value) => {
                value.clone().deserialize_enum(name, variants, visitor).map_err(Fault::custom)
            }
            Node::Text(text) => StringArg::new(text).deserialize_enum(name, variants, visitor),
            _ => Placeholder::default().deserialize_enum(name, variants, visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.node {
            Node::Texts(_) | Node::Json(Value::Object(_)) => self.read_members(fields, visitor),
            Node::Placeholder => Placeholder::default().deserialize_struct(name, fields, visitor),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Fault> {
        match self.node {
            Node::Placeholder => Placeholder::default().deserialize_tuple(length, visitor),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_unit(visitor)
    }

    scalars! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8
        deserialize_u16 deserialize_u32 deserialize_u64 deserialize_f32 deserialize_f64
        deserialize_char deserialize_str deserialize_string deserialize_bytes deserialize_byte_buf deserialize_unit
        deserialize_seq deserialize_map deserialize_identifier
    }

    forward_to_deserialize_any! { ignored_any }
}

struct Member<'a> {
    place: usize,
    name: String,
    reader: Reader<'a>,
}

struct Members<'a> {
    rest: vec::IntoIter<Member<'a>>,
    next: Option<Member<'a>>,
}

impl<'de> MapAccess<'de> for Members<'_> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let Some(member) = self.rest.next() else { return Ok(None) };
        // The names of a map's members may be numbers.
        let name = seed.deserialize(StringArg::new(&member.name)).map(Some);
        self.next = Some(member);
        name
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Fault> {
        let member = self.next.take().expect("a visitor takes the name before the value");
        let Member { place, name, reader } = member;
        seed.deserialize(reader).map_err(|fault| fault.under(place, &name))
    }
}

struct Elements<'r, 'a> {
    rest: std::slice::Iter<'a, Value>,
    place: usize,
    array: &'r Reader<'a>,
}

impl<'de> SeqAccess<'de> for Elements<'_, '_> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        let Some(value) = self.rest.next() else { return Ok(None) };
        let (place, name) = (self.place, format!("[{}]", self.place));
        self.place += 1;
        let reader = self.array.part(&name, Node::Json(value));
        seed.deserialize(reader).map(Some).map_err(|fault| fault.under(place, &name))
    }
}
