//! A connection over HTTP: one run of the agent, and the streams that carry what it sends.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agentwire_jsonrpc::{Frame, Message, Request, Response};
use agentwire_transport::{Duplex, Packet, duplex};
use agentwire_transport_http::sse;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, interval, timeout};

use super::event_queue::EventBody;
use super::routes::{Refusal, Routes};

/// How many messages wait in each direction between a connection and its run of the agent.
pub(super) const CAPACITY: usize = 64;
/// How many bytes of events a connection keeps for its client.
const ROOM: u32 = 8 << 20;
/// The memory of an event beside its bytes.
const OVERHEAD: usize = 128;
/// How long the agent may take for the response to `initialize`, and for a message when many wait for it already.
const AGENT_TIME: Duration = Duration::from_secs(60);
/// How long a client may read nothing while its room is used up.
const STALL_TIME: Duration = Duration::from_secs(60);
/// How long a connection is kept on which its client reads nothing, sends nothing and waits for nothing.
const IDLE_TIME: Duration = Duration::from_secs(300);
/// How often that is looked at.
const IDLE_CHECK: Duration = Duration::from_secs(30);

/// Runs the agent for one client.
pub(crate) type RunAgent = Arc<dyn Fn(Duplex) -> BoxFuture<'static, ()> + Send + Sync>;

/// A connection, which ends when it is [cut](Connection::cut) or its run of the agent ends.
pub(super) struct Connection {
    to_agent: tokio::sync::Mutex<SplitSink<Duplex, Packet>>,
    routes: Mutex<Routes>,
    room: Arc<Semaphore>,
    last_post: Mutex<Instant>,
    is_cut: Notify,
    /// Its place among all connections.
    _slot: OwnedSemaphorePermit,
}

/// The agent's messages on a connection.
pub(super) type FromAgent = SplitStream<Duplex>;

/// A connection that was begun by `initialize`, or not.
pub(super) enum InitializeOutcome {
    /// The agent has accepted.
    Open { connection: Arc<Connection>, from_agent: FromAgent, answer: Response },
    /// The agent has refused.
    Refused(Response),
    /// It did not answer in time.
    Silent,
    /// Its run has ended.
    Ended,
}

/// Why a client cannot read a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoStream {
    /// The connection does not know the session.
    Unknown,
    /// Another client reads it.
    Busy,
}

/// Why a message did not reach the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotTaken {
    Refused(Refusal),
    /// The agent takes nothing.
    Stalled,
    /// Its run has ended.
    Ended,
}

impl Connection {
    /// Runs the agent, and waits for its response to `initialize`.
    pub(super) async fn begin(
        run: &RunAgent,
        initialize: Request,
        slot: OwnedSemaphorePermit,
    ) -> InitializeOutcome {
        let (ours, theirs) = duplex(CAPACITY);
        tokio::spawn(run(theirs));
        let (mut to_agent, mut from_agent) = ours.split();
        let id = initialize.id.clone();
        let answered = async {
            to_agent.send(Packet::new(Message::Request(initialize))).await.ok()?;
            // Nothing else is for a client that has no connection yet.
            while let Some(Ok(packet)) = from_agent.next().await {
                if let Some(Message::Response(response)) = message_in(packet)
                    && response.id == id
                {
                    return Some(response);
                }
            }
            None
        };
        let answer = match timeout(AGENT_TIME, answered).await {
            Err(_) => return InitializeOutcome::Silent,
            Ok(None) => return InitializeOutcome::Ended,
            Ok(Some(answer)) if answer.outcome.is_err() => return InitializeOutcome::Refused(answer),
            Ok(Some(answer)) => answer,
        };
        let connection = Self {
            to_agent: tokio::sync::Mutex::new(to_agent),
            routes: Mutex::default(),
            room: Arc::new(Semaphore::new(ROOM as usize)),
            last_post: Mutex::new(Instant::now()),
            is_cut: Notify::new(),
            _slot: slot,
        };
        InitializeOutcome::Open { connection: Arc::new(connection), from_agent, answer }
    }

    fn routes(&self) -> MutexGuard<'_, Routes> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn last_post(&self) -> MutexGuard<'_, Instant> {
        self.last_post.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes a message to the agent. A client waits here while the agent has many already.
    pub(super) async fn take(&self, message: Message, session: Option<&str>) -> Result<(), NotTaken> {
        *self.last_post() = Instant::now();
        let mut to_agent = self.to_agent.lock().await;
        // Under the lock, so that what is noted and what the agent gets have one order.
        self.routes().admit(&message, session).map_err(NotTaken::Refused)?;
        match timeout(AGENT_TIME, to_agent.send(Packet::new(message))).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(NotTaken::Ended),
            Err(_) => Err(NotTaken::Stalled),
        }
    }

    /// The stream of the connection or of a session.
    pub(super) fn stream(&self, session: Option<&str>) -> Result<EventBody, NoStream> {
        let stream = self.routes().stream(session).ok_or(NoStream::Unknown)?;
        stream.body().ok_or(NoStream::Busy)
    }

    /// Ends the connection. What waits for the client is dropped.
    pub(super) fn cut(&self) {
        self.routes().streams().for_each(|stream| stream.cut());
        self.is_cut.notify_one();
    }

    /// Sends the agent's messages to its streams, until the agent ends or the connection does.
    pub(super) async fn forward(&self, mut from_agent: FromAgent) {
        let mut check = interval(IDLE_CHECK);
        loop {
            tokio::select! {
                packet = from_agent.next() => match packet {
                    Some(Ok(packet)) => {
                        if let Some(message) = message_in(packet)
                            && !self.deliver(&message).await
                        {
                            break;
                        }
                    }
                    _ => {
                        self.routes().streams().for_each(|stream| stream.finish());
                        return;
                    }
                },
                _ = check.tick() => if self.is_idle() { break },
                () = self.is_cut.notified() => break,
            }
        }
        self.routes().streams().for_each(|stream| stream.cut());
    }

    /// Puts a message on its stream when there is room. Returns whether the connection goes on.
    async fn deliver(&self, message: &Message) -> bool {
        let mut event = Vec::new();
        sse::begin(None, None, &mut event);
        message.write(&mut event);
        event.extend_from_slice(sse::END);
        let size = u32::try_from(event.len() + OVERHEAD).unwrap_or(ROOM).min(ROOM);
        let room = Arc::clone(&self.room).acquire_many_owned(size);
        let room = tokio::select! {
            room = timeout(STALL_TIME, room) => room,
            () = self.is_cut.notified() => return false,
        };
        let Ok(Ok(room)) = room else { return false };
        self.routes().route(message).push(Bytes::from(event), room);
        true
    }

    fn is_idle(&self) -> bool {
        let is_quiet = self.last_post().elapsed() > IDLE_TIME;
        let routes = self.routes();
        is_quiet && !routes.has_pending() && !routes.streams().any(|stream| stream.is_read())
    }
}

/// The message in a packet. An agent sends no batches and nothing malformed.
pub(super) fn message_in(packet: Packet) -> Option<Message> {
    match packet {
        Packet::Frame { frame: Frame::Single(message), .. } => Some(message),
        // The answer to what was no message.
        Packet::Frame { frame: frame @ Frame::Malformed(_), .. } => {
            let mut text = Vec::new();
            frame.write(&mut text);
            match Frame::parse_bytes(Bytes::from(text)) {
                Frame::Single(message) => Some(message),
                _ => None,
            }
        }
        _ => None,
    }
}

/// A new id of a connection: a random UUID.
pub(super) fn new_id() -> Option<String> {
    let number = (u128::from(getrandom::u64().ok()?) << 64) | u128::from(getrandom::u64().ok()?);
    // Version 4, variant 1.
    let number = number & !(0xf000 << 64) & !(0xc000 << 48) | (0x4000 << 64) | (0x8000 << 48);
    let text = format!("{number:032x}");
    Some(format!("{}-{}-{}-{}-{}", &text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..]))
}
