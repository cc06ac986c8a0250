//! The capabilities of a client, built on first use if they are empty.

use std::sync::OnceLock;

use agentwire_mcp_schema::ClientCapabilities;

/// The capabilities of a client. The value of empty ones is built on first use.
#[derive(Default)]
pub(crate) struct LazyCapabilities(OnceLock<Box<ClientCapabilities>>);

impl LazyCapabilities {
    pub(crate) fn get(&self) -> &ClientCapabilities {
        self.0.get_or_init(Box::default)
    }

    /// The capabilities; `None` if they are empty.
    pub(crate) fn named(&self) -> Option<&ClientCapabilities> {
        self.0.get().map(|capabilities| &**capabilities)
    }
}

impl From<ClientCapabilities> for LazyCapabilities {
    fn from(capabilities: ClientCapabilities) -> Self {
        if capabilities == ClientCapabilities::default() {
            return Self::default();
        }
        Self(OnceLock::from(Box::new(capabilities)))
    }
}
