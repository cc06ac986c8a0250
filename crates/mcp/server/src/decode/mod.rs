//! Decodes JSON text into a function's argument, and describes its faults.

pub(crate) mod arguments;
pub(crate) mod checks;
pub(crate) mod faults;
pub(crate) mod string_arg;
pub(crate) mod string_args;
pub(crate) mod text_members;
#[cfg(feature = "validate")]
pub(crate) mod validation;
