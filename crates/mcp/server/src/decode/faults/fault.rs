//! One fault of a function's arguments, and its text.

use std::fmt;

use agentwire_jsonrpc::Printable;
use serde::de::{Error, Expected, Unexpected};

/// The most bytes of a client's text that are quoted.
const QUOTE: usize = 60;

/// The most bytes of the text of one fault, and of its path.
const LENGTH: usize = 240;

/// The fault of one member.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(super) kind: FaultKind,
    /// The path to the member, its last step first.
    steps: Vec<Step>,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaultKind {
    /// The value does not fit.
    Value,
    /// A required member is absent.
    Missing,
    /// The type has no such member.
    Unknown,
}

/// A member of an object, or an element of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The position of the member in the declaration of its type. Undeclared members come after all others.
    pub(super) place: usize,
    pub(super) name: String,
}

impl Fault {
    fn value(text: String) -> Self {
        Self { kind: FaultKind::Value, steps: Vec::new(), text }
    }

    /// The fault as seen from the object or array around it.
    pub(super) fn under(mut self, place: usize, name: &str) -> Self {
        self.steps.push(Step { place, name: name.to_owned() });
        self
    }

    /// Sets the position of a missing member among the declared ones.
    pub(super) fn placed(mut self, declared: &[&str]) -> Self {
        if let (FaultKind::Missing, [step]) = (self.kind, &mut *self.steps)
            && let Some(place) = declared.iter().position(|name| *name == step.name)
        {
            step.place = place;
        }
        self
    }

    /// The name of the missing member of the outermost object. `None` for any other fault.
    pub(crate) fn missing_member(&self) -> Option<&str> {
        match (self.kind, &*self.steps) {
            (FaultKind::Missing, [step]) => Some(&step.name),
            _ => None,
        }
    }

    /// The path to the member, from the outside in.
    pub(super) fn path(&self) -> impl DoubleEndedIterator<Item = &Step> + ExactSizeIterator {
        self.steps.iter().rev()
    }

    /// Whether the other fault is that of an object or array around this member.
    pub(super) fn is_beneath(&self, other: &Self) -> bool {
        let names = |fault: &Self| fault.path().map(|step| step.name.clone()).collect::<Vec<_>>();
        self.steps.len() > other.steps.len() && names(self).starts_with(&names(other))
    }

    /// Faults sort by the order in which the type declares their members.
    pub(super) fn order(&self) -> Vec<usize> {
        self.path().map(|step| step.place).collect()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut path = String::new();
        for step in self.path() {
            if !path.is_empty() && !step.name.starts_with('[') {
                path.push('.');
            }
            path.push_str(&step.name);
        }
        let path = shown(&path);
        match self.kind {
            FaultKind::Missing => write!(f, "`{path}` is missing"),
            FaultKind::Unknown => write!(f, "`{path}` is not a known member"),
            FaultKind::Value if path.is_empty() => f.write_str(&shown(&self.text)),
            FaultKind::Value => write!(f, "`{path}`: {}", shown(&self.text)),
        }
    }
}

impl std::error::Error for Fault {}

impl Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::value(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::value(format!("expected {expected}, found {}", Found(found)))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self::value(format!("expected {expected}, found {length} elements"))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        let expected: Vec<_> = expected.iter().map(|name| format!("`{name}`")).collect();
        let found = Found(Unexpected::Str(variant));
        Self::value(format!("expected {}, found {found}", expected.join(" or ")))
    }

    fn missing_field(field: &'static str) -> Self {
        Self { kind: FaultKind::Missing, steps: Vec::new(), text: String::new() }.under(usize::MAX, field)
    }

    fn unknown_field(field: &str, _: &'static [&'static str]) -> Self {
        Self { kind: FaultKind::Unknown, steps: Vec::new(), text: String::new() }.under(usize::MAX, field)
    }
}

/// The value in place of the expected one, with JSON's nouns.
struct Found<'a>(Unexpected<'a>);

impl fmt::Display for Found<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Unexpected::Str(text) => write!(f, "the string {:?}", beginning(text, QUOTE)),
            Unexpected::Unit | Unexpected::Option => f.write_str("null"),
            Unexpected::Seq => f.write_str("an array"),
            Unexpected::Map => f.write_str("an object"),
            found => write!(f, "{found}"),
        }
    }
}

/// A text that may contain text of the client, escaped and cut.
pub(super) fn shown(text: &str) -> String {
    Printable::one_line(&beginning(text, LENGTH)).to_string()
}

fn beginning(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let end = (0..=bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    format!("{}…", &text[..end])
}
