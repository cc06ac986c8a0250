//! `Outcome`, which reads a 2026-07-28 result by its `resultType`: complete, input required, task or unknown.

use agentwire_jsonrpc::RawJson;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};

use crate::tasks::extension::CreateTaskResult;
use crate::{InputRequiredResult, ResultType};

/// The response of 2026-07-28 to a request whose answer is a `T`. `resultType` distinguishes the kinds.
///
/// ```
/// use agentwire_mcp_schema::{CallToolResult, Outcome};
///
/// # fn main() -> Result<(), serde_json::Error> {
/// let text = r#"{"resultType":"input_required","requestState":"s1"}"#;
/// match serde_json::from_str::<Outcome<CallToolResult>>(text)? {
///     Outcome::InputRequired(wanted) => assert_eq!(wanted.request_state.as_deref(), Some("s1")),
///     other => panic!("{other:?}"),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Outcome<T> {
    /// The answer.
    Complete(T),
    /// Questions that the client has to answer first.
    InputRequired(InputRequiredResult),
    /// The task whose result will be the answer. Only to clients that named the extension.
    Task(CreateTaskResult),
    /// A result of a kind that this version of the library does not know. A client treats it as an error.
    Unknown(RawJson),
}

/// The text is read twice rather than collected: the first time only for its `resultType`.
impl<'de, T: DeserializeOwned> Deserialize<'de> for Outcome<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let result = RawJson::deserialize(deserializer)?;
        let result_type = ResultType::of(&result).map_err(D::Error::custom)?;
        match result_type {
            None | Some(ResultType::Complete) => result.decode().map(Self::Complete),
            Some(ResultType::InputRequired) => result.decode().map(Self::InputRequired),
            Some(ResultType::Task) => result.decode().map(Self::Task),
            Some(ResultType::Unknown(_)) => return Ok(Self::Unknown(result)),
        }
        .map_err(D::Error::custom)
    }
}
