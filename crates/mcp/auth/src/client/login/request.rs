//! The head of a request, and whether it is the redirect.

use crate::Secret;

/// The form of the redirect.
pub(super) struct Expected {
    authority: String,
    path: String,
    state: Secret,
}

/// The response to a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The redirect, with its query.
    Redirect(String),
    /// It is not the redirect, for this status.
    Refused(Status),
}

/// Why a request is not the redirect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    BadRequest,
    NotFound,
    MethodNotAllowed,
    HeadTooLong,
}

impl Expected {
    pub(super) fn new(authority: String, path: String, state: &str) -> Self {
        Self { authority, path, state: Secret::new(state) }
    }

    /// Judges the head of a request, without the empty line at its end.
    pub(super) fn judge(&self, head: &[u8]) -> Verdict {
        match self.query(head) {
            Ok(query) => Verdict::Redirect(query.to_owned()),
            Err(status) => Verdict::Refused(status),
        }
    }

    fn query<'a>(&self, head: &'a [u8]) -> Result<&'a str, Status> {
        let head = str::from_utf8(head).ok().filter(|head| head.is_ascii()).ok_or(Status::BadRequest)?;
        let mut lines = head.split("\r\n");
        let mut line = lines.next().unwrap_or_default().split(' ');
        let (Some(method), Some(target), Some("HTTP/1.1" | "HTTP/1.0"), None) =
            (line.next(), line.next(), line.next(), line.next())
        else {
            return Err(Status::BadRequest);
        };
        // A page of another origin whose name resolves to this machine sends its own name (DNS rebinding).
        let mut hosts = lines
            .filter_map(|line| line.split_once(':'))
            .filter(|(name, _)| name.eq_ignore_ascii_case("host"));
        match (hosts.next(), hosts.next()) {
            (Some((_, host)), None) if self.is_own(host.trim()) => {}
            _ => return Err(Status::BadRequest),
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        if path != self.path {
            return Err(Status::NotFound);
        }
        if method != "GET" {
            return Err(Status::MethodNotAllowed);
        }
        if self.has_state(query) { Ok(query) } else { Err(Status::BadRequest) }
    }

    /// The query of a redirect that a person has pasted: the URL at which the browser ended, or its query alone. `None` if the
    /// redirect is not that of this login.
    pub(super) fn pasted(&self, text: &str) -> Option<String> {
        let text = text.trim().trim_matches(['\'', '"', '<', '>']);
        let query = text.split_once('?').map_or(text, |(_, query)| query);
        let query = query.split('#').next().unwrap_or_default();
        (query.is_ascii() && self.has_state(query)).then(|| query.to_owned())
    }

    /// Whether a query has one `state`, which is that of this login.
    fn has_state(&self, query: &str) -> bool {
        let mut states = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "state");
        match (states.next(), states.next()) {
            (Some((_, state)), None) => Secret::new(&*state) == self.state,
            _ => false,
        }
    }

    /// Whether a `Host` is that of the redirect URI.
    fn is_own(&self, host: &str) -> bool {
        let without_port = self.authority.strip_suffix(":80");
        host.eq_ignore_ascii_case(&self.authority)
            || without_port.is_some_and(|own| host.eq_ignore_ascii_case(own))
    }
}

impl Verdict {
    /// The whole response, which is the same whatever the request contains.
    pub(super) fn response(&self) -> String {
        let (status, text) = match self {
            Self::Redirect(_) => {
                ("200 OK", "The answer has arrived. You can close this page and return to the program.")
            }
            Self::Refused(Status::BadRequest) => {
                ("400 Bad Request", "This is not the login that the program waits for.")
            }
            Self::Refused(Status::NotFound) => ("404 Not Found", "There is nothing here."),
            Self::Refused(Status::MethodNotAllowed) => {
                ("405 Method Not Allowed\r\nAllow: GET", "This page only answers to GET.")
            }
            Self::Refused(Status::HeadTooLong) => {
                ("431 Request Header Fields Too Large", "The head of the request is too long.")
            }
        };
        let page =
            format!("<!doctype html>\n<meta charset=\"utf-8\">\n<title>Login</title>\n<p>{text}</p>\n");
        let length = page.len();
        format!(
            "HTTP/1.1 {status}\r\n\
             Content-Type: text/html; charset=utf-8\r\n\
             Content-Length: {length}\r\n\
             Cache-Control: no-store\r\n\
             Referrer-Policy: no-referrer\r\n\
             Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n\
             X-Content-Type-Options: nosniff\r\n\
             Connection: close\r\n\
             \r\n\
             {page}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(head: &str) -> Verdict {
        Expected::new("127.0.0.1:80".into(), "/cb".into(), "s t").judge(head.as_bytes())
    }

    #[test]
    fn only_the_redirect_is_taken_when_it_is_pasted() {
        let pasted = |text: &str| Expected::new("127.0.0.1:80".into(), "/cb".into(), "s t").pasted(text);
        for text in [
            "http://127.0.0.1:4000/cb?code=c&state=s+t",
            "  'http://127.0.0.1/cb?code=c&state=s+t#top'\r\n",
            "?code=c&state=s+t",
            "code=c&state=s+t",
        ] {
            assert_eq!(pasted(text).as_deref(), Some("code=c&state=s+t"), "{text}");
        }
        for text in ["", "c", "code=c", "?code=c&state=s", "?state=s+t&state=s+t", "?code=\u{e9}&state=s+t"] {
            assert_eq!(pasted(text), None, "{text}");
        }
    }

    #[test]
    fn only_the_redirect_is_taken() {
        let taken = |query: &str| Verdict::Redirect(query.to_owned());
        assert_eq!(judge("GET /cb?state=s+t HTTP/1.1\r\nHost: 127.0.0.1:80"), taken("state=s+t"));
        assert_eq!(
            judge("GET /cb?a=b&state=s%20t HTTP/1.0\r\nX: y\r\nhOST:127.0.0.1"),
            taken("a=b&state=s%20t")
        );
        for (status, head) in [
            (Status::BadRequest, ""),
            (Status::BadRequest, "GET /cb?state=s+t"),
            (Status::BadRequest, "GET  /cb?state=s+t HTTP/1.1\r\nHost: 127.0.0.1"),
            (Status::BadRequest, "GET /cb?state=s+t HTTP/2.0\r\nHost: 127.0.0.1"),
            (Status::BadRequest, "GET /cb?state=s+t HTTP/1.1 x\r\nHost: 127.0.0.1"),
            (Status::BadRequest, "GET /cb?state=s+t HTTP/1.1"),
            (Status::BadRequest, "GET /cb?state=s+t HTTP/1.1\r\nHost: 127.0.0.1:81"),
            (Status::BadRequest, "GET /cb?state=s+t HTTP/1.1\r\nHost: attacker.example"),
            (Status::BadRequest, "GET /cb?state=s+t HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: attacker.example"),
            (Status::BadRequest, "GET /cb?state=s+t\u{e9} HTTP/1.1\r\nHost: 127.0.0.1"),
            (Status::BadRequest, "GET /cb?state=s HTTP/1.1\r\nHost: 127.0.0.1"),
            (Status::BadRequest, "GET /cb?state= HTTP/1.1\r\nHost: 127.0.0.1"),
            (Status::BadRequest, "GET /cb HTTP/1.1\r\nHost: 127.0.0.1"),
            (Status::BadRequest, "GET /cb?state=s+t&state=s+t HTTP/1.1\r\nHost: 127.0.0.1"),
            (Status::NotFound, "GET /cb/?state=s+t HTTP/1.1\r\nHost: 127.0.0.1"),
            (Status::NotFound, "GET http://127.0.0.1/cb?state=s+t HTTP/1.1\r\nHost: 127.0.0.1"),
            (Status::NotFound, "GET /favicon.ico HTTP/1.1\r\nHost: 127.0.0.1"),
            (Status::MethodNotAllowed, "POST /cb?state=s+t HTTP/1.1\r\nHost: 127.0.0.1"),
            (Status::MethodNotAllowed, "HEAD /cb?state=s+t HTTP/1.1\r\nHost: 127.0.0.1"),
        ] {
            assert_eq!(judge(head), Verdict::Refused(status), "{head}");
        }
    }
}
