//! `tasks/result` of 2025-11-25: the client that waits for a task's result also gets its questions.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, RawJson};
use agentwire_mcp_schema::core_tasks::RelatedTaskMetadata;
use agentwire_mcp_schema::{HasMeta, InputRequest};
use agentwire_peer::CallError;
use futures::StreamExt;
use futures::future::{Either, select};
use futures::stream::FuturesUnordered;
use serde::Serialize;

use crate::input::Question;
use crate::request::session::Session;
use crate::tasks::handle::{QuestionClaim, TaskHandle};
use crate::tasks::{Tasks, ends};
use crate::{Context, TaskRecord};

/// The response to a task's call; `None` if it is not done.
pub(crate) fn of(record: &TaskRecord) -> Option<Result<RawJson, ErrorObject>> {
    record.is_final().then(|| match (&record.result, &record.error) {
        (Some(result), _) => Ok(result.clone()),
        (None, Some(error)) => Err(error.clone()),
        (None, None) => Err(ErrorObject::request_cancelled()),
    })
}

/// Waits for the end of a task, and forwards its questions.
pub(crate) async fn wait(
    context: &Context,
    tasks: &Tasks,
    handle: Arc<TaskHandle>,
) -> Result<RawJson, ErrorObject> {
    let mut calls = FuturesUnordered::new();
    // Questions that cannot be sent to this client. Another one may be able to answer them.
    let mut passed_over = BTreeSet::new();
    loop {
        let question = {
            let next = pin!(handle.claim_question(&passed_over));
            if calls.is_empty() {
                Either::Left(next.await)
            } else {
                match select(next, calls.next()).await {
                    Either::Left((question, _)) => Either::Left(question),
                    Either::Right((asked, _)) => Either::Right(asked),
                }
            }
        };
        match question {
            Either::Left(Some((claim, request))) => calls.push(ask(context, &handle, claim, request)),
            Either::Left(None) => break,
            Either::Right(unanswered) => passed_over.extend(unanswered.flatten()),
        }
    }
    if tasks.registry.node().is_some() {
        // An error would be taken for that of the task.
        handle.stored().await;
    }
    of(&ends::reportable_record(tasks, &handle).await?)
        .unwrap_or_else(|| Err(ErrorObject::internal_error("the task is not done")))
}

/// Asks the client, and gives the task its answer. Gives the question's key if it stays open.
async fn ask(
    context: &Context,
    handle: &TaskHandle,
    claim: QuestionClaim,
    request: InputRequest,
) -> Option<String> {
    let answer = {
        let call = pin!(call(context, handle.id(), request));
        match select(call, pin!(claim.withdrawn())).await {
            Either::Left((answer, _)) => answer,
            Either::Right(_) => return None,
        }
    };
    match answer {
        Err(CallError::Closed(_) | CallError::Failed { .. } | CallError::NotAllowed { .. }) => {
            Some(claim.key().to_owned())
        }
        answer => {
            claim.answer(answer);
            None
        }
    }
}

async fn call(context: &Context, task: &str, request: InputRequest) -> Result<RawJson, CallError> {
    let Some(session) = context.session() else {
        return Err(CallError::not_allowed(
            request.method(),
            "a modern request has no session that could carry it",
        ));
    };
    match request {
        InputRequest::Elicit(request) => send(context, session, task, request).await,
        InputRequest::CreateMessage(request) => send(context, session, task, request).await,
        InputRequest::ListRoots(request) => send(context, session, task, request).await,
        _ => Err(CallError::not_allowed(request.method(), "this is not a question")),
    }
}

async fn send<Q>(
    context: &Context,
    session: &Session,
    task: &str,
    mut request: Q,
) -> Result<RawJson, CallError>
where
    Q: Question + HasMeta,
    Q::Response: Serialize,
{
    RelatedTaskMetadata::new(task).write_to(request.meta_slot());
    let answer = session.questioner(context.scope().peer()).call(request).await?;
    RawJson::encode(&answer).map_err(|why| CallError::unusable(Q::NAME, why.to_string()))
}
