//! The fields of an elicitation form: string, number, integer, boolean and array, as a restricted JSON Schema.

use agentwire_wire_derive::{Build, Wire};

use crate::common::Meta;
use crate::common::{EnumOption, MultiSelectPropertySchema};

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
    /// A field of a type that this version does not know: the whole object. Do not show it as a known type.
    #[wire(unknown)]
    Unknown(Meta),
}

/// A field for text, or for one of the listed choices, with or without titles.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct StringPropertySchema {
    /// The name to show to people.
    #[wire(lenient)]
    pub title: Option<String>,
    /// A description for people.
    #[wire(lenient)]
    pub description: Option<String>,
    /// The minimum number of characters.
    #[wire(number)]
    pub min_length: Option<u32>,
    /// The maximum number of characters.
    #[wire(number)]
    pub max_length: Option<u32>,
    /// A regular expression that the text must match.
    #[wire(optional)]
    pub pattern: Option<String>,
    /// The format of the text.
    #[wire(optional)]
    pub format: Option<StringFormat>,
    /// Its default value.
    #[wire(lenient)]
    pub default: Option<String>,
    /// The choices without titles. On the wire `enum`.
    #[wire(optional_list, name = "enum")]
    pub enum_values: Option<Vec<String>>,
    /// The choices, each with a title.
    #[wire(optional_list)]
    pub one_of: Option<Vec<EnumOption>>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The format of a field's text.
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
    /// A string that this version of the crate does not know, unchanged.
    #[wire(unknown)]
    Other(String),
}

/// A field for a number.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct NumberPropertySchema {
    /// The name to show to people.
    #[wire(lenient)]
    pub title: Option<String>,
    /// A description for people.
    #[wire(lenient)]
    pub description: Option<String>,
    /// The minimum.
    #[wire(number)]
    pub minimum: Option<f64>,
    /// The maximum.
    #[wire(number)]
    pub maximum: Option<f64>,
    /// Its default value.
    #[wire(lenient_number)]
    pub default: Option<f64>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// A field for an integer.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct IntegerPropertySchema {
    /// The name to show to people.
    #[wire(lenient)]
    pub title: Option<String>,
    /// A description for people.
    #[wire(lenient)]
    pub description: Option<String>,
    /// The minimum.
    #[wire(number)]
    pub minimum: Option<i64>,
    /// The maximum.
    #[wire(number)]
    pub maximum: Option<i64>,
    /// Its default value.
    #[wire(lenient_number)]
    pub default: Option<i64>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// A field for yes or no.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct BooleanPropertySchema {
    /// The name to show to people.
    #[wire(lenient)]
    pub title: Option<String>,
    /// A description for people.
    #[wire(lenient)]
    pub description: Option<String>,
    /// Its default value.
    #[wire(lenient_number)]
    pub default: Option<bool>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
