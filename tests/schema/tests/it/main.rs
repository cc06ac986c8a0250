//! The types against the generated schemas, and the generated schemas against what was really said.

mod downgrading;
mod judge;
mod kept_as_text;
mod reader;
mod readers_agree;
mod registry;
mod round_trips;
mod transcripts;
mod validator;
