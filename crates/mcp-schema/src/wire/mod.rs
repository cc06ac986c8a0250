//! How values are written and read here, once for all types: nothing in this module is a word of the
//! protocol.

mod number;
mod object;
#[macro_use]
mod object_only;
pub(crate) mod one_or_many;
#[macro_use]
mod open_enum;
mod optional;
pub(crate) mod pairs;
#[macro_use]
mod setters;
#[macro_use]
mod tagged;

pub(crate) use number::{number, optional_number, time_to_live};
pub(crate) use object::{borrowed_object, encode_object, object};
pub(crate) use object_only::ObjectOnly;
pub(crate) use optional::{is_false, null_as_default, rare};
pub(crate) use tagged::{Tagged, read_tagged, with_tag};
