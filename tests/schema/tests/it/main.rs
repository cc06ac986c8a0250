//! The types against the generated schemas, and the generated schemas against what was really said.

mod judge;
mod kept_as_text;
mod narrowing;
mod reader;
mod readers_agree;
mod registry;
mod round_trips;
mod transcripts;
mod validator;
