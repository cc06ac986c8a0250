//! The capabilities that a server may advertise, and sets of them.

use agentwire_mcp_schema::ServerCapabilities;

/// A capability that a server may advertise.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Capability {
    Tools,
    ToolChanges,
    Resources,
    ResourceChanges,
    /// Subscriptions to single resources.
    Updates,
    Prompts,
    PromptChanges,
    Completions,
    Logging,
    Tasks,
}

impl Capability {
    const ALL: [Self; 10] = [
        Self::Tools,
        Self::ToolChanges,
        Self::Resources,
        Self::ResourceChanges,
        Self::Updates,
        Self::Prompts,
        Self::PromptChanges,
        Self::Completions,
        Self::Logging,
        Self::Tasks,
    ];

    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::ToolChanges => "tools.listChanged",
            Self::Resources => "resources",
            Self::ResourceChanges => "resources.listChanged",
            Self::Updates => "resources.subscribe",
            Self::Prompts => "prompts",
            Self::PromptChanges => "prompts.listChanged",
            Self::Completions => "completions",
            Self::Logging => "logging",
            Self::Tasks => "tasks",
        }
    }
}

/// A set of capabilities, one bit each.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CapabilitySet(u16);

impl CapabilitySet {
    /// The capabilities that a server advertises with this value.
    pub(crate) fn of(capabilities: &ServerCapabilities) -> Self {
        let named = Capability::ALL.into_iter().filter(|capability| capabilities.has(capability.path()));
        Self(named.fold(0, |bits, capability| bits | 1 << capability as u8))
    }

    pub(crate) fn has(self, capability: Capability) -> bool {
        self.0 & 1 << capability as u8 != 0
    }
}
