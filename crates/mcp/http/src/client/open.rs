//! Creates a transport from a configuration.

use crate::client::{Config, Http, HttpClient};
#[cfg(any(feature = "reqwest", feature = "rustls-no-provider"))]
use crate::client::{DefaultClient, HttpError};

impl Config {
    /// A transport that uses [`DefaultClient`](crate::client::DefaultClient). Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// When TLS cannot be set up.
    #[cfg(any(feature = "reqwest", feature = "rustls-no-provider"))]
    pub fn open(self) -> Result<Http, HttpError> {
        let client = DefaultClient::new(self.limits.connect_timeout);
        let client = client.map_err(|error| HttpError::Unsent(error.into()))?;
        Ok(self.open_with(client))
    }

    /// A transport that uses the client given. Nothing is sent yet.
    pub fn open_with(self, client: impl HttpClient + 'static) -> Http {
        Http::with(self, client)
    }
}
