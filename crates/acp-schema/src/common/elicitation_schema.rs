use super::{EnumOption, MultiSelectPropertySchema};
use crate::wire::{object, open_enum, tagged_union};

tagged_union! {
    /// One field of a form.
    ElicitationPropertySchema by "type" {
        /// Text, or one choice among several.
        "string" => String(StringPropertySchema) from StringPropertySchema,
        /// A number.
        "number" => Number(NumberPropertySchema) from NumberPropertySchema,
        /// An integer.
        "integer" => Integer(IntegerPropertySchema) from IntegerPropertySchema,
        /// Yes or no.
        "boolean" => Boolean(BooleanPropertySchema) from BooleanPropertySchema,
        /// Several choices.
        "array" => Array(MultiSelectPropertySchema) from MultiSelectPropertySchema,
    }
    else {
        /// A field of a type that this version does not know: the whole object. It must not be shown as if it were a known
        /// one.
        Unknown
    }
}

object! {
    /// A field for text, or a choice among several where they are listed, with or without titles.
    StringPropertySchema {
        /// What to call it in front of people.
        lenient title: Option<String>,
        /// A sentence about it, for people.
        lenient description: Option<String>,
        /// How many characters at least.
        number min_length: Option<u32>,
        /// How many characters at most.
        number max_length: Option<u32>,
        /// A regular expression that the text must match.
        optional pattern: Option<String>,
        /// What sort of text it is.
        optional format: Option<StringFormat>,
        /// What it holds at first.
        lenient default: Option<String>,
        /// The choices, shown as they are. On the wire `enum`.
        optional_list enum_values: Option<Vec<String>> = "enum",
        /// The choices, each with a title.
        optional_list one_of: Option<Vec<EnumOption>>,
        meta,
    }
}

open_enum! {
    /// What sort of text a field holds.
    StringFormat {
        /// An e-mail address.
        Email = "email",
        /// A URI.
        Uri = "uri",
        /// A date, year first.
        Date = "date",
        /// A date and a time, in ISO 8601.
        DateTime = "date-time",
    } else Other
}

object! {
    /// A field for a number.
    NumberPropertySchema {
        /// What to call it in front of people.
        lenient title: Option<String>,
        /// A sentence about it, for people.
        lenient description: Option<String>,
        /// The least that is allowed.
        number minimum: Option<f64>,
        /// The most that is allowed.
        number maximum: Option<f64>,
        /// What it holds at first.
        lenient_number default: Option<f64>,
        meta,
    }
}

object! {
    /// A field for an integer.
    IntegerPropertySchema {
        /// What to call it in front of people.
        lenient title: Option<String>,
        /// A sentence about it, for people.
        lenient description: Option<String>,
        /// The least that is allowed.
        number minimum: Option<i64>,
        /// The most that is allowed.
        number maximum: Option<i64>,
        /// What it holds at first.
        lenient_number default: Option<i64>,
        meta,
    }
}

object! {
    /// A field for yes or no.
    BooleanPropertySchema {
        /// What to call it in front of people.
        lenient title: Option<String>,
        /// A sentence about it, for people.
        lenient description: Option<String>,
        /// What it holds at first.
        lenient_number default: Option<bool>,
        meta,
    }
}
