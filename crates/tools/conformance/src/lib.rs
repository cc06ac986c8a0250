//! Judges programs that speak ACP or MCP, in any language, against what the specifications demand.
//!
//! The suite knows a program by its bytes alone. It starts it or connects to it, plays the other party, and compares what the
//! program sends with one requirement at a time. It shares no runtime, no type of a schema and no state machine with the other
//! crates of Agentwire, so that a fault of these is found and not repeated.
//!
//! The requirements are data: `requirements/PROTOCOL/AREA.toml`, read by [`Registry`]. Each check covers one requirement for one
//! party. The feature `mutants` adds the faults of a conformant program that each check has to catch.
//!
//! Checks can also be files: a [`ScriptFile`] is a conversation in which the subject's messages are patterns.
//! `agentwire-recording` has its format and its player.
//!
//! [`Config`] names the program to judge and the checks, and [`Config::run`] returns a [`Report`].

#![cfg_attr(docsrs, feature(doc_cfg))]
// circle: link/http/http2.rs, link/http/mod.rs, link/http/response.rs, link/tcp.rs: a target sends requests, and its responses say more of it.
// circle: link/mod.rs, link/played_http/served.rs: the connection of a client under test is a link, and a listener hands out links.
// circle: link/played_http/exchange.rs, link/played_http/mod.rs: a server hands out exchanges, which answer through it.

mod acp_agent;
mod acp_client;
mod acp_conductor;
mod acp_messages;
mod acp_proxy;
mod baseline;
mod check;
mod conversation;
mod coverage;
mod engine;
#[cfg_attr(not(feature = "mutants"), expect(dead_code, reason = "no fault is made without mutants"))]
mod fault;
mod link;
mod mcp_client;
mod mcp_messages;
mod mcp_server;
#[cfg(feature = "mutants")]
mod mutants;
mod progress;
mod report;
mod requirements;
mod script_run;
mod scripts;
mod secrets;
mod setting;
mod settings;
mod subject;
mod suite;
mod trace;
mod verdict;

pub use baseline::{Baseline, BaselineError};
pub use coverage::{Coverage, coverage};
pub use link::processes::EarlyEnds;
pub use link::stand_in::run_stand_in;
#[cfg(feature = "mutants")]
pub use mutants::result::MutantResult;
pub use progress::Progress;
pub use report::{
    CheckResult, Counts, Finding, Format, Report, broken_requirements, finding_lines, result_lines, sums,
    unclear_lines,
};
pub use requirements::protocol::Protocol;
pub use requirements::registry::{Registry, RegistryError};
pub use requirements::requirement::{Level, Requirement, Role, Wire};
pub use requirements::revision::{Revision, UnknownRevision};
pub use scripts::script_file::{ScriptError, ScriptFile};
pub use settings::config::{Config, SuiteError};
pub use settings::profile::{Profile, ProfileError};
pub use subject::{CommandLine, SubjectKind, Target, Transport, UnknownTransport};
pub use trace::{Part, Sender, TraceEvent};
pub use verdict::{Failure, Verdict};
