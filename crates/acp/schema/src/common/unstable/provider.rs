//! The types of `providers/disable`, `LlmProtocol` and the provider capability. A macro makes a version's `providers/list` and
//! `providers/set`.

use agentwire_wire_derive::{Build, Wire};

use crate::common::{Meta, empty_object, marker_capability, string_id};

string_id! {
    /// Identifies a provider of models that an agent can be set up for.
    ProviderId,
}

/// The API of a provider. Custom strings begin with `_`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum LlmProtocol {
    /// Anthropic's.
    #[wire("anthropic")]
    Anthropic,
    /// OpenAI's.
    #[wire("openai")]
    Openai,
    /// OpenAI's as Azure has it.
    #[wire("azure")]
    Azure,
    /// That of Google's Vertex AI.
    #[wire("vertex")]
    Vertex,
    /// That of AWS Bedrock.
    #[wire("bedrock")]
    Bedrock,
    /// A string that this version of the crate does not know, unchanged.
    #[wire(unknown)]
    Other(String),
}

/// `providers/disable`: use that provider no more. Not for one that is required.
///
/// Only where the agent has the capability `providers`. A draft.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct DisableProviderRequest {
    /// The provider.
    #[wire(required)]
    pub provider_id: ProviderId,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

empty_object! {
    /// The answer to `providers/disable`.
    DisableProviderResponse,
    /// The answer to `providers/set`.
    SetProviderResponse,
}

marker_capability! {
    /// The agent answers `providers/list`, `providers/set` and `providers/disable`.
    ProvidersCapabilities,
}

/// Defines what versions say in the same words about providers.
///
/// The types are each version's own, because not each publishes that an address is a URI: the attribute states it.
macro_rules! provider_types {
    ($(#[$uri:meta])?) => {
        $crate::common::empty_object! {
            /// `providers/list`: which providers of models the agent can be set up for.
            ///
            /// Only where the agent has the capability `providers`. A draft.
            ListProvidersRequest,
        }

        /// The answer to `providers/list`.
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct ListProvidersResponse {
            /// The providers.
            #[wire(required)]
            pub providers: Vec<ProviderInfo>,
            /// Extension metadata; receivers make no assumptions about its keys.
            #[wire(meta)]
            pub meta: Option<$crate::common::Meta>,
        }

        /// A provider of models that an agent can be set up for.
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct ProviderInfo {
            /// Identifies the provider.
            #[wire(required)]
            pub provider_id: $crate::common::unstable::ProviderId,
            /// The APIs that it supports.
            #[wire(required_items)]
            pub supported: Vec<$crate::common::unstable::LlmProtocol>,
            /// Whether the agent cannot do without it.
            #[wire(required)]
            pub required: bool,
            /// How it is set up, without secrets. Absent if it is not used.
            #[wire(optional)]
            pub current: Option<ProviderCurrentConfig>,
            /// Extension metadata; receivers make no assumptions about its keys.
            #[wire(meta)]
            pub meta: Option<$crate::common::Meta>,
        }

        /// How a provider is set up, without secrets.
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct ProviderCurrentConfig {
            /// The API of the provider.
            #[wire(required)]
            pub api_type: $crate::common::unstable::LlmProtocol,
            /// Where it is.
            $(#[$uri])?
            #[wire(required)]
            pub base_url: String,
            /// Extension metadata; receivers make no assumptions about its keys.
            #[wire(meta)]
            pub meta: Option<$crate::common::Meta>,
        }

        /// `providers/set`: set a provider up, all of it; nothing stays of what it was before.
        ///
        /// Only where the agent has the capability `providers`. A draft.
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct SetProviderRequest {
            /// The provider.
            #[wire(required)]
            pub provider_id: $crate::common::unstable::ProviderId,
            /// The API of the provider.
            #[wire(required)]
            pub api_type: $crate::common::unstable::LlmProtocol,
            /// Where it is.
            $(#[$uri])?
            #[wire(required)]
            pub base_url: String,
            /// The headers of requests to it, secrets among them.
            #[wire(or_default, omit_if = std::collections::BTreeMap::is_empty)]
            pub headers: std::collections::BTreeMap<String, String>,
            /// Extension metadata; receivers make no assumptions about its keys.
            #[wire(meta)]
            pub meta: Option<$crate::common::Meta>,
        }
    };
}
pub(crate) use provider_types;
