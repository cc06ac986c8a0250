//! The wrappers that `proxy/successor` puts around a forwarded request or notification. A macro makes a version's
//! `proxy/initialize`.

use agentwire_jsonrpc::RawJson;
use agentwire_wire_derive::{Build, Wire};
use serde::{Deserialize, Serialize};

use crate::common::Meta;

/// `proxy/successor` as a request: a request that goes one hop on, to the proxy's successor or back from it.
///
/// The result or the error of the request inside comes back as that of this one. Who wants it cancelled cancels this
/// one. See <https://agentclientprotocol.com/rfds/proxy-chains>. A draft.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ProxySuccessorRequest {
    /// The method of the request inside.
    #[wire(required)]
    pub method: String,
    /// The params of the request inside, an object or an array, as they are, its `_meta` among them.
    #[wire(optional)]
    pub params: Option<RawJson>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The answer to `proxy/successor`: the result of the request inside, as it is. A draft.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
#[non_exhaustive]
pub struct ProxySuccessorResponse(pub RawJson);

impl From<RawJson> for ProxySuccessorResponse {
    fn from(result: RawJson) -> Self {
        Self(result)
    }
}

/// `proxy/successor` as a notification: a notification that goes one hop on, to the proxy's successor or back from it.
///
/// See <https://agentclientprotocol.com/rfds/proxy-chains>. A draft.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ProxySuccessorNotification {
    /// The method of the notification inside.
    #[wire(required)]
    pub method: String,
    /// The params of the notification inside, an object or an array, as they are, its `_meta` among them.
    #[wire(optional)]
    pub params: Option<RawJson>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// Defines `proxy/initialize`, which has the members of `initialize`.
///
/// Around the call there must be `InitializeRequest` and `InitializeResponse`.
macro_rules! proxy_types {
    () => {
        /// `proxy/initialize`: replaces `initialize` for a component in front of another one.
        ///
        /// Before it answers it sends `initialize` on to that one, with `proxy/successor`. See
        /// <https://agentclientprotocol.com/rfds/proxy-chains>. A draft.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(transparent)]
        #[non_exhaustive]
        pub struct InitializeProxyRequest(pub InitializeRequest);

        impl From<InitializeRequest> for InitializeProxyRequest {
            fn from(request: InitializeRequest) -> Self {
                Self(request)
            }
        }

        /// The answer to `proxy/initialize`: the chain from here on, in the version that the successor has answered. A draft.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(transparent)]
        #[non_exhaustive]
        pub struct InitializeProxyResponse(pub InitializeResponse);

        impl From<InitializeResponse> for InitializeProxyResponse {
            fn from(response: InitializeResponse) -> Self {
                Self(response)
            }
        }
    };
}
pub(crate) use proxy_types;
