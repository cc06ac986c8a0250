use agentwire_mcp_schema::ServerCapabilities;

/// What a server may have, and says so by a capability.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Tools,
    ToolChanges,
    Resources,
    ResourceChanges,
    /// News of single resources.
    Updates,
    Prompts,
    PromptChanges,
    Completions,
    Logging,
    Tasks,
}

impl Kind {
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

    pub(crate) fn capability(self) -> &'static str {
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

/// Several of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kinds(u16);

impl Kinds {
    /// Those that capabilities name.
    pub(crate) fn of(capabilities: &ServerCapabilities) -> Self {
        let named = Kind::ALL.into_iter().filter(|kind| capabilities.has(kind.capability()));
        Self(named.fold(0, |kinds, kind| kinds | 1 << kind as u8))
    }

    pub(crate) fn has(self, kind: Kind) -> bool {
        self.0 & 1 << kind as u8 != 0
    }
}
