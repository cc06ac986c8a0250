//! The network attributes of a connection. The program sets them, because the protocol does not contain them.

use opentelemetry::KeyValue;

/// The network attributes of a connection, from the program that opens it.
#[derive(Clone, Debug, Default)]
pub struct Network {
    attributes: Vec<KeyValue>,
}

impl Network {
    /// A pipe, such as stdin and stdout.
    pub fn pipe() -> Self {
        Self::default().with("network.transport", "pipe")
    }

    /// A TCP connection.
    pub fn tcp() -> Self {
        Self::default().with("network.transport", "tcp")
    }

    /// HTTP over TCP. The version is `1.1` or `2`. `None` if it is unknown.
    pub fn http(version: Option<&'static str>) -> Self {
        let http = Self::tcp().with("network.protocol.name", "http");
        match version {
            Some(version) => http.with("network.protocol.version", version),
            None => http,
        }
    }

    /// Sets the address and the port of the server, for connections of a client. Each address is its own time series, so a program
    /// that connects to servers of its users' choice must bound the number of addresses.
    #[must_use]
    pub fn server(mut self, address: impl Into<String>, port: u16) -> Self {
        self.attributes.push(KeyValue::new("server.address", address.into()));
        self.attributes.push(KeyValue::new("server.port", i64::from(port)));
        self
    }

    pub(crate) fn attributes(&self) -> &[KeyValue] {
        &self.attributes
    }

    fn with(mut self, key: &'static str, value: &'static str) -> Self {
        self.attributes.push(KeyValue::new(key, value));
        self
    }
}
