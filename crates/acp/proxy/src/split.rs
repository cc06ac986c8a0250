//! Splits one transport of a component into two channels: plain messages, and the messages in `proxy/successor`.
//!
//! ```text
//!                        ┌── Plain: the predecessor ──▶
//!  one transport ── split│
//!                        └── Successor: proxy/successor, unwrapped ──▶
//! ```
//!
//! Both ends of the transport are split, in the component and in its conductor. No table of requests is needed: the ids of
//! outgoing requests are numbers, even on one channel and odd on the other.

pub(crate) mod malformed;

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use agentwire_jsonrpc::{Frame, Message, RequestId};
use agentwire_peer::Dialect;
use agentwire_sync::{Mutex, MutexGuard, Wakers};
use agentwire_transport::{Packet, Transport, TransportError};
use futures_util::task::AtomicWaker;
use futures_util::{Sink, Stream};

use crate::envelope::{self, Unwrapped};
use crate::names;
use crate::split::malformed::{incoming_id, malformed_by_channel};

/// One of the two channels of a transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    Plain,
    Successor,
}

impl Channel {
    fn other(self) -> Self {
        match self {
            Self::Plain => Self::Successor,
            Self::Successor => Self::Plain,
        }
    }
}

/// The end of the transport at which it is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Component,
    Conductor,
}

impl Role {
    /// Returns the channel that carries messages towards the agent.
    fn channel_to_agent(self) -> Channel {
        match self {
            Self::Component => Channel::Plain,
            Self::Conductor => Channel::Successor,
        }
    }

    /// Returns how many bytes of that channel may be queued here, so that the packets of the other channel after them can be
    /// read.
    ///
    /// Both channels share one transport. If each stopped the other at once, a client and an agent that flood each other
    /// would block a chain for ever. A conductor's limit is larger than what its components can hold.
    fn limit(self) -> usize {
        match self {
            Self::Component => 1 << 20,
            Self::Conductor => 16 << 20,
        }
    }
}

/// The bytes that are queued within a conductor on their way to the agent. Its client is not read while they are over
/// the limit.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    bytes: AtomicUsize,
    waker: AtomicWaker,
}

impl Backlog {
    /// Ready while at most `limit` bytes are queued.
    pub(crate) fn poll_low(&self, limit: usize, cx: &mut Context<'_>) -> Poll<()> {
        self.waker.register(cx.waker());
        if self.bytes.load(Ordering::Acquire) <= limit { Poll::Ready(()) } else { Poll::Pending }
    }

    fn add(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::AcqRel);
    }

    fn subtract(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::AcqRel);
        self.waker.wake();
    }
}

/// Splits a transport into its two channels. Both must be read.
pub(crate) fn split<T: Transport>(transport: T, role: Role, backlog: Arc<Backlog>) -> (Half<T>, Half<T>) {
    let wakers = Arc::<Wakers<2>>::default();
    let whole = Arc::new(Whole {
        inner: Mutex::new(Inner {
            transport,
            role,
            backlog,
            parked: [ParkedPackets::default(), ParkedPackets::default()],
            ended: false,
            error: None,
            closed: [false; 2],
            gone: [false; 2],
            old_names: false,
        }),
        waker: wakers.clone().into(),
        wakers,
    });
    (Half { whole: whole.clone(), channel: Channel::Plain }, Half { whole, channel: Channel::Successor })
}

/// One channel of a split transport.
pub(crate) struct Half<T> {
    whole: Arc<Whole<T>>,
    channel: Channel,
}

struct Whole<T> {
    inner: Mutex<Inner<T>>,
    wakers: Arc<Wakers<2>>,
    /// Wakes the tasks of both channels.
    waker: Waker,
}

struct Inner<T> {
    transport: T,
    role: Role,
    backlog: Arc<Backlog>,
    parked: [ParkedPackets; 2],
    /// Whether the transport has returned its last packet.
    ended: bool,
    error: Option<TransportError>,
    /// The channels that have closed their sink.
    closed: [bool; 2],
    /// The channels that were dropped.
    gone: [bool; 2],
    /// Whether the other end has used the older names.
    old_names: bool,
}

/// The packets that were read for a channel and not taken yet.
#[derive(Default)]
struct ParkedPackets {
    packets: VecDeque<Packet>,
    bytes: usize,
}

impl<T> fmt::Debug for Half<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Half").field("channel", &self.channel).finish_non_exhaustive()
    }
}

impl<T> Whole<T> {
    fn lock(&self) -> MutexGuard<'_, Inner<T>> {
        self.inner.lock()
    }
}

impl<T> Inner<T> {
    fn park(&mut self, channel: Channel, mut packet: Packet) {
        if self.gone[channel as usize] {
            return;
        }
        if let Packet::Frame { frame: Frame::Single(Message::Request(request)), .. } = &mut packet {
            envelope::map_scope(request, |id| Some(incoming_id(id).filter(|(of, _)| *of == channel)?.1));
        }
        let bytes = size(&packet);
        if channel == self.role.channel_to_agent() {
            self.backlog.add(bytes);
        }
        let parked = &mut self.parked[channel as usize];
        parked.bytes += bytes;
        parked.packets.push_back(packet);
    }

    fn take(&mut self, channel: Channel) -> Option<Packet> {
        let parked = &mut self.parked[channel as usize];
        let packet = parked.packets.pop_front()?;
        let bytes = size(&packet);
        parked.bytes -= bytes;
        if channel == self.role.channel_to_agent() {
            self.backlog.subtract(bytes);
        }
        Some(packet)
    }

    /// Returns whether there is room for the next packet of either channel.
    fn may_read(&self) -> bool {
        let to_agent = self.role.channel_to_agent();
        self.parked[to_agent as usize].bytes < self.role.limit()
            && self.parked[to_agent.other() as usize].packets.is_empty()
    }

    /// Parks a packet for its channel.
    fn sort(&mut self, packet: Packet) {
        match packet {
            Packet::Frame { frame: Frame::Single(message), .. } => self.sort_message(message),
            Packet::Frame { frame: Frame::Malformed(malformed), .. } => {
                for (channel, malformed) in malformed_by_channel(malformed) {
                    self.park(channel, Packet::new(Frame::Malformed(malformed)));
                }
            }
            Packet::RequestFailed { id, error } => {
                if let Some((channel, id)) = incoming_id(&id) {
                    self.park(channel, Packet::RequestFailed { id, error });
                }
            }
            // The channel without such a request ignores it.
            Packet::CallerLeft(id) => {
                for channel in [Channel::Plain, Channel::Successor] {
                    self.park(channel, Packet::CallerLeft(id.clone()));
                }
            }
            // A batch, which is refused.
            packet => self.park(Channel::Plain, packet),
        }
    }

    fn sort_message(&mut self, message: Message) {
        let method = match &message {
            Message::Request(request) => &*request.method,
            Message::Notification(notification) => &*notification.method,
            Message::Response(_) => "",
        };
        self.old_names |= names::is_old(method);
        match message {
            Message::Response(mut response) => {
                let mut channel = Channel::Plain;
                if let Some((of, inner)) = incoming_id(&response.id) {
                    (channel, response.id) = (of, inner);
                }
                self.park(channel, Packet::new(Message::from(response)));
            }
            // Ids of requests that arrive do not name the channel; the one without such a request ignores it.
            Message::Notification(cancel) if cancel.method == Dialect::ACP.cancel_method => {
                self.park(Channel::Plain, Packet::new(Message::from(cancel.clone())));
                self.park(Channel::Successor, Packet::new(Message::from(cancel)));
            }
            message if names::is_successor(method) => match envelope::unwrap(message) {
                Unwrapped::Frame(frame) => self.park(Channel::Successor, Packet::new(frame)),
                Unwrapped::Nothing => {}
            },
            message => self.park(Channel::Plain, Packet::new(message)),
        }
    }

    /// Makes the packet for the other end from one of a channel.
    fn pack(&self, channel: Channel, packet: Packet) -> Packet {
        let Packet::Frame { frame: Frame::Single(message), .. } = packet else {
            return packet;
        };
        Packet::new(match message {
            Message::Response(response) => Message::from(response),
            Message::Notification(cancel) if cancel.method == Dialect::ACP.cancel_method => {
                envelope::map_cancel(cancel, |id| outgoing_id(channel, id)).into()
            }
            Message::Request(mut request) => {
                request.id = outgoing_id(channel, &request.id);
                match channel {
                    Channel::Plain => request.into(),
                    Channel::Successor => envelope::wrap_request(request, self.old_names).into(),
                }
            }
            Message::Notification(notification) if channel == Channel::Successor => {
                envelope::wrap_notification(notification, self.old_names).into()
            }
            message => message,
        })
    }
}

fn size(packet: &Packet) -> usize {
    match packet {
        Packet::Frame { frame, .. } => frame.size_hint(),
        // It has no size on a wire, but it takes memory.
        _ => size_of::<Packet>(),
    }
}

/// Returns the transport's id of a request with this id on a channel. Relays number their requests.
fn outgoing_id(channel: Channel, id: &RequestId) -> RequestId {
    match id.as_u64() {
        Some(number) => RequestId::from(number.wrapping_mul(2).wrapping_add(channel as u64)),
        None => id.clone(),
    }
}

/// Packets that are parked for the dropped channel must not stop the other. A component that a conductor has dropped has
/// ended for its other neighbour too.
impl<T> Drop for Half<T> {
    fn drop(&mut self) {
        let mut inner = self.whole.lock();
        while inner.take(self.channel).is_some() {}
        inner.gone[self.channel as usize] = true;
        inner.ended |= inner.role == Role::Conductor;
        drop(inner);
        self.whole.wakers.wake_one(self.channel.other() as usize);
    }
}

impl<T: Transport> Stream for Half<T> {
    type Item = Result<Packet, TransportError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let channel = self.channel;
        self.whole.wakers.register(channel as usize, cx.waker());
        let mut inner = self.whole.lock();
        loop {
            if let Some(packet) = inner.take(channel) {
                let may_read = inner.may_read();
                drop(inner);
                if may_read {
                    self.whole.wakers.wake_one(channel.other() as usize);
                }
                return Poll::Ready(Some(Ok(packet)));
            }
            if inner.ended {
                return Poll::Ready(inner.error.take().map(Err));
            }
            if !inner.may_read() {
                return Poll::Pending;
            }
            match Pin::new(&mut inner.transport).poll_next(&mut Context::from_waker(&self.whole.waker)) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Ok(packet))) => {
                    inner.sort(packet);
                    if !inner.parked[channel.other() as usize].packets.is_empty() {
                        self.whole.wakers.wake_one(channel.other() as usize);
                    }
                }
                Poll::Ready(last) => {
                    inner.ended = true;
                    inner.error = last.and_then(Result::err);
                    self.whole.wakers.wake_one(channel.other() as usize);
                }
            }
        }
    }
}

impl<T: Transport> Sink<Packet> for Half<T> {
    type Error = TransportError;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        self.whole.wakers.register(self.channel as usize, cx.waker());
        let mut inner = self.whole.lock();
        Pin::new(&mut inner.transport).poll_ready(&mut Context::from_waker(&self.whole.waker))
    }

    fn start_send(self: Pin<&mut Self>, packet: Packet) -> Result<(), TransportError> {
        let mut inner = self.whole.lock();
        let packet = inner.pack(self.channel, packet);
        Pin::new(&mut inner.transport).start_send(packet)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        self.whole.wakers.register(self.channel as usize, cx.waker());
        let mut inner = self.whole.lock();
        Pin::new(&mut inner.transport).poll_flush(&mut Context::from_waker(&self.whole.waker))
    }

    /// A component closes the transport when both channels are closed: it may still answer on one after the other is gone. A
    /// conductor closes the transport with the first channel: a component without one of its neighbours is useless.
    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        self.whole.wakers.register(self.channel as usize, cx.waker());
        let mut inner = self.whole.lock();
        inner.closed[self.channel as usize] = true;
        if inner.role == Role::Component && !inner.closed[self.channel.other() as usize] {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut inner.transport).poll_close(&mut Context::from_waker(&self.whole.waker))
    }
}
