//! One round of a modern request: its answers so far, and the questions that end it.

use std::sync::Arc;
use std::task::Context;

use agentwire_jsonrpc::{ErrorObject, RawJson, read};
use agentwire_mcp_schema::{InputRequest, InputRequests, InputRequiredResult};
use agentwire_sync::{Monitor, Wakers};
use agentwire_transport::MessageSource;
use bytestring::ByteString;

use crate::input::single_use::SingleUse;
use crate::input::state::{Answers, RoundState, request_binding};
use crate::input::{AskError, AskErrorKind, Question, Questioner};
use crate::settings::Settings;

/// One of the rounds in which a modern request is answered.
pub(crate) struct InputRound {
    settings: Arc<Settings>,
    method: ByteString,
    /// The params of the request. They stay in memory as long as the function works, so only a client that can be asked
    /// gets a round.
    params: RawJson,
    principal: Option<String>,
    /// The answers of earlier rounds, and the number of this one.
    state: RoundState,
    /// The answers that came with this request, as the client wrote them.
    fresh: Answers,
    questions: Monitor<Questions>,
    /// The task that polls the request, which ends the round when there is a question.
    ending: Wakers<1>,
    /// The state that the request brings, where it is used once.
    single_use: Option<SingleUse>,
}

#[derive(Default)]
struct Questions {
    /// The questions without an answer.
    open: InputRequests,
    /// The keys of what was answered in this round.
    answered: Vec<String>,
    is_over: bool,
}

impl InputRound {
    /// Begins a round from the client's answers and its `requestState`, which must be the one that the server issued.
    pub(crate) fn begin(
        settings: &Arc<Settings>,
        method: &ByteString,
        params: &RawJson,
        responses: Option<&str>,
        sealed: Option<&str>,
        source: Option<&dyn MessageSource>,
    ) -> Result<Option<Self>, ErrorObject> {
        let config = &settings.input;
        let principal = config.principal_of(source);
        let wrong =
            |name: &'static str| move |why| ErrorObject::invalid_params(format_args!("`{name}`: {why}"));
        let mut single_use = None;
        let state = match sealed {
            None => RoundState::default(),
            Some(text) => {
                let sealed: String = read(text).map_err(wrong("requestState"))?;
                let limit = settings.value_limit;
                let binding = request_binding(method, params, principal.as_deref(), limit)?;
                let state = RoundState::open(config, &binding, &sealed)?;
                single_use = settings.node.as_ref().map(|node| {
                    let owner = settings.sender(source).map(|sender| sender.name().to_owned());
                    SingleUse::new(node, &sealed, owner, state.left())
                });
                state
            }
        };
        let fresh: Answers = match responses {
            None => Answers::new(),
            Some(text) => read(text).map_err(wrong("inputResponses"))?,
        };
        let (settings, method, params) = (settings.clone(), method.clone(), params.clone());
        let (questions, ending) = (Monitor::default(), Wakers::default());
        Ok(Some(Self { settings, method, params, principal, state, fresh, questions, ending, single_use }))
    }

    /// The state that the request brings, where the server remembers which were used.
    pub(crate) fn single_use(&self) -> Option<&SingleUse> {
        self.single_use.as_ref()
    }

    /// Whether there are questions, so that the round ends. If not, the next question wakes the task of `cx`.
    pub(crate) fn ends(&self, cx: &Context<'_>) -> bool {
        // Registered first, so that no question comes in between.
        self.ending.register(0, cx.waker());
        self.questions.with(|questions| !questions.open.is_empty())
    }

    /// Ends the round and returns the questions with the sealed state for the next one.
    pub(crate) fn end(&self) -> Result<InputRequiredResult, ErrorObject> {
        let (requests, state) = (self.close(), self.next_state());
        let config = &self.settings.input;
        if state.round > config.rounds {
            let why = format_args!("this request was answered by questions {} times already", config.rounds);
            return Err(ErrorObject::internal_error(why));
        }
        let limit = self.settings.value_limit;
        let binding = request_binding(&self.method, &self.params, self.principal.as_deref(), limit)?;
        Ok(InputRequiredResult::new(requests).request_state(state.seal(config, &binding)?))
    }

    /// Takes the questions. Waiting and later questions fail with [`AskErrorKind::Over`].
    pub(crate) fn close(&self) -> InputRequests {
        self.questions.update(|questions| {
            questions.is_over = true;
            std::mem::take(&mut questions.open)
        })
    }

    /// The state for the next round.
    fn next_state(&self) -> RoundState {
        let mut state = self.state.next();
        self.questions.with(|questions| {
            for key in &questions.answered {
                if let Some(answer) = self.fresh.get(key) {
                    state.answers.entry(key.clone()).or_insert_with(|| answer.clone());
                }
            }
        });
        state
    }

    /// The answer to a question. An answer of an earlier round stays as it was.
    fn answer(&self, key: &str) -> Option<&RawJson> {
        if let Some(answer) = self.state.answers.get(key) {
            return Some(answer);
        }
        let answer = self.fresh.get(key).filter(|answer| !answer.is_null())?;
        self.questions.with(|questions| questions.answered.push(key.to_owned()));
        Some(answer)
    }

    fn open<'a>(&'a self, key: &'a str, request: InputRequest) -> Result<OpenQuestion<'a>, AskError> {
        self.questions.with(|questions| {
            if questions.is_over {
                return Err(AskError::from(AskErrorKind::Over));
            }
            questions.open.insert(key.to_owned(), request);
            Ok(())
        })?;
        self.ending.wake_one(0);
        Ok(OpenQuestion { round: self, key })
    }
}

/// A question is a part of the result: the round ends with it, and its function with the round.
impl Questioner for InputRound {
    /// Returns the answer, or is pending until the round ends.
    async fn ask<Q: Question>(&self, key: &str, question: Q) -> Result<Q::Response, AskError> {
        if let Some(answer) = self.answer(key) {
            // The answer came with the request, so a wrong one makes the request invalid.
            return answer.decode_leniently().map_err(|why| AskError::wrong(key, why.to_string(), true));
        }
        let _withdrawn_when_dropped = self.open(key, question.into())?;
        // Only a future that has left its function is still polled then.
        self.questions.wait_until(|questions| questions.is_over.then_some(())).await;
        Err(AskError::from(AskErrorKind::Over))
    }
}

/// An open question. It is withdrawn when this is dropped.
struct OpenQuestion<'a> {
    round: &'a InputRound,
    key: &'a str,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        let removed = self.round.questions.with(|questions| questions.open.remove(self.key));
        drop(removed);
    }
}
