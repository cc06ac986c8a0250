//! Takes the frame of a POST into its session, in three steps under one lock of the session: *admit* it, *register* its requests,
//! *enqueue* it for the service.

use std::slice;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};

use agentwire_jsonrpc::{Frame, Malformed, Message, Request, RequestId};
use agentwire_mcp_wire::{Revision, cancelled_request, method};
use agentwire_sync::MutexGuard;
use agentwire_transport::Packet;

use crate::server::admission::guard::Accepts;
use crate::server::admission::quota::Reservation;
use crate::server::endpoint::resources::Resources;
use crate::server::response_stream::{ResponseStream, StreamReader};
use crate::server::session::state::{SessionState, answers_to};
use crate::server::session::{DeliverError, Session};
use crate::server::{AnswerForm, Head};

/// A POST for which there is room. Its session is locked until the POST is [taken](Self::take).
pub(crate) struct AdmittedPost<'a> {
    session: &'a Session,
    state: MutexGuard<'a, SessionState>,
    requests: Requests,
    /// The number of the stream that answers the requests.
    number: u64,
}

/// The ids of the requests in a frame.
enum Requests {
    None,
    One(RequestId),
    Many(Vec<RequestId>),
}

impl Session {
    /// Takes the request that opens the session. `None` if the session has ended already.
    pub(crate) fn begin(
        &self,
        request: Request,
        reservation: Reservation,
        head: &Arc<Head>,
        resources: &Arc<Resources>,
    ) -> Option<StreamReader> {
        let mut state = self.lock();
        if state.closed {
            return None;
        }
        let number = self.peers.first_number(&mut state.streams)?;
        let requests = Requests::One(request.id.clone());
        let form = (resources.config.legacy_answer, head.accepts());
        let reader = self.register(&mut state, (number, requests), form, reservation, resources);
        state.inbox.push_back((head.packet(Message::from(request)), None));
        Some(reader)
    }

    /// The first step. Ready when there is room for a frame. Refuses an id that is in flight, and more requests than there may be.
    pub(crate) fn poll_admit(
        &self,
        cx: &Context<'_>,
        frame: &Frame,
        resources: &Resources,
    ) -> Poll<Result<AdmittedPost<'_>, DeliverError>> {
        let mut state = self.lock();
        if state.closed {
            let continues = self.peers.continues_elsewhere();
            return Poll::Ready(Err(if continues { DeliverError::Away } else { DeliverError::Gone }));
        }
        state.last_request = resources.now();
        let limit = resources.config.stream_limit;
        // Checked before the ids, which are many in a batch: a POST comes here again each time it is woken.
        if state.inbox.len() >= resources.config.limits.inbox_limit {
            return state.poll_post(cx, limit).map(|()| Err(DeliverError::TooMany(limit)));
        }
        let requests = Requests::of(frame);
        let ids = requests.ids();
        if let Some(id) = ids.iter().find(|id| state.routes.get(id).is_some()) {
            return Poll::Ready(Err(DeliverError::InFlight(id.clone())));
        }
        if !ids.is_empty() && state.routes.len() + ids.len() > limit.max(ids.len()) {
            return Poll::Ready(Err(DeliverError::TooMany(limit)));
        }
        let number = if ids.is_empty() { Some(0) } else { self.peers.next_number(&mut state.streams) };
        let Some(number) = number else {
            return state.poll_post(cx, limit).map(|()| Err(DeliverError::TooMany(limit)));
        };
        Poll::Ready(Ok(AdmittedPost { session: self, state, requests, number }))
    }

    /// The second step: the answers to requests come out of the reader from now on.
    fn register(
        &self,
        state: &mut SessionState,
        (number, requests): (u64, Requests),
        form: (AnswerForm, Accepts),
        reservation: Reservation,
        resources: &Arc<Resources>,
    ) -> StreamReader {
        let primes = state.revision.is_some_and(Revision::has_priming_events);
        let ids = requests.ids();
        let expected = (ids.len(), self.peers.stored_requests(ids));
        let stream = ResponseStream::for_post(number, self.id, form, self.caller.clone(), expected, primes);
        let reader = StreamReader::open(stream, Some(reservation), resources);
        match requests {
            Requests::None => {}
            Requests::One(id) => state.routes.insert(id, reader.stream().clone()),
            Requests::Many(ids) => {
                ids.into_iter().for_each(|id| state.routes.insert(id, reader.stream().clone()));
            }
        }
        reader
    }

    /// The third step: the service gets the packet once `wake` wakes it. A request that the packet cancels is not answered, so its
    /// response ends.
    pub(crate) fn enqueue(
        &self,
        mut state: MutexGuard<'_, SessionState>,
        (packet, reservation): (Packet, Option<Reservation>),
        wake: impl FnOnce(Waker),
        resources: &Resources,
    ) {
        let cancelled = if let Packet::Frame { frame, .. } = &packet { cancelled_by(frame) } else { None };
        let given_up = cancelled.and_then(|id| state.routes.remove(&id));
        let is_drained = state.is_drained();
        state.inbox.push_back((packet, reservation));
        let service = state.packet_waker.take();
        // A new request may be one for which a full stream makes room.
        let held_up = (!state.full.is_empty()).then(|| state.full.take_waiting());
        drop(state);
        held_up.into_iter().flatten().for_each(Waker::wake);
        if let Some(service) = service {
            wake(service);
        }
        if let Some(stream) = given_up {
            stream.expect_fewer(1, &resources.config);
        }
        if is_drained {
            self.retire(resources);
        }
    }

    /// Wakes the service, and polls it in this task.
    fn wake_inline(&self, service: Waker) {
        match self.task.get().and_then(Weak::upgrade) {
            Some(task) => task.poll_inline(|| service.wake()),
            None => service.wake(),
        }
    }
}

impl AdmittedPost<'_> {
    /// Takes the frame. Returns the reader of the answers, if it has requests.
    pub(crate) fn take(
        self,
        frame: Frame,
        reservation: Reservation,
        head: &Arc<Head>,
        resources: &Arc<Resources>,
    ) -> Option<StreamReader> {
        let Self { session, mut state, requests, number } = self;
        let (before, frame) = session.peers.receive(frame);
        state.inbox.extend(before.map(|before| (head.packet(before), None)));
        let frame = frame?;
        session.peers.expect(&frame, |id| state.routes.get(id).is_some());
        let (reader, reservation) = match requests {
            Requests::None => (None, Some(reservation)),
            requests => {
                let form = (form(&frame, resources), head.accepts());
                let reader = session.register(&mut state, (number, requests), form, reservation, resources);
                (Some(reader), None)
            }
        };
        let wake = |service| session.wake_inline(service);
        session.enqueue(state, (head.packet(frame), reservation), wake, resources);
        reader
    }
}

impl Requests {
    fn of(frame: &Frame) -> Self {
        match frame {
            Frame::Single(Message::Request(request)) => Self::One(request.id.clone()),
            Frame::Batch(messages) => match request_ids(messages) {
                ids if ids.is_empty() => Self::None,
                ids => Self::Many(ids),
            },
            _ => Self::None,
        }
    }

    fn ids(&self) -> &[RequestId] {
        match self {
            Self::None => &[],
            Self::One(id) => slice::from_ref(id),
            Self::Many(ids) => ids,
        }
    }
}

/// The ids under which the messages of a batch are answered.
pub(crate) fn request_ids(messages: &[Result<Message, Malformed>]) -> Vec<RequestId> {
    let id = |message: &Result<Message, Malformed>| match message {
        Ok(Message::Request(request)) => Some(request.id.clone()),
        Ok(_) => None,
        Err(malformed) => answers_to(malformed).cloned(),
    };
    messages.iter().filter_map(id).collect()
}

/// The form of the answer to a frame. `tasks/get` is answered as JSON: a client that polls can repeat the request.
fn form(frame: &Frame, resources: &Resources) -> AnswerForm {
    match frame {
        Frame::Single(Message::Request(request)) if request.method == method::GET_TASK => AnswerForm::Json,
        _ => resources.config.legacy_answer,
    }
}

/// The request that a client no longer wants an answer to.
pub fn cancelled_by(frame: &Frame) -> Option<RequestId> {
    match frame {
        Frame::Single(Message::Notification(notification)) => cancelled_request(notification),
        _ => None,
    }
}
