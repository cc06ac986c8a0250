//! The program that a client under test starts as its server or agent. It passes bytes between its standard input and output and
//! the suite, which is where the server or agent is played.

use std::io;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::tcp::OwnedWriteHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use crate::fault::Faults;
use crate::link::process::read_lines;
use crate::link::{QUEUE, Received};
use crate::trace::{Part, Sender, Trace};
use crate::verdict::{Outcome, Stop};

/// The most bytes of the line with which a stand-in introduces itself.
const MAX_INTRODUCTION: u64 = 4096;

/// Runs the stand-in: connects to the suite, introduces itself, and passes bytes on until either side ends.
///
/// # Errors
///
/// Fails if the suite does not listen at `address`, or if the connection breaks.
pub async fn run_stand_in(address: &str, token: &str) -> io::Result<()> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (mut read, mut write) = stream.into_split();
    write.write_all(format!("{token}\n").as_bytes()).await?;
    let upward = async {
        tokio::io::copy(&mut tokio::io::stdin(), &mut write).await?;
        write.shutdown().await
    };
    let mut stdout = tokio::io::stdout();
    let downward = tokio::io::copy(&mut read, &mut stdout);
    tokio::pin!(upward, downward);
    tokio::select! {
        // The suite has ended the conversation, as a server or an agent that exits.
        done = &mut downward => done.map(drop),
        done = &mut upward => {
            done?;
            downward.await.map(drop)
        }
    }
}

/// Where stand-ins connect.
pub(crate) struct StandIns {
    listener: TcpListener,
    address: String,
    token: String,
}

/// A conversation with a client through a stand-in: what the suite sends, the client reads from its server or agent.
pub(crate) struct Socket {
    write: Option<OwnedWriteHalf>,
    trace: Trace,
    faults: Faults,
    injected: mpsc::Sender<Received>,
}

impl StandIns {
    /// Listens on a port of its own. The token keeps other programs of the machine out.
    pub(crate) async fn listen() -> Outcome<Self> {
        let token =
            getrandom::u64().map_err(|error| Stop::inconclusive(format!("no random number: {error}")))?;
        let bound = TcpListener::bind("127.0.0.1:0").await.and_then(|listener| {
            let address = listener.local_addr()?.to_string();
            Ok((listener, address))
        });
        let (listener, address) = bound.map_err(|error| Stop::inconclusive(format!("no port: {error}")))?;
        Ok(Self { listener, address, token: format!("{token:016x}") })
    }

    /// The arguments of the stand-in's command.
    pub(crate) fn arguments(&self) -> [&str; 2] {
        [&self.address, &self.token]
    }

    /// Waits until the client has started its server or agent.
    pub(crate) async fn accept(
        &self,
        within: Duration,
        trace: &Trace,
        faults: &Faults,
    ) -> Outcome<(Socket, mpsc::Receiver<Received>)> {
        let accepted = tokio::time::timeout(within, self.introduced()).await;
        let stream = accepted.map_err(|_| {
            Stop::failed(
                "the client starts its server or agent",
                format!("it did not within {} s", within.as_secs()),
            )
        })?;
        let (read, write) = stream.into_inner().into_split();
        let (sender, received) = mpsc::channel(QUEUE);
        tokio::spawn(read_lines(read, trace.clone(), faults.clone(), sender.clone()));
        let socket =
            Socket { write: Some(write), trace: trace.clone(), faults: faults.clone(), injected: sender };
        Ok((socket, received))
    }

    async fn introduced(&self) -> BufReader<TcpStream> {
        loop {
            let Ok((stream, _)) = self.listener.accept().await else {
                continue;
            };
            // Small messages are not to wait for each other.
            let _set = stream.set_nodelay(true);
            let mut reader = BufReader::with_capacity(1, stream);
            let mut line = String::new();
            let read = (&mut reader).take(MAX_INTRODUCTION).read_line(&mut line).await;
            if read.is_ok() && line.trim_end() == self.token {
                return reader;
            }
        }
    }
}

impl Socket {
    pub(crate) async fn send(&mut self, message: &Value) -> Outcome {
        let (kept, forged) = self.faults.outgoing(message);
        let mut line = message.to_string().into_bytes();
        self.trace.add(Sender::Suite, Part::Line, &line);
        if !kept {
            line.push(b'\n');
            self.write(&line).await?;
        }
        crate::link::forge(forged, &self.trace, &self.injected).await;
        Ok(())
    }

    pub(crate) async fn send_bytes(&mut self, bytes: &[u8]) -> Outcome {
        self.trace.add(Sender::Suite, Part::Line, bytes);
        self.write(bytes).await
    }

    /// Ends the conversation, as a server or an agent that exits.
    pub(crate) fn close(&mut self) {
        self.write = None;
    }

    async fn write(&mut self, bytes: &[u8]) -> Outcome {
        let Some(write) = &mut self.write else {
            return Err(Stop::inconclusive("the conversation was ended before"));
        };
        match tokio::time::timeout(Duration::from_secs(20), write.write_all(bytes)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(Stop::failed("the client reads", format!("writing failed: {error}"))),
            Err(_) => Err(Stop::failed("the client reads", "it read nothing for 20 s")),
        }
    }
}
