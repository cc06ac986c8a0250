//! The row type of the method tables, and the macro that declares a table. It also implements `RequestMethod` and
//! `NotificationMethod` for the params types.

/// A row of a version's method table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MethodInfo {
    /// The name on the wire.
    pub name: &'static str,
    /// Request or notification.
    pub kind: MethodKind,
    /// The type of its params.
    pub params: &'static str,
    /// The type of its result; none for a notification.
    pub result: Option<&'static str>,
    /// Who sends it.
    pub direction: Direction,
    /// The capability that the receiver must have advertised, as a path into the capabilities of
    /// `initialize` or, as the path shows, into the result of `session/new`. `None` for a method of the protocol's baseline.
    pub gate: Option<&'static str>,
}

/// The kind of a method: a request or a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "JSON-RPC has these two")]
pub enum MethodKind {
    /// A request, which has one answer.
    Request,
    /// A notification, which has no answer.
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

/// Defines a version's method table, and makes the type of each method's params its `RequestMethod` or
/// `NotificationMethod`.
///
/// A row is `"name": request Params -> Result: Direction,` or `"name": notification Params: Direction,`. A row without a
/// name is of a type that has its method elsewhere; its result is checked. After `if` comes the capability that the
/// receiver must have advertised.
macro_rules! methods {
    (
        $(#[$doc:meta])*
        $table:ident {
            $($($name:literal:)? $kind:ident $params:ident $(-> $result:ident)?: $direction:ident $(if $gate:literal)?,)+
        }
    ) => {
        $(#[$doc])*
        pub const $table: &[$crate::common::MethodInfo] = &[$($crate::common::MethodInfo {
            name: $crate::common::methods!(@name $kind $params),
            kind: $crate::common::methods!(@kind $kind),
            params: stringify!($params),
            result: $crate::common::methods!(@option $(stringify!($result))?),
            direction: $crate::common::Direction::$direction,
            gate: $crate::common::methods!(@option $($gate)?),
        },)+];

        $($crate::common::methods!(@method $($name)? $kind $params $($result)?);)+
    };
    (@method $name:literal request $params:ident $result:ident) => {
        impl agentwire_jsonrpc::RequestMethod for $params {
            const NAME: &'static str = $name;
            type Response = $result;
        }
    };
    (@method $name:literal notification $params:ident) => {
        impl agentwire_jsonrpc::NotificationMethod for $params {
            const NAME: &'static str = $name;
        }
    };
    (@method request $params:ident $result:ident) => {
        const _: fn(<$params as agentwire_jsonrpc::RequestMethod>::Response) -> $result = |result| result;
    };
    (@method notification $params:ident) => {};
    (@name request $params:ident) => { <$params as agentwire_jsonrpc::RequestMethod>::NAME };
    (@name notification $params:ident) => { <$params as agentwire_jsonrpc::NotificationMethod>::NAME };
    (@kind request) => { $crate::common::MethodKind::Request };
    (@kind notification) => { $crate::common::MethodKind::Notification };
    (@option) => { None };
    (@option $value:expr) => { Some($value) };
}
pub(crate) use methods;
