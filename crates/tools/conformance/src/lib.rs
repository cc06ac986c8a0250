//! Judges programs that speak ACP or MCP, in any language, against what the specifications demand.
//!
//! The suite knows a program by its bytes alone. It starts it or connects to it, plays the other party, and compares what the
//! program sends with one requirement at a time. It shares no runtime, no type of a schema and no state machine with the other
//! crates of Agentwire, so that a fault of these is found and not repeated.
//!
//! The requirements are data: `requirements/PROTOCOL/AREA.toml`, read by [`Registry`]. Each check covers one requirement for one
//! party, and has mutants: faults of a conformant program that it has to catch. A check without one does not count in the
//! [`coverage`](coverage()).
//!
//! Checks can also be files: a [`ScriptFile`] is a conversation in which the subject's messages are patterns.
//! `agentwire-recording` has its format and its player.
//!
//! [`Config`] says what to judge and how, and [`Config::run`] returns a [`Report`].

#![cfg_attr(docsrs, feature(doc_cfg))]
// circle: link/http/http2.rs, link/http/mod.rs, link/http/response.rs, link/tcp.rs: a target sends requests, and its responses say more of it.
// circle: link/mod.rs, played_http/served.rs: the connection of a client under test is a link, and a listener hands out links.
// circle: played_http/exchange.rs, played_http/mod.rs: a server hands out exchanges, which answer through it.

mod acp_agent;
mod acp_client;
mod acp_conductor;
mod acp_messages;
mod acp_proxy;
mod baseline;
mod check;
mod config;
mod conversation;
mod coverage;
mod driver;
mod engine;
mod fault;
mod faults;
mod lines;
mod link;
mod location;
mod mcp_client;
mod mcp_messages;
mod mcp_server;
mod nearest;
mod page;
mod played;
mod played_http;
mod profile;
mod progress;
mod protocol;
mod registry;
mod report;
mod requirement;
mod revision;
mod roles;
mod script_file;
mod script_play;
mod script_run;
mod secrets;
mod setting;
mod stand_in;
mod subject;
mod suite;
mod trace;
mod verdict;

pub use baseline::{Baseline, BaselineError};
pub use config::{Config, SuiteError};
pub use coverage::{Coverage, coverage};
pub use link::processes::EarlyEnds;
pub use profile::{Profile, ProfileError};
pub use progress::Progress;
pub use protocol::Protocol;
pub use registry::{Registry, RegistryError};
pub use report::{
    CheckResult, Counts, Finding, Format, MutantResult, Report, broken_requirements, finding_lines,
    result_lines, sums, unclear_lines,
};
pub use requirement::{Level, Requirement, Role, Wire};
pub use revision::{Revision, UnknownRevision};
pub use script_file::{ScriptError, ScriptFile};
pub use stand_in::run_stand_in;
pub use subject::{CommandLine, SubjectKind, Target, Transport, UnknownTransport};
pub use trace::{Part, Sender, TraceEvent};
pub use verdict::{Failure, Verdict};
