//! One connection to one server, however it has to be spoken to.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(feature = "http")]
use std::time::Duration;

use agentwire_jsonrpc::{Frame, Message};
use agentwire_mcp_client::{BoxError, Client, Server};
use agentwire_transport::{Direction, Packet, Transport, tap};
#[cfg(feature = "http")]
use agentwire_transport_http::client::Reqwest;
use agentwire_transport_stdio::Child;

#[cfg(feature = "sse")]
use crate::http_failure::is_no_old_server;
use crate::ladder::Rung;
use crate::memory::Memory;
use crate::target::Target;

/// How long a connection over HTTP may take to be made.
#[cfg(feature = "http")]
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How to find out how a server is spoken to.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Dial {
    /// Which revisions to speak.
    pub era: EraChoice,
    /// What is known of servers already, and where it is noted what has worked.
    pub memory: Memory,
}

/// Which revisions to speak with a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EraChoice {
    /// The newest that it speaks.
    #[default]
    Auto,
    /// Those with sessions that begin with `initialize`, up to 2025-11-25.
    Legacy,
    /// Those without, from 2026-07-28 on.
    Modern,
}

impl Dial {
    /// Any revision, and nothing is known yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets which revisions to speak.
    #[must_use]
    pub fn era(mut self, era: EraChoice) -> Self {
        self.era = era;
        self
    }

    /// Shares what is known of servers with others.
    #[must_use]
    pub fn memory(mut self, memory: Memory) -> Self {
        self.memory = memory;
        self
    }
}

/// Why a server could not be connected to, when it was tried in more than one way, or in none.
#[derive(Debug)]
#[non_exhaustive]
pub enum DialError {
    /// The transport that was asked for has no server of the era that was asked for.
    NoSuchEra,
    /// Every way has failed. The source is the last failure but where that was only a courtesy: a server that
    /// refuses `initialize` is tried as one of HTTP+SSE, and if it is none, that explains nothing.
    #[non_exhaustive]
    Exhausted {
        /// All that was tried, in order.
        attempts: Vec<Attempt>,
    },
}

/// A way to a server that has failed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Attempt {
    /// The way.
    pub rung: Rung,
    /// What came of it.
    pub error: BoxError,
}

/// Connects to a server for as long as `main` runs, in the newest way that it understands.
///
/// `client` says who we are and how long to wait; its era is set here. For a process that is `server/discover` first
/// and then `initialize`; for a URL the same over Streamable HTTP, then HTTP+SSE. What has worked is remembered in
/// [`Dial::memory`], and the next connection begins there.
///
/// It needs a tokio runtime with I/O and time. There is no limit on all the attempts together: whoever needs one
/// drops the future.
///
/// # Errors
///
/// Those of `main`. A [`HandshakeError`](agentwire_mcp_client::HandshakeError), or what kept a process from starting,
/// where one attempt was all there was to try, because the server said why it does not want us, or could not be
/// reached; a [`DialError`] otherwise.
pub async fn dial<R>(
    target: &Target,
    options: &Dial,
    client: Client,
    main: impl AsyncFnOnce(Server) -> Result<R, BoxError>,
) -> Result<R, BoxError> {
    let first = Rung::first(target, options.era).ok_or(DialError::NoSuchEra)?;
    let name = name(target, options.era);
    let mut remembered = options.memory.recall(&name);
    let mut rung = remembered.unwrap_or(first);
    let mut caller = Caller {
        target,
        client,
        answered: Arc::default(),
        main: Some(main),
        #[cfg(feature = "http")]
        http: None,
    };
    let mut attempts = Vec::new();
    loop {
        let settle = |server: &Server| options.memory.remember(&name, rung.settled(server.revision()));
        let error = match caller.call(rung, settle).await {
            Outcome::Ran(result) => return result,
            Outcome::Failed(error) => error,
        };
        let next = match remembered.take() {
            Some(known) if known != first => {
                options.memory.forget(&name);
                rung.is_refuted_by(&*error).then_some(first)
            }
            _ => rung.next(target, &*error, caller.answered.load(Ordering::Relaxed)),
        };
        attempts.push(Attempt { rung, error });
        match next {
            Some(next) => rung = next,
            None => return Err(DialError::of(attempts)),
        }
    }
}

/// By what it is remembered how a server was reached: what was asked for decides that as much as where it is.
fn name(target: &Target, era: EraChoice) -> String {
    match target {
        // The values of its environment are not in there.
        Target::Stdio(command) => format!("{era:?} {command:?}"),
        #[cfg(feature = "http")]
        Target::Http(target) => format!("{era:?} {:?} {}", target.transport(), target.url()),
        Target::Custom(target) => format!("{era:?} custom {}", target.name()),
    }
}

/// Makes one attempt after the other.
struct Caller<'a, F> {
    target: &'a Target,
    client: Client,
    /// Shared by all attempts, so that they can share connections.
    #[cfg(feature = "http")]
    http: Option<Reqwest>,
    /// Whether the process that was started last, or what stands for one, has answered anything.
    answered: Arc<AtomicBool>,
    /// What to do once connected; none when that was begun.
    main: Option<F>,
}

enum Outcome<R> {
    /// There was a connection, and this came of it.
    Ran(Result<R, BoxError>),
    /// There was none.
    Failed(BoxError),
}

impl<F> Caller<'_, F> {
    async fn call<R>(&mut self, rung: Rung, settle: impl FnOnce(&Server)) -> Outcome<R>
    where
        F: AsyncFnOnce(Server) -> Result<R, BoxError>,
    {
        match self.attempt(rung, settle).await {
            Err(error) if self.main.is_some() => Outcome::Failed(error),
            result => Outcome::Ran(result),
        }
    }

    async fn attempt<R>(&mut self, rung: Rung, settle: impl FnOnce(&Server)) -> Result<R, BoxError>
    where
        F: AsyncFnOnce(Server) -> Result<R, BoxError>,
    {
        match self.target {
            Target::Stdio(command) => {
                let child = Child::spawn(command.clone())?;
                self.watched(child, rung, settle).await
            }
            Target::Custom(target) => self.watched(target.open()?, rung, settle).await,
            #[cfg(feature = "http")]
            Target::Http(target) => {
                let http = self.http()?;
                match rung {
                    #[cfg(feature = "sse")]
                    Rung::Sse => self.over(target.sse().open_with(http), rung, settle).await,
                    _ => self.over(target.streamable().open_with(http), rung, settle).await,
                }
            }
        }
    }

    /// Over a transport of which it is to be known whether anything was answered.
    async fn watched<R>(
        &mut self,
        transport: impl Transport,
        rung: Rung,
        settle: impl FnOnce(&Server),
    ) -> Result<R, BoxError>
    where
        F: AsyncFnOnce(Server) -> Result<R, BoxError>,
    {
        self.answered = Arc::default();
        let answered = self.answered.clone();
        let watch = move |direction, packet: &Packet| {
            if direction == Direction::In && is_answer(packet) {
                answered.store(true, Ordering::Relaxed);
            }
        };
        self.over(tap(transport, watch), rung, settle).await
    }

    async fn over<R>(
        &mut self,
        transport: impl Transport,
        rung: Rung,
        settle: impl FnOnce(&Server),
    ) -> Result<R, BoxError>
    where
        F: AsyncFnOnce(Server) -> Result<R, BoxError>,
    {
        let client = self.client.clone().mode(rung.mode());
        let run = async |server: Server| {
            settle(&server);
            let main = self.main.take().expect("nothing is tried after a connection");
            main(server).await
        };
        // It is large, and there is one for each kind of transport: whoever dials need not have room for all of them.
        Box::pin(client.connect(transport, run)).await
    }

    #[cfg(feature = "http")]
    fn http(&mut self) -> Result<Reqwest, BoxError> {
        match &self.http {
            Some(client) => Ok(client.clone()),
            None => Ok(self.http.insert(Reqwest::new(CONNECT_TIMEOUT)?).clone()),
        }
    }
}

fn is_answer(packet: &Packet) -> bool {
    matches!(packet, Packet::Frame { frame: Frame::Single(Message::Response(_)), .. })
}

impl Attempt {
    /// Returns whether the server was tried over HTTP+SSE and does not speak it, which explains nothing.
    fn is_courtesy(&self) -> bool {
        #[cfg(feature = "sse")]
        return self.rung == Rung::Sse && is_no_old_server(&*self.error);
        #[cfg(not(feature = "sse"))]
        false
    }
}

impl DialError {
    /// The failure of all attempts; that of the only one, if there was one only.
    fn of(mut attempts: Vec<Attempt>) -> BoxError {
        match (attempts.len(), attempts.pop()) {
            (1, Some(only)) => only.error,
            (_, last) => {
                attempts.extend(last);
                Self::Exhausted { attempts }.into()
            }
        }
    }
}

impl fmt::Display for DialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Exhausted { attempts } = self else {
            return f.write_str("HTTP+SSE has no revision without sessions");
        };
        let mut told: Vec<String> = Vec::new();
        for Attempt { rung, error } in attempts {
            let text = match rung {
                #[cfg(feature = "sse")]
                Rung::Sse => format!("HTTP+SSE: {error}"),
                _ => error.to_string(),
            };
            if !told.contains(&text) {
                told.push(text);
            }
        }
        f.write_str(&told.join("; then "))
    }
}

impl Error for DialError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let Self::Exhausted { attempts } = self else { return None };
        let decisive = attempts.iter().rfind(|attempt| !attempt.is_courtesy()).or(attempts.last())?;
        Some(&*decisive.error)
    }
}
