//! The traits that tie a params type to its method name and result type, and the decoder of params.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{ErrorObject, RawJson};

/// The params type of a request, with its method name and its result type. So a call needs neither a name nor a type annotation:
///
/// ```
/// use agentwire_jsonrpc::RequestMethod;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct AddRequest { a: i64, b: i64 }
///
/// #[derive(Serialize, Deserialize)]
/// struct AddResponse { sum: i64 }
///
/// impl RequestMethod for AddRequest {
///     const NAME: &'static str = "math/add";
///     type Response = AddResponse;
/// }
/// ```
pub trait RequestMethod: Serialize + DeserializeOwned {
    /// The name on the wire, for example `session/new`.
    const NAME: &'static str;

    /// The type of the `result`.
    type Response: Serialize + DeserializeOwned + Send + 'static;
}

/// The params type of a notification, with its method name. A notification is never answered.
pub trait NotificationMethod: Serialize + DeserializeOwned {
    /// The name on the wire, for example `session/update`.
    const NAME: &'static str;
}

/// Decodes by-name parameters, which all methods of ACP and MCP have. Missing parameters are an empty object, and so is an empty
/// array.
///
/// # Errors
///
/// Fails with "invalid params", also for an array with items, which would fill a struct by position.
pub fn decode_params<P: DeserializeOwned>(params: Option<RawJson>) -> Result<P, ErrorObject> {
    match params.unwrap_or(RawJson::EMPTY_OBJECT).into_object() {
        Some(params) => params.decode().map_err(ErrorObject::invalid_params),
        None => Err(ErrorObject::invalid_params("params must be an object")),
    }
}
