//! Describes failures of HTTP as sentences, with advice.

use std::env;
use std::error::Error;

use agentwire_jsonrpc::Printable;
use agentwire_transport_http::client::{ConnectFault, EnvironmentProxy, HttpError, Refusal};
use agentwire_transport_sse::client::SseError;
use http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, StatusCode, Uri};

use super::auth::{OWN_TOKEN, auth_causes};
use super::chain::{causes, chain};
use crate::output::text::beginning;

/// The longest part of a response that is shown, in bytes.
const EXCERPT_LIMIT: usize = 500;

/// A failed request to a URL, as a sentence. `sends_authorization` is whether the command line has an `Authorization` header.
pub(super) fn http_phrase(url: &str, error: &HttpError, sends_authorization: bool) -> String {
    match error {
        HttpError::Unsent(why) => format!("cannot reach {url}: {}", unsent(url, &**why)),
        HttpError::Declined(why) => auth_causes(&**why),
        HttpError::TimedOut { wait, after, .. } => {
            format!("{url} did not answer in time: {wait} took longer than {after:?}")
        }
        HttpError::Refused(refusal) => refused(url, refusal, sends_authorization),
        HttpError::Redirected { status, location, .. } => format!(
            "{url} answers with HTTP status {status} and redirects to `{}`; write that URL if it is the server",
            Printable::one_line(location),
        ),
        HttpError::ContentType { content_type, .. } if is_html(content_type) => web_page(url),
        other => format!("{url}: {}", causes(other)),
    }
}

/// A failure of HTTP+SSE, as a sentence.
pub(super) fn sse_phrase(url: &str, error: &SseError, sends_authorization: bool) -> String {
    match error {
        SseError::Http(error) => http_phrase(url, error, sends_authorization),
        SseError::NoStream { content_type, .. } if is_html(content_type) => web_page(url),
        SseError::Ended => format!("{url} has closed the event stream"),
        other => format!("{url}: {}", causes(other)),
    }
}

/// Whether an error shows that a web page is at the URL. A page with the status "not found" does not count.
pub(super) fn is_web_page(error: &(dyn Error + 'static)) -> bool {
    chain(error).any(|cause| match (cause.downcast_ref(), cause.downcast_ref()) {
        (Some(HttpError::ContentType { content_type, .. }), _)
        | (_, Some(SseError::NoStream { content_type, .. })) => is_html(content_type),
        (Some(HttpError::Refused(refusal)), _) => is_page(refusal),
        _ => false,
    })
}

/// Whether a refusal shows that a web page is at the URL: a server of pages refuses POST.
fn is_page(refusal: &Refusal) -> bool {
    let is_of_page = matches!(refusal.status, StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED);
    is_of_page && has_html(&refusal.headers)
}

/// The sentence on a web page.
pub(super) fn web_page(url: &str) -> String {
    format!("{url} is a web page, not an MCP server{}", try_another(url))
}

fn is_html(content_type: &str) -> bool {
    content_type.trim_start().get(..9).is_some_and(|start| start.eq_ignore_ascii_case("text/html"))
}

fn has_html(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).is_some_and(is_html)
}

/// Suggests the usual path of a server at that host, unless `url` has it.
fn try_another(url: &str) -> String {
    let path = url.parse::<Uri>().map(|url| url.path().to_owned()).unwrap_or_default();
    if path.ends_with("/mcp") || path.ends_with("/sse") {
        return String::new();
    }
    format!("; try {}/mcp", url.trim_end_matches('/'))
}

fn unsent(url: &str, why: &(dyn Error + 'static)) -> String {
    connect_phrase(Some(url), why).unwrap_or_else(|| causes(why))
}

/// The sentence for a request that could not be sent to a URL. Without a URL, the caller names it before the sentence. `None` if
/// the cause is not known.
pub(crate) fn connect_phrase(url: Option<&str>, why: &(dyn Error + 'static)) -> Option<String> {
    let uri = url.and_then(|url| url.parse::<Uri>().ok());
    let authority = uri.as_ref().and_then(|url| url.authority());
    let at = authority.map_or("there".to_owned(), |authority| format!("at {authority}"));
    let of = authority.map_or("the server", |authority| authority.as_str());
    let with_scheme = |scheme: &str| match url.and_then(|url| url.split_once("://")) {
        Some((_, rest)) => format!("{scheme}://{rest}"),
        None => format!("{scheme}://…"),
    };
    let causes = causes(why);
    let proxy = uri.as_ref().and_then(EnvironmentProxy::of).as_ref().map(proxy_phrase);
    Some(match ConnectFault::of(why) {
        Some(ConnectFault::Refused) => match &proxy {
            Some(proxy) => format!("nothing listens at {proxy}"),
            None => format!("nothing listens {at}"),
        },
        Some(ConnectFault::NoTls) => {
            format!("what listens {at} speaks no TLS; for plain HTTP, write {}", with_scheme("http"))
        }
        Some(ConnectFault::NoHttp) => {
            format!("what listens {at} does not answer in HTTP; for TLS, write {}", with_scheme("https"))
        }
        Some(ConnectFault::UnknownIssuer) => {
            let trusted = match env::var_os("SSL_CERT_FILE").filter(|_| cfg!(unix)) {
                Some(file) => format!("SSL_CERT_FILE names {}, which lacks it", file.display()),
                None => "SSL_CERT_FILE can name a file that has it".to_owned(),
            };
            format!("the certificate of {of} is signed by an authority that is not trusted; {trusted}")
        }
        Some(ConnectFault::OtherName) => format!("the certificate of {of} is for another name: {causes}"),
        Some(ConnectFault::Expired) => format!("the certificate of {of} has expired: {causes}"),
        _ if causes.contains("dns error") || causes.contains("failed to lookup address") => match &proxy {
            Some(proxy) => format!("the name is not known of {proxy}"),
            None => format!("the name of {of} is not known"),
        },
        _ => return proxy.map(|proxy| format!("{causes}; the connection goes through {proxy}")),
    })
}

/// A proxy, and the variable that names it.
fn proxy_phrase(proxy: &EnvironmentProxy) -> String {
    let url = Printable::one_line(&proxy.url);
    match proxy.variable {
        Some(variable) => format!("the proxy {url}, which {variable} names"),
        None => format!("the proxy {url} of the system's settings"),
    }
}

fn refused(url: &str, refusal: &Refusal, sends_authorization: bool) -> String {
    let status = refusal.status;
    let challenge = Challenge::of(&refusal.headers);
    let scopes = match challenge.scopes.as_str() {
        "" => String::new(),
        scopes => format!(", with the scopes `{}`", Printable::one_line(scopes)),
    };
    let said = match (&refusal.error, refusal.excerpt.as_str()) {
        (Some(error), _) => format!(": {}", beginning(error, EXCERPT_LIMIT)),
        (None, text) if !text.is_empty() && !has_html(&refusal.headers) => {
            format!(": {}", beginning(Printable::one_line(text), EXCERPT_LIMIT))
        }
        _ => String::new(),
    };
    match status {
        StatusCode::UNAUTHORIZED if sends_authorization => {
            format!("{url} refuses the Authorization header (HTTP status {status}){said}")
        }
        StatusCode::UNAUTHORIZED => {
            format!(
                "{url} asks for a login (HTTP status {status}){scopes}{said}; run `agentwire login {url}`, or {OWN_TOKEN}"
            )
        }
        StatusCode::FORBIDDEN if challenge.wants_scopes => format!(
            "{url} asks for more rights (HTTP status {status}){scopes}; run `agentwire login {url}{}`",
            challenge.options(),
        ),
        StatusCode::FORBIDDEN => format!("{url} forbids it (HTTP status {status}){said}"),
        StatusCode::NOT_FOUND => {
            format!("there is no MCP server at {url} (HTTP status {status}){said}{}", try_another(url))
        }
        _ if is_page(refusal) => web_page(url),
        // A TLS server reports this in a web page, which is not shown.
        StatusCode::BAD_REQUEST if url.starts_with("http://") && has_html(&refusal.headers) => {
            let rest = url.trim_start_matches("http://");
            format!(
                "{url} answers with HTTP status {status}; if the port is one for TLS, write https://{rest}"
            )
        }
        _ => format!("{url} answers with HTTP status {status}{said}"),
    }
}

/// The scopes in `WWW-Authenticate`: RFC 6750, section 3.
struct Challenge {
    scopes: String,
    wants_scopes: bool,
}

impl Challenge {
    fn of(headers: &HeaderMap) -> Self {
        let values = headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
        let text = values.collect::<Vec<_>>().join(", ");
        let scopes = parameter(&text, "scope").unwrap_or_default();
        let scopes = beginning(scopes.split_ascii_whitespace().collect::<Vec<_>>().join(" "), EXCERPT_LIMIT);
        let wants_scopes = parameter(&text, "error").is_some_and(|error| error == "insufficient_scope");
        Self { scopes, wants_scopes }
    }

    /// The options of `agentwire login` for the scopes, quoted for a shell.
    fn options(&self) -> String {
        let options = self.scopes.split(' ').filter(|scope| !scope.is_empty());
        options.map(|scope| format!(" --scope {}", shell_words::quote(scope))).collect()
    }
}

/// The value of a parameter of a challenge, such as `scope="a b"`.
fn parameter<'a>(challenge: &'a str, name: &str) -> Option<&'a str> {
    let mut from = 0;
    loop {
        let start = from + challenge.get(from..)?.find(name)?;
        from = start + name.len();
        let is_whole =
            challenge[..start].chars().next_back().is_none_or(|before| matches!(before, ' ' | ','));
        let Some(value) = challenge[from..].strip_prefix('=').filter(|_| is_whole) else { continue };
        return match value.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next(),
            None => value.split([',', ' ']).next(),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_names_its_scopes() {
        let headers =
            |value: &'static str| HeaderMap::from_iter([(WWW_AUTHENTICATE, value.parse().unwrap())]);
        let read = |value| {
            let challenge = Challenge::of(&headers(value));
            (challenge.scopes.clone(), challenge.wants_scopes, challenge.options())
        };
        let none = (String::new(), false, String::new());
        assert_eq!(read("Bearer"), none);
        assert_eq!(read("Bearer no_scope=\"a\""), none);
        assert_eq!(
            read("Bearer error=\"insufficient_scope\", scope=\"files:read  a;b\""),
            ("files:read a;b".into(), true, " --scope files:read --scope 'a;b'".into())
        );
        assert_eq!(read("Bearer scope=one, realm=\"scope\""), ("one".into(), false, " --scope one".into()));
    }

    #[test]
    fn refused_connection_is_named_with_or_without_its_url() {
        let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        let phrase = |url| connect_phrase(url, &refused);
        assert_eq!(phrase(Some("http://a.example:1/x")).unwrap(), "nothing listens at a.example:1");
        assert_eq!(phrase(None).unwrap(), "nothing listens there");
        assert_eq!(connect_phrase(None, &std::io::Error::other("no")), None);
    }

    #[test]
    fn usual_path_is_suggested_for_another_path() {
        assert_eq!(try_another("http://a.example/"), "; try http://a.example/mcp");
        assert_eq!(try_another("http://a.example/x"), "; try http://a.example/x/mcp");
        assert_eq!(try_another("http://a.example/mcp"), "");
    }
}
