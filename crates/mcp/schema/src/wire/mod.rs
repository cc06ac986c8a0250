//! How single members are read and written: functions for `#[wire(with, read, write)]`, and setters.

mod number;
mod object;
pub(crate) mod one_or_many;
mod optional;
#[macro_use]
mod setters;

pub(crate) use number::{number, time_to_live};
pub(crate) use object::{borrowed_object, encode_object};
pub(crate) use optional::rare;
