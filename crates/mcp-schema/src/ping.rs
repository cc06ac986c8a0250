use serde::Serialize;

use crate::Meta;

object! {
    /// Asks whether the other side is still there. Either side may, at any time, also before `initialize`.
    ///
    /// See <https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping>.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub struct PingRequest {
        /// Attachments.
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        pub meta: Option<Meta>,
    }
}

setters!(PingRequest {
    some meta: Meta,
});

object! {
    /// An answer that says only that it was done.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "camelCase")]
    #[non_exhaustive]
    pub struct EmptyResult {
        /// What kind of result this is; absent means complete. Since 2026-07-28.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub result_type: Option<crate::ResultType>,
        /// Attachments.
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        pub meta: Option<Meta>,
    }
}

setters!(EmptyResult {
    some result_type: crate::ResultType,
    some meta: Meta,
});

has_meta!(PingRequest, EmptyResult);
