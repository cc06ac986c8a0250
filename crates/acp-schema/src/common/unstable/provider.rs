use agentwire_jsonrpc::Method;

use crate::wire::{empty_object, marker_capability, object, open_enum, string_id};

string_id! {
    /// Names a provider of models that an agent can be set up for.
    ProviderId,
}

open_enum! {
    /// Which API a provider speaks. Words of one's own begin with `_`.
    LlmProtocol {
        /// Anthropic's.
        Anthropic = "anthropic",
        /// OpenAI's.
        Openai = "openai",
        /// OpenAI's as Azure has it.
        Azure = "azure",
        /// That of Google's Vertex AI.
        Vertex = "vertex",
        /// That of AWS Bedrock.
        Bedrock = "bedrock",
    } else Other
}

object! {
    /// `providers/disable`: use that provider no more. Not for one that is required.
    ///
    /// Only where the agent has the capability `providers`. A draft.
    DisableProviderRequest {
        /// The provider.
        required provider_id: ProviderId,
        meta,
    }
}

impl Method for DisableProviderRequest {
    const NAME: &'static str = "providers/disable";
    type Response = DisableProviderResponse;
}

empty_object! {
    /// The answer to `providers/disable`.
    DisableProviderResponse,
    /// The answer to `providers/set`.
    SetProviderResponse,
}

marker_capability! {
    /// That an agent answers `providers/list`, `providers/set` and `providers/disable`.
    ProvidersCapabilities,
}

/// Defines what versions say in the same words about providers.
///
/// The types are each version's own, because not each publishes that an address is a URI: the attribute says so.
macro_rules! provider_types {
    ($(#[$uri:meta])?) => {
        $crate::wire::empty_object! {
            /// `providers/list`: which providers of models the agent can be set up for.
            ///
            /// Only where the agent has the capability `providers`. A draft.
            ListProvidersRequest,
        }

        impl agentwire_jsonrpc::Method for ListProvidersRequest {
            const NAME: &'static str = "providers/list";
            type Response = ListProvidersResponse;
        }

        $crate::wire::object! {
            /// The answer to `providers/list`.
            ListProvidersResponse {
                /// The providers.
                required providers: Vec<ProviderInfo>,
                meta,
            }
        }

        $crate::wire::object! {
            /// A provider of models that an agent can be set up for.
            ProviderInfo {
                /// Names the provider.
                required provider_id: $crate::common::unstable::ProviderId,
                /// Which APIs it may speak.
                required_items supported: Vec<$crate::common::unstable::LlmProtocol>,
                /// Whether the agent cannot do without it.
                required required: bool,
                /// How it is set up, without secrets; none where it is not used.
                optional current: Option<ProviderCurrentConfig>,
                meta,
            }
        }

        $crate::wire::object! {
            /// How a provider is set up, without secrets.
            ProviderCurrentConfig {
                /// Which API it speaks.
                required api_type: $crate::common::unstable::LlmProtocol,
                /// Where it is.
                $(#[$uri])?
                required base_url: String,
                meta,
            }
        }

        $crate::wire::object! {
            /// `providers/set`: set a provider up, all of it; nothing stays of what it was before.
            ///
            /// Only where the agent has the capability `providers`. A draft.
            SetProviderRequest {
                /// The provider.
                required provider_id: $crate::common::unstable::ProviderId,
                /// Which API it speaks.
                required api_type: $crate::common::unstable::LlmProtocol,
                /// Where it is.
                $(#[$uri])?
                required base_url: String,
                /// The headers of requests to it, secrets among them.
                #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
                or_default headers: std::collections::BTreeMap<String, String>,
                meta,
            }
        }

        impl agentwire_jsonrpc::Method for SetProviderRequest {
            const NAME: &'static str = "providers/set";
            type Response = $crate::common::unstable::SetProviderResponse;
        }
    };
}
pub(crate) use provider_types;
