//! `server --log`: writes each request, notification and HTTP response as a line on stderr.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agentwire_jsonrpc::{ErrorObject, Notification, Printable, RawJson};
use agentwire_peer::observe::Outcome;
use http::{Method, StatusCode};
use humantime::format_rfc3339_millis;

use crate::output::text::{Notes, beginning};

/// The most bytes of a method's name that are shown.
const METHOD_LIMIT: usize = 200;

/// Writes the lines of `--log`, if it is given.
#[derive(Clone)]
pub(super) struct RequestLog(Option<Notes>);

impl RequestLog {
    pub(super) fn new(is_on: bool, notes: &Notes) -> Self {
        Self(is_on.then(|| notes.clone()))
    }

    pub(super) fn request(&self, method: &str, outcome: &Outcome<'_>, duration: Duration) {
        self.add(|| format!("{} {} {} ms", shown(method), word(outcome), duration.as_millis()));
    }

    /// Logs the response to an HTTP request, without the query of the URL, which may have secrets.
    pub(super) fn response(&self, method: &Method, path: &str, status: StatusCode, duration: Duration) {
        self.add(|| {
            let (method, path) = (shown(method.as_str()), shown(path));
            format!("{method} {path} {} {} ms", status.as_u16(), duration.as_millis())
        });
    }

    /// Whether anything is logged.
    pub(super) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn notification(&self, notification: &Notification) {
        self.add(|| format!("{} notification", shown(&notification.method)));
    }

    pub(super) fn malformed(&self, error: &ErrorObject) {
        self.add(|| {
            format!("unreadable message: {}", beginning(Printable::one_line(&error.message), METHOD_LIMIT))
        });
    }

    fn add(&self, line: impl FnOnce() -> String) {
        if let Some(notes) = &self.0 {
            notes.add(&format!("{} {}", format_rfc3339_millis(SystemTime::now().max(UNIX_EPOCH)), line()));
        }
    }
}

/// The method's name from a client, shortened to one line.
fn shown(method: &str) -> String {
    beginning(Printable::one_line(method), METHOD_LIMIT)
}

/// The outcome of a request: `ok`, `tool error` if a tool reports that it failed, else the code or the kind of the error.
fn word(outcome: &Outcome<'_>) -> String {
    match (outcome, outcome.error_type()) {
        (_, Some(word)) => format!("error {word}"),
        (Outcome::Result(result), None) if is_tool_error(result) => "tool error".into(),
        _ => "ok".into(),
    }
}

fn is_tool_error(result: &RawJson) -> bool {
    result.member("isError").is_some_and(|value| value.as_str() == "true")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_one_or_two_words() {
        let [result, failed] = ["{}", r#"{"isError":true}"#].map(|text| RawJson::parse(text.into()).unwrap());
        let error = ErrorObject::new(-32601, "no such method");
        let rows = [
            (Outcome::Result(&result), "ok"),
            (Outcome::Result(&failed), "tool error"),
            (Outcome::Error(&error), "error -32601"),
            (Outcome::Cancelled, "error cancelled"),
        ];
        for (outcome, expected) in rows {
            assert_eq!(word(&outcome), expected);
        }
        let long = shown(&format!("a\n\u{1b}[2J{}", "x".repeat(1000)));
        assert!(!long.contains(['\n', '\u{1b}']) && long.len() < 300, "{long}");
    }
}
