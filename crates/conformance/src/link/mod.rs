//! What carries messages between the suite and its subject.

pub(crate) mod events;
pub(crate) mod http;
pub(crate) mod http_sse;
pub(crate) mod process;
pub(crate) mod streamable;

use std::time::Duration;

use serde_json::Value;

use self::http_sse::HttpSse;
use self::process::Process;
use self::streamable::Streamable;
use crate::fault::Faults;
use crate::trace::{Part, Sender, Trace};
use crate::verdict::{Outcome, Stop};

/// How many messages of a subject wait for a check before the suite reads no further.
pub(crate) const QUEUE: usize = 4096;

/// Something that a check receives.
#[derive(Debug, Clone)]
pub(crate) enum Received {
    /// A message, or a batch of them.
    Message {
        message: Value,
        /// The HTTP request that brought it; 0 elsewhere.
        stream: u32,
        /// The id of its event.
        event_id: Option<String>,
    },
    /// A line that is no JSON.
    Text(Vec<u8>),
    /// An HTTP response that is no message, with a status that is no success.
    Status { status: u16, body: String },
    /// An event stream that has ended.
    StreamEnd(u32),
    /// What went wrong below.
    Broken(Stop),
    /// The end of the conversation.
    Closed,
}

impl Received {
    pub(crate) fn of_line(line: Vec<u8>) -> Self {
        match serde_json::from_slice(&line) {
            Ok(message) => Self::Message { message, stream: 0, event_id: None },
            Err(_) => Self::Text(line),
        }
    }
}

/// One way to a subject.
pub(crate) enum Link {
    /// A program that the suite has started.
    Stdio { process: Process, trace: Trace, faults: Faults, injected: tokio::sync::mpsc::Sender<Received> },
    /// Streamable HTTP.
    Streamable(Streamable),
    /// HTTP+SSE.
    HttpSse(HttpSse),
    /// A client under test, which has started the suite's stand-in for a server or an agent.
    Socket(super::stand_in::Socket),
}

impl Link {
    /// Sends a message.
    pub(crate) async fn send(&mut self, message: &Value) -> Outcome {
        match self {
            Self::Stdio { process, trace, faults, injected } => {
                let (kept, forged) = faults.outgoing(message);
                let mut line = message.to_string().into_bytes();
                trace.add(Sender::Suite, Part::Line, &line);
                if !kept {
                    line.push(b'\n');
                    process.write(&line).await?;
                }
                forge(forged, trace, injected).await;
                Ok(())
            }
            Self::Streamable(link) => link.send(message),
            Self::HttpSse(link) => link.send(message),
            Self::Socket(socket) => socket.send(message).await,
        }
    }

    /// Sends bytes as they are; only stdio can.
    pub(crate) async fn send_bytes(&mut self, bytes: &[u8]) -> Outcome {
        match self {
            Self::Stdio { process, trace, .. } => {
                trace.add(Sender::Suite, Part::Line, bytes);
                process.write(bytes).await
            }
            Self::Socket(socket) => socket.send_bytes(bytes).await,
            _ => Err(Stop::not_applicable("bytes can be sent on stdio only")),
        }
    }

    /// Says that nothing more will be sent.
    pub(crate) fn close(&mut self) {
        match self {
            Self::Stdio { process, .. } => process.close_stdin(),
            Self::Socket(socket) => socket.close(),
            Self::Streamable(_) | Self::HttpSse(_) => {}
        }
    }

    /// The program, where the suite has started it for this conversation.
    pub(crate) fn process(&mut self) -> Option<&mut Process> {
        match self {
            Self::Stdio { process, .. } => Some(process),
            _ => None,
        }
    }

    /// Waits for the program's end: its exit code, none if a signal ended it.
    pub(crate) async fn wait(&mut self, within: Duration) -> Option<Option<i32>> {
        match self {
            Self::Stdio { process, .. } => process.wait(within).await,
            _ => None,
        }
    }
}

/// Lets messages that a fault forges arrive.
pub(crate) async fn forge(forged: Vec<Value>, trace: &Trace, received: &tokio::sync::mpsc::Sender<Received>) {
    for message in forged {
        trace.add(Sender::Subject, Part::Line, message.to_string().as_bytes());
        // The check may have ended.
        let _received = received.send(Received::Message { message, stream: 0, event_id: None }).await;
    }
}
