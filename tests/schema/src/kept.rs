//! The parts of a value that must survive reading and writing, compared with the written value.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The parts of a value that must come out again when it was read and is written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Kept {
    /// Just this, though 1.0 may become 1.
    Exact(Value),
    /// A word or an object of a kind that the schema does not know; just this.
    Foreign {
        /// The value.
        value: Value,
        /// Members that count as missing where they are read in front of the foreign branch.
        may_go: Vec<String>,
    },
    /// A string that is not of its format; just this, because formats are for writers.
    Odd(Value),
    /// As if it had not been there.
    Nothing,
    /// Whatever the schema allows.
    Free,
    /// These, in this order.
    List(Vec<Kept>),
    /// The same, or the one item without a list around it.
    OneOrMany(Vec<Kept>),
    /// The members, and perhaps those that no schema knows.
    Object {
        /// Those that the schema knows, there or not.
        members: BTreeMap<String, Entry>,
        /// Those that a reader may drop.
        unknown: Map<String, Value>,
        /// How many known members are read as if they had not been there.
        ignored: usize,
    },
}

/// A member of an object and what may stand for its absence.
#[derive(Clone, Debug)]
pub struct Entry {
    pub(crate) kept: Kept,
    /// Values that say the same as leaving the member out.
    pub(crate) neutral: Vec<Value>,
}

impl Kept {
    pub(crate) fn object() -> Self {
        Self::Object { members: BTreeMap::new(), unknown: Map::new(), ignored: 0 }
    }

    pub(crate) fn insert(&mut self, name: &str, entry: Entry) {
        if let Self::Object { members, .. } = self {
            members.insert(name.to_owned(), entry);
        }
    }

    pub(crate) fn may_keep(&mut self, name: &str, value: &Value) {
        if let Self::Object { unknown, .. } = self {
            unknown.insert(name.to_owned(), value.clone());
        }
    }

    /// The same in the branch for all others, where a reader may keep what it could not read.
    pub(crate) fn of_rest(mut self, value: &Map<String, Value>) -> Self {
        if let Self::Object { members, .. } = &mut self {
            let lost = |(name, entry): &(&String, &mut Entry)| {
                matches!(entry.kept, Self::Nothing) && value.contains_key(*name)
            };
            members.iter_mut().filter(lost).for_each(|(_, entry)| entry.kept = Self::Free);
        }
        self
    }

    pub(crate) fn ignore(&mut self) {
        if let Self::Object { ignored, .. } = self {
            *ignored += 1;
        }
    }

    /// The names of members that may go.
    pub(crate) fn unknown(&self) -> impl Iterator<Item = &String> {
        let unknown = if let Self::Object { unknown, .. } = self { Some(unknown.keys()) } else { None };
        unknown.into_iter().flatten()
    }

    /// How many members get lost; the branch of a union that was meant loses the fewest.
    pub(crate) fn losses(&self) -> usize {
        if let Self::Object { unknown, ignored, .. } = self { unknown.len() + ignored } else { 0 }
    }

    /// The places of what was taken although no writer may say it: unknown members, foreign words and objects,
    /// strings that are not of their format.
    pub fn beyond_schema(&self) -> Vec<String> {
        let mut found = Vec::new();
        self.find_beyond("", &mut found);
        found
    }

    fn find_beyond(&self, place: &str, found: &mut Vec<String>) {
        match self {
            Self::Foreign { .. } | Self::Odd(_) | Self::Free => found.push(place.to_owned()),
            Self::List(items) | Self::OneOrMany(items) => {
                for (at, item) in items.iter().enumerate() {
                    item.find_beyond(&format!("{place}/{at}"), found);
                }
            }
            Self::Object { members, unknown, .. } => {
                for (name, member) in members {
                    member.kept.find_beyond(&format!("{place}/{name}"), found);
                }
                found.extend(unknown.keys().map(|name| format!("{place}/{name}")));
            }
            Self::Exact(_) | Self::Nothing => {}
        }
    }

    /// Whether it was taken although no writer may say it, and is written back all the same.
    pub fn is_beyond_schema(&self) -> bool {
        match self {
            Self::Foreign { .. } | Self::Odd(_) | Self::Free => true,
            Self::List(items) | Self::OneOrMany(items) => items.iter().any(Self::is_beyond_schema),
            Self::Object { members, .. } => members.values().any(|member| member.kept.is_beyond_schema()),
            Self::Exact(_) | Self::Nothing => false,
        }
    }

    /// Compares with what was written.
    ///
    /// # Errors
    ///
    /// The part that was lost, added or changed, and its place.
    pub fn compare(&self, written: &Value) -> Result<(), String> {
        match self {
            Self::Exact(value) | Self::Odd(value) => is(value, written),
            Self::Foreign { value, may_go } => is(&without(value, may_go), &without(written, may_go)),
            Self::Nothing => Err(format!(": nothing became {written}")),
            Self::Free => Ok(()),
            Self::OneOrMany(items) if !written.is_array() => {
                items.iter().try_for_each(|item| item.compare(written))
            }
            Self::List(items) | Self::OneOrMany(items) => compare_items(items, written),
            Self::Object { members, unknown, .. } => compare_members(members, unknown, written),
        }
    }
}

fn is(value: &Value, written: &Value) -> Result<(), String> {
    if same(value, written) { Ok(()) } else { Err(format!(": {value} became {written}")) }
}

fn without(value: &Value, names: &[String]) -> Value {
    let mut value = value.clone();
    if let Value::Object(members) = &mut value {
        members.retain(|name, _| !names.contains(name));
    }
    value
}

fn compare_items(items: &[Kept], written: &Value) -> Result<(), String> {
    let list = written.as_array().ok_or_else(|| format!(": a list became {written}"))?;
    if list.len() != items.len() {
        return Err(format!(": {} items became {}", items.len(), list.len()));
    }
    for (at, (item, written)) in items.iter().zip(list).enumerate() {
        item.compare(written).map_err(|fault| format!("/{at}{fault}"))?;
    }
    Ok(())
}

fn compare_members(
    members: &BTreeMap<String, Entry>,
    unknown: &Map<String, Value>,
    written: &Value,
) -> Result<(), String> {
    let object = written.as_object().ok_or_else(|| format!(": an object became {written}"))?;
    for (name, entry) in members {
        entry.compare(object.get(name)).map_err(|fault| format!("/{name}{fault}"))?;
    }
    let mut others = object.iter().filter(|(name, _)| !members.contains_key(*name));
    match others.find(|(name, value)| unknown.get(*name) != Some(value)) {
        Some((name, value)) => Err(format!("/{name}: {value} was not there")),
        None => Ok(()),
    }
}

impl Entry {
    fn compare(&self, written: Option<&Value>) -> Result<(), String> {
        let is_neutral = |value: &Value| self.neutral.iter().any(|neutral| same(neutral, value));
        match (&self.kept, written) {
            (Kept::Nothing | Kept::Free, None) | (Kept::Free, Some(_)) => Ok(()),
            (Kept::Nothing, Some(written)) if is_neutral(written) => Ok(()),
            (Kept::Exact(value), None) if is_neutral(value) => Ok(()),
            (Kept::List(items), None) if items.is_empty() && is_neutral(&Value::Array(Vec::new())) => Ok(()),
            (Kept::Object { members, .. }, None)
                if members.is_empty() && is_neutral(&Value::Object(Map::new())) =>
            {
                Ok(())
            }
            (kept, Some(written)) => kept.compare(written),
            (kept, None) => Err(format!(": lost {kept:?}")),
        }
    }
}

/// Returns whether two values are equal, however their numbers are spelled.
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
