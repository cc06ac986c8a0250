//! The proxies of the environment, and the hosts that are reached without one.

use std::env;
use std::net::IpAddr;

use http::Uri;
use http::uri::Scheme;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};

/// The proxy that the environment names for a URL: see [`EnvironmentProxy::of`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EnvironmentProxy {
    /// The URL of the proxy, without its credentials.
    pub url: String,
    /// The variable that names it, or `None` if the settings of the system name it.
    pub variable: Option<&'static str>,
}

impl EnvironmentProxy {
    /// Returns the proxy of the environment through which [`Hyper`](crate::client::Hyper) reaches a URL, for messages to the
    /// user. `None` if it is reached directly.
    pub fn of(url: &Uri) -> Option<Self> {
        let is_set = |name: &str| env::var(name).is_ok_and(|value| !value.is_empty());
        Self::among(&Proxies::from_environment(), url, is_set)
    }

    fn among(proxies: &Proxies, url: &Uri, is_set: impl Fn(&str) -> bool) -> Option<Self> {
        let proxy = proxies.intercept(url)?;
        let is_https = url.scheme() == Some(&Scheme::HTTPS);
        let own = if is_https { ["HTTPS_PROXY", "https_proxy"] } else { ["HTTP_PROXY", "http_proxy"] };
        let variable = own.into_iter().chain(["ALL_PROXY", "all_proxy"]).find(|name| is_set(name));
        Some(Self { url: proxy.uri().to_string().trim_end_matches('/').to_owned(), variable })
    }
}

/// The proxies, and the hosts that `NO_PROXY` exempts from them.
#[derive(Debug)]
pub(crate) struct Proxies {
    matcher: Matcher,
    direct: NoProxy,
}

impl Proxies {
    /// Reads the environment.
    pub(crate) fn from_environment() -> Self {
        let direct = ["NO_PROXY", "no_proxy"].into_iter().find_map(|name| env::var(name).ok());
        Self::new(Matcher::from_system(), &direct.unwrap_or_default())
    }

    /// `matcher` knows some forms of `NO_PROXY` too. A URL is exempt if either exempts it.
    pub(crate) fn new(matcher: Matcher, no_proxy: &str) -> Self {
        Self { matcher, direct: NoProxy::parse(no_proxy) }
    }

    /// The proxy for a URL. `None` if the URL is reached directly.
    pub(crate) fn intercept(&self, url: &Uri) -> Option<Intercept> {
        self.matcher.intercept(url).filter(|_| !self.is_exempt(url))
    }

    /// Whether `NO_PROXY` exempts nothing.
    #[cfg(feature = "reqwest")]
    pub(crate) fn exempts_none(&self) -> bool {
        self.direct.0.is_empty()
    }

    /// Whether `NO_PROXY` exempts the URL.
    pub(crate) fn is_exempt(&self, url: &Uri) -> bool {
        self.direct.exempts(url)
    }
}

/// The entries of `NO_PROXY`.
#[derive(Debug)]
struct NoProxy(Vec<Entry>);

#[derive(Debug)]
struct Entry {
    hosts: Hosts,
    /// `None` stands for every port.
    port: Option<u16>,
}

#[derive(Debug, PartialEq)]
enum Hosts {
    /// A host with its subdomains.
    Domain(String),
    /// A pattern in which `*` stands for any text, dots included.
    Pattern(String),
    /// An address, or a network with the length of its prefix.
    Network(IpAddr, u32),
}

impl NoProxy {
    fn parse(text: &str) -> Self {
        let entries = text.split(|c: char| c == ',' || c.is_whitespace());
        Self(entries.filter(|entry| !entry.is_empty()).filter_map(Entry::parse).collect())
    }

    fn exempts(&self, url: &Uri) -> bool {
        let Some(host) = url.host() else { return false };
        let host = normal(without_brackets(host));
        let address = host.parse::<IpAddr>().ok().map(|address| address.to_canonical());
        let default = if url.scheme() == Some(&Scheme::HTTPS) { 443 } else { 80 };
        let port = url.port_u16().unwrap_or(default);
        self.0
            .iter()
            .any(|entry| entry.port.is_none_or(|only| only == port) && entry.hosts.contains(&host, address))
    }
}

impl Entry {
    /// Reads `HOST`, `HOST:PORT` or `ADDRESS/LENGTH`. An IPv6 address with a port has brackets.
    fn parse(entry: &str) -> Option<Self> {
        if let Some(hosts) = Hosts::network(without_brackets(entry)) {
            return Some(Self { hosts, port: None });
        }
        let (host, port) = match entry.rsplit_once(':') {
            Some((host, port)) => (host, Some(port.parse().ok()?)),
            None => (entry, None),
        };
        let host = without_brackets(host);
        Some(Self { hosts: Hosts::network(host).or_else(|| Hosts::named(host))?, port })
    }
}

impl Hosts {
    fn network(text: &str) -> Option<Self> {
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length.parse::<u32>().ok()?)),
            None => (text, None),
        };
        let address: IpAddr = without_brackets(address).parse().ok()?;
        let bits = if address.is_ipv4() { 32 } else { 128 };
        let length = length.unwrap_or(bits);
        match address.to_canonical() {
            _ if length > bits => None,
            canonical if canonical == address => Some(Self::Network(address, length)),
            // The first 96 bits of a mapped address are the same for all of them.
            canonical => Some(Self::Network(canonical, length.checked_sub(96)?)),
        }
    }

    fn named(host: &str) -> Option<Self> {
        let host = normal(host.strip_prefix('.').unwrap_or(host));
        match host.contains('*') {
            _ if host.is_empty() => None,
            true => Some(Self::Pattern(host)),
            false => Some(Self::Domain(host)),
        }
    }

    fn contains(&self, host: &str, address: Option<IpAddr>) -> bool {
        match self {
            Self::Domain(domain) => host
                .strip_suffix(&**domain)
                .is_some_and(|rest| rest.is_empty() || (rest.ends_with('.') && address.is_none())),
            Self::Pattern(pattern) => fits(host, pattern),
            Self::Network(network, length) => address.is_some_and(|address| match (network, address) {
                (IpAddr::V4(network), IpAddr::V4(address)) => {
                    let other = u32::from(*network) ^ u32::from(address);
                    other.leading_zeros() >= *length
                }
                (IpAddr::V6(network), IpAddr::V6(address)) => {
                    let other = u128::from(*network) ^ u128::from(address);
                    other.leading_zeros() >= *length
                }
                _ => false,
            }),
        }
    }
}

/// A host in lower case and without the dot at its end.
fn normal(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

fn without_brackets(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

/// Whether a text fits a pattern in which each `*` stands for any text.
fn fits(text: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxy_is_named_with_its_variable_and_without_its_credentials() {
        let matcher = Matcher::builder()
            .http("http://user:hunter2@127.0.0.1:9/")
            .https("https://proxy.example:3128")
            .build();
        let proxies = Proxies::new(matcher, "direct.example");
        let rows = [
            ("http://a.example/x", "http_proxy", Some(("http://127.0.0.1:9", Some("http_proxy")))),
            ("http://a.example/x", "ALL_PROXY", Some(("http://127.0.0.1:9", Some("ALL_PROXY")))),
            ("https://a.example/", "HTTPS_PROXY", Some(("https://proxy.example:3128", Some("HTTPS_PROXY")))),
            ("https://a.example/", "HTTP_PROXY", Some(("https://proxy.example:3128", None))),
            ("http://direct.example/", "HTTP_PROXY", None),
        ];
        for (url, set, expected) in rows {
            let found = EnvironmentProxy::among(&proxies, &url.parse().unwrap(), |name| name == set);
            let found = found.as_ref().map(|proxy| (&*proxy.url, proxy.variable));
            assert_eq!(found, expected, "{url} {set}");
        }
    }

    #[test]
    fn each_form_of_no_proxy_exempts_its_hosts_alone() {
        let rows = [
            ("*", "http://10.0.0.1/ https://a.example/ http://[::1]:8080/", ""),
            (
                "a.example",
                "http://a.example/ https://x.A.example:8443/ http://a.example./",
                "http://ba.example/",
            ),
            (".a.example", "http://a.example/ http://x.a.example/", "http://xa.example/"),
            (
                "*.corp.example",
                "http://x.corp.example/ https://y.x.corp.example/",
                "http://corp.example/ http://x.example/",
            ),
            ("A.EXAMPLE.", "http://a.example/", ""),
            ("localhost", "http://localhost:3000/", "http://127.0.0.1:3000/"),
            (
                "127.0.0.1",
                "http://127.0.0.1:3000/ http://[::ffff:127.0.0.1]/",
                "http://127.0.0.2/ http://x.127.0.0.1.example/",
            ),
            ("10.0.0.0/8", "http://10.255.1.2/", "http://11.0.0.1/ http://10.example/"),
            ("10.0.0.0/0", "http://11.0.0.1/", "http://[::1]/"),
            ("10.*", "http://10.1.2.3/", "http://11.1.2.3/"),
            ("::1", "http://[::1]:80/", "http://[::2]/"),
            ("[::1]", "http://[::1]:80/ https://[::1]/", "http://[::2]/"),
            ("[::1]:8080", "http://[::1]:8080/", "http://[::1]/"),
            ("fd00::/8", "http://[fd12::1]/", "http://[fe80::1]/"),
            ("[fd00::]/8 [fc00::/8]", "http://[fc12::1]/ http://[fd12::1]/", "http://[fe80::1]/"),
            ("::ffff:10.0.0.0/104", "http://10.1.2.3/", "http://11.0.0.1/"),
            ("a.example:8443", "https://a.example:8443/ https://x.a.example:8443/", "https://a.example/"),
            ("a.example:443", "https://a.example/", "http://a.example/"),
            ("192.168.1.7:80", "http://192.168.1.7/", "http://192.168.1.7:81/"),
            (
                " b.example , c.example d.example,,",
                "http://b.example/ http://c.example/ http://d.example/",
                "http://e.example/",
            ),
            (". , : ,/8,10.0.0.0/33,a.example:x,[", "", "http://a.example/ http://10.0.0.0/"),
            ("", "", "http://a.example/"),
        ];
        for (no_proxy, direct, proxied) in rows {
            let matcher = Matcher::builder().all("http://proxy.example:3128").build();
            let proxies = Proxies::new(matcher, no_proxy);
            let is_proxied = |url: &str| proxies.intercept(&url.parse().unwrap()).is_some();
            for url in direct.split_whitespace() {
                assert!(!is_proxied(url), "`{no_proxy}` exempts {url}");
            }
            for url in proxied.split_whitespace() {
                assert!(is_proxied(url), "`{no_proxy}` leaves {url}");
            }
        }
    }

    #[test]
    fn a_pattern_fits_from_end_to_end() {
        for (text, pattern, expected) in [
            ("abc", "a*c", true),
            ("ac", "a*c", true),
            ("a", "a*a", false),
            ("abcb", "*b*b", true),
            ("ab", "*b*b", false),
            ("abc", "abc", true),
            ("abcd", "abc", false),
        ] {
            assert_eq!(fits(text, pattern), expected, "{text} {pattern}");
        }
    }
}
