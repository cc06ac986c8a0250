//! Records the messages of ACP and MCP in a file, and plays one side of a recording against the live other side.
//!
//! The messages between two programs are the best account of a fault between them, and of their behaviour today. This crate
//! records them without changing them, leaves out the secrets, and later finds where a program's messages differ:
//!
//! ```text
//!  traffic ──▶ LineTap, ExchangeTap, record_transport ──▶ Recorder ── queue ──▶ thread: Masker, file
//!
//!  file ──▶ Recording ──▶ Replay ◀── replay() ──▶ Wire ──▶  the live side
//!                            └──▶ Difference: pointer, recorded and seen value
//! ```
//!
//! A [`script`] is a conversation in the same format, written by hand: one side of it is played, and the messages of the other side
//! have to fit its patterns, in order.
//!
//! The format is JSON, a line for each event; `docs/conformance/recording.md` describes it.
//!
//! ```
//! use agentwire_recording::{Action, Recording, Replay, Side};
//!
//! let text = r#"{"recording":1,"protocol":"mcp","transport":"stdio"}
//! {"at":0.000,"from":"client","message":{"jsonrpc":"2.0","id":1,"method":"ping"}}
//! {"at":1.500,"from":"server","message":{"jsonrpc":"2.0","id":1,"result":{}}}"#;
//! let recording = Recording::read(text.as_bytes())?;
//! let mut replay = Replay::new(&recording, Side::Client, &[], Vec::new());
//! let Action::Send(ping) = replay.next_action() else { panic!("the recording begins with a request") };
//! assert!(ping.text.contains("ping"));
//! replay.receive(&agentwire_jsonrpc::RawJson::encode(&serde_json::json!({"id": 1, "result": {"extra": true}}))?);
//! let (differences, _) = replay.differences();
//! assert_eq!(differences[0].to_string(), "event 2: ping /result/extra: recorded nothing, seen true");
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! # Invariants
//!
//! - Recording never waits and never fails: events beyond the limits of the queue or of the file end the recording, which is
//!   reported once, and the traffic goes on.
//! - Nothing is written before it is masked. A secret that is found late is masked in earlier lines when the recording is finished.
//! - A replay has no clock. [`replay`] takes a sleep function as an argument.
//!
//! # What it will not do
//!
//! It knows no schema: a message that breaks its protocol is recorded unchanged. It starts no process.
//!
//! The feature `http` is off by default. It adds the events of HTTP and the recording reverse proxy.

// circle: http/proxy.rs, http/proxy_body.rs: the proxy gives each response a body, which knows its exchange.
// circle: mask/blocks.rs, mask/pairs.rs: a block has pairs, and a pair may have a block as its value.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod event;
mod file;
#[cfg(feature = "http")]
pub mod http;
mod json_text;
mod line_buffer;
mod line_tap;
mod mask;
mod message;
mod pieces;
mod reader;
mod recorder;
mod reduce;
mod replay;
pub mod script;
mod shown;
mod tap;
mod trace;
mod writer;

pub use event::{Event, EventKind, Exit, FORMAT, Header, HttpHead, Line, Protocol, Side, TransportKind};
pub use file::write_private;
pub use line_tap::LineTap;
pub use mask::{
    Certainty, InvalidPattern, Masker, PATTERNS, PUBLIC_MEMBERS, SCHEMES, SECRET_HEADERS, SECRET_MEMBERS,
    SECRET_PLACES, SECRET_QUERY, SECRET_VARIABLE_ENDS, SHORTEST_SOUGHT, SecretPattern, Secrets, TOKEN_FORMS,
    TokenForm,
};
pub use reader::{ReadError, Recording};
pub use recorder::{Recorder, RecorderConfig};
pub use reduce::{Reduction, reduce};
pub use replay::{
    Action, Difference, DifferenceKind, Incoming, LineWire, Outgoing, PacketWire, Replay, ReplayConfig,
    VOLATILE_MEMBERS, VolatileKind, VolatileMember, Wire, replay,
};
pub use tap::{record_frame, record_transport};
pub use writer::RecordingError;

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
