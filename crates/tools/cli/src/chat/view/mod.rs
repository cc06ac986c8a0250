//! The display of a running session.

pub(crate) mod call_details;
pub(crate) mod console;
pub(crate) mod display;
pub(crate) mod start;
pub(crate) mod update_text;
