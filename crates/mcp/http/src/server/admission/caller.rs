//! Identifies who sent a request, for limits: by the authenticated principal, else by IP address. IPv6 addresses count per 64-bit
//! network.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use http::Extensions;

/// The address of the client's end of a connection.
///
/// [`serve`](crate::server::serve) passes it to an endpoint, and puts it into the [`Extensions`] of a request for any other
/// service. Behind another web server a layer puts it there, as with axum's `ConnectInfo`. Behind a proxy it is the address of
/// the proxy, unless a layer that trusts the proxy's headers inserts another.
///
/// ```
/// use agentwire_transport_http::server::{Caller, RemoteAddr};
///
/// let mut request = http::Request::new(());
/// request.extensions_mut().insert(RemoteAddr::new(([192, 0, 2, 1], 50_000).into()));
/// assert_ne!(Caller::of(request.extensions()), Caller::UNKNOWN);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RemoteAddr(SocketAddr);

impl RemoteAddr {
    /// The address of a client.
    pub fn new(address: SocketAddr) -> Self {
        Self(address)
    }

    /// The address.
    pub fn address(self) -> SocketAddr {
        self.0
    }
}

/// The authenticated name of a caller. A layer that authenticates puts it into the [`Extensions`] of every request. A session
/// then exists only for requests of the principal that opened it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Principal(Arc<str>);

impl Principal {
    /// A principal with a unique name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The sender of a request, as far as limits distinguish callers: the [`Principal`] where a layer names one, else the IP
/// address of [`RemoteAddr`]. All addresses of an IPv6 network of 64 bits are one caller, because one machine can use
/// all of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Caller(Identity);

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Identity {
    Unknown,
    Network(IpAddr),
    Principal(Principal),
}

impl Caller {
    /// No principal and no address is known. Limits for each caller do not apply to such requests, limits for all do.
    pub const UNKNOWN: Self = Self(Identity::Unknown);

    /// The caller of the request with these extensions.
    pub fn of(extensions: &Extensions) -> Self {
        Self::new(extensions.get(), extensions.get().copied())
    }

    pub(crate) fn new(principal: Option<&Principal>, remote: Option<RemoteAddr>) -> Self {
        match principal {
            Some(principal) => Self(Identity::Principal(principal.clone())),
            None => remote.map_or(Self::UNKNOWN, |remote| Self::at(remote.0.ip())),
        }
    }

    /// A name for the caller, the same for all of its requests: the principal's, or the address after the word
    /// `address`. None for an [unknown](Self::UNKNOWN) caller.
    pub fn name(&self) -> Option<Cow<'_, str>> {
        match &self.0 {
            Identity::Unknown => None,
            Identity::Network(address) => Some(format!("address {address}").into()),
            Identity::Principal(principal) => Some(principal.as_str().into()),
        }
    }

    /// The caller at this address.
    pub(crate) fn at(address: IpAddr) -> Self {
        Self(Identity::Network(match address.to_canonical() {
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
            address => address,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: &str) -> Caller {
        let mut extensions = Extensions::new();
        extensions.insert(RemoteAddr::new(SocketAddr::new(address.parse().unwrap(), 1)));
        Caller::of(&extensions)
    }

    #[test]
    fn a_caller_is_a_principal_or_a_network() {
        assert_eq!(Caller::of(&Extensions::new()), Caller::UNKNOWN);
        assert_ne!(at("127.0.0.1"), at("127.0.0.2"));
        assert_eq!(at("127.0.0.1"), at("::ffff:127.0.0.1"));
        assert_eq!(at("2001:db8::1"), at("2001:db8::ffff:1"));
        assert_ne!(at("2001:db8:0:1::1"), at("2001:db8::1"));
        let mut extensions = Extensions::new();
        extensions.insert(RemoteAddr::new(([127, 0, 0, 1], 1).into()));
        extensions.insert(Principal::new("alice"));
        assert_ne!(Caller::of(&extensions), at("127.0.0.1"));
        assert_eq!(Caller::of(&extensions).name().as_deref(), Some("alice"));
        assert_eq!(at("2001:db8::1").name(), at("2001:db8::2").name());
        assert_eq!(at("192.0.2.1").name().as_deref(), Some("address 192.0.2.1"));
        assert_eq!(Caller::UNKNOWN.name(), None);
    }
}
