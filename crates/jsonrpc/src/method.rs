use serde::Serialize;
use serde::de::DeserializeOwned;

/// A request, named by the type of its parameters.
///
/// The type that travels as `params` says which method it belongs to and what comes back, so a call needs
/// no second name and an answer no annotation:
///
/// ```
/// use agentwire_jsonrpc::Method;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct AddRequest { a: i64, b: i64 }
///
/// #[derive(Serialize, Deserialize)]
/// struct AddResponse { sum: i64 }
///
/// impl Method for AddRequest {
///     const NAME: &'static str = "math/add";
///     type Response = AddResponse;
/// }
/// ```
pub trait Method: Serialize + DeserializeOwned {
    /// The name on the wire, for example `session/new`.
    const NAME: &'static str;

    /// What a successful answer carries as `result`.
    type Response: Serialize + DeserializeOwned;
}

/// A notification, named by the type of its parameters. It is never answered.
pub trait Notice: Serialize + DeserializeOwned {
    /// The name on the wire, for example `session/update`.
    const NAME: &'static str;
}
