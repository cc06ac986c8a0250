use proptest::strategy::ValueTree;
use serde_json::Value;

use crate::Document;
use crate::place::{Place, places};

/// An instance that can lose what it does not need.
#[derive(Clone, Debug)]
pub struct Instance<'d> {
    document: &'d Document,
    pointer: String,
    value: Value,
    /// What it was before the last loss.
    before: Option<Value>,
    /// The losses that were tried so far, as a position in the list of all places.
    tried: usize,
}

impl<'d> Instance<'d> {
    pub(crate) fn new(document: &'d Document, pointer: &str, value: Value) -> Self {
        Self { document, pointer: pointer.to_owned(), value, before: None, tried: 0 }
    }
}

impl ValueTree for Instance<'_> {
    type Value = Value;

    fn current(&self) -> Value {
        self.value.clone()
    }

    /// Takes one member or item away, the outermost first.
    fn simplify(&mut self) -> bool {
        let places: Vec<Place> = places(&self.value);
        while let Some(place) = places.get(self.tried) {
            self.tried += 1;
            let mut smaller = self.value.clone();
            if place.remove(&mut smaller) && self.document.is_valid(&self.pointer, &smaller) {
                self.before = Some(std::mem::replace(&mut self.value, smaller));
                // The places behind this one have moved up.
                self.tried -= 1;
                return true;
            }
        }
        false
    }

    fn complicate(&mut self) -> bool {
        let Some(before) = self.before.take() else { return false };
        self.value = before;
        self.tried += 1;
        true
    }
}
