//! The choice fields of an elicitation form. Conversions map `enum`, `enumNames`, `oneOf` and `anyOf` to one list of choices
//! and back.

use agentwire_wire_derive::Wire;
use serde::{Deserialize, Serialize};

/// A field for one of several choices.
///
/// Three spellings of it are read: plain values, titled ones, and the titled ones of 2025-06-18.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "SingleWire", into = "SingleWire")]
#[non_exhaustive]
pub struct SingleSelectSchema {
    /// Its name for people.
    pub title: Option<String>,
    /// The meaning of the choice, for the user.
    pub description: Option<String>,
    /// The choices.
    pub choices: Vec<Choice>,
    /// The initial choice. Since 2025-11-25.
    pub default_value: Option<String>,
    /// Whether titles are written as 2025-06-18 has it, in a list beside the values.
    pub legacy_titles: bool,
}

impl SingleSelectSchema {
    /// A field for one of these choices.
    pub fn new<C: Into<Choice>>(choices: impl IntoIterator<Item = C>) -> Self {
        Self { choices: choices.into_iter().map(C::into).collect(), ..Self::default() }
    }
}

setters!(SingleSelectSchema {
    some title: String,
    some description: String,
    some default_value: String,
    set legacy_titles: bool,
});

/// A field for any number of several choices. Since 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "MultiWire", into = "MultiWire")]
#[non_exhaustive]
pub struct MultiSelectSchema {
    /// Its name for people.
    pub title: Option<String>,
    /// The meaning of the choice, for the user.
    pub description: Option<String>,
    /// The choices.
    pub choices: Vec<Choice>,
    /// How many at least.
    pub min_items: Option<u64>,
    /// How many at most.
    pub max_items: Option<u64>,
    /// The initial choices.
    pub default_value: Vec<String>,
}

impl MultiSelectSchema {
    /// A field for some of these choices.
    pub fn new<C: Into<Choice>>(choices: impl IntoIterator<Item = C>) -> Self {
        Self { choices: choices.into_iter().map(C::into).collect(), ..Self::default() }
    }
}

setters!(MultiSelectSchema {
    some title: String,
    some description: String,
    some min_items: u64,
    some max_items: u64,
    list default_value: String,
});

/// One of the choices.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct Choice {
    /// The value that is sent when it is chosen.
    #[wire(required, name = "const")]
    pub value: String,
    /// The text for the user; the value if absent.
    #[wire(optional)]
    pub title: Option<String>,
}

impl Choice {
    /// A choice without a title.
    pub fn new(value: impl Into<String>) -> Self {
        Self { value: value.into(), title: None }
    }
}

setters!(Choice {
    some title: String,
});

impl From<&str> for Choice {
    fn from(value: &str) -> Self {
        Self::new(value)
    }
}

impl From<String> for Choice {
    fn from(value: String) -> Self {
        Self::new(value)
    }
}

#[derive(Wire)]
#[wire(tag = "type", value = "string", without_schema)]
struct SingleWire {
    #[wire(optional)]
    title: Option<String>,
    #[wire(optional)]
    description: Option<String>,
    #[wire(optional, name = "enum")]
    values: Option<Vec<String>>,
    #[wire(optional)]
    enum_names: Option<Vec<String>>,
    #[wire(optional)]
    one_of: Option<Vec<Choice>>,
    #[wire(optional)]
    default: Option<String>,
}

impl From<SingleWire> for SingleSelectSchema {
    fn from(wire: SingleWire) -> Self {
        let SingleWire { title, description, values, enum_names, one_of, default } = wire;
        let legacy_titles = one_of.is_none() && enum_names.is_some();
        let mut names = enum_names.unwrap_or_default().into_iter();
        let plain = values.unwrap_or_default().into_iter();
        let choices =
            one_of.unwrap_or_else(|| plain.map(|value| Choice { value, title: names.next() }).collect());
        Self { title, description, choices, default_value: default, legacy_titles }
    }
}

impl From<SingleSelectSchema> for SingleWire {
    fn from(schema: SingleSelectSchema) -> Self {
        let SingleSelectSchema { title, description, choices, default_value: default, legacy_titles } =
            schema;
        let base = Self { title, description, values: None, enum_names: None, one_of: None, default };
        if !has_titles(&choices) {
            Self { values: Some(values(choices)), ..base }
        } else if legacy_titles {
            let names = choices.iter().map(shown).collect();
            Self { values: Some(values(choices)), enum_names: Some(names), ..base }
        } else {
            Self { one_of: Some(titled(choices)), ..base }
        }
    }
}

#[derive(Wire)]
#[wire(tag = "type", value = "array", without_schema)]
struct MultiWire {
    #[wire(optional)]
    title: Option<String>,
    #[wire(optional)]
    description: Option<String>,
    #[wire(required)]
    items: MultiItems,
    #[wire(optional)]
    min_items: Option<u64>,
    #[wire(optional)]
    max_items: Option<u64>,
    #[wire(plain_list)]
    default: Vec<String>,
}

/// The items of plain values have `type`: `string`, those of titled ones do not.
#[derive(Default, Wire)]
#[wire(without_schema)]
struct MultiItems {
    #[wire(optional, name = "type")]
    kind: Option<String>,
    #[wire(optional, name = "enum")]
    values: Option<Vec<String>>,
    #[wire(optional)]
    any_of: Option<Vec<Choice>>,
}

impl From<MultiWire> for MultiSelectSchema {
    fn from(wire: MultiWire) -> Self {
        let MultiWire { title, description, items, min_items, max_items, default } = wire;
        let plain = items.values.unwrap_or_default().into_iter().map(Choice::new);
        let choices = items.any_of.unwrap_or_else(|| plain.collect());
        Self { title, description, choices, min_items, max_items, default_value: default }
    }
}

impl From<MultiSelectSchema> for MultiWire {
    fn from(schema: MultiSelectSchema) -> Self {
        let MultiSelectSchema { title, description, choices, min_items, max_items, default_value: default } =
            schema;
        let items = if has_titles(&choices) {
            MultiItems { any_of: Some(titled(choices)), ..MultiItems::default() }
        } else {
            MultiItems { kind: Some("string".into()), values: Some(values(choices)), any_of: None }
        };
        Self { title, description, items, min_items, max_items, default }
    }
}

fn has_titles(choices: &[Choice]) -> bool {
    choices.iter().any(|choice| choice.title.is_some())
}

fn shown(choice: &Choice) -> String {
    choice.title.clone().unwrap_or_else(|| choice.value.clone())
}

fn values(choices: Vec<Choice>) -> Vec<String> {
    choices.into_iter().map(|choice| choice.value).collect()
}

/// The titled spelling requires a title on every choice.
fn titled(choices: Vec<Choice>) -> Vec<Choice> {
    choices.into_iter().map(|choice| Choice { title: Some(shown(&choice)), ..choice }).collect()
}
