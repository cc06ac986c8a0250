//! The hosts that may be requested. A URL from a server must not make this process send requests to a private network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use agentwire_wire_derive::Build;
use http::Uri;
use http::uri::Scheme;

/// How long the resolution of a name may take. After that, the request itself reports the failure.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(5);

/// The URLs of a server that may be requested: metadata, endpoints, key sets.
///
/// The default is `https` and public addresses. Names are resolved, and each of their addresses is checked. The HTTP client
/// resolves the name again, so a name that changes in between is not noticed. An HTTP proxy resolves names by itself.
///
/// ```
/// use agentwire_mcp_auth::AddressPolicy;
///
/// let policy = AddressPolicy::new().loopback(true).trust("keycloak.internal");
/// ```
#[derive(Clone, Debug, Default, Build)]
pub struct AddressPolicy {
    /// Allows this machine, also by `http` (default: no). A client of a server on this machine allows it by itself.
    loopback: bool,
    /// Allows the addresses of private networks, such as `10.0.0.0/8` and `fc00::/7` (default: no). A client of a server at such
    /// an address allows them by itself.
    private: bool,
    /// Allows a host whatever its addresses are, also by `http`. May be called again.
    #[build(name = trust, push, into)]
    trusted: Vec<String>,
}

/// The kind of an address's network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Network {
    Public,
    Loopback,
    Private,
    /// Link-local, multicast, unspecified and reserved addresses, such as a cloud's metadata service. Never requested.
    Other,
}

/// A URL that may not be requested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RefusedUrl {
    #[error("it is not a URL of `https`, or of `http` on this machine")]
    Scheme,
    #[error("it has a user, a password or no host")]
    Authority,
    #[error("its host has the address {0}, which is not public")]
    Address(IpAddr),
}

impl AddressPolicy {
    /// `https` and public addresses only.
    pub fn new() -> Self {
        Self::default()
    }

    /// Also allows the network of a server that the user has named.
    #[cfg(feature = "client")]
    pub(crate) async fn reaching(self, server: &Uri) -> Self {
        self.with_networks(&addresses(server).await)
    }

    /// Allows the network of these addresses of a server. A public server could name a private address beside its own, to reach the
    /// network of this machine through it, so all of them must be of that network.
    #[cfg(feature = "client")]
    fn with_networks(mut self, addresses: &[IpAddr]) -> Self {
        let are_all =
            |wanted| !addresses.is_empty() && addresses.iter().all(|address| network(*address) == wanted);
        self.loopback |= are_all(Network::Loopback);
        self.private |= are_all(Network::Private);
        self
    }

    /// Whether secrets may be sent to a URL by its scheme: `https`, or `http` on this machine and to trusted hosts.
    #[cfg(feature = "client")]
    pub(crate) fn allows_scheme(&self, url: &Uri) -> bool {
        let host = url.host().unwrap_or_default();
        url.scheme() == Some(&Scheme::HTTPS) || is_loopback_host(host) || self.trusts(host)
    }

    fn trusts(&self, host: &str) -> bool {
        self.trusted.iter().any(|trusted| trusted.eq_ignore_ascii_case(host))
    }

    /// Checks a URL, and the addresses of its host.
    pub(crate) async fn check(&self, url: &Uri) -> Result<(), RefusedUrl> {
        let host = url.host().filter(|host| !host.is_empty()).ok_or(RefusedUrl::Authority)?;
        if url.authority().is_none_or(|authority| authority.as_str().contains('@')) {
            return Err(RefusedUrl::Authority);
        }
        let secure = match url.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP => false,
            _ => return Err(RefusedUrl::Scheme),
        };
        if self.trusts(host) {
            return Ok(());
        }
        if !secure && !is_loopback_host(host) {
            return Err(RefusedUrl::Scheme);
        }
        for address in addresses(url).await {
            let allowed = match network(address) {
                Network::Public => true,
                Network::Loopback => self.loopback,
                Network::Private => self.private,
                Network::Other => false,
            };
            if !allowed {
                return Err(RefusedUrl::Address(address));
            }
        }
        Ok(())
    }
}

/// Whether a host is this machine: a loopback address, or a name under `localhost`.
pub(crate) fn is_loopback_host(host: &str) -> bool {
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    match literal(host) {
        Some(address) => network(address) == Network::Loopback,
        None => name == "localhost" || name.ends_with(".localhost"),
    }
}

/// The host as an address, if it is not a name.
fn literal(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// The addresses of a URL's host; empty if the name does not resolve, which the request itself reports.
async fn addresses(url: &Uri) -> Vec<IpAddr> {
    let Some(host) = url.host() else { return Vec::new() };
    if let Some(address) = literal(host) {
        return vec![address];
    }
    if is_loopback_host(host) {
        return vec![Ipv4Addr::LOCALHOST.into()];
    }
    let port = url.port_u16().unwrap_or(443);
    let resolved = tokio::time::timeout(RESOLVE_TIMEOUT, tokio::net::lookup_host((host, port))).await;
    match resolved {
        Ok(Ok(addresses)) => addresses.map(|address| address.ip()).collect(),
        _ => Vec::new(),
    }
}

fn network(address: IpAddr) -> Network {
    match address {
        IpAddr::V4(address) => network_v4(address),
        IpAddr::V6(address) => match embedded(address) {
            Some(inner) => network_v4(inner),
            None => network_v6(address),
        },
    }
}

fn network_v4(address: Ipv4Addr) -> Network {
    let [first, second, ..] = address.octets();
    match first {
        127 => Network::Loopback,
        10 => Network::Private,
        172 if (16..32).contains(&second) => Network::Private,
        192 if second == 168 => Network::Private,
        // Carriers' networks, RFC 6598.
        100 if (64..128).contains(&second) => Network::Private,
        0 | 224..=255 => Network::Other,
        169 if second == 254 => Network::Other,
        _ => Network::Public,
    }
}

fn network_v6(address: Ipv6Addr) -> Network {
    let first = address.segments()[0];
    if address.is_loopback() {
        Network::Loopback
    } else if first & 0xfe00 == 0xfc00 {
        Network::Private
    } else if first & 0xe000 == 0x2000 {
        Network::Public
    } else {
        Network::Other
    }
}

/// The IPv4 address inside an IPv6 address: mapped, translated (RFC 6052) or 6to4.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let segments = address.segments();
    let of = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match segments {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(of(high, low)),
        [0x2002, high, low, ..] => Some(of(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn check(policy: &AddressPolicy, url: &str) -> Result<(), RefusedUrl> {
        policy.check(&url.parse().unwrap()).await
    }

    #[tokio::test]
    async fn only_public_addresses_are_allowed_by_default() {
        let policy = AddressPolicy::new();
        assert_eq!(check(&policy, "https://192.0.2.1/x").await, Ok(()));
        assert_eq!(check(&policy, "https://[2001:db8::1]/x").await, Ok(()));
        for host in [
            "127.0.0.1",
            "localhost",
            "a.LOCALHOST",
            "10.1.2.3",
            "172.31.0.1",
            "192.168.1.1",
            "100.64.0.1",
            "169.254.169.254",
            "0.0.0.0",
            "255.255.255.255",
            "[::1]",
            "[::]",
            "[fe80::1]",
            "[fd00::1]",
            "[::ffff:169.254.169.254]",
            "[64:ff9b::a9fe:a9fe]",
            "[2002:7f00:1::]",
        ] {
            let refused = check(&policy, &format!("https://{host}:8443/x")).await;
            assert!(matches!(refused, Err(RefusedUrl::Address(_))), "{host}: {refused:?}");
        }
    }

    #[tokio::test]
    async fn http_is_allowed_on_this_machine_and_trusted_hosts_only() {
        let policy = AddressPolicy::new().loopback(true).private(true);
        for url in ["http://127.0.0.1:3000/x", "http://localhost/x", "https://10.0.0.1/x"] {
            assert_eq!(check(&policy, url).await, Ok(()), "{url}");
        }
        for url in ["http://192.0.2.1/x", "http://10.0.0.1/x", "ftp://192.0.2.1/x"] {
            assert_eq!(check(&policy, url).await, Err(RefusedUrl::Scheme), "{url}");
        }
        for url in ["https://user@192.0.2.1/x", "/x"] {
            assert_eq!(check(&policy, url).await, Err(RefusedUrl::Authority), "{url}");
        }
        let trusting = AddressPolicy::new().trust("10.0.0.1");
        assert_eq!(check(&trusting, "http://10.0.0.1/x").await, Ok(()));
        assert!(check(&trusting, "http://10.0.0.2/x").await.is_err());
    }

    #[cfg(feature = "client")]
    #[tokio::test]
    async fn public_address_of_a_server_allows_no_private_network() {
        let of = |addresses: &[&str]| {
            let addresses: Vec<IpAddr> = addresses.iter().map(|address| address.parse().unwrap()).collect();
            AddressPolicy::new().with_networks(&addresses)
        };
        assert_eq!(check(&of(&["10.0.0.1", "10.0.0.2"]), "https://10.0.0.3/").await, Ok(()));
        for addresses in [&["192.0.2.1", "10.0.0.1"][..], &["10.0.0.1", "2001:db8::1"], &[]] {
            assert!(check(&of(addresses), "https://10.0.0.3/").await.is_err(), "{addresses:?}");
        }
    }

    #[cfg(feature = "client")]
    #[tokio::test]
    async fn network_of_the_server_is_allowed() {
        let policy = AddressPolicy::new().reaching(&"http://127.0.0.1:1/mcp".parse().unwrap()).await;
        assert_eq!(check(&policy, "http://127.0.0.2/x").await, Ok(()));
        assert!(check(&policy, "https://10.0.0.1/x").await.is_err());
        assert!(check(&policy, "https://169.254.169.254/x").await.is_err());
    }
}
