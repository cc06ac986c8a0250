//! The check of the operations in a body: the method of each message, and the tool, prompt or resource that it names.

use std::borrow::Cow;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use agentwire_jsonrpc::{Frame, Message, RawJson};
use agentwire_mcp_wire::{Member, ParamsMembers, method};
use http::{Extensions, StatusCode};

use crate::server::admission::denied::Denied;
use crate::server::response::refusal::Refusal;

/// The members of the params that name an operation. A message that repeats one of them would be read in two ways.
const NAMES: &[Member] = &[Member::Name, Member::Uri, Member::TaskId];

/// A request or a notification in a POST.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Operation<'a> {
    /// The method, such as `tools/call`.
    pub method: &'a str,
    /// The name of the tool or the prompt, the URI of the resource or the id of the task. None for any other method, and
    /// where the params have no such text.
    pub name: Option<Cow<'a, str>>,
}

impl<'a> Operation<'a> {
    /// An operation, as tests of a check need it.
    pub fn new(method: &'a str, name: Option<&'a str>) -> Self {
        Self { method, name: name.map(Cow::Borrowed) }
    }
}

type Check = dyn Fn(&[Operation<'_>]) -> Result<(), Denied> + Send + Sync;

/// Decides whether the sender of a POST may perform the operations in its body.
///
/// A layer that authenticates puts one into the extensions of each request, beside the
/// [`Principal`](crate::server::Principal). The endpoint calls it for each POST that brings requests or notifications, in
/// every revision, before anything reaches a session or a handler: with one operation, or with all of a batch. A refusal is
/// the response to the whole POST, with its status and its challenge. Where the function panics, that is 500.
///
/// The endpoint of `agentwire-transport-sse` calls it as well. Other services behind the layer do not.
///
/// ```
/// use agentwire_transport_http::server::{Denied, OperationCheck};
/// use http::StatusCode;
///
/// /// Allows everything but calls of tools.
/// let reader = OperationCheck::new(|operations| {
///     let calls = operations.iter().any(|operation| operation.method == "tools/call");
///     if calls { Err(Denied::new(StatusCode::FORBIDDEN, "only for readers")) } else { Ok(()) }
/// });
/// let mut request = http::Request::new(());
/// request.extensions_mut().insert(reader);
/// ```
#[derive(Clone)]
pub struct OperationCheck(Arc<Check>);

impl OperationCheck {
    /// A check by a function, which must not wait.
    pub fn new(check: impl Fn(&[Operation<'_>]) -> Result<(), Denied> + Send + Sync + 'static) -> Self {
        Self(Arc::new(check))
    }

    fn check(&self, operations: &[Operation<'_>]) -> Result<(), Refusal> {
        match catch_unwind(AssertUnwindSafe(|| (self.0)(operations))) {
            Ok(checked) => checked.map_err(Refusal::from),
            Err(_) => Err(Refusal::unanswered()),
        }
    }
}

impl fmt::Debug for OperationCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OperationCheck").finish_non_exhaustive()
    }
}

/// Asks the [`OperationCheck`] of a request, if it has one, about the content of its body. For other endpoints beside an
/// [`Endpoint`](crate::server::Endpoint).
///
/// # Errors
///
/// Returns the refusal of the check, and 400 for a message that names two operations.
pub fn check_operations(extensions: &Extensions, frame: &Frame) -> Result<(), Refusal> {
    let Some(check) = extensions.get::<OperationCheck>() else { return Ok(()) };
    match frame {
        Frame::Single(message) => check_calls(check, call_of(message)),
        Frame::Batch(messages) => check_calls(check, messages.iter().flatten().filter_map(call_of)),
        _ => Ok(()),
    }
}

/// A method and its params.
pub(crate) type Call<'a> = (&'a str, Option<&'a RawJson>);

/// The call of a message that is a request or a notification.
pub(crate) fn call_of(message: &Message) -> Option<Call<'_>> {
    match message {
        Message::Request(request) => Some((&request.method, request.params.as_ref())),
        Message::Notification(notification) => Some((&notification.method, notification.params.as_ref())),
        Message::Response(_) => None,
    }
}

/// The member that names an operation: that of the header since 2026-07-28, and those of methods that only older revisions have.
fn named_by(method: &str) -> Option<Member> {
    match method {
        "resources/subscribe" | "resources/unsubscribe" => Some(Member::Uri),
        "tasks/result" => Some(Member::TaskId),
        _ => method::named_by(method),
    }
}

pub(crate) fn check_calls<'a>(
    check: &OperationCheck,
    calls: impl IntoIterator<Item = Call<'a>>,
) -> Result<(), Refusal> {
    let mut operations = Vec::new();
    for (method, params) in calls {
        let Some(named_by) = named_by(method) else {
            operations.push(Operation { method, name: None });
            continue;
        };
        let members = ParamsMembers::read(params);
        if members.repeats_any(NAMES) {
            let why = "a member of the params that names the operation occurs more than once";
            return Err(Denied::new(StatusCode::BAD_REQUEST, why).into());
        }
        operations.push(Operation { method, name: members.string(named_by) });
    }
    if operations.is_empty() { Ok(()) } else { check.check(&operations) }
}
