use agentwire_transport::Fault;

/// Why a proxy or a chain of them ended, other than because the client or the agent closed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Broken {
    /// The transport to the client failed.
    #[error("the client: {0}")]
    Client(#[source] Fault),
    /// The transport to the agent failed. For a process, the fault may be its exit status.
    #[error("the agent: {0}")]
    Agent(#[source] Fault),
    /// The transport to a component failed. For a process, the fault may be its exit status.
    #[error("component {place}: {fault}")]
    #[non_exhaustive]
    Component {
        /// The index of the component. Number 0 is next to the client.
        place: usize,
        /// The fault of its transport.
        #[source]
        fault: Fault,
    },
}

impl Broken {
    /// Returns the fault of the transport.
    pub fn into_fault(self) -> Fault {
        match self {
            Self::Client(fault) | Self::Agent(fault) | Self::Component { fault, .. } => fault,
        }
    }
}
