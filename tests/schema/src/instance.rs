//! Generates valid instances of a definition.

use proptest::prelude::RngExt;
use proptest::test_runner::{TestRng, TestRunner};
use serde_json::{Map, Value};

use crate::Document;
use crate::sample;
use crate::shape::{Kind, Member, Object};

/// From here on down, only what must be there is made.
const DEPTH: usize = 7;

/// Valid instances of one definition, from the smallest to the fullest.
///
/// Numbers are often the extremes of their format, and strings often need escapes.
#[derive(Clone, Debug)]
pub struct Instances<'d> {
    document: &'d Document,
    pointer: String,
}

impl<'d> Instances<'d> {
    /// Instances of the schema at a pointer such as `#/$defs/Tool`.
    ///
    /// # Panics
    ///
    /// Where the document has no such schema.
    pub fn new(document: &'d Document, pointer: &str) -> Self {
        assert!(document.schema(pointer).is_some(), "{} has no {pointer}", document.name());
        Self { document, pointer: pointer.to_owned() }
    }

    /// How many branches the definition has at its top.
    pub fn branches(&self) -> usize {
        self.document.shapes_of_all(&self.schemas()).len()
    }

    /// Makes an instance.
    ///
    /// # Panics
    ///
    /// If the maker understands too little of the schema to make a valid one in 20 attempts.
    pub fn make(&self, runner: &mut TestRunner) -> Value {
        let mut value = Value::Null;
        for _ in 0..20 {
            let mut rng = runner.new_rng();
            let fullness = [0.0, 0.3, 0.6, 1.0][rng.random_range(0..4)];
            value = Maker { document: self.document, rng, fullness }.value(&self.schemas(), 0);
            if self.document.is_valid(&self.pointer, &value) {
                return value;
            }
        }
        let fault = self.document.check(&self.pointer, &value);
        panic!("made no valid instance of {}: {fault:?} in {value}", self.pointer)
    }

    fn schemas(&self) -> Vec<&'static Value> {
        self.document.schema(&self.pointer).into_iter().collect()
    }
}

struct Maker<'d> {
    document: &'d Document,
    rng: TestRng,
    /// How likely a member is there that need not be.
    fullness: f64,
}

impl Maker<'_> {
    fn value(&mut self, schemas: &[&'static Value], depth: usize) -> Value {
        let shapes = self.document.shapes_of_all(schemas);
        assert!(!shapes.is_empty(), "{}: nothing satisfies {schemas:?}", self.document.name());
        let is_flat = |kind: &Kind| !matches!(kind, Kind::List { .. } | Kind::Object(_));
        let flat: Vec<_> = shapes.iter().filter(|shape| depth < DEPTH || is_flat(&shape.kind)).collect();
        let choices = if flat.is_empty() { shapes.iter().collect() } else { flat };
        let choice = self.rng.random_range(0..choices.len());
        self.of(&choices[choice].kind, depth)
    }

    fn of(&mut self, kind: &Kind, depth: usize) -> Value {
        match kind {
            Kind::Any => sample::anything(&mut self.rng),
            Kind::Null => Value::Null,
            Kind::Boolean => self.rng.random::<bool>().into(),
            Kind::Integer { minimum, maximum, .. } => sample::integer(&mut self.rng, *minimum, *maximum),
            Kind::Number { minimum, maximum } => sample::number(&mut self.rng, *minimum, *maximum),
            Kind::Text { format, shortest } => sample::text(&mut self.rng, *format, *shortest).into(),
            Kind::Constant(value) => (*value).clone(),
            Kind::List { items, shortest, longest } => {
                let wanted = if depth < DEPTH { self.rng.random_range(0..4) } else { 0 };
                let count = wanted.max(*shortest).min(*longest);
                (0..count).map(|_| self.value(items, depth + 1)).collect()
            }
            Kind::Object(object) => self.object(object, depth),
        }
    }

    fn object(&mut self, object: &Object, depth: usize) -> Value {
        let mut made = Map::new();
        for (name, member) in &object.members {
            if member.is_required || self.wants(depth) {
                made.insert((*name).to_owned(), self.member(object, name, member, depth));
            }
        }
        if let Some(additional) = object.additional.filter(|schema| **schema != Value::Bool(false)) {
            while self.wants(depth) && made.len() < object.members.len() + 3 {
                let name = sample::name(&mut self.rng);
                let value = self.value(&[additional], depth + 1);
                made.entry(name).or_insert(value);
            }
        }
        Value::Object(made)
    }

    fn member(&mut self, object: &Object, name: &str, member: &Member, depth: usize) -> Value {
        loop {
            let value = self.value(&member.schemas, depth + 1);
            let is = |(of, word): &(&str, &str)| *of == name && value.as_str() == Some(word);
            if !object.excluded.iter().any(is) {
                return value;
            }
        }
    }

    fn wants(&mut self, depth: usize) -> bool {
        depth < DEPTH && self.rng.random_bool(self.fullness / (1.0 + depth as f64 / 4.0))
    }
}
