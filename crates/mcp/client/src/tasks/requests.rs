//! Single requests about a task, in both protocols.

use std::sync::Arc;
use std::time::Duration;

use agentwire_jsonrpc::RequestMethod;
use agentwire_mcp_schema::task_extension;
use agentwire_mcp_schema::{CallToolRequest, EmptyResult, HasMeta, core_tasks};
use agentwire_peer::CallError;
use bytestring::ByteString;
use futures_util::FutureExt;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::report::Report;
use crate::connection::Connection;
use crate::raw::{CallOptions, RawAnswer, RawCall, Waits};
use crate::request::input;
use crate::result::{self, ResultKind};

/// The longest id of a task in an error, in characters.
const MAX_NAME: usize = 64;

/// How long a cancel request waits for its answer.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(10);

/// Asks once for a task's state.
pub(crate) async fn state(connection: &Connection, id: &str) -> Result<Report, CallError> {
    let waits = connection.server.waits;
    let report: Report = match connection.is_modern() {
        true => once(connection, task_extension::GetTaskRequest::new(id), waits).await?,
        false => in_session(connection, core_tasks::GetTaskRequest::new(id), waits).await?,
    };
    if report.task_id != id {
        return unusable("the server answers for another task than the one in the request".to_owned());
    }
    Ok(report)
}

/// Cancels a task. In a session this fails where the server does not offer it.
pub(crate) async fn cancel(connection: &Connection, id: &str, waits: Waits) -> Result<(), CallError> {
    if connection.is_modern() {
        let request = task_extension::CancelTaskRequest::new(id);
        return once(connection, request, waits).await.map(|EmptyResult { .. }| ());
    }
    let request = core_tasks::CancelTaskRequest::new(id);
    if !connection.server.capabilities.has("tasks.cancel") {
        let method = core_tasks::CancelTaskRequest::NAME;
        return Err(CallError::not_allowed(method, "the server does not offer it"));
    }
    in_session(connection, request, waits).await.map(|IgnoredAny| ())
}

/// Cancels a task that no call waits for, beside the connection's main future.
pub(crate) fn cancel_later(connection: &Arc<Connection>, id: String) {
    let owner = connection.clone();
    let waits = Waits { timeout: Some(CANCEL_TIMEOUT), progress_maximum: Some(CANCEL_TIMEOUT) };
    // No caller is left to take an error.
    let cancel = async move { drop(cancel(&owner, &id, waits).await) };
    connection.cleanup.push(cancel.boxed());
}

/// Makes a request in a session. The type of the result is the caller's.
async fn in_session<M: RequestMethod, R: DeserializeOwned + Send + 'static>(
    connection: &Connection,
    request: M,
    waits: Waits,
) -> Result<R, CallError> {
    let call = connection.peer.call_method(ByteString::from_static(M::NAME), Some(&request));
    waits.apply(call).await
}

/// Makes a modern request about a task. The request itself must not become a task.
pub(crate) async fn once<M, R>(connection: &Connection, request: M, waits: Waits) -> Result<R, CallError>
where
    M: RequestMethod + HasMeta,
    R: DeserializeOwned,
{
    let call = RawCall::encode(connection, &request, CallOptions { waits, ..CallOptions::default() })?;
    let method = call.method.clone();
    let answer = input::call(connection, call).await?;
    created(connection, &method, &answer)?;
    connection.decode(method, &answer.result)
}

/// Returns the task that an answer is, if it is one.
///
/// # Errors
///
/// Where the protocol does not allow a task.
pub(crate) fn created(
    connection: &Connection,
    method: &ByteString,
    answer: &RawAnswer,
) -> Result<Option<Box<Report>>, CallError> {
    // The specification's own examples give this kind to the answer of `tasks/get`, too.
    if answer.kind != ResultKind::Task || &**method == task_extension::GetTaskRequest::NAME {
        return Ok(None);
    }
    let malformed = |why: serde_json::Error| result::malformed(method.clone(), &why);
    result::check(&answer.result, connection.value_limit()).map_err(malformed)?;
    let report: Report = answer.result.decode().map_err(malformed)?;
    let name: String = report.task_id.chars().take(MAX_NAME).collect();
    let why = if &**method != CallToolRequest::NAME {
        format!("the server made a task of it ({name:?}), where the protocol does not allow it")
    } else if connection.tasks.is_none() {
        format!("the server made a task of it ({name:?}), though this client does not handle tasks")
    } else {
        return Ok(Some(Box::new(report)));
    };
    Err(CallError::unusable(method.clone(), why))
}

/// The error of a call whose task the client cannot use.
pub(crate) fn unusable<T>(why: String) -> Result<T, CallError> {
    Err(CallError::unusable(CallToolRequest::NAME, why))
}
