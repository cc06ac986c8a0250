//! The fields that a [`Form`](crate::Form) may have.
//!
//! Each has setters for its title, its description, its default and its bounds.
//!
//! ```
//! use agentwire_mcp_server::{Form, field};
//!
//! let form = Form::new("Your order")
//!     .required("name", field::text().title("Name").max_length(80_u64))
//!     .required("mail", field::email())
//!     .optional("pieces", field::integer().minimum(1.0).maximum(10.0).default_value(1.0))
//!     .optional("gift", field::boolean().default_value(false))
//!     .optional("size", field::choice(["S", "M", "L"]).default_value("M"))
//!     .optional("colours", field::choices([("r", "Red"), ("g", "Green")].map(field::titled)).max_items(2_u64));
//! # let _ = form;
//! ```

use agentwire_mcp_schema::{
    BooleanSchema, Choice, MultiSelectSchema, NumberKind, NumberSchema, SingleSelectSchema, StringFormat,
    StringSchema,
};

/// Any text.
pub fn text() -> StringSchema {
    StringSchema::new()
}

/// An e-mail address.
pub fn email() -> StringSchema {
    text().format(StringFormat::Email)
}

/// A URI.
pub fn uri() -> StringSchema {
    text().format(StringFormat::Uri)
}

/// A day, such as `2026-07-28`.
pub fn date() -> StringSchema {
    text().format(StringFormat::Date)
}

/// A day and a time with its offset, such as `2026-07-28T12:00:00Z`.
pub fn date_time() -> StringSchema {
    text().format(StringFormat::DateTime)
}

/// A number.
pub fn number() -> NumberSchema {
    NumberSchema::new(NumberKind::Number)
}

/// A whole number.
pub fn integer() -> NumberSchema {
    NumberSchema::new(NumberKind::Integer)
}

/// Yes or no.
pub fn boolean() -> BooleanSchema {
    BooleanSchema::new()
}

/// One of these: words, or [titled](titled()) ones.
pub fn choice<C: Into<Choice>>(choices: impl IntoIterator<Item = C>) -> SingleSelectSchema {
    SingleSelectSchema::new(choices)
}

/// Any number of these. Since 2025-11-25; an older client cannot be asked this.
pub fn choices<C: Into<Choice>>(choices: impl IntoIterator<Item = C>) -> MultiSelectSchema {
    MultiSelectSchema::new(choices)
}

/// A choice, and what is shown for it.
pub fn titled((value, title): (&str, &str)) -> Choice {
    Choice::new(value).title(title)
}
