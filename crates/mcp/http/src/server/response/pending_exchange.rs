//! The response to a request without a session, until its form is known.

use std::sync::Arc;
use std::task::{Context, Poll};

use agentwire_jsonrpc::{Frame, Message, Request, RequestId};
use agentwire_mcp_wire::method;
use agentwire_transport::Exchange;
use http::{HeaderMap, Response, StatusCode};

use crate::server::admission::guard::Accepts;
use crate::server::admission::quota::{MIN_COST, Reservation};
use crate::server::endpoint::clock::Registration;
use crate::server::endpoint::endpoint_core::EndpointCore;
use crate::server::endpoint::resources::{NoExchange, Resources};
use crate::server::response::heads::{events, formed, json};
use crate::server::response::refusal::Refusal;
use crate::server::response::text::Text;
use crate::server::response_stream::{
    ResponseForm, ResponseStream, StreamReader, answer_status, memory_for, refuse,
};
use crate::server::running_exchange::{RunningExchange, StreamedExchange};
use crate::server::{AnswerForm, Body, Head};

/// An exchange whose response has not begun. The status of the response depends on the answer, so the response begins with the
/// answer, with the first notification, or after the head delay:
/// [`EndpointConfig::keep_alive`](crate::server::EndpointConfig::keep_alive).
pub(super) struct PendingExchange {
    /// None once it feeds a stream, or has ended.
    exchange: Option<RunningExchange>,
    id: RequestId,
    /// The head of the request. The response reuses its header table where nothing else holds it.
    head: Arc<Head>,
    /// The memory of the request. None once it has gone on.
    reservation: Option<Reservation>,
    /// Its entry in the clock, for the head delay and the shutdown of the endpoint.
    registration: Option<Registration>,
    /// The tick at which it began.
    since: u32,
}

impl PendingExchange {
    /// Starts the service of a request.
    pub(super) fn start(
        core: &EndpointCore,
        head: Arc<Head>,
        request: Request,
        reservation: Reservation,
    ) -> Result<Self, Refusal> {
        let (resources, id) = (&core.resources, request.id.clone());
        if head.accepts() == Accepts::Json && request.method == method::LISTEN {
            let why = "subscriptions/listen is answered by a stream: the Accept header must allow text/event-stream";
            return Err(Refusal::new(StatusCode::NOT_ACCEPTABLE, why).under(id));
        }
        if let Err(why) = resources.add_exchange() {
            let refusal = match why {
                NoExchange::Closing => Refusal::closing(),
                NoExchange::TooMany(limit) => {
                    let what = "unanswered requests";
                    Refusal::busy(StatusCode::SERVICE_UNAVAILABLE, what, limit, "exchange_limit")
                }
            };
            return Err(refusal.under(id));
        }
        let high_water = resources.config.limits.high_water;
        let (exchange, notifications) = Exchange::new(request, Some(head.clone()), high_water);
        let service = || core.service.exchange(exchange);
        Ok(Self {
            exchange: Some(RunningExchange::start(resources, service, notifications)),
            id,
            head,
            reservation: Some(reservation),
            registration: None,
            since: resources.now(),
        })
    }

    pub(super) fn poll_response(
        &mut self,
        cx: &mut Context<'_>,
        resources: &Arc<Resources>,
    ) -> Poll<Response<Body>> {
        let Some(exchange) = &mut self.exchange else {
            return Poll::Ready(self.unanswered());
        };
        match exchange.poll_service(cx) {
            Poll::Ready(Some((notifications, response))) => {
                let status = answer_status(&response, self.form(resources));
                if let Some(status) = status.filter(|_| notifications.is_empty() || self.is_whole()) {
                    return Poll::Ready(self.answer(status, response.into()));
                }
                Poll::Ready(self.stream(resources, |stream, _| stream.put_all(notifications, response)))
            }
            Poll::Ready(None) => Poll::Ready(self.unanswered()),
            Poll::Pending if exchange.is_cut() => {
                exchange.stop();
                Poll::Ready(Refusal::cut().under(self.id.clone()).into_response())
            }
            Poll::Pending => self.poll_stream(cx, resources),
        }
    }

    /// Ready when the response has to be a stream.
    fn poll_stream(&mut self, cx: &mut Context<'_>, resources: &Arc<Resources>) -> Poll<Response<Body>> {
        let is_whole = self.is_whole();
        let Some(exchange) = &mut self.exchange else {
            return Poll::Ready(self.unanswered());
        };
        while let Poll::Ready(notification) = exchange.poll_notification(cx) {
            if !is_whole {
                return Poll::Ready(self.stream(resources, |stream, _| stream.put(notification)));
            }
        }
        resources.clock.register_exchange(&mut self.registration, self.since, cx);
        // Checked after the registration: a later change wakes this task.
        if resources.is_closing() {
            exchange.begin_shutdown(cx);
        }
        if is_whole || resources.now().wrapping_sub(self.since) < resources.ticks.keep_alive {
            return Poll::Pending;
        }
        Poll::Ready(self.stream(resources, |_, body| body.keep_alive()))
    }

    /// Turns the response into a stream, and lets `feed` put the first messages there.
    fn stream(
        &mut self,
        resources: &Arc<Resources>,
        feed: impl FnOnce(&StreamedExchange, &StreamReader),
    ) -> Response<Body> {
        let Some(exchange) = self.exchange.take() else {
            return self.unanswered();
        };
        self.registration = None;
        let stream = ResponseStream::for_exchange(self.form(resources), self.head.caller());
        let body = StreamReader::open(stream, self.reservation.take(), resources);
        let exchange = StreamedExchange::new(exchange, self.id.clone(), body.stream().clone());
        feed(&exchange, &body);
        match body.form() {
            // The service holds the head of the request.
            ResponseForm::Stream => events(Body::stream(body, Some(exchange)), HeaderMap::new()),
            form => {
                // The service is dropped before the body: otherwise it would see the end of the body as a client that has left.
                drop(exchange);
                let headers = Head::header_memory(&mut self.head);
                formed(form, headers, || None).unwrap_or_else(|| self.unanswered())
            }
        }
    }

    fn form(&self, resources: &Resources) -> AnswerForm {
        resources.config.modern_answer.accepted(self.head.accepts())
    }

    /// Whether the client accepts no stream. It gets the answer alone, and notifications before the answer are dropped.
    fn is_whole(&self) -> bool {
        self.head.accepts() == Accepts::Json
    }

    fn unanswered(&self) -> Response<Body> {
        Refusal::unanswered().under(self.id.clone()).into_response()
    }

    /// The whole response: one JSON text.
    fn answer(&mut self, status: StatusCode, message: Message) -> Response<Body> {
        self.exchange = None;
        let mut answer = (status, Frame::Single(message));
        if let Some(reservation) = &mut self.reservation {
            // From here on the memory of the answer counts, instead of that of the request.
            reservation.shrink_to(MIN_COST);
            if let Err(full) = reservation.grow_last(memory_for(answer.1.size_hint()))
                && let Some(refusal) = refuse(&answer.1, full)
            {
                answer = (StatusCode::OK, refusal);
            }
        }
        let (status, frame) = answer;
        json(
            status,
            Body::text(Text::of(&frame), self.reservation.take()),
            Head::header_memory(&mut self.head),
        )
    }
}
