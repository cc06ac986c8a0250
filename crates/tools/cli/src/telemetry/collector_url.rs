//! Parses the URL of a collector.

use std::str::FromStr;

use http::Uri;

/// The URL of a collector, which has no user, query or fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CollectorUrl(String);

impl CollectorUrl {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The URL for one kind of data, below this one.
    pub(super) fn below(&self, path: &str) -> Self {
        Self(format!("{}{path}", self.0.trim_end_matches('/')))
    }

    /// The URL without its path, which may have a key.
    pub(super) fn origin(&self) -> String {
        let end = self.0.find("://").map_or(0, |at| at + 3);
        let path = self.0[end..].find('/').map_or(self.0.len(), |at| end + at);
        self.0[..path].to_owned()
    }
}

impl FromStr for CollectorUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let why = "write http://HOST:PORT or https://HOST, as in http://127.0.0.1:4318, without user, query and fragment";
        let url: Uri = text.parse().map_err(|_| why.to_owned())?;
        let is_http = matches!(url.scheme_str(), Some("http" | "https"));
        let has_host = url.host().is_some_and(|host| !host.is_empty());
        // `OTEL_EXPORTER_OTLP_HEADERS` has the credentials.
        let is_plain = !text.contains(['@', '?', '#']);
        if is_http && has_host && is_plain { Ok(Self(text.to_owned())) } else { Err(why.to_owned()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_is_at_a_url_without_secrets() {
        let url: CollectorUrl = "https://otlp.example:4318/base/".parse().unwrap();
        assert_eq!(url.below("/v1/traces").as_str(), "https://otlp.example:4318/base/v1/traces");
        assert_eq!(url.origin(), "https://otlp.example:4318");
        assert_eq!("http://[::1]:4318".parse::<CollectorUrl>().unwrap().origin(), "http://[::1]:4318");
        for text in
            ["", "localhost:4318", "grpc://a:1", "http://", "http://u:p@a", "http://a?k=1", "http://a#b"]
        {
            assert!(text.parse::<CollectorUrl>().is_err(), "{text}");
        }
    }
}
