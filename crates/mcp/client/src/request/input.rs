//! Answers the questions of a modern server: it asks by a result, and gets the answers with the same request, made
//! again. Also answers the questions of tasks.

use std::collections::BTreeMap;
use std::fmt::Display;

use agentwire_jsonrpc::{RawJson, RawObject};
use agentwire_peer::CallError;
use bytestring::ByteString;
use futures_util::future::try_join_all;
use serde::Deserialize;

use super::recovery;
use crate::connection::Connection;
use crate::handler::answers::{Question, questions};
use crate::raw::{ASKING, RawAnswer, RawCall};
use crate::result::{ResultKind, check, malformed};

/// How many questions an error names.
const MAX_NAMED: usize = 8;

/// Makes a request, and repeats it with answers each time the server asks questions. Each request has its own time limit.
pub(crate) async fn call(connection: &Connection, mut call: RawCall) -> Result<RawAnswer, CallError> {
    let limit = connection.answers.round_limit;
    let mut rounds = 0;
    loop {
        let answer = recovery::call(connection, &mut call).await?;
        if answer.kind != ResultKind::InputRequired {
            return Ok(RawAnswer { rounds, ..answer });
        }
        if rounds == limit {
            return Err(too_often(call.method, limit));
        }
        let questions = Questions::read(&answer.result, connection.value_limit())
            .map_err(|why| malformed(call.method.clone(), &why))?;
        let answers = questions.answer(connection, &call.method).await?;
        answers.write_to(&mut call)?;
        rounds += 1;
    }
}

/// The questions of a server. Methods and parameters stay as they came, so that an error can name one without an answer.
#[derive(Debug, Deserialize)]
#[serde(expecting = "an object")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Questions {
    #[serde(default, deserialize_with = "questions")]
    input_requests: Option<BTreeMap<String, Question>>,
    /// Never decoded, so that the server gets every byte back as it was.
    request_state: Option<RawJson>,
}

/// The answers in a repeated request.
#[derive(Debug)]
pub(crate) struct InputAnswers {
    responses: Option<BTreeMap<String, RawJson>>,
    state: Option<RawJson>,
}

impl Questions {
    fn read(result: &RawJson, limit: usize) -> Result<Self, serde_json::Error> {
        check(result, limit)?;
        result.decode()
    }

    /// The questions of a task, which has no state for the client to return.
    pub(crate) fn of_task(questions: BTreeMap<String, Question>) -> Self {
        Self { input_requests: Some(questions), request_state: None }
    }

    /// Answers all questions concurrently. The user is asked nothing unless every method has an answer.
    pub(crate) async fn answer(
        self,
        connection: &Connection,
        method: &ByteString,
    ) -> Result<InputAnswers, CallError> {
        self.check(connection).or_else(|why| fail(method, why))?;
        if !ASKING.contains(&&**method) {
            return fail(
                method,
                "the server asks a question where the protocol does not allow it".to_owned(),
            );
        }
        let answer = async |(key, Question { method: asked, params }): (String, Question)| {
            let refused = |why: &dyn Display| fail(method, no_answer(&asked, &key, why));
            match connection.answer(&asked, params.as_ref()) {
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
        Ok(InputAnswers { responses, state: self.request_state })
    }

    fn check(&self, connection: &Connection) -> Result<(), String> {
        let requests = || self.input_requests.iter().flatten();
        let unanswered = requests().filter(|(_, question)| !connection.answers.has(&question.method));
        let mut names: Vec<_> = unanswered
            .take(MAX_NAMED + 1)
            .map(|(key, question)| format!("{} ({key:?})", question.method))
            .collect();
        let limit = connection.answers.request_limit;
        if !names.is_empty() {
            let more = if names.len() > MAX_NAMED { " and more" } else { "" };
            names.truncate(MAX_NAMED);
            return Err(format!(
                "the server first wants {}{more}, which this client does not answer",
                names.join(", ")
            ));
        }
        if requests().count() > limit {
            return Err(format!("the server first wants more than {limit} answers, which is the limit"));
        }
        for (key, Question { method, params }) in requests() {
            connection
                .answers
                .check_declared(method, params.as_ref(), &connection.agreed)
                .map_err(|why| no_answer(method, key, &why))?;
        }
        match &self.request_state {
            None if self.input_requests.is_none() => {
                Err("the server asks for input, and does not say for what".to_owned())
            }
            Some(state) if !state.as_str().starts_with('"') => {
                Err("the server gives a state that is not a string".to_owned())
            }
            _ => Ok(()),
        }
    }
}

impl InputAnswers {
    /// The answers by the keys of their questions.
    pub(crate) fn into_responses(self) -> BTreeMap<String, RawJson> {
        self.responses.unwrap_or_default()
    }

    /// Writes the answers and the state into the parameters, in place of those of the round before.
    fn write_to(self, call: &mut RawCall) -> Result<(), CallError> {
        let encoded = self.responses.as_ref().map(RawJson::encode).transpose();
        let params = RawObject::try_from(call.params.clone());
        let (responses, mut params) = encoded
            .and_then(|responses| Ok((responses, params?)))
            .map_err(|why| CallError::not_allowed(call.method.clone(), why.to_string()))?;
        for (name, value) in [("inputResponses", responses), ("requestState", self.state)] {
            match value {
                Some(value) => params.insert(name, value),
                None => drop(params.remove(name)),
            }
        }
        call.params = params.into();
        Ok(())
    }
}

/// The error for a server that asks more often than the limit.
pub(crate) fn too_often(method: ByteString, limit: usize) -> CallError {
    let why = format!("the server still asks after {limit} rounds of answers, which is the limit");
    CallError::unusable(method, why)
}

fn no_answer(asked: &str, key: &str, why: &dyn Display) -> String {
    format!("the server first wants {asked} ({key:?}), and there is no answer: {why}")
}

fn fail<T>(method: &ByteString, why: String) -> Result<T, CallError> {
    Err(CallError::unusable(method.clone(), why))
}
