/// One line of a version's method table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MethodInfo {
    /// The name on the wire.
    pub name: &'static str,
    /// Whether it is answered.
    pub kind: MethodKind,
    /// Who sends it.
    pub direction: Direction,
    /// What the receiver must have advertised before it may be sent, as a path into the capabilities of
    /// `initialize` or, where it says so, into the result of `session/new`; none where the protocol's baseline
    /// includes it.
    pub gate: Option<&'static str>,
}

impl MethodInfo {
    pub(crate) const fn request(
        name: &'static str,
        direction: Direction,
        gate: Option<&'static str>,
    ) -> Self {
        Self { name, kind: MethodKind::Request, direction, gate }
    }

    pub(crate) const fn notification(
        name: &'static str,
        direction: Direction,
        gate: Option<&'static str>,
    ) -> Self {
        Self { name, kind: MethodKind::Notification, direction, gate }
    }
}

/// Whether a method is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "JSON-RPC has these two")]
pub enum MethodKind {
    /// A call with one answer.
    Request,
    /// Said once, never answered.
    Notification,
}

/// Who sends a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a connection has two ends")]
pub enum Direction {
    /// The client calls, the agent receives.
    ClientToAgent,
    /// The agent calls, the client receives.
    AgentToClient,
    /// Either side.
    Both,
}
