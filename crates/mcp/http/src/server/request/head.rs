//! The head of an HTTP request as the `MessageSource` of its message: headers, extensions, URI, caller. It also holds the
//! message's memory reservation.

use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use agentwire_jsonrpc::{Frame, Message};
use agentwire_mcp_wire::ParamsIndex;
use agentwire_mcp_wire::header::SESSION_ID;
use agentwire_store::SessionId;
use agentwire_transport::{MessageSource, Packet};
use bytes::BytesMut;
use http::request::Parts;
use http::{Extensions, HeaderMap, HeaderValue, Uri};

use crate::server::admission::guard::Accepts;
use crate::server::admission::quota::Reservation;
use crate::server::request::fields::Fields;
use crate::server::{Caller, Principal, RemoteAddr, SealedSessions};

/// The head of the HTTP request that brought a message: the [`MessageSource`] of every packet that comes out of a
/// [`Connection`](crate::server::Connection), so that a handler can look at the request it came with, also within a session.
///
/// Layers in front of the endpoint pass values in its [`extensions`](Self::extensions):
///
/// ```
/// use agentwire_transport::{MessageSource, Packet};
/// use agentwire_transport_http::server::Head;
///
/// /// The name of the caller, as an authentication layer found it.
/// #[derive(Clone, Debug)]
/// struct Caller(String);
///
/// fn caller(packet: &Packet) -> Option<&Caller> {
///     let Packet::Frame { source, .. } = packet else { return None };
///     source.as_ref()?.downcast_ref::<Head>()?.extensions().get()
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Head {
    parts: Parts,
    remote: Option<RemoteAddr>,
    len: usize,
    accepts: Accepts,
    /// The memory of the message that came with it.
    reservation: Option<Arc<Reservation>>,
    /// The positions of the members of the message's params, once the headers were compared with them.
    params: OnceLock<ParamsIndex>,
    /// The session that the message names, once it was looked up. Boxed, because a head is kept with each session.
    session: OnceLock<Option<Box<SessionId>>>,
}

impl Head {
    /// The head of a request of the client at `remote`, whose headers take `len` bytes. If `remote` is `None`, the address is
    /// taken out of the extensions.
    pub(crate) fn new(mut parts: Parts, len: usize, remote: Option<RemoteAddr>) -> Self {
        let from_extensions = if parts.extensions.is_empty() { None } else { parts.extensions.remove() };
        if parts.extensions.is_empty() {
            // A head may be kept for as long as a session, and an empty table takes memory.
            parts.extensions = Extensions::new();
        }
        let (params, session) = (OnceLock::new(), OnceLock::new());
        Self {
            parts,
            remote: remote.or(from_extensions),
            len,
            accepts: Accepts::Both,
            reservation: None,
            params,
            session,
        }
    }

    /// The same, whose sender accepts these forms of an answer.
    pub(crate) fn accepting(mut self, accepts: Accepts) -> Self {
        self.accepts = accepts;
        self
    }

    /// The forms of an answer that the sender accepts.
    pub(crate) fn accepts(&self) -> Accepts {
        self.accepts
    }

    /// The headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    /// The extensions that layers in front of the endpoint have set, such as the principal.
    pub fn extensions(&self) -> &Extensions {
        &self.parts.extensions
    }

    /// A copy that may be kept as long as a session. Its texts are copied, because they are slices of a larger buffer.
    pub(crate) fn copied(&self) -> Self {
        let mut parts = self.parts.clone();
        let mut texts = BytesMut::with_capacity(parts.headers.values().map(HeaderValue::len).sum());
        for value in parts.headers.values_mut() {
            texts.extend_from_slice(value.as_bytes());
            if let Ok(mut copy) = HeaderValue::from_maybe_shared(texts.split().freeze()) {
                copy.set_sensitive(value.is_sensitive());
                *value = copy;
            }
        }
        if let Ok(copy) = Uri::try_from(parts.uri.to_string()) {
            parts.uri = copy;
        }
        let (params, session) = (OnceLock::new(), OnceLock::new());
        let (remote, len, accepts) = (self.remote, self.len, self.accepts);
        Self { parts, remote, len, accepts, reservation: None, params, session }
    }

    /// The same head, which keeps memory reserved until it is dropped. The handler of the message holds the head as its source.
    #[must_use]
    pub fn holding(mut self, reservation: Reservation) -> Self {
        self.reservation = Some(Arc::new(reservation));
        self
    }

    /// A packet whose source is this head.
    pub(crate) fn packet(self: &Arc<Self>, frame: impl Into<Frame>) -> Packet {
        Packet::Frame { frame: frame.into(), in_reply_to: None, source: Some(self.clone()) }
    }

    /// The address of the client's end of the connection, where it is known. It is taken out of the extensions.
    pub fn remote_addr(&self) -> Option<RemoteAddr> {
        self.remote
    }

    /// The sender of the request, as far as limits distinguish callers.
    pub fn caller(&self) -> Caller {
        Caller::new(self.extensions().get(), self.remote)
    }

    /// The positions of the members of the message's params. They are read once, and handlers find the index in their
    /// [`MessageSource`].
    pub(crate) fn params_index(&self, message: &Message) -> &ParamsIndex {
        self.params.get_or_init(|| ParamsIndex::of(message))
    }

    /// About how many bytes of memory its headers take.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// An empty table of headers, which reuses that of the request if nothing else holds the head.
    pub(crate) fn header_memory(head: &mut Arc<Self>) -> HeaderMap {
        let headers = Arc::get_mut(head).map(|head| std::mem::take(&mut head.parts.headers));
        let mut headers = headers.unwrap_or_default();
        headers.clear();
        headers
    }

    /// The target of the request.
    pub fn uri(&self) -> &Uri {
        &self.parts.uri
    }
}

impl From<Parts> for Head {
    fn from(parts: Parts) -> Self {
        let len = Fields::of(&parts.headers).len();
        Self::new(parts, len, None)
    }
}

impl MessageSource for Head {
    fn header(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        let mut values = self.parts.headers.get_all(name).iter().map(HeaderValue::as_bytes);
        let first = values.next()?;
        let joined =
            values.fold(Cow::Borrowed(first), |joined, value| [&joined, &b", "[..], value].concat().into());
        Some(joined)
    }

    /// The [`Principal`] that a check of tokens or a layer named.
    fn principal(&self) -> Option<Cow<'_, str>> {
        self.parts.extensions.get::<Principal>().map(|principal| principal.as_str().into())
    }

    /// The [name of the caller](Caller::name): the principal that a layer named, or else the address.
    fn sender(&self) -> Option<Cow<'_, str>> {
        self.principal().or_else(|| self.caller().name().map(|name| name.into_owned().into()))
    }

    /// The [`ParamsIndex`] of a request without a session, and the [`SessionId`] of one in a session, by which all nodes know it.
    fn extension_of(&self, kind: TypeId) -> Option<&dyn Any> {
        if kind == TypeId::of::<SessionId>() {
            // The endpoint has refused an id of another form, so the rest of this one is a seal.
            let read = || SealedSessions::parse(self.parts.headers.get(SESSION_ID)?.as_bytes()).map(Box::new);
            let session: &SessionId = self.session.get_or_init(read).as_deref()?;
            return Some(session);
        }
        let index = self.params.get().filter(|_| kind == TypeId::of::<ParamsIndex>())?;
        Some(index)
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    #[test]
    fn values_of_a_repeated_header_are_joined() {
        let request = Request::get("/").header("X-One", "1").header("x-two", "1").header("X-Two", "2");
        let head = Head::from(request.body(()).unwrap().into_parts().0);
        assert_eq!(head.header("x-ONE").as_deref(), Some(&b"1"[..]));
        assert_eq!(head.header("X-Two").as_deref(), Some(&b"1, 2"[..]));
        assert_eq!(head.header("X-Three"), None);
        assert_eq!(head.header("no name"), None);
    }

    #[test]
    fn head_has_the_session_of_its_message() {
        let session = |text: &str| {
            let request = Request::get("/").header("Mcp-Session-Id", text).body(()).unwrap();
            let head: &dyn MessageSource = &Head::from(request.into_parts().0);
            head.extension::<SessionId>().copied()
        };
        let id = SessionId::random().unwrap();
        assert_eq!((session(&String::from(id)), session("none of ours")), (Some(id), None));
        assert_eq!(session(&format!("{id}.c2VhbGVk")), Some(id));
    }

    #[test]
    fn a_sender_is_a_principal_or_an_address() {
        let head = |change: fn(&mut Extensions)| {
            let mut request = Request::get("/").body(()).unwrap();
            change(request.extensions_mut());
            Head::from(request.into_parts().0)
        };
        let address = |extensions: &mut Extensions| {
            extensions.insert(RemoteAddr::new(([192, 0, 2, 1], 50_000).into()));
        };
        assert_eq!(head(|_| {}).sender(), None);
        assert_eq!(head(address).sender().as_deref(), Some("address 192.0.2.1"));
        let named = head(|extensions| {
            extensions.insert(RemoteAddr::new(([192, 0, 2, 1], 50_000).into()));
            extensions.insert(Principal::new("ann"));
        });
        assert_eq!(named.sender().as_deref(), Some("ann"));
    }
}
