use std::net::{Ipv4Addr, Ipv6Addr};

use agentwire_acp_schema::v1::{
    CreateElicitationResponse, ElicitationAcceptAction, ElicitationId, ElicitationUrlMode,
};
use agentwire_jsonrpc::ErrorObject;

/// A URL that the agent wants the person to visit, checked, so that what is shown is where it leads.
///
/// Show all of [`url`](Self::url) with its [`host`](Self::host) marked and the [`warnings`](Self::warnings), say which agent
/// asks, and ask the person. Only after they agree may it be opened, in a browser that neither this program nor the model
/// can look into. This crate opens nothing and fetches nothing; neither may a preview or an icon be fetched.
///
/// What a URL may be is less than what browsers take: they repair much, each in its own way, and a host that one reads
/// and another does not is how people are deceived.
///
/// See <https://agentclientprotocol.com/protocol/v1/elicitation#url-security>.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlConsent {
    id: ElicitationId,
    url: String,
    host: std::ops::Range<usize>,
    warnings: Vec<UrlWarning>,
}

/// Why a URL must not be shown as something to visit. The agent is told so: this becomes an "invalid params".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UrlError {
    /// It is longer than people or browsers take.
    #[error("the URL is longer than the limit, which is {limit} bytes")]
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// It is neither `https` nor `http`.
    #[error("the URL does not begin with https:// or http://")]
    Scheme,
    /// It holds a character that no URL has: a space, a control character, a backslash, or one outside ASCII.
    #[error("the URL has a character at byte {at} that no URL has")]
    Character {
        /// Where, in bytes.
        at: usize,
    },
    /// It has a user name or a password in front of the host, which makes a host of what is none.
    #[error("the URL has a user name or a password")]
    Credentials,
    /// The host is none, or not written as it is usually written.
    #[error("the URL has no host that can be shown without doubt")]
    Host,
}

impl From<UrlError> for ErrorObject {
    fn from(error: UrlError) -> Self {
        Self::invalid_params(error)
    }
}

/// What the person should know before they visit a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UrlWarning {
    /// It is not encrypted: anybody on the way reads along. Not said of this machine itself.
    NotEncrypted,
    /// The host is an international name in its coded form, which may look like another one.
    Punycode,
    /// The host is a number, not a name.
    Address,
    /// The host is this machine.
    Local,
    /// The port is not the usual one.
    Port,
}

/// The longest URL that is shown.
const LIMIT: usize = 8 * 1024;

impl UrlConsent {
    /// Checks the URL of a request.
    ///
    /// # Errors
    ///
    /// For a URL that may lead elsewhere than it seems. Answer the request with it.
    pub fn new(request: &ElicitationUrlMode) -> Result<Self, UrlError> {
        let url = &request.url;
        if url.len() > LIMIT {
            return Err(UrlError::TooLong { limit: LIMIT });
        }
        let foreign = |byte: &u8| !byte.is_ascii_graphic() || b"\\\"<>^`{|}".contains(byte);
        if let Some(at) = url.as_bytes().iter().position(foreign) {
            return Err(UrlError::Character { at });
        }
        let (scheme, rest) = url.split_once("://").ok_or(UrlError::Scheme)?;
        let encrypted = scheme.eq_ignore_ascii_case("https");
        if !encrypted && !scheme.eq_ignore_ascii_case("http") {
            return Err(UrlError::Scheme);
        }
        let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
        if authority.contains('@') {
            return Err(UrlError::Credentials);
        }
        let (host, port) = split_port(authority).ok_or(UrlError::Host)?;
        let kind = host_kind(host).ok_or(UrlError::Host)?;
        let usual = port.is_none_or(|port| port == if encrypted { 443 } else { 80 });
        let all = [
            (UrlWarning::NotEncrypted, !encrypted && !kind.local),
            (UrlWarning::Punycode, kind.punycode),
            (UrlWarning::Address, kind.address),
            (UrlWarning::Local, kind.local),
            (UrlWarning::Port, !usual),
        ];
        let warnings = all.into_iter().filter_map(|(warning, holds)| holds.then_some(warning)).collect();
        let start = url.len() - rest.len();
        let id = request.elicitation_id.clone();
        Ok(Self { id, host: start..start + host.len(), url: url.clone(), warnings })
    }

    /// All of the URL, as the agent sent it. There is no character in it that a terminal would obey.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The host, to be marked in the URL.
    pub fn host(&self) -> &str {
        &self.url[self.host.clone()]
    }

    /// Where the host is in the URL, in bytes.
    pub fn host_range(&self) -> std::ops::Range<usize> {
        self.host.clone()
    }

    /// What to warn of.
    pub fn warnings(&self) -> &[UrlWarning] {
        &self.warnings
    }

    /// What `elicitation/complete` will name when the person is done there, if the agent says so at all. Ids that nobody
    /// waits for are to be ignored.
    pub fn elicitation_id(&self) -> &ElicitationId {
        &self.id
    }

    /// The answer when the person has agreed to visit it, with nothing in it: what they do there does not pass through
    /// the client. To decline or to cancel needs no URL.
    pub fn accept(&self) -> CreateElicitationResponse {
        CreateElicitationResponse::accept(ElicitationAcceptAction::new())
    }
}

/// The host, in its brackets if it has any, and the port.
fn split_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let end = match authority.strip_prefix('[') {
        Some(inner) => inner.find(']')? + 2,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, rest) = authority.split_at(end);
    match rest.strip_prefix(':') {
        None if rest.is_empty() => Some((host, None)),
        Some(port) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some((host, Some(port.parse().ok()?)))
        }
        _ => None,
    }
}

struct HostKind {
    address: bool,
    local: bool,
    punycode: bool,
}

fn host_kind(host: &str) -> Option<HostKind> {
    let address = |local| Some(HostKind { address: true, local, punycode: false });
    if let Some(inner) = host.strip_prefix('[') {
        let ip: Ipv6Addr = inner.strip_suffix(']')?.parse().ok()?;
        return address(
            ip.is_loopback() || ip.is_unspecified() || ip.to_ipv4_mapped().is_some_and(|ip| ip.is_loopback()),
        );
    }
    if let Ok(ip) = host.parse::<Ipv4Addr>() {
        // Connecting to no address in particular leads to this machine.
        return address(ip.is_loopback() || ip.is_unspecified());
    }
    let labels: Vec<_> = host.split('.').collect();
    let fits = |label: &&str| {
        let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        !label.is_empty() && label.len() < 64 && label.bytes().all(inner) && !label.starts_with('-')
    };
    // Browsers read a host whose last part is a number as an address, also if it is `0x7f.1` or `2130706433`.
    let last = labels.last()?.to_ascii_lowercase();
    let digits = last.strip_prefix("0x").unwrap_or(&last);
    let hexadecimal = last.starts_with("0x") && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = last.bytes().all(|byte| byte.is_ascii_digit()) || hexadecimal;
    if number || host.len() > 253 || !labels.iter().all(fits) {
        return None;
    }
    let coded = |label: &&str| label.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("xn--"));
    Some(HostKind { address: false, local: last == "localhost", punycode: labels.iter().any(coded) })
}
