//! One transport of a component as two: what is said plainly, and what is said of the successor.
//!
//! ```text
//!                        ┌── Plain: the predecessor ──▶
//!  one transport ── split│
//!                        └── Successor: proxy/successor, unwrapped ──▶
//! ```
//!
//! Both ends of the transport look at it like this, the component and its conductor. It remembers no requests: the
//! ids of those that leave are numbers, of which one lane gets the even and the other the odd ones.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use agentwire_jsonrpc::{Frame, Intent, Message, RequestId};
use agentwire_peer::Dialect;
use agentwire_sync::{Mutex, MutexGuard, Wakers};
use agentwire_transport::{Fault, Packet, Transport};
use futures::task::AtomicWaker;
use futures::{Sink, Stream};

use crate::envelope::{self, Unwrapped};
use crate::names;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    Plain,
    Successor,
}

impl Lane {
    fn other(self) -> Self {
        match self {
            Self::Plain => Self::Successor,
            Self::Successor => Self::Plain,
        }
    }
}

/// Whose end of the transport this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    Component,
    Conductor,
}

impl Whose {
    /// The lane on which arrives what goes to the agent.
    fn lane_to_agent(self) -> Lane {
        match self {
            Self::Component => Lane::Plain,
            Self::Conductor => Lane::Successor,
        }
    }

    /// How much of it may wait for those who take it, so that what goes the other way can be read behind it.
    ///
    /// Both ways share one transport. If each stopped the other as soon as it is stopped, a client and an agent that
    /// flood each other would stop a chain for good. A conductor takes more than its components can have.
    fn limit(self) -> usize {
        match self {
            Self::Component => 1 << 20,
            Self::Conductor => 16 << 20,
        }
    }
}

/// How much on its way to the agent waits within a conductor, so that its client can be made to wait.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    bytes: AtomicUsize,
    waker: AtomicWaker,
}

impl Backlog {
    /// Waits until little enough waits.
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

/// Splits a transport into its two lanes, which must be read both.
pub(crate) fn split<T: Transport>(transport: T, whose: Whose, backlog: Arc<Backlog>) -> (Half<T>, Half<T>) {
    let wakers = Arc::<Wakers<2>>::default();
    let whole = Arc::new(Whole {
        inner: Mutex::new(Inner {
            transport,
            whose,
            backlog,
            parked: [Parked::default(), Parked::default()],
            ended: false,
            fault: None,
            closed: [false; 2],
            gone: [false; 2],
            old_names: false,
        }),
        waker: wakers.clone().into(),
        wakers,
    });
    (Half { whole: whole.clone(), lane: Lane::Plain }, Half { whole, lane: Lane::Successor })
}

/// One lane of a split transport.
pub(crate) struct Half<T> {
    whole: Arc<Whole<T>>,
    lane: Lane,
}

struct Whole<T> {
    inner: Mutex<Inner<T>>,
    wakers: Arc<Wakers<2>>,
    /// Wakes both lanes.
    waker: Waker,
}

struct Inner<T> {
    transport: T,
    whose: Whose,
    backlog: Arc<Backlog>,
    parked: [Parked; 2],
    /// Whether the transport has given its last packet.
    ended: bool,
    fault: Option<Fault>,
    /// Which lanes have closed their sink.
    closed: [bool; 2],
    /// Which lanes nobody reads any more.
    gone: [bool; 2],
    /// Whether the other end was heard to use the names of old.
    old_names: bool,
}

/// What has been read for a lane.
#[derive(Default)]
struct Parked {
    packets: VecDeque<Packet>,
    bytes: usize,
}

impl<T> fmt::Debug for Half<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Half").field("lane", &self.lane).finish_non_exhaustive()
    }
}

impl<T> Whole<T> {
    fn lock(&self) -> MutexGuard<'_, Inner<T>> {
        self.inner.lock()
    }
}

impl<T> Inner<T> {
    fn park(&mut self, lane: Lane, mut packet: Packet) {
        if self.gone[lane as usize] {
            return;
        }
        if let Packet::Frame { frame: Frame::Single(Message::Request(request)), .. } = &mut packet {
            envelope::map_scope(request, |id| Some(incoming_id(id).filter(|(of, _)| *of == lane)?.1));
        }
        let bytes = size(&packet);
        if lane == self.whose.lane_to_agent() {
            self.backlog.add(bytes);
        }
        let parked = &mut self.parked[lane as usize];
        parked.bytes += bytes;
        parked.packets.push_back(packet);
    }

    fn take(&mut self, lane: Lane) -> Option<Packet> {
        let parked = &mut self.parked[lane as usize];
        let packet = parked.packets.pop_front()?;
        let bytes = size(&packet);
        parked.bytes -= bytes;
        if lane == self.whose.lane_to_agent() {
            self.backlog.subtract(bytes);
        }
        Some(packet)
    }

    /// Whether what is read next has a place, whichever lane it is for.
    fn may_read(&self) -> bool {
        let to_agent = self.whose.lane_to_agent();
        self.parked[to_agent as usize].bytes < self.whose.limit()
            && self.parked[to_agent.other() as usize].packets.is_empty()
    }

    /// Gives a packet that has been read to whom it is for.
    fn sort(&mut self, packet: Packet) {
        match packet {
            Packet::Frame { frame: Frame::Single(message), .. } => self.sort_message(message),
            Packet::Frame { frame: Frame::Malformed(mut malformed), .. } => {
                let mut lane = Lane::Plain;
                if let Intent::Response(id) = &mut malformed.intent
                    && let Some((of, inner)) = incoming_id(id)
                {
                    (lane, *id) = (of, inner);
                }
                self.park(lane, Packet::new(Frame::Malformed(malformed)));
            }
            Packet::Failed { id, fault } => {
                if let Some((lane, id)) = incoming_id(&id) {
                    self.park(lane, Packet::Failed { id, fault });
                }
            }
            // Only the lane that has such a request takes it.
            Packet::Abandon(id) => {
                for lane in [Lane::Plain, Lane::Successor] {
                    self.park(lane, Packet::Abandon(id.clone()));
                }
            }
            // A batch, which is refused.
            packet => self.park(Lane::Plain, packet),
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
                let mut lane = Lane::Plain;
                if let Some((of, inner)) = incoming_id(&response.id) {
                    (lane, response.id) = (of, inner);
                }
                self.park(lane, Packet::new(Message::from(response)));
            }
            // Ids of requests that arrive are of one kind for both lanes, so the one that has it takes it.
            Message::Notification(cancel) if cancel.method == Dialect::ACP.cancel_method => {
                self.park(Lane::Plain, Packet::new(Message::from(cancel.clone())));
                self.park(Lane::Successor, Packet::new(Message::from(cancel)));
            }
            message if names::is_successor(method) => match envelope::unwrap(message) {
                Unwrapped::Frame(frame) => self.park(Lane::Successor, Packet::new(frame)),
                Unwrapped::Nothing => {}
            },
            message => self.park(Lane::Plain, Packet::new(message)),
        }
    }

    /// What a packet of a lane's is for the other end.
    fn pack(&self, lane: Lane, packet: Packet) -> Packet {
        let Packet::Frame { frame: Frame::Single(message), .. } = packet else {
            return packet;
        };
        Packet::new(match message {
            Message::Response(response) => Message::from(response),
            Message::Notification(cancel) if cancel.method == Dialect::ACP.cancel_method => {
                envelope::map_cancel(cancel, |id| outgoing_id(lane, id)).into()
            }
            Message::Request(mut request) => {
                request.id = outgoing_id(lane, &request.id);
                match lane {
                    Lane::Plain => request.into(),
                    Lane::Successor => envelope::wrap_request(request, self.old_names).into(),
                }
            }
            Message::Notification(notification) if lane == Lane::Successor => {
                envelope::wrap_notification(notification, self.old_names).into()
            }
            message => message,
        })
    }
}

fn size(packet: &Packet) -> usize {
    match packet {
        Packet::Frame { frame, .. } => frame.size_hint(),
        // It has none on a wire, but it takes room.
        _ => size_of::<Packet>(),
    }
}

/// The id at the transport of a request with this id on a lane. Relays number their requests.
fn outgoing_id(lane: Lane, id: &RequestId) -> RequestId {
    match id.as_u64() {
        Some(number) => RequestId::from(number.wrapping_mul(2).wrapping_add(lane as u64)),
        None => id.clone(),
    }
}

/// The lane and the id there that an id of ours at the transport stands for.
fn incoming_id(id: &RequestId) -> Option<(Lane, RequestId)> {
    let number = id.as_u64()?;
    let lane = if number % 2 == 0 { Lane::Plain } else { Lane::Successor };
    Some((lane, RequestId::from(number / 2)))
}

/// What a lane would have read is in nobody's way. A component that a conductor has given up has ended for the other
/// neighbour too.
impl<T> Drop for Half<T> {
    fn drop(&mut self) {
        let mut inner = self.whole.lock();
        while inner.take(self.lane).is_some() {}
        inner.gone[self.lane as usize] = true;
        inner.ended |= inner.whose == Whose::Conductor;
        drop(inner);
        self.whole.wakers.wake_one(self.lane.other() as usize);
    }
}

impl<T: Transport> Stream for Half<T> {
    type Item = Result<Packet, Fault>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let lane = self.lane;
        self.whole.wakers.register(lane as usize, cx.waker());
        let mut inner = self.whole.lock();
        loop {
            if let Some(packet) = inner.take(lane) {
                let may_read = inner.may_read();
                drop(inner);
                if may_read {
                    self.whole.wakers.wake_one(lane.other() as usize);
                }
                return Poll::Ready(Some(Ok(packet)));
            }
            if inner.ended {
                return Poll::Ready(inner.fault.take().map(Err));
            }
            if !inner.may_read() {
                return Poll::Pending;
            }
            match Pin::new(&mut inner.transport).poll_next(&mut Context::from_waker(&self.whole.waker)) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Ok(packet))) => {
                    inner.sort(packet);
                    if !inner.parked[lane.other() as usize].packets.is_empty() {
                        self.whole.wakers.wake_one(lane.other() as usize);
                    }
                }
                Poll::Ready(last) => {
                    inner.ended = true;
                    inner.fault = last.and_then(Result::err);
                    self.whole.wakers.wake_one(lane.other() as usize);
                }
            }
        }
    }
}

impl<T: Transport> Sink<Packet> for Half<T> {
    type Error = Fault;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        self.whole.wakers.register(self.lane as usize, cx.waker());
        let mut inner = self.whole.lock();
        Pin::new(&mut inner.transport).poll_ready(&mut Context::from_waker(&self.whole.waker))
    }

    fn start_send(self: Pin<&mut Self>, packet: Packet) -> Result<(), Fault> {
        let mut inner = self.whole.lock();
        let packet = inner.pack(self.lane, packet);
        Pin::new(&mut inner.transport).start_send(packet)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        self.whole.wakers.register(self.lane as usize, cx.waker());
        let mut inner = self.whole.lock();
        Pin::new(&mut inner.transport).poll_flush(&mut Context::from_waker(&self.whole.waker))
    }

    /// A component closes when it has nothing more to say on either lane; what it owes one end it may still say while
    /// the other is gone. A component without one of its neighbours has nothing more to do, so a conductor closes it.
    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        self.whole.wakers.register(self.lane as usize, cx.waker());
        let mut inner = self.whole.lock();
        inner.closed[self.lane as usize] = true;
        if inner.whose == Whose::Component && !inner.closed[self.lane.other() as usize] {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut inner.transport).poll_close(&mut Context::from_waker(&self.whole.waker))
    }
}
