//! The additions of drafts to the params and the answer of one request.

use std::collections::BTreeSet;
use std::sync::Arc;

use agentwire_acp_schema::v1::unstable::{
    ArchivedAddition, ListSessionsResponse, PromptResponse, SessionInfo, Usage, UsageAddition,
};
use agentwire_acp_schema::v1::{self, SessionId};
use agentwire_jsonrpc::RawJson;
use agentwire_peer::Peer;
use agentwire_sync::Mutex;

use crate::Error;
use crate::method::Method;
use crate::methods::Connection;

/// The additions of drafts to the params and the answer of one request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drafts {
    /// The params, if drafts add members to this request.
    pub(crate) params: Option<RawJson>,
    answer: Arc<Mutex<AnswerAdditions>>,
}

#[derive(Debug, Default)]
struct AnswerAdditions {
    usage: Option<Usage>,
    archived: Option<BTreeSet<SessionId>>,
}

impl Drafts {
    /// Stores the number of tokens that the turn has used, for the answer to `session/prompt`.
    pub(super) fn report_usage(&self, usage: Usage) {
        self.answer.lock().usage = Some(usage);
    }

    /// Stores which sessions are archived, for the answer to `session/list`.
    pub(super) fn report_archived(&self, sessions: BTreeSet<SessionId>) {
        self.answer.lock().archived = Some(sessions);
    }

    /// Encodes the answer to `session/prompt`, with the reported usage.
    pub(crate) fn prompt_answer(
        &self,
        peer: &Peer,
        mut response: v1::PromptResponse,
        at: &Connection<'_>,
    ) -> Result<RawJson, Error> {
        let Some(usage) = self.answer.lock().usage.take() else {
            return v1::PromptRequest::write(peer, response, at);
        };
        v1::PromptRequest::check_answer(&mut response, at).map_err(Error::internal_error)?;
        let response = PromptResponse::new(response, UsageAddition::new().usage(usage));
        peer.encode_result(&response).map_err(Error::internal_error)
    }

    /// Encodes the answer to `session/list`, with each session's archived status if it was reported.
    pub(crate) fn list_answer(
        &self,
        peer: &Peer,
        mut response: v1::ListSessionsResponse,
        at: &Connection<'_>,
    ) -> Result<RawJson, Error> {
        let Some(archived) = self.answer.lock().archived.take() else {
            return v1::ListSessionsRequest::write(peer, response, at);
        };
        v1::ListSessionsRequest::check_answer(&mut response, at).map_err(Error::internal_error)?;
        let sessions = response.sessions.into_iter().map(|session| {
            let is_archived = archived.contains(&session.session_id);
            SessionInfo::new(session, ArchivedAddition::new().archived(is_archived))
        });
        let mut list = ListSessionsResponse::new(sessions.collect::<Vec<_>>());
        list.next_cursor = response.next_cursor;
        list.meta = response.meta;
        peer.encode_result(&list).map_err(Error::internal_error)
    }
}
