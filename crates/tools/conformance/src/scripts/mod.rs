//! Checks that are files: their format, and how one is played.

pub(crate) mod script_file;
pub(crate) mod script_play;
