use agentwire_wire_derive::{Build, Wire};

use super::{EnumOption, MultiSelectPropertySchema};
use crate::common::Meta;

/// One field of a form.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum ElicitationPropertySchema {
    /// Text, or one choice among several.
    #[wire("string", from)]
    String(StringPropertySchema),
    /// A number.
    #[wire("number", from)]
    Number(NumberPropertySchema),
    /// An integer.
    #[wire("integer", from)]
    Integer(IntegerPropertySchema),
    /// Yes or no.
    #[wire("boolean", from)]
    Boolean(BooleanPropertySchema),
    /// Several choices.
    #[wire("array", from)]
    Array(MultiSelectPropertySchema),
    /// A field of a type that this version does not know: the whole object. It must not be shown as if it were a known
    /// one.
    #[wire(unknown)]
    Unknown(Meta),
}

/// A field for text, or a choice among several where they are listed, with or without titles.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct StringPropertySchema {
    /// What to call it in front of people.
    #[wire(lenient)]
    pub title: Option<String>,
    /// A sentence about it, for people.
    #[wire(lenient)]
    pub description: Option<String>,
    /// How many characters at least.
    #[wire(number)]
    pub min_length: Option<u32>,
    /// How many characters at most.
    #[wire(number)]
    pub max_length: Option<u32>,
    /// A regular expression that the text must match.
    #[wire(optional)]
    pub pattern: Option<String>,
    /// What sort of text it is.
    #[wire(optional)]
    pub format: Option<StringFormat>,
    /// What it holds at first.
    #[wire(lenient)]
    pub default: Option<String>,
    /// The choices, shown as they are. On the wire `enum`.
    #[wire(optional_list, name = "enum")]
    pub enum_values: Option<Vec<String>>,
    /// The choices, each with a title.
    #[wire(optional_list)]
    pub one_of: Option<Vec<EnumOption>>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// What sort of text a field holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum StringFormat {
    /// An e-mail address.
    #[wire("email")]
    Email,
    /// A URI.
    #[wire("uri")]
    Uri,
    /// A date, year first.
    #[wire("date")]
    Date,
    /// A date and a time, in ISO 8601.
    #[wire("date-time")]
    DateTime,
    /// A word that this version of the crate does not know, as it came.
    #[wire(unknown)]
    Other(String),
}

/// A field for a number.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct NumberPropertySchema {
    /// What to call it in front of people.
    #[wire(lenient)]
    pub title: Option<String>,
    /// A sentence about it, for people.
    #[wire(lenient)]
    pub description: Option<String>,
    /// The least that is allowed.
    #[wire(number)]
    pub minimum: Option<f64>,
    /// The most that is allowed.
    #[wire(number)]
    pub maximum: Option<f64>,
    /// What it holds at first.
    #[wire(lenient_number)]
    pub default: Option<f64>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// A field for an integer.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct IntegerPropertySchema {
    /// What to call it in front of people.
    #[wire(lenient)]
    pub title: Option<String>,
    /// A sentence about it, for people.
    #[wire(lenient)]
    pub description: Option<String>,
    /// The least that is allowed.
    #[wire(number)]
    pub minimum: Option<i64>,
    /// The most that is allowed.
    #[wire(number)]
    pub maximum: Option<i64>,
    /// What it holds at first.
    #[wire(lenient_number)]
    pub default: Option<i64>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// A field for yes or no.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct BooleanPropertySchema {
    /// What to call it in front of people.
    #[wire(lenient)]
    pub title: Option<String>,
    /// A sentence about it, for people.
    #[wire(lenient)]
    pub description: Option<String>,
    /// What it holds at first.
    #[wire(lenient_number)]
    pub default: Option<bool>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
