//! The connections between the suite and its subject.

pub(crate) mod acp_http;
mod connect;
pub(crate) mod events;
pub(crate) mod http;
pub(crate) mod http_sse;
pub(crate) mod lines;
pub(crate) mod played_http;
pub(crate) mod process;
pub(crate) mod processes;
pub(crate) mod received;
pub(crate) mod stand_in;
pub(crate) mod streamable;
pub(crate) mod tcp;
pub(crate) mod watchdog;
pub(crate) mod websocket;

use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;

use self::acp_http::AcpHttp;
use self::http_sse::HttpSse;
use self::process::Process;
use self::received::{Received, forge};
use self::streamable::Streamable;
use self::websocket::WebSocket;
use crate::fault::Faults;
use crate::setting::Setting;
use crate::subject::CommandLine;
use crate::trace::{Part, Sender, Trace};
use crate::verdict::{Outcome, Stop};

/// One way to a subject.
pub(crate) enum Link {
    /// A program that the suite has started.
    Stdio { process: Process, trace: Trace, faults: Faults, injected: mpsc::Sender<Received> },
    /// Streamable HTTP.
    Streamable(Streamable),
    /// HTTP+SSE.
    HttpSse(HttpSse),
    /// ACP over HTTP.
    AcpHttp(AcpHttp),
    /// ACP over WebSocket.
    WebSocket(WebSocket),
    /// A client under test, which has started the suite's stand-in for a server or an agent.
    Socket(crate::link::stand_in::Socket),
    /// A client under test that reaches the suite's server over HTTP.
    Served(played_http::Served),
}

impl Link {
    /// Starts a program, whose messages arrive at `received`.
    pub(crate) async fn start(
        command: &CommandLine,
        setting: &Setting,
        received: mpsc::Sender<Received>,
    ) -> Outcome<Self> {
        let Setting { trace, faults, .. } = setting;
        let process = Process::start(command, setting, received.clone()).await?;
        Ok(Self::Stdio { process, trace: trace.clone(), faults: faults.clone(), injected: received })
    }

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
            Self::Streamable(link) => link.send(message).await,
            Self::HttpSse(link) => link.send(message).await,
            Self::AcpHttp(link) => link.send(message).await,
            Self::WebSocket(link) => link.send(message).await,
            Self::Socket(socket) => socket.send(message).await,
            Self::Served(served) => served.send(message).await,
        }
    }

    /// Sends bytes as they are; HTTP cannot.
    pub(crate) async fn send_bytes(&mut self, bytes: &[u8]) -> Outcome {
        match self {
            Self::Stdio { process, trace, faults, injected } => {
                trace.add(Sender::Suite, Part::Line, bytes);
                let (mut sent, mut forged) = (Vec::new(), Vec::new());
                for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                    let message = serde_json::from_slice(line).ok();
                    let (kept, said) =
                        message.map_or((false, Vec::new()), |message| faults.outgoing(&message));
                    forged.extend(said);
                    if !kept {
                        sent.extend_from_slice(line);
                    }
                }
                process.write(&sent).await?;
                forge(forged, trace, injected).await;
                Ok(())
            }
            Self::Socket(socket) => socket.send_bytes(bytes).await,
            Self::WebSocket(link) => link.send_bytes(bytes).await,
            _ => Err(Stop::not_applicable("bytes cannot be sent over HTTP without a request")),
        }
    }

    /// Ends the sending.
    pub(crate) fn close(&mut self) {
        match self {
            Self::Stdio { process, .. } => process.close_stdin(),
            Self::Socket(socket) => socket.close(),
            Self::Served(served) => served.close(),
            Self::WebSocket(socket) => socket.close(),
            Self::Streamable(_) | Self::HttpSse(_) | Self::AcpHttp(_) => {}
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
