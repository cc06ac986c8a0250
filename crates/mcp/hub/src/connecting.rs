//! Connects to one server, in the newest era that it supports.

pub(crate) mod fallback;
pub(crate) mod memory;

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(feature = "http")]
use std::time::Duration;

use agentwire_jsonrpc::{Frame, Message, Printable};
use agentwire_mcp_client::{BoxError, Client, ConnectionError, RemoteServer};
use agentwire_transport::{Direction, Packet, Transport, tap};
#[cfg(feature = "http")]
use agentwire_transport_http::client::{DefaultClient, HttpClient};
use agentwire_transport_stdio::Child;

use crate::connecting::memory::Memory;
use crate::target::attempt::Attempt;
#[cfg(feature = "http")]
use crate::target::http::HttpTarget;
#[cfg(feature = "sse")]
use crate::target::http_failure::is_no_old_server;
use crate::target::{BoxTransport, Target};

/// How long opening an HTTP connection may take.
#[cfg(feature = "http")]
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How to connect to a server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConnectOptions {
    /// Remembers the attempt that worked for each server.
    pub memory: Memory,
    #[cfg(feature = "http")]
    wrap_http: Option<WrapHttp>,
}

/// Makes the HTTP client of a server from the default one.
#[cfg(feature = "http")]
#[derive(Clone)]
struct WrapHttp(Arc<Wrap>);

#[cfg(feature = "http")]
type Wrap = dyn Fn(&HttpTarget, DefaultClient) -> Result<Arc<dyn HttpClient>, BoxError> + Send + Sync;

#[cfg(feature = "http")]
impl fmt::Debug for WrapHttp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WrapHttp").finish_non_exhaustive()
    }
}

impl ConnectOptions {
    /// Creates the default options, with an empty memory.
    pub fn new() -> Self {
        Self {
            memory: Memory::new(),
            #[cfg(feature = "http")]
            wrap_http: None,
        }
    }

    /// Sets a function that wraps the HTTP client for servers at a URL, for example in one that sends tokens. The function gets
    /// the default client of `transport-http`, which is used without this setting. It is called for each connection.
    ///
    /// ```
    /// use std::convert::Infallible;
    ///
    /// use agentwire_mcp_hub::ConnectOptions;
    ///
    /// let options = ConnectOptions::new().wrap_http(|target, client| {
    ///     println!("connecting to {}", target.url());
    ///     Ok::<_, Infallible>(client)
    /// });
    /// ```
    #[cfg(feature = "http")]
    #[must_use]
    pub fn wrap_http<C, E>(
        mut self,
        wrap: impl Fn(&HttpTarget, DefaultClient) -> Result<C, E> + Send + Sync + 'static,
    ) -> Self
    where
        C: HttpClient + 'static,
        E: Into<BoxError>,
    {
        let wrap = move |target: &HttpTarget, client| -> Result<Arc<dyn HttpClient>, BoxError> {
            Ok(Arc::new(wrap(target, client).map_err(Into::into)?))
        };
        self.wrap_http = Some(WrapHttp(Arc::new(wrap)));
        self
    }

    /// Shares a memory with other connections.
    #[must_use]
    pub fn memory(mut self, memory: Memory) -> Self {
        self.memory = memory;
        self
    }
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// Why connecting failed after several attempts, or without any.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConnectError {
    /// [`Era::Modern`](agentwire_mcp_client::Era::Modern) over HTTP+SSE, which has no modern revision.
    ModernOverSse,
    /// Every attempt failed. The source is the last failure, except that of a final attempt over HTTP+SSE with a server that
    /// does not support it: that failure explains nothing.
    #[non_exhaustive]
    Exhausted {
        /// The attempts, in order.
        attempts: Vec<FailedAttempt>,
    },
}

/// An attempt that failed.
#[derive(Debug)]
#[non_exhaustive]
pub struct FailedAttempt {
    /// The attempt.
    pub attempt: Attempt,
    /// Its failure.
    pub error: BoxError,
}

/// Connects to a server while `main` runs, in the [era](Client::era) of the client.
///
/// In [`Era::Auto`](agentwire_mcp_client::Era::Auto) it speaks the newest revision that the server supports. For a process,
/// the attempts are `server/discover` and then `initialize`; for a URL the same over Streamable HTTP, then HTTP+SSE. The
/// successful attempt is stored in [`ConnectOptions::memory`], and the next connection begins with it.
///
/// ```no_run
/// use agentwire_mcp_client::{BoxError, Client};
/// use agentwire_mcp_hub::{ConnectOptions, Target, connect_to};
///
/// # async fn run() -> Result<(), BoxError> {
/// let target = Target::parse("https://example.com/mcp")?;
/// let client = Client::new("my-host", "1.0.0");
/// let revision = connect_to(&target, &ConnectOptions::new(), client, async |server| Ok(server.revision())).await?;
/// println!("it speaks {revision}");
/// # Ok(())
/// # }
/// ```
///
/// Needs a tokio runtime with I/O and time. There is no limit on all attempts together; drop the future to stop.
///
/// # Errors
///
/// A [`ConnectionError`] with the error of `main`; after a single attempt, with its
/// [`HandshakeError`](agentwire_mcp_client::HandshakeError) or the failure to start the process; otherwise with a
/// [`ConnectError`].
pub async fn connect_to<R>(
    target: &Target,
    options: &ConnectOptions,
    client: Client,
    main: impl AsyncFnOnce(RemoteServer) -> Result<R, BoxError>,
) -> Result<R, ConnectionError> {
    let era = client.chosen_era();
    let first =
        Attempt::first(target, era).ok_or_else(|| ConnectionError::new(ConnectError::ModernOverSse))?;
    let name = format!("{era:?} {}", target.key());
    let mut remembered = options.memory.recall(&name);
    let mut attempt = remembered.unwrap_or(first);
    let mut connector = Connector {
        target,
        client,
        answered: Arc::default(),
        main: Some(main),
        #[cfg(feature = "http")]
        http: None,
        #[cfg(feature = "http")]
        wrap_http: options.wrap_http.as_ref(),
    };
    let mut attempts = Vec::new();
    loop {
        let settle =
            |server: &RemoteServer| options.memory.remember(&name, attempt.settled(server.revision()));
        let error = match connector.call(attempt, settle).await {
            Outcome::Ran(result) => return result.map_err(ConnectionError::new),
            Outcome::Failed(error) => error,
        };
        let next = match remembered.take() {
            Some(known) if known != first => {
                options.memory.forget(&name);
                attempt.is_refuted_by(&*error).then_some(first)
            }
            _ => attempt.next(target, &*error, connector.answered.load(Ordering::Relaxed)),
        };
        attempts.push(FailedAttempt { attempt, error });
        match next {
            Some(next) => attempt = next,
            None => return Err(ConnectionError::new(ConnectError::of(attempts))),
        }
    }
}

/// Makes the attempts.
struct Connector<'a, F> {
    target: &'a Target,
    client: Client,
    /// Shared by all attempts, so that they can share connections.
    #[cfg(feature = "http")]
    http: Option<Arc<dyn HttpClient>>,
    #[cfg(feature = "http")]
    wrap_http: Option<&'a WrapHttp>,
    /// Whether the last process or custom transport has answered anything.
    answered: Arc<AtomicBool>,
    /// Runs once connected; `None` after it has started.
    main: Option<F>,
}

enum Outcome<R> {
    /// The result of `main`, or of the connection while it ran.
    Ran(Result<R, BoxError>),
    /// No connection.
    Failed(BoxError),
}

impl<F> Connector<'_, F> {
    async fn call<R>(&mut self, attempt: Attempt, settle: impl FnOnce(&RemoteServer)) -> Outcome<R>
    where
        F: AsyncFnOnce(RemoteServer) -> Result<R, BoxError>,
    {
        match self.attempt(attempt, settle).await {
            Err(error) if self.main.is_some() => Outcome::Failed(error),
            result => Outcome::Ran(result),
        }
    }

    async fn attempt<R>(
        &mut self,
        attempt: Attempt,
        settle: impl FnOnce(&RemoteServer),
    ) -> Result<R, BoxError>
    where
        F: AsyncFnOnce(RemoteServer) -> Result<R, BoxError>,
    {
        let transport: BoxTransport = match self.target {
            Target::Stdio(command) => self.watched(Child::spawn(command.clone())?),
            Target::Custom(target) => self.watched(target.open()?),
            #[cfg(feature = "http")]
            Target::Http(target) => {
                let http = self.http(target)?;
                match attempt {
                    #[cfg(feature = "sse")]
                    Attempt::Sse => Box::new(target.sse().open_with(http)),
                    _ => Box::new(target.streamable().open_with(http)),
                }
            }
        };
        let client = self.client.clone().era(attempt.era());
        let run = async |server: RemoteServer| {
            settle(&server);
            let main = self.main.take().expect("nothing is tried after a connection");
            main(server).await
        };
        // Boxed, since the future is large and the caller's would hold it twice.
        Ok(Box::pin(client.connect(transport, run)).await?)
    }

    /// A transport that records whether the server answers anything.
    fn watched(&mut self, transport: impl Transport + Send + 'static) -> BoxTransport {
        self.answered = Arc::default();
        let answered = self.answered.clone();
        let watch = move |direction, packet: &Packet| {
            if direction == Direction::In && is_answer(packet) {
                answered.store(true, Ordering::Relaxed);
            }
        };
        Box::new(tap(transport, watch))
    }

    #[cfg(feature = "http")]
    fn http(&mut self, target: &HttpTarget) -> Result<Arc<dyn HttpClient>, BoxError> {
        if let Some(client) = &self.http {
            return Ok(client.clone());
        }
        let client = DefaultClient::new(CONNECT_TIMEOUT)?;
        let client = match self.wrap_http {
            Some(WrapHttp(wrap)) => wrap(target, client)?,
            None => Arc::new(client),
        };
        Ok(self.http.insert(client).clone())
    }
}

fn is_answer(packet: &Packet) -> bool {
    matches!(packet, Packet::Frame { frame: Frame::Single(Message::Response(_)), .. })
}

impl FailedAttempt {
    /// Whether the server does not support HTTP+SSE, which does not explain why the others failed.
    fn is_uninformative(&self) -> bool {
        #[cfg(feature = "sse")]
        return self.attempt == Attempt::Sse && is_no_old_server(&*self.error);
        #[cfg(not(feature = "sse"))]
        false
    }
}

impl ConnectError {
    /// The failure of a single attempt, or of all.
    fn of(mut attempts: Vec<FailedAttempt>) -> BoxError {
        match (attempts.len(), attempts.pop()) {
            (1, Some(only)) => only.error,
            (_, last) => {
                attempts.extend(last);
                Self::Exhausted { attempts }.into()
            }
        }
    }
}

impl ConnectError {
    /// The attempt whose failure explains most.
    fn decisive(&self) -> Option<&FailedAttempt> {
        let Self::Exhausted { attempts } = self else { return None };
        attempts.iter().rfind(|attempt| !attempt.is_uninformative()).or(attempts.last())
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Exhausted { attempts } = self else {
            return f.write_str("HTTP+SSE has no modern revision");
        };
        f.write_str("every attempt to connect failed")?;
        let decisive = self.decisive().into_iter().flat_map(|failed| failed.error.chain());
        let decisive: Vec<_> = decisive.map(ToString::to_string).collect();
        // The decisive failure is the source. This adds the texts of the others that the source lacks.
        let mut others: Vec<String> = Vec::new();
        for FailedAttempt { attempt, error } in attempts {
            let texts = error.chain().map(ToString::to_string);
            let texts: Vec<_> =
                texts.filter(|text| !decisive.iter().any(|cause| text.contains(cause))).collect();
            let text = match attempt {
                #[cfg(feature = "sse")]
                Attempt::Sse => format!("HTTP+SSE: {}", texts.join(": ")),
                _ => texts.join(": "),
            };
            if !texts.is_empty() && !others.contains(&text) {
                others.push(text);
            }
        }
        match others.is_empty() {
            true => Ok(()),
            false => write!(f, " ({})", Printable::display(others.join("; "))),
        }
    }
}

impl Error for ConnectError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self.decisive()?.error.as_error())
    }
}
