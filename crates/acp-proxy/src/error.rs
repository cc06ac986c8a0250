use agentwire_transport::Fault;

/// Why a proxy or a chain of them ended other than by the closing of one of its ends.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Broken {
    /// What led to the client failed.
    #[error("the client: {0}")]
    Client(#[source] Fault),
    /// What led to the agent failed; where that is a process, it may be how it ended.
    #[error("the agent: {0}")]
    Agent(#[source] Fault),
    /// What led to a component failed; where that is a process, it may be how it ended.
    #[error("component {place}: {fault}")]
    #[non_exhaustive]
    Component {
        /// Which one, counted from the client, which is before number 0.
        place: usize,
        /// What failed.
        #[source]
        fault: Fault,
    },
}

impl Broken {
    /// What failed.
    pub fn into_fault(self) -> Fault {
        match self {
            Self::Client(fault) | Self::Agent(fault) | Self::Component { fault, .. } => fault,
        }
    }
}
