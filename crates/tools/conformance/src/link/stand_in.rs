//! The program that a client under test starts as its server or agent. It passes bytes between its standard input and output and
//! the suite, which is where the server or agent is played.

use std::io;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;

use crate::fault::Faults;
use crate::link::process::{end_lines, read_up_to_end};
use crate::link::received::{QUEUE, Received};
use crate::link::watchdog;
use crate::subject::CommandLine;
use crate::trace::{Part, Sender, Trace};
use crate::verdict::{Outcome, Stop};

/// The most bytes of the line with which a stand-in introduces itself.
const MAX_INTRODUCTION: u64 = 4096;
/// How many connections may be about to introduce themselves. Further ones wait.
const MAX_CONNECTIONS: usize = 256;
/// How long a connection may take to introduce itself.
const INTRODUCTION_TIME: Duration = Duration::from_secs(60);
/// The longest request for the revisions of a server, in bytes.
const MAX_QUESTION: usize = 64 << 10;
/// How long a client may take to start its server again that has only asked it which revisions it speaks.
const RESTART_TIME: Duration = Duration::from_secs(5);

/// Runs the stand-in: connects to the suite, introduces itself, and passes bytes on until either side ends.
///
/// A token that ends with `+` and a number makes it write so many bytes of text on standard error first.
///
/// With the address `watchdog` it is what kills the programs under test when the suite is killed.
///
/// # Errors
///
/// Fails if the suite does not listen at `address`, or if the connection breaks.
pub async fn run_stand_in(address: &str, token: &str) -> io::Result<()> {
    if address == watchdog::ADDRESS {
        return watchdog::watch();
    }
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (mut read, mut write) = stream.into_split();
    let (secret, noise) = token.split_once('+').unwrap_or((token, "0"));
    make_noise(noise.parse().unwrap_or(0)).await?;
    write.write_all(format!("{secret} {}\n", surroundings(token)).as_bytes()).await?;
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

/// Writes lines of logs to standard error, at least so many bytes.
async fn make_noise(bytes: usize) -> io::Result<()> {
    // Large writes, so that the client's reading is tested and not the stand-in's writing.
    let lines = "error: what a program may log, and more and more of it\n".repeat(1000);
    let mut stderr = tokio::io::stderr();
    for _ in 0..bytes.div_ceil(lines.len()) {
        stderr.write_all(lines.as_bytes()).await?;
    }
    stderr.flush().await
}

/// The arguments that a client has added behind the token, and the variables that begin with `CONFORMANCE_`.
fn surroundings(token: &str) -> Value {
    let arguments: Vec<String> = std::env::args_os()
        .map(|argument| argument.to_string_lossy().into_owned())
        .skip_while(|argument| argument != token)
        .skip(1)
        .collect();
    let env: serde_json::Map<String, Value> = std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
        .filter(|(name, _)| name.starts_with("CONFORMANCE_"))
        .map(|(name, value)| (name, Value::String(value)))
        .collect();
    json!({"arguments": arguments, "env": env})
}

/// The address of stand-ins. Dropping it closes the port.
pub(crate) struct StandIns {
    introduced: Arc<Mutex<mpsc::Receiver<Introduced>>>,
    /// Accepts connections, and ends with this.
    _listening: JoinSet<()>,
    address: String,
    token: String,
    /// The data that a stand-in reads beside the secret.
    argument: String,
    /// The arguments and variables of the stand-in that connected last.
    surroundings: std::sync::Mutex<Value>,
}

/// A connection whose first line had the secret, and what that line said of the stand-in's arguments and variables.
struct Introduced {
    stream: TcpStream,
    surroundings: Value,
}

/// Where the suite writes. A conversation may go on with another process.
type Output = Arc<std::sync::Mutex<Option<OwnedWriteHalf>>>;

/// A conversation with a client through a stand-in: what the suite sends, the client reads from its server or agent.
#[derive(Clone)]
pub(crate) struct Socket {
    output: Output,
    trace: Trace,
    faults: Faults,
    injected: mpsc::Sender<Received>,
}

/// Returns 16 random hexadecimal digits: a name that nothing else uses, and that other programs cannot guess.
pub(crate) fn random_id() -> Outcome<String> {
    let number =
        getrandom::u64().map_err(|error| Stop::inconclusive(format!("no random number: {error}")))?;
    Ok(format!("{number:016x}"))
}

impl StandIns {
    /// Listens on a port of its own. The token keeps other programs of the machine out.
    pub(crate) async fn listen() -> Outcome<Self> {
        let token = random_id()?;
        let bound = TcpListener::bind("127.0.0.1:0").await.and_then(|listener| {
            let address = listener.local_addr()?.to_string();
            Ok((listener, address))
        });
        let (listener, address) = bound.map_err(|error| Stop::inconclusive(format!("no port: {error}")))?;
        let (sender, introduced) = mpsc::channel(QUEUE);
        let mut listening = JoinSet::new();
        listening.spawn(introduce(listener, token.clone(), sender));
        Ok(Self {
            introduced: Arc::new(Mutex::new(introduced)),
            _listening: listening,
            address,
            argument: token.clone(),
            token,
            surroundings: std::sync::Mutex::default(),
        })
    }

    /// Makes each stand-in write so many bytes to its standard error before it connects.
    #[must_use]
    pub(crate) fn with_noise(mut self, bytes: usize) -> Self {
        self.argument = format!("{}+{bytes}", self.token);
        self
    }

    /// The arguments that the client has added to the last stand-in's command, and its variables that begin with
    /// `CONFORMANCE_`: `{"arguments": […], "env": {…}}`.
    pub(crate) fn surroundings(&self) -> Value {
        self.surroundings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The command that starts a stand-in.
    pub(crate) fn command(&self, stand_in: &CommandLine) -> CommandLine {
        let mut command = stand_in.clone();
        command.arguments.extend(self.arguments().map(str::to_owned));
        command
    }

    /// The arguments of the stand-in's command.
    pub(crate) fn arguments(&self) -> [&str; 2] {
        [&self.address, &self.argument]
    }

    /// Waits until the client has started its server or agent. A server that is asked for its revisions alone, and then started
    /// again, has one conversation.
    pub(crate) async fn accept(
        &self,
        within: Duration,
        trace: &Trace,
        faults: &Faults,
    ) -> Outcome<(Socket, mpsc::Receiver<Received>)> {
        let next = async { self.introduced.lock().await.recv().await };
        let Ok(Some(Introduced { stream, surroundings })) = tokio::time::timeout(within, next).await else {
            let seen = format!("it did not within {} s", within.as_secs());
            return Err(Stop::failed("the client starts its server or agent", seen));
        };
        *self.surroundings.lock().unwrap_or_else(PoisonError::into_inner) = surroundings;
        let (read, write) = stream.into_split();
        let (sender, received) = mpsc::channel(QUEUE);
        let output = Arc::new(std::sync::Mutex::new(Some(write)));
        let socket = Socket { output, trace: trace.clone(), faults: faults.clone(), injected: sender };
        tokio::spawn(socket.reading(read, Arc::clone(&self.introduced)));
        Ok((socket, received))
    }
}

fn take(output: &Output) -> Option<OwnedWriteHalf> {
    output.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Accepts connections and passes on those that introduce themselves, in any order, so that none holds up another.
async fn introduce(listener: TcpListener, token: String, introduced: mpsc::Sender<Introduced>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => {
                if let Ok((stream, _)) = accepted {
                    connections.spawn(tokio::time::timeout(INTRODUCTION_TIME, introduction(stream, token.clone())));
                }
            }
            Some(connection) = connections.join_next() => {
                let Ok(Ok(Some(connection))) = connection else { continue };
                if introduced.send(connection).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Reads the first line of a connection. Nothing is known of one that does not have the secret.
async fn introduction(stream: TcpStream, token: String) -> Option<Introduced> {
    // Small messages are not to wait for each other.
    let _set = stream.set_nodelay(true);
    // One byte at a time, so that nothing behind the line is read.
    let mut reader = BufReader::with_capacity(1, stream);
    let mut line = String::new();
    (&mut reader).take(MAX_INTRODUCTION).read_line(&mut line).await.ok()?;
    let (secret, surroundings) = line.trim_end().split_once(' ').unwrap_or((line.trim_end(), ""));
    let surroundings = serde_json::from_str(surroundings).unwrap_or_default();
    (secret == token).then(|| Introduced { stream: reader.into_inner(), surroundings })
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
        crate::link::received::forge(forged, &self.trace, &self.injected).await;
        Ok(())
    }

    pub(crate) async fn send_bytes(&mut self, bytes: &[u8]) -> Outcome {
        self.trace.add(Sender::Suite, Part::Line, bytes);
        self.write(bytes).await
    }

    /// Ends the conversation, as a server or an agent that exits.
    pub(crate) fn close(&mut self) {
        take(&self.output);
    }

    /// Reads the messages of the client. If the client has only asked this server for its revisions, reads those to the server that
    /// it starts next too.
    fn reading(
        &self,
        mut read: OwnedReadHalf,
        introduced: Arc<Mutex<mpsc::Receiver<Introduced>>>,
    ) -> impl Future<Output = ()> + Send + use<> {
        let Self { output, trace, faults, injected } = self.clone();
        async move {
            loop {
                let (mut is_asked, mut is_used) = (false, false);
                let see = |line: &[u8]| {
                    if is_used {
                        return;
                    }
                    // A longer line is not read twice: its JSON may take much memory.
                    let message: Value = if line.len() > MAX_QUESTION {
                        Value::Null
                    } else {
                        serde_json::from_slice(line).unwrap_or_default()
                    };
                    is_asked |= message["method"] == "server/discover";
                    is_used |= message["method"] != "server/discover";
                };
                if !read_up_to_end(read, (&trace, &faults), &injected, see).await {
                    return;
                }
                // A server ends with its input. One that the check has ended is not followed by another.
                let is_followed = is_asked && !is_used && take(&output).is_some();
                let next = async { introduced.lock().await.recv().await };
                let next = async {
                    if is_followed { tokio::time::timeout(RESTART_TIME, next).await.ok()? } else { None }
                };
                let Some(Introduced { stream, .. }) = next.await else { break };
                let write;
                (read, write) = stream.into_split();
                *output.lock().unwrap_or_else(PoisonError::into_inner) = Some(write);
            }
            end_lines((&trace, &faults), &injected).await;
        }
    }

    async fn write(&mut self, bytes: &[u8]) -> Outcome {
        let Some(mut write) = take(&self.output) else {
            return Err(Stop::inconclusive("the conversation was ended before"));
        };
        let written = tokio::time::timeout(Duration::from_secs(20), write.write_all(bytes)).await;
        self.output.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(write);
        match written {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(Stop::failed("the client reads", format!("writing failed: {error}"))),
            Err(_) => Err(Stop::failed("the client reads", "it read nothing for 20 s")),
        }
    }
}
