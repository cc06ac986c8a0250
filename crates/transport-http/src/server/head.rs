use std::borrow::Cow;
use std::sync::Arc;

use agentwire_jsonrpc::Frame;
use agentwire_transport::{Origin, Packet};
use bytes::BytesMut;
use http::request::Parts;
use http::{Extensions, HeaderMap, HeaderValue, Uri};

use crate::server::{Caller, Principal, RemoteAddr};

/// The head of the HTTP request that brought a message: the [`Origin`] of every packet that comes out of a
/// [`Link`](crate::server::Link), so that whoever answers can look at the request it came with, also within a session.
///
/// What layers in front of the endpoint know goes through its [`extensions`](Self::extensions):
///
/// ```
/// use agentwire_transport::{Origin, Packet};
/// use agentwire_transport_http::server::Head;
///
/// /// Who a layer for authentication found to be calling.
/// #[derive(Clone, Debug)]
/// struct Caller(String);
///
/// fn caller(packet: &Packet) -> Option<&Caller> {
///     let Packet::Frame { origin, .. } = packet else { return None };
///     origin.as_ref()?.downcast_ref::<Head>()?.extensions().get()
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Head {
    parts: Parts,
    remote: Option<RemoteAddr>,
}

impl Head {
    /// The headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    /// What layers in front of the endpoint have noted, such as who calls.
    pub fn extensions(&self) -> &Extensions {
        &self.parts.extensions
    }

    /// One that is kept as long as a session. Its texts are copied, because they are slices of all that was read with
    /// them.
    pub(crate) fn kept(&self) -> Self {
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
        Self { parts, remote: self.remote }
    }

    /// A packet that came with this.
    pub(crate) fn brings(self: &Arc<Self>, frame: impl Into<Frame>) -> Packet {
        Packet::Frame { frame: frame.into(), related: None, origin: Some(self.clone()) }
    }

    /// The address of the client's end of the connection, where it is known. It is taken out of the extensions.
    pub fn remote_addr(&self) -> Option<RemoteAddr> {
        self.remote
    }

    /// Who sent the request, as far as limits distinguish callers.
    pub fn caller(&self) -> Caller {
        Caller::new(self.extensions().get(), self.remote)
    }

    /// About how many bytes it has.
    pub(crate) fn len(&self) -> usize {
        self.parts.headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum()
    }

    /// Where the request went.
    pub fn uri(&self) -> &Uri {
        &self.parts.uri
    }
}

impl From<Parts> for Head {
    fn from(mut parts: Parts) -> Self {
        let remote = parts.extensions.remove();
        if parts.extensions.is_empty() {
            // A head may be kept for as long as a session, and an empty table takes memory.
            parts.extensions = Extensions::new();
        }
        Self { parts, remote }
    }
}

impl Origin for Head {
    fn header(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        let mut values = self.parts.headers.get_all(name).iter().map(HeaderValue::as_bytes);
        let first = values.next()?;
        let joined =
            values.fold(Cow::Borrowed(first), |joined, value| [&joined, &b", "[..], value].concat().into());
        Some(joined)
    }

    /// The [`Principal`](crate::server::Principal) that a layer named.
    fn sender(&self) -> Option<Cow<'_, str>> {
        self.parts.extensions.get::<Principal>().map(|principal| principal.as_str().into())
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    #[test]
    fn a_header_has_all_its_values() {
        let request = Request::get("/").header("X-One", "1").header("x-two", "1").header("X-Two", "2");
        let head = Head::from(request.body(()).unwrap().into_parts().0);
        assert_eq!(head.header("x-ONE").as_deref(), Some(&b"1"[..]));
        assert_eq!(head.header("X-Two").as_deref(), Some(&b"1, 2"[..]));
        assert_eq!(head.header("X-Three"), None);
        assert_eq!(head.header("no name"), None);
    }
}
