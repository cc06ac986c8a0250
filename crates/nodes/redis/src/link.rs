//! Sends commands over one connection, which it opens again when it is lost.

pub(crate) mod circuit;
pub(crate) mod config;
pub(crate) mod connection;
pub(crate) mod keys;
pub(crate) mod slot;
#[cfg(feature = "tls")]
pub(crate) mod tls;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use agentwire_jsonrpc::WithCauses;
use agentwire_store::StoreError;
use agentwire_sync::Mutex;
use redis::aio::ConnectionLike;
use redis::{Cmd, Pipeline, PushInfo, RedisError, RedisResult, Value};
use tokio::sync::mpsc::UnboundedSender;

use crate::error::{CircuitOpen, TimedOut, away, checked, is_away, is_forbidden, store_error};
use crate::link::circuit::{Circuit, FAILURES};
use crate::link::connection::{Connection, Engine};

/// A connection for commands. A node has one for events and one for all other commands.
pub(crate) struct Link {
    engine: Engine,
    timeout: Duration,
    circuit: Arc<Mutex<Circuit>>,
    current: Mutex<Current>,
    /// Held while a connection is opened, so that one is opened at a time.
    connecting: tokio::sync::Mutex<()>,
    /// Whether [`probe`](Self::probe) is sending PINGs.
    is_probing: AtomicBool,
    /// Whether a time-out counts as a failure for the circuit. Not for events: a time-out may be due to their size.
    counts_silence: bool,
    /// Whether a connection to a cluster is being replaced.
    is_replacing: AtomicBool,
    this: Weak<Self>,
}

/// The time to open another connection to a cluster, as a multiple of a command's time-out: one of the masters may not answer.
const REPLACEMENT: u32 = 5;

/// The connection, and how many there were before.
#[derive(Default)]
struct Current {
    number: u64,
    connection: Option<Connection>,
}

enum Request<'a> {
    One(&'a Cmd),
    All(&'a Pipeline),
}

impl Link {
    pub(crate) fn new(engine: Engine, timeout: Duration) -> Arc<Self> {
        Self::of(engine, timeout, Arc::default(), true)
    }

    /// Makes a second connection, for events. Both share the circuit, but a time-out of this one does not count as a failure: the
    /// pipeline may have been large.
    pub(crate) fn slow(&self, engine: Engine) -> Arc<Self> {
        Self::of(engine, self.timeout, self.circuit.clone(), false)
    }

    fn of(
        engine: Engine,
        timeout: Duration,
        circuit: Arc<Mutex<Circuit>>,
        counts_silence: bool,
    ) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            engine,
            timeout,
            circuit,
            current: Mutex::default(),
            connecting: Default::default(),
            is_probing: AtomicBool::new(false),
            counts_silence,
            is_replacing: AtomicBool::new(false),
            this: this.clone(),
        })
    }

    /// The time-out of a command.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Returns whether keys are divided among masters.
    pub(crate) fn is_cluster(&self) -> bool {
        self.engine.is_cluster()
    }

    /// Fails while the circuit is open.
    pub(crate) fn check_circuit(&self) -> Result<(), CircuitOpen> {
        self.circuit.lock().check()
    }

    /// Opens another connection, for push messages.
    pub(crate) async fn connect(&self, pushes: UnboundedSender<PushInfo>) -> Result<Connection, StoreError> {
        match tokio::time::timeout(self.timeout, self.engine.connect(Some(pushes))).await {
            Ok(connection) => connection.map_err(away),
            Err(_) => Err(StoreError::away(TimedOut(self.timeout.as_millis()))),
        }
    }

    /// Sends a command.
    pub(crate) async fn run(&self, command: &Cmd) -> Result<Value, StoreError> {
        let reply = self.send(Request::One(command), self.timeout).await?.pop().unwrap_or(Value::Nil);
        checked(reply).map_err(store_error)
    }

    /// Sends commands whose keys are in one slot. Returns a reply for each, which may be an error.
    pub(crate) async fn run_all(&self, pipeline: &Pipeline) -> Result<Vec<RedisResult<Value>>, StoreError> {
        self.run_all_within(pipeline, self.timeout).await
    }

    /// The same with another time-out.
    pub(crate) async fn run_all_within(
        &self,
        pipeline: &Pipeline,
        timeout: Duration,
    ) -> Result<Vec<RedisResult<Value>>, StoreError> {
        Ok(self.send(Request::All(pipeline), timeout).await?.into_iter().map(checked).collect())
    }

    /// Sends PING until the engine answers or the circuit is open.
    pub(crate) fn probe(&self) {
        let Some(link) = self.this.upgrade().filter(|link| !link.is_probing.swap(true, Ordering::SeqCst))
        else {
            return;
        };
        tokio::spawn(async move {
            for _ in 0..FAILURES {
                if link.check_circuit().is_err() || link.run(&redis::cmd("PING")).await.is_ok() {
                    break;
                }
            }
            link.is_probing.store(false, Ordering::SeqCst);
        });
    }

    /// Sends commands whose keys are in any slots.
    #[cfg(any(feature = "acp", feature = "tasks"))]
    pub(crate) async fn run_each(&self, commands: &[Cmd]) -> Result<Vec<Value>, StoreError> {
        if commands.is_empty() {
            return Ok(Vec::new());
        }
        if self.is_cluster() {
            return futures_util::future::join_all(commands.iter().map(|command| self.run(command)))
                .await
                .into_iter()
                .collect();
        }
        let mut pipeline = Pipeline::new();
        commands.iter().for_each(|command| _ = pipeline.add_command(command.clone()));
        let replies = self.run_all(&pipeline).await?;
        replies.into_iter().map(|reply| reply.map_err(store_error)).collect()
    }

    async fn send(&self, request: Request<'_>, timeout: Duration) -> Result<Vec<Value>, StoreError> {
        self.circuit.lock().admit(Instant::now()).map_err(StoreError::away)?;
        let mut number = None;
        let exchange = tokio::time::timeout(timeout, self.exchange(request, &mut number));
        let (error, is_silent) = match exchange.await {
            Ok(Ok(replies)) => {
                self.circuit.lock().close();
                return Ok(replies);
            }
            // A command that the user may not run does not mean that the engine is away.
            Ok(Err(error)) if !is_away(&error) || is_forbidden(&error) => {
                self.circuit.lock().close();
                return Err(store_error(error));
            }
            Ok(Err(error)) => {
                let is_silent = error.is_timeout();
                (away(error), is_silent)
            }
            Err(_) => (StoreError::away(TimedOut(timeout.as_millis())), true),
        };
        if self.is_cluster() {
            // A single master may be away, so the circuit stays closed.
            if let Some(number) = number.filter(|_| is_silent) {
                self.replace(number);
            }
        } else {
            if self.counts_silence || !is_silent {
                self.circuit.lock().count_failure(Instant::now(), || reason(&error));
            }
            if let Some(number) = number {
                self.discard(number);
            }
        }
        Err(error)
    }

    async fn exchange(&self, request: Request<'_>, used: &mut Option<u64>) -> RedisResult<Vec<Value>> {
        let (number, mut connection) = self.connection().await?;
        *used = Some(number);
        let replies = match request {
            Request::One(command) => vec![connection.req_packed_command(command).await?],
            Request::All(pipeline) => connection.req_packed_commands(pipeline, 0, pipeline.len()).await?,
        };
        // If the engine refuses one command because it cannot serve at present, the whole pipeline has failed.
        let refusal = replies.iter().find_map(|reply| match reply {
            Value::ServerError(error) => Some(RedisError::from(error.clone())).filter(is_away),
            _ => None,
        });
        refusal.map_or(Ok(replies), Err)
    }

    async fn connection(&self) -> RedisResult<(u64, Connection)> {
        if let Some(current) = self.current.lock().open() {
            return Ok(current);
        }
        let _connecting = self.connecting.lock().await;
        if let Some(current) = self.current.lock().open() {
            return Ok(current);
        }
        let connection = self.engine.connect(None).await?;
        let mut current = self.current.lock();
        current.number += 1;
        current.connection = Some(connection.clone());
        Ok((current.number, connection))
    }

    /// Drops a connection after a failure, so that the next command opens another.
    fn discard(&self, number: u64) {
        let mut current = self.current.lock();
        if current.number == number {
            current.connection = None;
        }
    }

    /// Opens another connection to a cluster in the background, and uses it once it is open. A cluster's connection reconnects to masters
    /// by itself, but only if a connection was closed, not if packets are lost silently. Until then commands use the old connection.
    fn replace(&self, number: u64) {
        let Some(link) = self.this.upgrade().filter(|link| !link.is_replacing.swap(true, Ordering::SeqCst))
        else {
            return;
        };
        tokio::spawn(async move {
            let timeout = link.timeout * REPLACEMENT;
            if let Ok(Ok(connection)) = tokio::time::timeout(timeout, link.engine.connect(None)).await {
                let mut current = link.current.lock();
                if current.number == number {
                    *current = Current { number: number + 1, connection: Some(connection) };
                }
            }
            link.is_replacing.store(false, Ordering::SeqCst);
        });
    }
}

/// The reason that the circuit reports: the text of an error with its causes.
fn reason(error: &StoreError) -> Arc<str> {
    match error {
        StoreError::Away(cause) => WithCauses::new(&**cause).plain().into(),
        error => WithCauses::new(error).plain().into(),
    }
}

impl Current {
    fn open(&self) -> Option<(u64, Connection)> {
        self.connection.clone().map(|connection| (self.number, connection))
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("circuit", &*self.circuit.lock()).finish_non_exhaustive()
    }
}
