//! The table of all methods, with direction, required capability and revisions. Its macro also implements `RequestMethod` and
//! `NotificationMethod` for the params types.

use agentwire_jsonrpc::{NotificationMethod, RequestMethod};

use crate::{ClientCapabilities, Revision, ServerCapabilities};

/// The properties of one method of the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MethodInfo {
    /// Its name on the wire.
    pub name: &'static str,
    /// Request or notification.
    pub kind: MethodKind,
    /// Who sends it to whom.
    pub direction: Direction,
    /// The name of the type of its parameters, which is its [`RequestMethod`] or [`NotificationMethod`].
    pub params: &'static str,
    /// The name of the type of its result; none for a notification.
    pub result: Option<&'static str>,
    /// The capability without which it must not be sent.
    pub gate: Option<Gate>,
    /// The first revision that has it.
    pub since: Revision,
    /// The last revision that has it; `None` if all later ones do.
    pub until: Option<Revision>,
}

impl MethodInfo {
    /// The method of that name.
    ///
    /// If it has several rows, because revisions differ much, the oldest; see [`find_in`](Self::find_in).
    pub fn find(name: &str) -> Option<&'static Self> {
        METHODS.iter().find(|method| method.name == name)
    }

    /// The method of that name in a revision.
    pub fn find_in(name: &str, revision: Revision) -> Option<&'static Self> {
        METHODS.iter().find(|method| method.name == name && method.is_in(revision))
    }

    /// The methods of a revision.
    pub fn all_in(revision: Revision) -> impl Iterator<Item = &'static Self> {
        METHODS.iter().filter(move |method| method.is_in(revision))
    }

    /// Whether a revision has it.
    pub fn is_in(&self, revision: Revision) -> bool {
        self.since <= revision && self.until.is_none_or(|until| revision <= until)
    }

    /// Whether that side sends it.
    pub fn is_sent_by(&self, side: Side) -> bool {
        match self.direction {
            Direction::ToServer => side == Side::Client,
            Direction::ToClient => side == Side::Server,
            Direction::Both => true,
        }
    }

    /// The name of the extension that it belongs to; `None` if it is of the protocol itself.
    pub fn extension(&self) -> Option<&'static str> {
        self.gate.as_ref()?.capability.strip_prefix("extensions.")
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
            Side::Either => client.has(gate.capability) || server.has(gate.capability),
        };
        self.is_in(revision) && self.gate.as_ref().is_none_or(is_open)
    }
}

/// The kind of a method: a request is answered, a notification is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MethodKind {
    /// A message that is answered.
    Request,
    /// A message that is not answered.
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
    /// Whichever of the two does what the method is about.
    Either,
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

/// Declares the rows of [`METHODS`] and makes the type of each method's parameters its [`RequestMethod`] or
/// [`NotificationMethod`].
///
/// A row is `"name": request Params => Result, direction;` or `"name": notification Params, direction;`,
/// where the direction is `to_server`, `to_client` or `both`. `needs` names the capability that it takes,
/// `in` the module of its types. Rows under `also` are further rows of methods that have a type already.
macro_rules! methods {
    ($(
        $name:literal: $kind:ident $params:ident $(=> $result:ident)? $(in $module:ident)?, $direction:ident
            $(, needs $side:ident $capability:literal $(since $gate_since:ident)?)?
            $(, since $since:ident)? $(, until $until:ident)?;
    )+
    also {$(
        $also_name:literal: $also_kind:ident $also_params:ident, $also_direction:ident, since $also_since:ident;
    )+}) => {
        /// Every method of every revision, and of the tasks extension.
        ///
        /// A method whose meaning or direction changed has a row for each range of revisions.
        pub const METHODS: &[MethodInfo] = &[
            $(
                MethodInfo {
                    name: $name,
                    kind: methods!(@kind $kind),
                    direction: methods!(@direction $direction),
                    params: stringify!($params),
                    result: methods!(@option $( stringify!($result) )?),
                    gate: methods!(@option $( Gate {
                        side: methods!(@side $side),
                        capability: $capability,
                        since: methods!(@since $( $gate_since )?),
                    } )?),
                    since: methods!(@since $( $since )?),
                    until: methods!(@option $( Revision::$until )?),
                },
            )+
            $(
                MethodInfo {
                    name: $also_name,
                    kind: methods!(@kind $also_kind),
                    direction: methods!(@direction $also_direction),
                    params: stringify!($also_params),
                    result: None,
                    gate: None,
                    since: Revision::$also_since,
                    until: None,
                },
            )+
        ];

        $( methods!(@type $name $kind crate $(:: $module)? ; $params $( $result )?); )+
    };
    (@kind request) => { MethodKind::Request };
    (@kind notification) => { MethodKind::Notification };
    (@direction to_server) => { Direction::ToServer };
    (@direction to_client) => { Direction::ToClient };
    (@direction both) => { Direction::Both };
    (@side client) => { Side::Client };
    (@side server) => { Side::Server };
    (@side either) => { Side::Either };
    (@since) => { Revision::V2024_11_05 };
    (@since $since:ident) => { Revision::$since };
    (@option) => { None };
    (@option $value:expr) => { Some($value) };
    (@type $name:literal request $($module:ident)::+ ; $params:ident EmptyResult) => {
        impl RequestMethod for $($module)::+::$params {
            const NAME: &'static str = $name;
            type Response = crate::EmptyResult;
        }
    };
    (@type $name:literal request $($module:ident)::+ ; $params:ident $result:ident) => {
        impl RequestMethod for $($module)::+::$params {
            const NAME: &'static str = $name;
            type Response = $($module)::+::$result;
        }
    };
    (@type $name:literal notification $($module:ident)::+ ; $params:ident) => {
        impl NotificationMethod for $($module)::+::$params {
            const NAME: &'static str = $name;
        }
    };
}

methods! {
    "initialize": request InitializeRequest => InitializeResult, to_server, until V2025_11_25;
    "notifications/initialized": notification InitializedNotification, to_server, until V2025_11_25;
    "server/discover": request DiscoverRequest => DiscoverResult, to_server, since V2026_07_28;
    "ping": request PingRequest => EmptyResult, both, until V2025_11_25;
    "notifications/cancelled": notification CancelledNotification, both;
    "notifications/progress": notification ProgressNotification, both, until V2025_11_25;

    "tools/list": request ListToolsRequest => ListToolsResult, to_server, needs server "tools";
    "tools/call": request CallToolRequest => CallToolResult, to_server, needs server "tools";
    "notifications/tools/list_changed": notification ToolListChangedNotification, to_client,
        needs server "tools.listChanged";

    "resources/list": request ListResourcesRequest => ListResourcesResult, to_server,
        needs server "resources";
    "resources/templates/list": request ListResourceTemplatesRequest => ListResourceTemplatesResult, to_server,
        needs server "resources";
    "resources/read": request ReadResourceRequest => ReadResourceResult, to_server, needs server "resources";
    "resources/subscribe": request SubscribeRequest => EmptyResult, to_server,
        needs server "resources.subscribe", until V2025_11_25;
    "resources/unsubscribe": request UnsubscribeRequest => EmptyResult, to_server,
        needs server "resources.subscribe", until V2025_11_25;
    "notifications/resources/updated": notification ResourceUpdatedNotification, to_client,
        needs server "resources.subscribe";
    "notifications/resources/list_changed": notification ResourceListChangedNotification, to_client,
        needs server "resources.listChanged";

    "prompts/list": request ListPromptsRequest => ListPromptsResult, to_server, needs server "prompts";
    "prompts/get": request GetPromptRequest => GetPromptResult, to_server, needs server "prompts";
    "notifications/prompts/list_changed": notification PromptListChangedNotification, to_client,
        needs server "prompts.listChanged";

    "logging/setLevel": request SetLevelRequest => EmptyResult, to_server,
        needs server "logging", until V2025_11_25;
    "notifications/message": notification LoggingMessageNotification, to_client, needs server "logging";
    // The first revision has the method, but no capability for it.
    "completion/complete": request CompleteRequest => CompleteResult, to_server,
        needs server "completions" since V2025_03_26;

    "subscriptions/listen": request SubscriptionsListenRequest => SubscriptionsListenResult, to_server,
        since V2026_07_28;
    "notifications/subscriptions/acknowledged": notification SubscriptionsAcknowledgedNotification, to_client,
        since V2026_07_28;

    // The questions of a server. In 2026-07-28 they are in an `InputRequiredResult`.
    "roots/list": request ListRootsRequest => ListRootsResult, to_client,
        needs client "roots", until V2025_11_25;
    "notifications/roots/list_changed": notification RootsListChangedNotification, to_server,
        needs client "roots.listChanged", until V2025_11_25;
    "sampling/createMessage": request CreateMessageRequest => CreateMessageResult, to_client,
        needs client "sampling", until V2025_11_25;
    "elicitation/create": request ElicitRequest => ElicitResult, to_client,
        needs client "elicitation", since V2025_06_18, until V2025_11_25;
    "notifications/elicitation/complete": notification ElicitationCompleteNotification, to_client,
        needs client "elicitation.url", since V2025_11_25, until V2025_11_25;

    // The tasks of 2025-11-25, which either side may run.
    "tasks/get": request GetTaskRequest => GetTaskResult in core_tasks, both,
        needs either "tasks", since V2025_11_25, until V2025_11_25;
    "tasks/result": request GetTaskPayloadRequest => GetTaskPayloadResult in core_tasks, both,
        needs either "tasks", since V2025_11_25, until V2025_11_25;
    "tasks/cancel": request CancelTaskRequest => CancelTaskResult in core_tasks, both,
        needs either "tasks.cancel", since V2025_11_25, until V2025_11_25;
    "tasks/list": request ListTasksRequest => ListTasksResult in core_tasks, both,
        needs either "tasks.list", since V2025_11_25, until V2025_11_25;
    "notifications/tasks/status": notification TaskStatusNotification in core_tasks, both,
        needs either "tasks", since V2025_11_25, until V2025_11_25;

    // The tasks extension, which only servers run.
    "tasks/get": request GetTaskRequest => GetTaskResult in task_extension, to_server,
        needs server "extensions.io.modelcontextprotocol/tasks", since V2026_07_28;
    "tasks/update": request UpdateTaskRequest => EmptyResult in task_extension, to_server,
        needs server "extensions.io.modelcontextprotocol/tasks", since V2026_07_28;
    "tasks/cancel": request CancelTaskRequest => EmptyResult in task_extension, to_server,
        needs server "extensions.io.modelcontextprotocol/tasks", since V2026_07_28;
    "notifications/tasks": notification TaskStatusNotification in task_extension, to_client,
        needs client "extensions.io.modelcontextprotocol/tasks", since V2026_07_28;

    also {
        // A server sends no more requests, so the client has nothing to report on.
        "notifications/progress": notification ProgressNotification, to_client, since V2026_07_28;
    }
}
