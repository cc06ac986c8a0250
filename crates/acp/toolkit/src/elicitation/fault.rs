//! The errors of a form and of its fields.

use std::fmt;

use agentwire_acp_schema::v1::StringFormat;
use agentwire_jsonrpc::{ErrorObject, Printable};

/// The fault of a form that cannot be shown. Send it to the agent: it converts into "invalid params".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormError {
    /// The schema describes something other than an object.
    #[error("the form's schema is for {0:?}, and only \"object\" is known")]
    UnknownSchema(String),
    /// A required field has an unknown type, and must not be shown as a known one.
    #[error("the field {0:?} is required, and its type is not known")]
    UnknownType(String),
    /// A required field does not exist.
    #[error("the field {0:?} is required, and the form has no such field")]
    NoSuchField(String),
    /// The form has more fields than the limit.
    #[error("the form has more fields than the limit, which is {limit}")]
    TooManyFields {
        /// The limit.
        limit: usize,
    },
}

impl From<FormError> for ErrorObject {
    fn from(error: FormError) -> Self {
        Self::invalid_params(error)
    }
}

/// The fault of one field of a form.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}: {fault}", Printable::display(.field))]
#[non_exhaustive]
pub struct FieldError {
    /// The field's name in the schema.
    pub field: String,
    /// The fault.
    pub fault: FieldFault,
}

impl FieldError {
    pub(super) fn new(field: &str, fault: FieldFault) -> Self {
        Self { field: field.to_owned(), fault }
    }
}

/// The fault of a field's value. Its text is for the user.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FieldFault {
    /// The field is required and empty.
    Missing,
    /// The form has no such field, or the field's type is unknown.
    Unknown,
    /// The value is not of this type.
    NotA(&'static str),
    /// The text has fewer characters than this.
    TooShort(u32),
    /// The text has more characters than this.
    TooLong(u32),
    /// The text does not match this regular expression.
    Pattern(String),
    /// The text does not have this format.
    Format(StringFormat),
    /// The number is below this.
    BelowMinimum(f64),
    /// The number is above this.
    AboveMaximum(f64),
    /// This text is not one of the choices.
    NoChoice(String),
    /// Several values were entered, and the field takes one.
    Several,
    /// Fewer choices were selected than this.
    TooFew(u64),
    /// More choices were selected than this.
    TooMany(u64),
}

impl fmt::Display for FieldFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("this must be filled in"),
            Self::Unknown => f.write_str("the form has no such field that could be filled in"),
            Self::NotA(what) => write!(f, "this is not {what}"),
            Self::TooShort(least) => write!(f, "this must have at least {least} characters"),
            Self::TooLong(most) => write!(f, "this must have at most {most} characters"),
            Self::Pattern(pattern) => {
                write!(f, "this does not match the pattern {}", Printable::new(pattern))
            }
            Self::Format(format) => match format {
                StringFormat::Email => f.write_str("this is not an e-mail address"),
                StringFormat::Uri => f.write_str("this is not a URI"),
                StringFormat::Date => f.write_str("this is not a date such as 2026-12-31"),
                StringFormat::DateTime => f.write_str("this is not a time such as 2026-12-31T23:59:59Z"),
                other => write!(f, "this is not of the format {}", Printable::display(other)),
            },
            Self::BelowMinimum(least) => write!(f, "this must be at least {least}"),
            Self::AboveMaximum(most) => write!(f, "this must be at most {most}"),
            Self::NoChoice(value) => write!(f, "{value:?} is not one of the choices"),
            Self::Several => f.write_str("this takes one value"),
            Self::TooFew(least) => write!(f, "at least {least} must be chosen"),
            Self::TooMany(most) => write!(f, "at most {most} may be chosen"),
        }
    }
}
