//! Starts an agent and sends it `initialize`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agentwire_jsonrpc::{Frame, Message, Printable, RawJson};
use agentwire_transport::{Packet, TransportError};
use agentwire_transport_stdio::{Child, Command, SpawnError, Stderr};
use futures_util::{SinkExt as _, StreamExt as _};
use serde::{Deserialize, Serialize};

use crate::group::Mark;

/// The request, as any client sends it.
const INITIALIZE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{},"#,
    r#""clientInfo":{"name":"agentwire","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""}}}"#
);
/// How many bytes a line of the agent may have.
const LINE_LIMIT: usize = 4 << 20;
/// How many messages the agent may send before its answer.
const MAX_MESSAGES: usize = 1000;
/// How long the agent has to end by itself after the probe.
const GRACE: Duration = Duration::from_secs(1);

/// How an agent is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartCommand {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<String>,
    pub(crate) env: BTreeMap<String, OsString>,
}

impl StartCommand {
    /// The absolute path of its executable.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Its arguments.
    pub fn args(&self) -> &[String] {
        &self.args
    }

    /// The variables that are set for it, beside those of this process. `PATH` is one of them, with the absolute folders
    /// alone: by a relative one, the folder in which the agent starts would choose the `node` that runs it.
    pub fn env(&self) -> &BTreeMap<String, OsString> {
        &self.env
    }
}

/// An agent's answer to `initialize`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Probe {
    /// The version of the protocol that it wants to speak.
    pub protocol_version: u64,
    /// Its name, if it sends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its version, if it sends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The names of its ways to log in.
    pub auth_methods: Vec<String>,
}

/// Why an agent did not answer `initialize`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// It cannot be started.
    #[error(transparent)]
    Start(SpawnError),
    /// The system has no random bytes for the variable by which the agent's processes are found again.
    #[error("the agent's processes cannot be marked")]
    Mark(#[source] std::io::Error),
    /// It ended, or cannot be written to. The error has its exit code and the last lines of its stderr.
    #[error("the agent ended before it answered `initialize`")]
    Ended(#[source] TransportError),
    /// It closed its stdout without an answer, or wrote too much without one.
    #[error("the agent does not answer `initialize`{}", Tail(.stderr))]
    Silent {
        /// The last lines of its stderr.
        stderr: String,
    },
    /// It did not answer in time.
    #[error("the agent does not answer `initialize` within {} s{}", .limit.as_secs(), Tail(.stderr))]
    TimedOut {
        /// The limit.
        limit: Duration,
        /// The last lines of its stderr.
        stderr: String,
    },
    /// It wrote something that is not a message.
    #[error("the agent writes something that is not a message: {}", Printable::one_line(.0))]
    Malformed(String),
    /// It answers with an error.
    #[error("the agent refuses `initialize`: {}", Printable::one_line(.0))]
    Refused(String),
}

struct Tail<'a>(&'a str);

impl std::fmt::Display for Tail<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0.trim() {
            "" => Ok(()),
            text => write!(f, "; the last lines of its stderr:\n{}", Printable::new(text)),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    protocol_version: u64,
    #[serde(default)]
    agent_info: Option<RawJson>,
    #[serde(default)]
    auth_methods: Option<RawJson>,
}

#[derive(Deserialize)]
struct Info {
    name: String,
    #[serde(default)]
    version: Option<String>,
}

#[derive(Deserialize)]
struct Method {
    name: String,
}

/// Starts an agent in a folder, sends `initialize`, and ends it with all processes that it has started.
pub(crate) async fn probe(start: &StartCommand, folder: &Path, limit: Duration) -> Result<Probe, ProbeError> {
    // Dropped after the child, so that processes outside the child's group end too, even if the install fails or is
    // dropped.
    let mark = Mark::new().map_err(ProbeError::Mark)?;
    let command = Command::new(&start.program)
        .args(&start.args)
        .envs(start.env.iter())
        .envs(mark.variable())
        .current_dir(folder)
        .stderr(Stderr::Capture)
        .grace(GRACE)
        .limit(LINE_LIMIT);
    let mut child = Child::spawn(command).map_err(ProbeError::Start)?;
    let answered = tokio::time::timeout(limit, ask(&mut child)).await;
    // Dropping the child kills its group. Before, it may end by itself.
    if matches!(answered, Ok(Ok(_))) {
        let _ended = tokio::time::timeout(2 * GRACE, child.close()).await;
    }
    let stderr = || child.stderr_tail();
    match answered {
        Err(_) => Err(ProbeError::TimedOut { limit, stderr: stderr() }),
        Ok(Ok(None)) => Err(ProbeError::Silent { stderr: stderr() }),
        Ok(Ok(Some(probe))) => Ok(probe),
        Ok(Err(error)) => Err(error),
    }
}

/// The answer. `None` if the agent gave none.
async fn ask(child: &mut Child) -> Result<Option<Probe>, ProbeError> {
    child.send(Packet::from_json(INITIALIZE)).await.map_err(ProbeError::Ended)?;
    let mut first_malformed = None;
    for _ in 0..MAX_MESSAGES {
        let Some(packet) = child.next().await else { break };
        let Packet::Frame { frame, .. } = packet.map_err(ProbeError::Ended)? else { continue };
        match frame {
            Frame::Single(Message::Response(response)) => {
                return match response.outcome {
                    Ok(result) => read_answer(&result).map(Some),
                    Err(error) => Err(ProbeError::Refused(beginning(&error.to_string()))),
                };
            }
            // Some agents log to stdout. That is reported only if no answer follows.
            Frame::Malformed(malformed) => {
                first_malformed.get_or_insert_with(|| beginning(&malformed.error.to_string()));
            }
            _ => {}
        }
    }
    first_malformed.map_or(Ok(None), |text| Err(ProbeError::Malformed(text)))
}

fn read_answer(result: &RawJson) -> Result<Probe, ProbeError> {
    let answer: Answer =
        result.decode().map_err(|error| ProbeError::Malformed(beginning(&error.to_string())))?;
    let info = answer.agent_info.and_then(|info| info.decode::<Info>().ok());
    let methods = answer.auth_methods.map_or_else(Vec::new, |methods| {
        methods.elements().take(32).filter_map(|method| method.decode::<Method>().ok()).collect()
    });
    let (name, version) = info.map_or((None, None), |info| (Some(info.name), info.version));
    Ok(Probe {
        protocol_version: answer.protocol_version,
        name: name.as_deref().map(beginning),
        version: version.as_deref().map(beginning),
        auth_methods: methods.iter().map(|method| beginning(&method.name)).collect(),
    })
}

/// The first 300 characters.
fn beginning(text: &str) -> String {
    text.chars().take(300).collect()
}
