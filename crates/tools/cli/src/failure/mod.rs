//! The errors of the commands: their exit codes, their sentences on stderr, and their lines of JSON.

mod auth;
mod chain;
mod errors;
mod exit;
mod http;
mod json;
mod phrase;
mod remote;
mod sentence;
mod side;

pub(crate) use self::errors::{
    AlreadyPrinted, ErrorWithHint, Exit, Failure, Interrupted, Overdue, ProgramEnded, ToolFailed, Usage,
    to_anyhow,
};
pub(crate) use self::exit::{exit_code, is_cut_short, is_output_closed};
#[cfg(feature = "agents")]
pub(crate) use self::http::connect_phrase;
pub(crate) use self::json::to_json;
pub(crate) use self::remote::{RemoteError, attempts};
pub(crate) use self::sentence::sentence;
pub(crate) use self::side::{OtherSide, Role, is_launcher, may_have_secret};
