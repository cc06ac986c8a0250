//! The errors of the commands: the exit code of each, the sentence on stderr, and the line of JSON.

mod errors;
mod exit;
mod json;
mod sentence;

pub(crate) use self::errors::{
    AlreadyPrinted, ErrorWithHint, Interrupted, ProgramEnded, ToolFailed, Usage, to_anyhow,
};
#[allow(unused_imports, reason = "the commands end with them")]
pub(crate) use self::errors::{Exit, Failure};
pub(crate) use self::exit::{exit_code, is_output_closed};
pub(crate) use self::json::to_json;
pub(crate) use self::sentence::sentence;
