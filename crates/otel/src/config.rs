//! What spans show beyond their defaults.

/// The configuration of a [`Telemetry`](crate::Telemetry).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Config {
    /// Whether spans have the arguments and results of tools (default: no). They may hold secrets and personal data.
    pub content: bool,
    /// Whether a server's spans have the id of their MCP session over HTTP (default: no). An id is a credential where a server
    /// does not authenticate its clients.
    pub session_ids: bool,
}

impl Config {
    /// Returns the defaults.
    pub fn new() -> Self {
        Self { content: false, session_ids: false }
    }

    /// Sets whether spans have the arguments and results of tools (default: no).
    #[must_use]
    pub fn content(mut self, content: bool) -> Self {
        self.content = content;
        self
    }

    /// Sets whether a server's spans have the id of their MCP session over HTTP (default: no). Of an id with a dot, such as a sealed one,
    /// they have what stands before it.
    #[must_use]
    pub fn session_ids(mut self, session_ids: bool) -> Self {
        self.session_ids = session_ids;
        self
    }
}

/// The defaults of [`Config::new`].
impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}
