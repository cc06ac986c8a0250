//! The members `resultType` and `cacheScope`, which 2026-07-28 adds to results.

use agentwire_jsonrpc::{RawJson, RawObject};
use agentwire_wire_derive::Wire;

/// The kind of a result. Since 2026-07-28; absent, as in older revisions, means complete.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[wire(any_string)]
#[non_exhaustive]
pub enum ResultType {
    /// The result is the answer.
    #[wire("complete")]
    Complete,
    /// The result has questions of the server: an [`InputRequiredResult`](crate::InputRequiredResult).
    #[wire("input_required")]
    InputRequired,
    /// The request runs as a task: the [`CreateTaskResult`](crate::tasks::extension::CreateTaskResult) of the tasks extension.
    #[wire("task")]
    Task,
    /// A string that this version of the library does not know, unchanged.
    #[wire(unknown)]
    Unknown(Box<str>),
}

impl ResultType {
    /// The kind of a result, if it has one. The other members are not decoded.
    ///
    /// # Errors
    ///
    /// When the result is not an object, or its `resultType` is not a string or is repeated.
    pub fn of(result: &RawJson) -> Result<Option<Self>, serde_json::Error> {
        let object = RawObject::try_from(result.clone())?;
        Ok(object.decode_member::<Option<Self>>("resultType")?.flatten())
    }
}

/// The users that may get a cached result. Since 2026-07-28.
///
/// See <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching>.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[non_exhaustive]
pub enum CacheScope {
    /// All users.
    #[wire("public")]
    Public,
    /// Only the user that requested it, with the same authorization.
    #[wire("private")]
    Private,
    /// A string that this version of the library does not know, unchanged.
    #[wire(unknown)]
    Unknown(Box<str>),
}
