//! Reads the method, the protocol version and the name that route an MCP message. Repeated members are ignored.

use std::borrow::Cow;

use agentwire_jsonrpc::{Message, Notification, RawJson, RequestId};
use serde::Deserialize;

use crate::params::params_of;
use crate::{Member, ParamsIndex, ParamsMembers, Revision, method};

/// The members that route a message. If one of them is repeated, all of them are ignored.
const ROUTES: &[Member] = &[
    Member::Meta,
    Member::Name,
    Member::Uri,
    Member::TaskId,
    Member::ProtocolVersion,
    Member::MetaProtocolVersion,
];

/// The data that routes a request or a notification. The headers of a modern request repeat it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Routing<'a> {
    /// The version that its `_meta` names ([`meta::PROTOCOL_VERSION`](crate::meta::PROTOCOL_VERSION)). Every request of a
    /// modern revision names one, and a message of a session names none.
    pub protocol_version: Option<Cow<'a, str>>,
    /// The method.
    pub method: &'a str,
    /// The tool, prompt, resource or task that its params name, for a method that [has one](method::named_by).
    pub name: Option<Cow<'a, str>>,
}

impl Routing<'_> {
    /// The revision that it names. None if it names none, or one that is not known.
    pub fn revision(&self) -> Option<Revision> {
        Revision::parse(self.protocol_version.as_deref()?)
    }
}

impl<'a> ParamsMembers<'a> {
    /// Returns the routing of the message that has these params. `None` for a response.
    pub fn routing(&self, message: &'a Message) -> Option<Routing<'a>> {
        let method = match message {
            Message::Request(request) => &*request.method,
            Message::Notification(notification) => &*notification.method,
            Message::Response(_) => return None,
        };
        let string = |member| if self.repeats_any(ROUTES) { None } else { self.string(member) };
        let protocol_version = string(Member::MetaProtocolVersion);
        let name = method::named_by(method).and_then(string);
        Some(Routing { protocol_version, method, name })
    }
}

impl ParamsIndex {
    /// Returns the routing of the message from which the index was made. `None` for a response, and for another message.
    pub fn routing<'a>(&self, message: &'a Message) -> Option<Routing<'a>> {
        match params_of(message) {
            Some(params) => self.members_of(params)?.routing(message),
            None => ParamsMembers::read(None).routing(message),
        }
    }
}

/// The version that the params of `initialize` propose, or that its result chooses.
pub fn initialize_version(body: &RawJson) -> Option<Cow<'_, str>> {
    let members = ParamsMembers::read(Some(body));
    if members.repeats_any(ROUTES) { None } else { members.string(Member::ProtocolVersion) }
}

/// The request that a notification cancels. None for any other notification.
pub fn cancelled_request(notification: &Notification) -> Option<RequestId> {
    #[derive(Deserialize)]
    struct Cancelled {
        #[serde(rename = "requestId")]
        request_id: RequestId,
    }
    let params = notification.params.as_ref().filter(|_| notification.method == method::CANCELLED)?;
    params.decode::<Cancelled>().ok().map(|cancelled| cancelled.request_id)
}

#[cfg(test)]
mod tests {
    use agentwire_jsonrpc::Request;

    use super::*;

    fn request(method: &'static str, params: &str) -> Message {
        Request::new(1_u64, method, Some(RawJson::parse(params.into()).unwrap())).into()
    }

    #[test]
    fn name_is_read_from_the_member_of_the_method() {
        let params = r#"{"name": "n", "uri": "u", "taskId": "t"}"#;
        for (method, name) in [
            ("tools/call", Some("n")),
            ("prompts/get", Some("n")),
            ("resources/read", Some("u")),
            ("tasks/cancel", Some("t")),
            ("tools/list", None),
        ] {
            let message = request(method, params);
            let routing = ParamsMembers::of(&message).routing(&message).unwrap();
            assert_eq!((routing.name.as_deref(), routing.protocol_version), (name, None), "{method}");
        }
    }

    #[test]
    fn repeated_member_is_not_used_for_routing() {
        let version = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
        for (params, name, revision) in [
            (format!(r#"{{"name":"a","_meta":{{{version}}}}}"#), Some("a"), Some(Revision::V2026_07_28)),
            (format!(r#"{{"name":"a","_meta":{{{version}}},"name":"b"}}"#), None, None),
            (format!(r#"{{"name":"a","_meta":{{{version},{version}}}}}"#), None, None),
            // These are for the reader of the params, and route nothing.
            (
                format!(r#"{{"name":"a","task":1,"task":2,"_meta":{{{version}}}}}"#),
                Some("a"),
                Some(Revision::V2026_07_28),
            ),
        ] {
            let message = request("tools/call", &params);
            let routing = ParamsMembers::of(&message).routing(&message).unwrap();
            assert_eq!((routing.name.as_deref(), routing.revision()), (name, revision), "{params}");
        }
    }

    #[test]
    fn initialize_version_is_read_beside_meta() {
        let version = |text: &str| {
            let body = RawJson::parse(text.into()).unwrap();
            initialize_version(&body).map(Cow::into_owned)
        };
        assert_eq!(version(r#"{"protocolVersion":"2025-06-18","_meta":{}}"#).as_deref(), Some("2025-06-18"));
        assert_eq!(version(r#"{"_meta":{"protocolVersion":"2025-06-18"}}"#), None);
        assert_eq!(version(r#"{"protocolVersion":"a","protocolVersion":"a"}"#), None);
    }
}
