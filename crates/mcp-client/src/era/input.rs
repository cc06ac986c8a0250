//! Since 2026-07-28: a server asks by a result, and gets the answers with the same request, made once more.

use std::collections::BTreeMap;

use agentwire_jsonrpc::{Method, RawJson};
use agentwire_mcp_schema::{CallToolRequest, GetPromptRequest, ReadResourceRequest};
use agentwire_peer::CallError;
use bytestring::ByteString;
use futures::future::try_join_all;
use serde::Deserialize;

use crate::Server;

/// The methods that may be answered by questions.
const ASKING: [&str; 3] = [CallToolRequest::NAME, GetPromptRequest::NAME, ReadResourceRequest::NAME];

/// How many of the things that a server wants are named in an error.
const MOST_NAMED: usize = 8;

/// What a server must know first, as it came: what of it cannot be answered is to be named, not to be unreadable.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Wanted {
    input_requests: Option<BTreeMap<String, Question>>,
    /// Never decoded, so that it goes back to the last byte as it came.
    request_state: Option<RawJson>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Question {
    method: String,
    params: Option<RawJson>,
}

/// What a request brings when it is made again.
#[derive(Debug)]
pub(crate) struct Round {
    responses: Option<BTreeMap<String, RawJson>>,
    state: Option<RawJson>,
}

impl Wanted {
    /// What a task asks, which has no state for the client to bring back.
    pub(crate) fn of(questions: BTreeMap<String, Question>) -> Self {
        Self { input_requests: Some(questions), request_state: None }
    }

    /// Finds out everything that is wanted, all at once. Nobody is asked anything unless all of it can be answered.
    pub(crate) async fn answer(self, server: &Server, method: &'static str) -> Result<Round, CallError> {
        self.check(server).or_else(|why| fail(method, why))?;
        if !ASKING.contains(&method) {
            return fail(method, "the server asks back where the protocol does not let it".to_owned());
        }
        let answer = async |(key, Question { method: asked, params }): (String, Question)| {
            let refused = |why: &dyn std::fmt::Display| {
                fail(
                    method,
                    format!("the server first wants {asked} ({key:?}), and there is no answer: {why}"),
                )
            };
            match server.answer(&asked, params.as_ref()) {
                Some(Ok(answer)) => match answer.await {
                    Ok(answer) => Ok((key, answer)),
                    Err(error) => refused(&error),
                },
                Some(Err(error)) => refused(&error),
                None => refused(&"this client does not have one"),
            }
        };
        let responses = match self.input_requests {
            Some(requests) => {
                Some(try_join_all(requests.into_iter().map(answer)).await?.into_iter().collect())
            }
            None => None,
        };
        Ok(Round { responses, state: self.request_state })
    }

    fn check(&self, server: &Server) -> Result<(), String> {
        let requests = || self.input_requests.iter().flatten();
        let unanswered = requests().filter(|(_, question)| !server.answers().has(&question.method));
        let mut names: Vec<_> = unanswered
            .take(MOST_NAMED + 1)
            .map(|(key, question)| format!("{} ({key:?})", question.method))
            .collect();
        let limit = server.answers().request_limit;
        if !names.is_empty() {
            let more = if names.len() > MOST_NAMED { " and more" } else { "" };
            names.truncate(MOST_NAMED);
            return Err(format!(
                "the server first wants {}{more}, which this client does not answer",
                names.join(", ")
            ));
        }
        if requests().count() > limit {
            return Err(format!("the server first wants more than {limit} answers, which is the limit"));
        }
        match &self.request_state {
            None if self.input_requests.is_none() => {
                Err("the server asks back, and does not say for what".to_owned())
            }
            Some(state) if !state.as_str().starts_with('"') => {
                Err("the server gives a state that is no string".to_owned())
            }
            _ => Ok(()),
        }
    }
}

impl Round {
    /// The answers, without what else there is.
    pub(crate) fn into_responses(self) -> BTreeMap<String, RawJson> {
        self.responses.unwrap_or_default()
    }

    /// A request's parameters with what it brings this time, and without what it brought the last time.
    pub(crate) fn with<M: Method>(
        &self,
        request: &M,
    ) -> Result<BTreeMap<String, RawJson>, serde_json::Error> {
        let mut params: BTreeMap<String, RawJson> = RawJson::encode(request)?.decode()?;
        let responses = self.responses.as_ref().map(RawJson::encode).transpose()?;
        for (name, value) in [("inputResponses", responses), ("requestState", self.state.clone())] {
            match value {
                Some(value) => params.insert(name.to_owned(), value),
                None => params.remove(name),
            };
        }
        Ok(params)
    }
}

/// The server goes on asking.
pub(crate) fn too_often(method: &'static str, limit: usize) -> CallError {
    let why = format!("the server asks back after {limit} rounds of answers, which is the limit");
    CallError::unusable(ByteString::from_static(method), why)
}

fn fail<T>(method: &'static str, why: String) -> Result<T, CallError> {
    Err(CallError::unusable(ByteString::from_static(method), why))
}
