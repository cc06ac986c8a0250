//! The address of a server over HTTP: its URL, headers and transport.

pub use agentwire_transport_http::client::InvalidHeader;
use agentwire_transport_http::client::{Config, shown_url};
#[cfg(feature = "sse")]
use agentwire_transport_sse::client as sse;
use agentwire_wire_derive::Build;

/// A server on the network: its URL, its headers, and which of MCP's HTTP transports to use.
#[derive(Clone, Debug, Build)]
pub struct HttpTarget {
    url: String,
    /// Sets the transport (default: [`HttpKind::Any`]).
    kind: HttpKind,
    configs: Box<Configs>,
}

/// The configurations of the transports.
#[derive(Clone, Debug)]
struct Configs {
    streamable: Config,
    #[cfg(feature = "sse")]
    sse: sse::Config,
}

/// The transports that MCP has over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum HttpKind {
    /// Streamable HTTP, or HTTP+SSE at the same URL if the server refuses that. For a URL whose transport is not known, as the
    /// specification describes under *Backward Compatibility*. Without the feature `sse` it is
    /// Streamable HTTP alone.
    #[default]
    Any,
    /// Streamable HTTP alone.
    Streamable,
    /// HTTP+SSE alone, the transport of 2024-11-05 (feature `sse`).
    #[cfg(feature = "sse")]
    Sse,
}

/// The text is not a URL that a server can have: `http` or `https`, with a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not the URL of an MCP server, such as `https://host/path` or `http://host:port/path`", shown_url(.url))]
#[non_exhaustive]
pub struct InvalidUrl {
    /// The text.
    pub url: String,
}

impl HttpTarget {
    /// Creates the address of the server at that URL. A user and a password in it become the header `Authorization`, unless
    /// [`header`](Self::header) sets that.
    ///
    /// # Errors
    ///
    /// When that is not an absolute URL of the scheme `http` or `https`.
    pub fn new(url: &str) -> Result<Self, InvalidUrl> {
        let invalid = || InvalidUrl { url: url.to_owned() };
        let configs = Configs {
            streamable: Config::new(url).map_err(|_| invalid())?,
            #[cfg(feature = "sse")]
            sse: sse::Config::new(url).map_err(|_| invalid())?,
        };
        let url = configs.streamable.url().to_string();
        Ok(Self { url, kind: HttpKind::default(), configs: Box::new(configs) })
    }

    /// Sends a header with every request to the server, but not with requests to another origin. One name may be given
    /// more than once. Headers that the transport sets itself win.
    ///
    /// # Errors
    ///
    /// When the name or the value has characters that HTTP does not carry, or there are 1024 headers already.
    pub fn header(mut self, name: impl AsRef<str>, value: impl AsRef<[u8]>) -> Result<Self, InvalidHeader> {
        let (name, value) = (name.as_ref(), value.as_ref());
        let configs = *self.configs;
        self.configs = Box::new(Configs {
            #[cfg(feature = "sse")]
            sse: configs.sse.header(name, value)?,
            streamable: configs.streamable.header(name, value)?,
        });
        Ok(self)
    }

    /// Changes the configuration of Streamable HTTP, such as its time-outs and limits. The URL and the limit for opening a
    /// connection (10 s) stay unchanged.
    ///
    /// ```
    /// use agentwire_mcp_hub::HttpTarget;
    ///
    /// # fn target() -> Result<HttpTarget, agentwire_mcp_hub::InvalidUrl> {
    /// let target = HttpTarget::new("https://example.com/mcp")?
    ///     .streamable_with(|config| config.message_limit(1 << 20).retries(2));
    /// # Ok(target)
    /// # }
    /// ```
    #[must_use]
    pub fn streamable_with(mut self, change: impl FnOnce(Config) -> Config) -> Self {
        self.configs.streamable = change(self.configs.streamable);
        self
    }

    /// Changes the configuration of HTTP+SSE, as [`streamable_with`](Self::streamable_with) does (feature `sse`).
    #[cfg(feature = "sse")]
    #[must_use]
    pub fn sse_with(mut self, change: impl FnOnce(sse::Config) -> sse::Config) -> Self {
        self.configs.sse = change(self.configs.sse);
        self
    }

    /// The URL of the server, without user and password.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The transport to use.
    pub fn transport(&self) -> HttpKind {
        self.kind
    }

    /// The headers that are sent with every request, with `Authorization` of a user and a password in the URL. Their values
    /// may be secrets.
    pub fn headers(&self) -> &http::HeaderMap {
        self.configs.streamable.headers()
    }

    pub(crate) fn streamable(&self) -> Config {
        self.configs.streamable.clone()
    }

    #[cfg(feature = "sse")]
    pub(crate) fn sse(&self) -> sse::Config {
        self.configs.sse.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_of_a_header_is_never_shown() {
        let target = HttpTarget::new("http://example.com").unwrap();
        let shown = format!("{:?}", target.clone().header("Authorization", "Bearer hunter2").unwrap());
        let named = HttpTarget::new("http://me:hunter2@example.com").unwrap();
        let shown = format!("{shown} {named:?}");
        assert!(shown.contains("authorization") && !shown.contains("hunter2"), "{shown}");
        let refused = target.header("X-Key", "hunter2\r\nX-Other: 1").unwrap_err();
        assert_eq!(refused.to_string(), "`X-Key` is not a header that HTTP can carry");
    }
}
