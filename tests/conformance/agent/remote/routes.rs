//! The stream of each message of a connection, and the messages that its client may post.

use std::collections::HashMap;
use std::sync::Arc;

use agentwire_jsonrpc::{Message, RawJson, Request, RequestId, Response};

use super::event_queue::EventQueue;

/// The most characters of a request's id.
const MAX_ID: usize = 1024;
/// How many of a client's requests may be unanswered.
const MAX_PENDING: usize = 1024;
/// How many sessions a connection may have.
const MAX_SESSIONS: usize = 1024;

/// Methods that need a session's header even where their params name none.
const SESSION_METHODS: [&str; 9] = [
    "session/cancel",
    "session/close",
    "session/delete",
    "session/fork",
    "session/load",
    "session/prompt",
    "session/resume",
    "session/set_config_option",
    "session/set_mode",
];

/// The streams of a connection and what goes where.
#[derive(Debug, Default)]
pub(super) struct Routes {
    connection: Arc<EventQueue>,
    sessions: HashMap<String, Arc<EventQueue>>,
    /// The client's requests that have no response yet.
    pending: HashMap<RequestId, Pending>,
    /// The agent's requests that have no response yet, with their session.
    asked: HashMap<RequestId, Option<String>>,
}

/// A request of the client.
#[derive(Debug)]
struct Pending {
    session: Option<String>,
    opening: Opening,
}

/// The effect of a request on the sessions of the connection.
#[derive(Debug, PartialEq, Eq)]
enum Opening {
    /// It works on a session, or on none.
    None,
    /// Its result names the new session.
    New,
    /// It opens the session that it names, which the connection did not know before if `is_new`.
    Existing { is_new: bool },
}

/// Why a message is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The header and the message do not fit together.
    Invalid(&'static str),
    /// The client has too many unanswered requests or sessions.
    TooMany,
}

impl Routes {
    /// Takes note of a message of the client, whose session is named by a header.
    pub(super) fn admit(&mut self, message: &Message, header: Option<&str>) -> Result<(), Refusal> {
        match message {
            Message::Request(request) => self.admit_request(request, header),
            Message::Notification(notification) => {
                session_of(&notification.method, notification.params.as_ref(), header).map(drop)
            }
            Message::Response(response) => {
                let session = self.asked.get(&response.id).and_then(Option::as_deref);
                if session.zip(header).is_some_and(|(session, header)| session != header) {
                    return Err(Refusal::Invalid("the request belongs to another session"));
                }
                self.asked.remove(&response.id);
                Ok(())
            }
        }
    }

    fn admit_request(&mut self, request: &Request, header: Option<&str>) -> Result<(), Refusal> {
        let session = session_of(&request.method, request.params.as_ref(), header)?;
        if request.id.as_str().is_some_and(|id| id.len() > MAX_ID) {
            return Err(Refusal::Invalid("the id is too long"));
        }
        if self.pending.contains_key(&request.id) {
            return Err(Refusal::Invalid("the id is in use"));
        }
        if self.pending.len() >= MAX_PENDING {
            return Err(Refusal::TooMany);
        }
        let opening = match &*request.method {
            "session/new" | "session/fork" => Opening::New,
            "session/load" | "session/resume" => {
                let is_new = session.as_ref().is_some_and(|session| !self.sessions.contains_key(session));
                Opening::Existing { is_new }
            }
            _ => Opening::None,
        };
        if let (Opening::Existing { is_new: true }, Some(session)) = (&opening, &session)
            && self.open(session).is_none()
        {
            return Err(Refusal::TooMany);
        }
        self.pending.insert(request.id.clone(), Pending { session, opening });
        Ok(())
    }

    /// The stream that a message of the agent belongs to.
    pub(super) fn route(&mut self, message: &Message) -> Arc<EventQueue> {
        let session = match message {
            Message::Response(response) => self.route_response(response),
            Message::Request(request) => {
                let session = named_session(&request.method, request.params.as_ref());
                self.asked.insert(request.id.clone(), session.clone());
                session
            }
            Message::Notification(notification) => {
                named_session(&notification.method, notification.params.as_ref())
            }
        };
        // The first message of a session may come before the response that names it.
        let stream = session.and_then(|session| self.open(&session));
        stream.unwrap_or_else(|| Arc::clone(&self.connection))
    }

    /// The session on whose stream a response is sent.
    fn route_response(&mut self, response: &Response) -> Option<String> {
        let Pending { session, opening } = self.pending.remove(&response.id)?;
        match (opening, &response.outcome) {
            (Opening::None, _) => session.filter(|session| self.sessions.contains_key(session)),
            (Opening::New, Ok(result)) => {
                if let Some(new) = text_member(result, "sessionId") {
                    self.open(&new);
                }
                None
            }
            // Behind the updates that it waited for.
            (Opening::Existing { .. }, Ok(_)) => session,
            (Opening::Existing { is_new: true }, Err(_)) => {
                let stream = session.and_then(|session| self.sessions.remove(&session));
                stream.iter().for_each(|stream| stream.cut());
                None
            }
            (Opening::New | Opening::Existing { is_new: false }, Err(_)) => None,
        }
    }

    /// The stream of a session, which is new if there is none; nothing if there are too many.
    fn open(&mut self, session: &str) -> Option<Arc<EventQueue>> {
        if !self.sessions.contains_key(session) {
            if self.sessions.len() >= MAX_SESSIONS {
                return None;
            }
            self.sessions.insert(session.to_owned(), Arc::default());
        }
        self.sessions.get(session).cloned()
    }

    /// The stream of the connection, or of a session that the connection knows.
    pub(super) fn stream(&self, session: Option<&str>) -> Option<Arc<EventQueue>> {
        match session {
            None => Some(Arc::clone(&self.connection)),
            Some(session) => self.sessions.get(session).cloned(),
        }
    }

    /// Every stream.
    pub(super) fn streams(&self) -> impl Iterator<Item = &Arc<EventQueue>> {
        std::iter::once(&self.connection).chain(self.sessions.values())
    }

    /// Whether a request of the client has no response yet.
    pub(super) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }
}

/// The session of a client's message: the one that its header and its params agree on.
fn session_of(
    method: &str,
    params: Option<&RawJson>,
    header: Option<&str>,
) -> Result<Option<String>, Refusal> {
    let named = named_session(method, params);
    match (header, named) {
        (Some(header), Some(named)) if header != named => {
            Err(Refusal::Invalid("Acp-Session-Id and the params name different sessions"))
        }
        (None, Some(_)) => Err(Refusal::Invalid("Acp-Session-Id is missing")),
        (None, None) if SESSION_METHODS.contains(&method) => {
            Err(Refusal::Invalid("Acp-Session-Id is missing"))
        }
        (header, _) => Ok(header.map(str::to_owned)),
    }
}

/// The session that params name. Notifications of the protocol itself belong to the connection.
fn named_session(method: &str, params: Option<&RawJson>) -> Option<String> {
    if method.starts_with("$/") { None } else { text_member(params?, "sessionId") }
}

fn text_member(json: &RawJson, name: &str) -> Option<String> {
    json.member(name)?.decode().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use agentwire_jsonrpc::Frame;

    fn message(text: &str) -> Message {
        match Frame::parse(text.into()) {
            Frame::Single(message) => message,
            other => panic!("{other:?}"),
        }
    }

    /// The session on whose stream a message of the agent goes out, or `""` for the connection's.
    fn routed(routes: &mut Routes, text: &str) -> String {
        let stream = routes.route(&message(text));
        let found = routes.sessions.iter().find(|(_, other)| Arc::ptr_eq(other, &stream));
        found.map(|(session, _)| session.clone()).unwrap_or_default()
    }

    fn admitted(routes: &mut Routes, text: &str, header: Option<&str>) -> bool {
        routes.admit(&message(text), header).is_ok()
    }

    const NEW: &str = r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/"}}"#;
    const PROMPT: &str = r#"{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s"}}"#;
    const LOAD: &str = r#"{"jsonrpc":"2.0","id":3,"method":"session/load","params":{"sessionId":"old"}}"#;

    #[test]
    fn each_message_goes_to_its_stream() {
        let mut routes = Routes::default();
        assert!(admitted(&mut routes, NEW, None));
        assert_eq!(routed(&mut routes, r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}"#), "");
        assert!(routes.stream(Some("s")).is_some());
        assert!(admitted(&mut routes, PROMPT, Some("s")));
        let update = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s"}}"#;
        assert_eq!(routed(&mut routes, update), "s");
        assert_eq!(routed(&mut routes, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#), "s");
        assert!(!routes.has_pending());
        let cancel = r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"sessionId":"s"}}"#;
        assert_eq!(routed(&mut routes, cancel), "");
    }

    #[test]
    fn a_session_that_is_not_loaded_is_unknown_again() {
        let mut routes = Routes::default();
        assert!(admitted(&mut routes, LOAD, Some("old")));
        assert!(routes.stream(Some("old")).is_some());
        let error = r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32002,"message":"no"}}"#;
        assert_eq!(routed(&mut routes, error), "");
        assert!(routes.stream(Some("old")).is_none());
        assert!(admitted(&mut routes, LOAD, Some("old")));
        assert_eq!(routed(&mut routes, r#"{"jsonrpc":"2.0","id":3,"result":{}}"#), "old");
    }

    #[test]
    fn headers_and_params_agree() {
        let mut routes = Routes::default();
        assert!(!admitted(&mut routes, PROMPT, None));
        assert!(!admitted(&mut routes, PROMPT, Some("other")));
        assert!(!admitted(&mut routes, r#"{"jsonrpc":"2.0","method":"session/cancel","params":{}}"#, None));
        let permission =
            r#"{"jsonrpc":"2.0","id":9,"method":"session/request_permission","params":{"sessionId":"s"}}"#;
        assert_eq!(routed(&mut routes, permission), "s");
        let answer = r#"{"jsonrpc":"2.0","id":9,"result":{}}"#;
        assert!(!admitted(&mut routes, answer, Some("other")));
        assert!(admitted(&mut routes, answer, None));
        assert!(admitted(&mut routes, PROMPT, Some("s")));
        assert!(!admitted(&mut routes, PROMPT, Some("s")), "the id is in use");
    }
}
