//! Handles each kind of incoming message of a [`Connection`], malformed ones included.

use std::time::Instant;

use agentwire_jsonrpc::{
    ErrorObject, Frame, Intent, Malformed, Message, Notification, RawJson, Request, RequestId, Response, code,
};
use serde::{Deserialize, Serialize};

use crate::Connection;
use crate::calls::{Call, LONG_GRACE, SHORT_GRACE, Suspect};
use crate::event::{CallFailure, CallId, Event};
use crate::queue::EntryKind;

impl Connection {
    pub(crate) fn handle_message(&mut self, now: Instant, message: Message, batch: Option<usize>) {
        match message {
            Message::Request(request) => self.handle_request(request, batch),
            Message::Notification(notification) => self.handle_notification(now, notification),
            Message::Response(response) => self.handle_response(now, response),
        }
    }

    fn handle_request(&mut self, request: Request, batch: Option<usize>) {
        let limit = self.config.request_limit;
        let id = request.id.clone();
        if !self.responds_to(&id) {
            let error = ErrorObject::invalid_request("requests are not allowed in this direction");
            self.events.push_back(Event::Unreadable(error));
            return;
        }
        let error = if id.is_null() && !self.config.dialect.null_ids {
            ErrorObject::invalid_request("the id of a request is a string or an integer")
        } else if self.requests.count_with_batched() >= limit {
            let why =
                format!("{limit} requests are unanswered, which is the limit; `request_limit` raises it");
            ErrorObject::new(code::INTERNAL_ERROR, why).with_data(&Limit { limit })
        } else if let Some(incoming) = self.requests.insert(id.clone(), batch) {
            self.events.push_back(Event::Request { incoming, request, in_batch: batch.is_some() });
            return;
        } else {
            ErrorObject::invalid_request(format_args!("a request with the id {id} is unanswered"))
        };
        self.refuse(id, error, batch);
    }

    fn handle_notification(&mut self, now: Instant, notification: Notification) {
        let dialect = &self.config.dialect;
        let method = &*notification.method;
        if method == dialect.cancel_method {
            self.handle_cancel(&notification);
        } else if dialect.progress_method == Some(method) {
            self.handle_progress(now, notification);
        } else {
            self.events.push_back(Event::Notification(notification));
        }
    }

    /// Handles a cancel of a request of the peer, or of a call that the peer may end this way
    /// ([`ended_by_cancel`](crate::Dialect::ended_by_cancel)). Any other cancel is ignored, because it may have crossed the response.
    fn handle_cancel(&mut self, notification: &Notification) {
        let params = notification.params.as_ref().and_then(|params| params.decode::<CancelParams>().ok());
        let Some(CancelParams { request_id: id, .. }) = params else {
            return;
        };
        if let Some((incoming, entry)) = self.requests.find(&id) {
            if !std::mem::replace(&mut entry.cancelled, true) {
                self.events.push_back(Event::Cancelled(incoming));
            }
        } else if let Some(call) = id.as_u64().map(CallId)
            && self.calls.find(call).is_some_and(|entry| entry.ended_by_cancel)
        {
            self.calls.remove(call);
            self.events.push_back(Event::CallEnded { call, outcome: Err(CallFailure::Cancelled) });
        }
    }

    fn handle_progress(&mut self, now: Instant, notification: Notification) {
        let Some(params) = notification.params.clone() else {
            return;
        };
        let Ok(ProgressParams { progress_token }) = params.decode() else {
            return;
        };
        match progress_token.as_u64().map(CallId) {
            Some(call) if self.calls.progress(now, call) => {
                self.events.push_back(Event::Progress { call, params })
            }
            // The ids of calls are numbers. A string token belongs to work that outlives a call, which the runtime tracks.
            None if progress_token.as_str().is_some() => {
                self.events.push_back(Event::Notification(notification))
            }
            _ => {}
        }
    }

    fn handle_response(&mut self, now: Instant, response: Response) {
        match self.take_call(&response.id) {
            Some(call) => {
                let outcome = response.outcome.map_err(CallFailure::Refused);
                self.events.push_back(Event::CallEnded { call, outcome });
                if self.calls.has_unclaimed_error() {
                    self.calls.fail_soon_by_unclaimed_error(now);
                }
            }
            None => self.handle_unmatched(now, response, None),
        }
    }

    #[cold]
    pub(crate) fn handle_malformed(&mut self, now: Instant, malformed: Malformed, batch: Option<usize>) {
        let Malformed { intent, error, .. } = malformed;
        match intent {
            Intent::Response(id) => self.handle_malformed_response(now, id, error),
            Intent::ResponseOrRequest(id) => match self.take_call(&id) {
                Some(call) => self.fail(call, CallFailure::Malformed(error)),
                None => self.handle_malformed_request(id, error, batch),
            },
            Intent::Several { responses, has_requests } => {
                for id in &responses {
                    self.fail_soon(now, id, &error);
                }
                self.events.push_back(Event::Unreadable(error.clone()));
                if has_requests {
                    self.refuse(RequestId::NULL, error, batch);
                }
            }
            Intent::Request(id) => self.handle_malformed_request(id, error, batch),
            // A notification gets no response, even if it is malformed.
            _ => self.events.push_back(Event::Unreadable(error)),
        }
    }

    fn handle_malformed_request(&mut self, id: RequestId, error: ErrorObject, batch: Option<usize>) {
        // In a batch, the position among the other responses shows the sender which element was malformed.
        if (id.is_null() && batch.is_none()) || !self.responds_to(&id) {
            self.events.push_back(Event::Unreadable(error.clone()));
        }
        self.refuse(id, error, batch);
    }

    /// Schedules the failure of a call whose response was found within other text. The text may be a log line, and the real
    /// response may follow.
    fn fail_soon(&mut self, now: Instant, id: &RequestId, error: &ErrorObject) {
        let call = self.calls.named_by_text(id).or_else(|| CallId::from_request_id(id));
        if let Some(call) = call {
            self.calls.fail_soon(now, call, CallFailure::Malformed(error.clone()), LONG_GRACE);
        }
    }

    fn handle_malformed_response(&mut self, now: Instant, id: RequestId, error: ErrorObject) {
        match self.take_call(&id) {
            Some(call) => self.fail(call, CallFailure::Malformed(error)),
            None => {
                let failure = Some(CallFailure::Malformed(error.clone()));
                self.handle_unmatched(now, Response::new(id, Err(error)), failure);
            }
        }
    }

    /// Handles a response whose id matches no open call. If it certainly belongs to a call, that call fails at once. Otherwise the
    /// likely call fails after a wait, because its own response may still arrive. `failure` is the fault of a malformed response.
    #[cold]
    fn handle_unmatched(&mut self, now: Instant, response: Response, failure: Option<CallFailure>) {
        if let Some(call) = self.calls.named_by_text(&response.id) {
            self.take_call(&call.request_id());
            let why = "the id of the answer is a string, and that of the request a number";
            return self.fail(call, CallFailure::Malformed(ErrorObject::new(code::INVALID_REQUEST, why)));
        }
        if response.id.is_null() {
            let is_result = response.outcome.is_ok();
            let is_unreadable = failure.is_some();
            let failure = failure.unwrap_or_else(|| without_id(&response));
            match self.calls.suspect() {
                Suspect::Certain(call) if is_unreadable => {
                    self.calls.take_answered(call);
                    return self.fail(call, failure);
                }
                // The error may concern no message of this side, and the response may follow it.
                Suspect::Certain(call) if !is_result => self.calls.fail_soon(now, call, failure, SHORT_GRACE),
                // A result without an id may be noise.
                Suspect::Certain(call) => self.calls.fail_soon(now, call, failure, LONG_GRACE),
                Suspect::Likely(call) if !is_result && !is_about_unknown_method(&response) => {
                    self.calls.fail_soon(now, call, failure, LONG_GRACE);
                }
                // The failed call is the one that remains when the others are answered.
                Suspect::OneOf(last) if !is_result && !is_about_unknown_method(&response) => {
                    self.calls.keep_unclaimed_error(last, failure);
                }
                _ => {}
            }
        } else if CallId::from_request_id(&response.id).is_some_and(|id| self.calls.forget_cancelled(id)) {
            self.events.push_back(Event::CancelledResponse(response));
            return;
        }
        self.events.push_back(Event::UnmatchedResponse(response));
    }

    fn fail(&mut self, call: CallId, failure: CallFailure) {
        self.events.push_back(Event::CallEnded { call, outcome: Err(failure) });
    }

    /// Refuses an array of messages. The responses in it fail their calls, and are not answered.
    #[cold]
    pub(crate) fn refuse_batch(&mut self, now: Instant, messages: Vec<Result<Message, Malformed>>) {
        let mut has_others = false;
        for message in messages {
            let ids = match message {
                Ok(Message::Response(Response { id, .. })) => vec![id],
                Err(Malformed { intent: Intent::Response(id), .. }) => vec![id],
                Err(Malformed { intent: Intent::Several { responses, has_requests }, .. }) => {
                    has_others |= has_requests;
                    responses
                }
                _ => {
                    has_others = true;
                    continue;
                }
            };
            for id in ids {
                let why = "the answer is in an array of messages, which is not taken here";
                self.handle_malformed_response(now, id, ErrorObject::new(code::INVALID_REQUEST, why));
            }
        }
        if has_others {
            let error = ErrorObject::invalid_request("an array of messages is not taken here");
            self.events.push_back(Event::Unreadable(error.clone()));
            self.refuse(RequestId::NULL, error, None);
        }
    }

    pub(crate) fn handle_batch(&mut self, now: Instant, messages: Vec<Result<Message, Malformed>>) {
        let batch = self.requests.open_batch();
        for message in messages {
            match message {
                Ok(message) => self.handle_message(now, message, Some(batch)),
                Err(malformed) => self.handle_malformed(now, malformed, Some(batch)),
            }
        }
        let responses = self.requests.close_batch(batch);
        self.send_batch(responses);
    }

    /// Takes the call that a response with this id belongs to.
    pub(crate) fn take_call(&mut self, id: &RequestId) -> Option<CallId> {
        let call = CallId::from_request_id(id)?;
        self.calls.take_answered(call).map(|_| call)
    }

    /// Answers a message with an error, if the message gets a response. At the limit of queued refusals without an id, the
    /// refusal is left out. Otherwise a peer that writes noise and does not read would wait for this side, and this side for
    /// the peer.
    #[cold]
    pub(crate) fn refuse(&mut self, id: RequestId, error: ErrorObject, batch: Option<usize>) {
        if !self.responds_to(&id) {
            return;
        }
        let has_no_id = id.is_null() && batch.is_none();
        if has_no_id && self.queue.has_max_refusals() {
            return;
        }
        self.calls.note_other_message();
        let in_reply_to = Some(id.clone()).filter(|id| !id.is_null());
        let response = Response::new(id, Err(error));
        match batch {
            Some(batch) => self.requests.add_to_batch(batch, response.into()),
            None => {
                let kind = if has_no_id { EntryKind::RefusalWithoutId } else { EntryKind::Responses(1) };
                self.queue.push(Message::from(response), in_reply_to, kind);
            }
        }
    }

    pub(crate) fn send_batch(&mut self, responses: Option<Vec<Message>>) {
        if let Some(responses) = responses {
            let count = responses.len();
            let in_reply_to = responses.iter().find_map(|response| match response {
                Message::Response(response) if !response.id.is_null() => Some(response.id.clone()),
                _ => None,
            });
            let frame = Frame::Batch(responses.into_iter().map(Ok).collect());
            self.queue.push(frame, in_reply_to, EntryKind::Responses(count));
        }
    }

    /// Withdraws the request of a call if it is still queued, and otherwise cancels the call at the peer. The cancel has the
    /// `in_reply_to` of the request, so that a transport can send it on the same stream. Returns whether the peer may answer the call.
    pub(crate) fn withdraw(&mut self, call: CallId, entry: Call, reason: &str) -> bool {
        if self.queue.withdraw(call) {
            return false;
        }
        if entry.uncancellable {
            return true;
        }
        let dialect = &self.config.dialect;
        let params = CancelParams {
            request_id: call.request_id(),
            reason: dialect.cancel_has_reason.then(|| reason.to_owned()),
        };
        let params = RawJson::encode(&params).expect("an id and a text always have a JSON form");
        self.notify(self.config.dialect.cancel_method, Some(params), entry.in_reply_to);
        true
    }
}

/// The failure of a call whose response has no id.
fn without_id(response: &Response) -> CallFailure {
    match &response.outcome {
        Err(error) => CallFailure::Refused(error.clone()),
        Ok(_) => CallFailure::Malformed(ErrorObject::new(code::INVALID_REQUEST, "the answer has no id")),
    }
}

/// Returns whether the error is the one for an unknown method. Many servers send it in reply to an unknown notification.
fn is_about_unknown_method(response: &Response) -> bool {
    response.outcome.as_ref().is_err_and(|error| error.code == code::METHOD_NOT_FOUND)
}

/// The params are the same in both protocols.
#[derive(Serialize, Deserialize)]
#[serde(expecting = "an object")]
#[serde(rename_all = "camelCase")]
struct CancelParams {
    request_id: RequestId,
    #[serde(default, skip_serializing_if = "Option::is_none", skip_deserializing)]
    reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
#[serde(rename_all = "camelCase")]
struct ProgressParams {
    progress_token: RequestId,
}

#[derive(Serialize)]
struct Limit {
    limit: usize,
}
