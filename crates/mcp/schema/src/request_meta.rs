//! The members of the protocol itself in `_meta` since 2026-07-28, as types.

use agentwire_jsonrpc::RequestId;
use agentwire_wire_derive::Wire;

use crate::{
    ClientCapabilities, Implementation, LoggingLevel, Meta, ProgressToken, ProtocolVersion, Revision,
};

/// A client's description of itself in the `_meta` of every request of 2026-07-28, because no session remembers it.
///
/// ```
/// use agentwire_mcp_schema::{ClientCapabilities, HasMeta, Implementation, ListToolsRequest, RequestMeta, Revision};
///
/// # fn main() -> Result<(), serde_json::Error> {
/// let mut request = ListToolsRequest::default();
/// let about = RequestMeta::new(Revision::V2026_07_28, ClientCapabilities::default())
///     .client_info(Implementation::new("editor", "1"));
/// about.write_to(request.meta_slot());
///
/// let about = RequestMeta::read(request.meta_ref())?;
/// assert_eq!(about.protocol_version, Revision::V2026_07_28);
/// # Ok(())
/// # }
/// ```
///
/// See <https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta>.
#[derive(Clone, Debug, PartialEq, Wire)]
#[non_exhaustive]
pub struct RequestMeta {
    /// The version of the protocol that the request uses.
    #[wire(required, name = "io.modelcontextprotocol/protocolVersion")]
    pub protocol_version: ProtocolVersion,
    /// The capabilities of the client while it waits for the answer.
    #[wire(required, name = "io.modelcontextprotocol/clientCapabilities")]
    pub client_capabilities: ClientCapabilities,
    /// Who the client is.
    #[wire(optional, name = "io.modelcontextprotocol/clientInfo")]
    pub client_info: Option<Implementation>,
    /// The lowest level of the log messages that the client wants about this request. Absent means no messages.
    #[wire(strict, name = "io.modelcontextprotocol/logLevel")]
    pub log_level: Option<LoggingLevel>,
    /// The token with which the client asks for progress notifications.
    #[wire(strict, name = "progressToken")]
    pub progress_token: Option<ProgressToken>,
}

impl RequestMeta {
    /// A request in that version, from a client with these capabilities.
    pub fn new(
        protocol_version: impl Into<ProtocolVersion>,
        client_capabilities: ClientCapabilities,
    ) -> Self {
        Self {
            protocol_version: protocol_version.into(),
            client_capabilities,
            client_info: None,
            log_level: None,
            progress_token: None,
        }
    }

    /// The version that a request names, if it names one. Other members of the `_meta` may be missing.
    pub fn version(meta: Option<&Meta>) -> Option<ProtocolVersion> {
        meta?.text("io.modelcontextprotocol/protocolVersion").map(|version| ProtocolVersion::from(&*version))
    }

    /// Whether a request is modern: it names a modern revision, or an unknown version.
    pub fn is_modern(meta: Option<&Meta>) -> bool {
        Self::version(meta).is_some_and(|version| version.revision().is_none_or(Revision::is_modern))
    }
}

setters!(RequestMeta {
    some client_info: Implementation,
    some log_level: LoggingLevel,
    some progress_token: ProgressToken,
});

/// A server's data in a notification of 2026-07-28.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct NotificationMeta {
    /// The id of the `subscriptions/listen` on which it is sent, with its type.
    #[wire(
        optional,
        name = "io.modelcontextprotocol/subscriptionId",
        schema(with = "Option<crate::schema::RequestIdSchema>")
    )]
    pub subscription_id: Option<RequestId>,
}

impl NotificationMeta {
    /// On the subscription that the request of this id opened.
    pub fn new(subscription_id: impl Into<RequestId>) -> Self {
        Self { subscription_id: Some(subscription_id.into()) }
    }
}

/// A server's description of itself in every result of 2026-07-28.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct ResultMeta {
    /// Who the server is.
    #[wire(optional, name = "io.modelcontextprotocol/serverInfo")]
    pub server_info: Option<Implementation>,
}

impl ResultMeta {
    /// That server.
    pub fn new(server_info: Implementation) -> Self {
        Self { server_info: Some(server_info) }
    }
}

/// A server's data at the end of a subscription.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct SubscriptionsListenResultMeta {
    /// The id of the request that opened it, with its type.
    #[wire(
        required,
        name = "io.modelcontextprotocol/subscriptionId",
        schema(with = "crate::schema::RequestIdSchema")
    )]
    pub subscription_id: RequestId,
    /// Who the server is.
    #[wire(optional, name = "io.modelcontextprotocol/serverInfo")]
    pub server_info: Option<Implementation>,
}

impl SubscriptionsListenResultMeta {
    /// The subscription that the request of this id opened.
    pub fn new(subscription_id: impl Into<RequestId>) -> Self {
        Self { subscription_id: subscription_id.into(), server_info: None }
    }
}

setters!(SubscriptionsListenResultMeta {
    some server_info: Implementation,
});

macro_rules! views {
    ($( $name:ident )+) => {
        $(
            impl $name {
                /// Reads it out of a `_meta`. None is an empty one.
                ///
                /// # Errors
                ///
                /// When something that is required is missing, or something is of the wrong type.
                #[inline]
                pub fn read(meta: Option<&Meta>) -> Result<Self, serde_json::Error> {
                    meta.unwrap_or(&Meta::new()).decode()
                }

                /// Writes it into a `_meta`, beside what else is there.
                #[inline]
                pub fn write_to(&self, meta: &mut Option<Meta>) {
                    match meta {
                        Some(meta) => meta.extend(self.to_meta().iter()),
                        None => *meta = Some(self.to_meta()),
                    }
                }

                /// A `_meta` with nothing else.
                #[inline]
                pub fn to_meta(&self) -> Meta {
                    Meta::encode(self).expect("it is a struct of members that all have a JSON form")
                }
            }
        )+
    };
}

views! { RequestMeta NotificationMeta ResultMeta SubscriptionsListenResultMeta }
