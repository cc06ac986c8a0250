use crate::{ClientCapabilities, Revision, ServerCapabilities};

use Direction::{Both, ToClient, ToServer};
use MethodKind::{Notification, Request};
use Revision::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25};

/// What the protocol says about one method.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MethodInfo {
    /// Its name on the wire.
    pub name: &'static str,
    /// Whether it is answered.
    pub kind: MethodKind,
    /// Who sends it to whom.
    pub direction: Direction,
    /// The capability without which it must not be sent.
    pub gate: Option<Gate>,
    /// The first revision that has it.
    pub since: Revision,
    /// The last revision that has it; none where all later ones do.
    pub until: Option<Revision>,
}

impl MethodInfo {
    /// What is known of the method of that name.
    pub fn find(name: &str) -> Option<&'static Self> {
        METHODS.iter().find(|method| method.name == name)
    }

    /// Whether a revision has it.
    pub fn is_in(&self, revision: Revision) -> bool {
        self.since <= revision && self.until.is_none_or(|until| revision <= until)
    }

    /// Whether it may be sent between peers that agreed on a revision and on these capabilities.
    pub fn is_allowed(
        &self,
        revision: Revision,
        client: &ClientCapabilities,
        server: &ServerCapabilities,
    ) -> bool {
        let is_open = |gate: &Gate| match gate.side {
            _ if revision < gate.since => true,
            Side::Client => client.has(gate.capability),
            Side::Server => server.has(gate.capability),
        };
        self.is_in(revision) && self.gate.as_ref().is_none_or(is_open)
    }
}

/// Whether a method is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MethodKind {
    /// It is.
    Request,
    /// It is not.
    Notification,
}

/// Who sends a method to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Direction {
    /// The client sends it.
    ToServer,
    /// The server sends it.
    ToClient,
    /// Either sends it.
    Both,
}

/// One of the two peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Side {
    /// The host's side.
    Client,
    /// The side with the tools.
    Server,
}

/// A capability that a method needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gate {
    /// Whose capability it is.
    pub side: Side,
    /// Its path, as [`ServerCapabilities::has`] and [`ClientCapabilities::has`] take it.
    pub capability: &'static str,
    /// The first revision that asks for it.
    pub since: Revision,
}

/// Every method of every revision, but for the tasks of 2025-11-25.
pub const METHODS: &[MethodInfo] = &[
    method("initialize", Request, ToServer, None, V2024_11_05),
    method("notifications/initialized", Notification, ToServer, None, V2024_11_05),
    method("ping", Request, Both, None, V2024_11_05),
    method("notifications/cancelled", Notification, Both, None, V2024_11_05),
    method("notifications/progress", Notification, Both, None, V2024_11_05),
    method("tools/list", Request, ToServer, server("tools"), V2024_11_05),
    method("tools/call", Request, ToServer, server("tools"), V2024_11_05),
    method(
        "notifications/tools/list_changed",
        Notification,
        ToClient,
        server("tools.listChanged"),
        V2024_11_05,
    ),
    method("resources/list", Request, ToServer, server("resources"), V2024_11_05),
    method("resources/templates/list", Request, ToServer, server("resources"), V2024_11_05),
    method("resources/read", Request, ToServer, server("resources"), V2024_11_05),
    method("resources/subscribe", Request, ToServer, server("resources.subscribe"), V2024_11_05),
    method("resources/unsubscribe", Request, ToServer, server("resources.subscribe"), V2024_11_05),
    method(
        "notifications/resources/updated",
        Notification,
        ToClient,
        server("resources.subscribe"),
        V2024_11_05,
    ),
    method(
        "notifications/resources/list_changed",
        Notification,
        ToClient,
        server("resources.listChanged"),
        V2024_11_05,
    ),
    method("prompts/list", Request, ToServer, server("prompts"), V2024_11_05),
    method("prompts/get", Request, ToServer, server("prompts"), V2024_11_05),
    method(
        "notifications/prompts/list_changed",
        Notification,
        ToClient,
        server("prompts.listChanged"),
        V2024_11_05,
    ),
    method("logging/setLevel", Request, ToServer, server("logging"), V2024_11_05),
    method("notifications/message", Notification, ToClient, server("logging"), V2024_11_05),
    // The first revision has the method, but no capability for it.
    method(
        "completion/complete",
        Request,
        ToServer,
        gate(Side::Server, "completions", V2025_03_26),
        V2024_11_05,
    ),
    method("roots/list", Request, ToClient, client("roots"), V2024_11_05),
    method(
        "notifications/roots/list_changed",
        Notification,
        ToServer,
        client("roots.listChanged"),
        V2024_11_05,
    ),
    method("sampling/createMessage", Request, ToClient, client("sampling"), V2024_11_05),
    method("elicitation/create", Request, ToClient, client("elicitation"), V2025_06_18),
    method(
        "notifications/elicitation/complete",
        Notification,
        ToClient,
        client("elicitation.url"),
        V2025_11_25,
    ),
];

const fn method(
    name: &'static str,
    kind: MethodKind,
    direction: Direction,
    gate: Option<Gate>,
    since: Revision,
) -> MethodInfo {
    MethodInfo { name, kind, direction, gate, since, until: None }
}

const fn server(capability: &'static str) -> Option<Gate> {
    gate(Side::Server, capability, V2024_11_05)
}

const fn client(capability: &'static str) -> Option<Gate> {
    gate(Side::Client, capability, V2024_11_05)
}

const fn gate(side: Side, capability: &'static str, since: Revision) -> Option<Gate> {
    Some(Gate { side, capability, since })
}
