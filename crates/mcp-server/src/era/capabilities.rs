use std::sync::OnceLock;

use agentwire_mcp_schema::ClientCapabilities;

/// What a client says that it can do. Where it says nothing, the value is made only when it is asked for.
#[derive(Default)]
pub(crate) struct Capabilities(OnceLock<Box<ClientCapabilities>>);

impl Capabilities {
    pub(crate) fn get(&self) -> &ClientCapabilities {
        self.0.get_or_init(Box::default)
    }

    /// The same, but none where the client says nothing.
    pub(crate) fn named(&self) -> Option<&ClientCapabilities> {
        self.0.get().map(|capabilities| &**capabilities)
    }
}

impl From<ClientCapabilities> for Capabilities {
    fn from(capabilities: ClientCapabilities) -> Self {
        if capabilities == ClientCapabilities::default() {
            return Self::default();
        }
        Self(OnceLock::from(Box::new(capabilities)))
    }
}
