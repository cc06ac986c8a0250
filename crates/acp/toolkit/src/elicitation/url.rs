//! Checks a URL before the user is asked to visit it.

use std::net::{Ipv4Addr, Ipv6Addr};

use agentwire_acp_schema::v1::{
    CreateElicitationResponse, ElicitationAcceptAction, ElicitationId, ElicitationUrlMode,
};
use agentwire_jsonrpc::ErrorObject;

/// A URL that the agent wants the user to visit. Its host is checked to be the one that a browser opens.
///
/// Show the whole [`url`](Self::url) with its [`host`](Self::host) marked, the [`warnings`](Self::warnings) and the name of
/// the agent, and ask the user. Open it only after consent, in a browser that neither this program nor the model can
/// inspect. This crate opens and fetches nothing. A view must not fetch a preview or an icon either.
///
/// Fewer URLs are allowed than browsers accept. Browsers repair URLs in different ways, and two parsers that disagree on
/// the host can be used to deceive the user.
///
/// See <https://agentclientprotocol.com/protocol/v1/elicitation#url-security>.
///
/// ```
/// use agentwire_acp_schema::v1::ElicitationUrlMode;
/// use agentwire_acp_toolkit::{UrlConsent, UrlError};
///
/// fn question(mode: &ElicitationUrlMode) -> Result<String, UrlError> {
///     let consent = UrlConsent::new(mode)?;
///     Ok(format!("Visit {}? It leads to {}.", consent.url(), consent.host()))
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlConsent {
    id: ElicitationId,
    url: String,
    host: std::ops::Range<usize>,
    warnings: Vec<UrlWarning>,
}

/// The fault of a URL that must not be shown to the user. Send it to the agent: it converts into "invalid params".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UrlError {
    /// The URL is longer than the limit.
    #[error("the URL is longer than the limit, which is {limit} bytes")]
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// The scheme is neither `https` nor `http`.
    #[error("the URL does not begin with https:// or http://")]
    Scheme,
    /// The URL has a character that no URL may have: a space, a control character, a backslash, or one outside ASCII.
    #[error("the URL has a character at byte {at} that no URL has")]
    Character {
        /// Its offset in bytes.
        at: usize,
    },
    /// The URL has a user name or a password before the host, which can look like a host.
    #[error("the URL has a user name or a password")]
    Credentials,
    /// The host is invalid, or not in its usual form.
    #[error("the URL has no host that can be shown without doubt")]
    Host,
}

impl From<UrlError> for ErrorObject {
    fn from(error: UrlError) -> Self {
        Self::invalid_params(error)
    }
}

/// A warning for the user about a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UrlWarning {
    /// The connection is not encrypted, so others can read it. Not reported for a host that is this machine.
    NotEncrypted,
    /// The host is an international name in its coded form, which may look like another name.
    Punycode,
    /// The host is an address, not a name.
    Address,
    /// The host is this machine.
    Local,
    /// The port is not the usual one.
    Port,
}

/// The limit of a URL, in bytes.
const LIMIT: usize = 8 * 1024;

impl UrlConsent {
    /// Checks the URL of a request.
    ///
    /// # Errors
    ///
    /// For a URL that may lead to another host than the user sees. Answer the request with the error.
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

    /// Returns the whole URL, as the agent sent it. It has no control characters.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the host, to be marked in the URL.
    pub fn host(&self) -> &str {
        &self.url[self.host.clone()]
    }

    /// Returns the range of the host in the URL, in bytes.
    pub fn host_range(&self) -> std::ops::Range<usize> {
        self.host.clone()
    }

    /// Returns the warnings.
    pub fn warnings(&self) -> &[UrlWarning] {
        &self.warnings
    }

    /// Returns the id of the elicitation. If the agent sends `elicitation/complete` when the user has finished, it names this
    /// id. Ignore unknown ids.
    pub fn elicitation_id(&self) -> &ElicitationId {
        &self.id
    }

    /// Returns the answer for a user who agrees. It has no content: the user's input at the URL does not pass through the
    /// client. Declining and cancelling need no URL.
    pub fn accept(&self) -> CreateElicitationResponse {
        CreateElicitationResponse::accept(ElicitationAcceptAction::new())
    }
}

/// Splits off the port from the host, which may be in brackets.
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
        // A connection to the unspecified address leads to this machine.
        return address(ip.is_loopback() || ip.is_unspecified());
    }
    let labels: Vec<_> = host.split('.').collect();
    let fits = |label: &&str| {
        let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        !label.is_empty() && label.len() < 64 && label.bytes().all(inner) && !label.starts_with('-')
    };
    // Browsers read a host whose last label is a number as an address, even `0x7f.1` or `2130706433`.
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
