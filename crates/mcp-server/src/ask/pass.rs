use std::collections::BTreeMap;
use std::future::poll_fn;
use std::task::{Poll, Waker};

use agentwire_jsonrpc::{ErrorObject, RawJson, read};
use agentwire_mcp_schema::{InputRequest, InputRequests, InputRequiredResult};
use agentwire_sync::{Mutex, MutexGuard};
use agentwire_transport::MessageSource;
use bytestring::ByteString;

use crate::Server;
use crate::ask::state::{Answers, State, about};
use crate::ask::{AskError, Kind, Question};

/// One of the rounds in which a request is answered that stands alone.
pub(crate) struct Pass {
    server: Server,
    method: ByteString,
    /// Of the request. They stay in memory as long as the function works, which is why only a client that can be asked
    /// gets a pass.
    params: RawJson,
    principal: Option<String>,
    /// What came in earlier rounds, and which round it is.
    state: State,
    /// What came in this round. The client may have said anything.
    fresh: Answers,
    asked: Mutex<Asked>,
}

#[derive(Default)]
struct Asked {
    /// What nobody has answered yet, and who waits for that.
    open: BTreeMap<String, (InputRequest, Option<Waker>)>,
    /// The keys of what was answered in this round.
    answered: Vec<String>,
    /// Whoever ends the pass, to be told when there is a question.
    ending: Option<Waker>,
    is_over: bool,
}

impl Pass {
    /// Begins with what the client sends back of what it was asked, which has to be what it was given.
    pub(crate) fn begin(
        server: &Server,
        method: &ByteString,
        params: &RawJson,
        responses: Option<&str>,
        sealed: Option<&str>,
        source: Option<&dyn MessageSource>,
    ) -> Result<Option<Self>, ErrorObject> {
        let asking = server.asking_settings();
        let principal = asking.principal_of(source);
        let wrong =
            |name: &'static str| move |why| ErrorObject::invalid_params(format_args!("`{name}`: {why}"));
        let state = match sealed {
            None => State::default(),
            Some(text) => {
                let sealed: String = read(text).map_err(wrong("requestState"))?;
                let limit = server.value_limit_value();
                State::open(asking, &about(method, params, principal.as_deref(), limit)?, &sealed)?
            }
        };
        let fresh: Answers = match responses {
            None => Answers::new(),
            Some(text) => read(text).map_err(wrong("inputResponses"))?,
        };
        let (server, method, params) = (server.clone(), method.clone(), params.clone());
        Ok(Some(Self { server, method, params, principal, state, fresh, asked: Mutex::default() }))
    }

    /// Gives the answer, or waits for the end of the pass, which is the end of whoever waits too.
    pub(crate) async fn ask<Q: Question>(&self, key: &str, question: Q) -> Result<Q::Response, AskError> {
        if let Some(answer) = self.answer(key) {
            return answer.decode().map_err(|why| wrong_answer(key, why.to_string()));
        }
        let _withdrawn_when_dropped = self.open(key, question.into())?;
        poll_fn(|cx| {
            let mut asked = self.lock();
            match asked.open.get_mut(key) {
                Some((_, waiting)) if !asked_again(waiting.as_ref(), cx.waker()) => {
                    *waiting = Some(cx.waker().clone());
                    Poll::Pending
                }
                Some(_) => Poll::Pending,
                // Only who has moved out of the function is still there then.
                None => Poll::Ready(Err(AskError(Kind::Over))),
            }
        })
        .await
    }

    /// Whether there are questions, so that the pass ends. If not, whoever waits for that is woken when there are.
    pub(crate) fn ends(&self, waker: &Waker) -> bool {
        let mut asked = self.lock();
        if asked.open.is_empty() {
            asked.ending = Some(waker.clone());
        }
        !asked.open.is_empty()
    }

    /// Ends the pass: what the client is answered.
    pub(crate) fn end(&self) -> Result<InputRequiredResult, ErrorObject> {
        let (requests, state) = (self.close(), self.next_state());
        let asking = self.server.asking_settings();
        if state.round > asking.rounds {
            let why = format_args!("this request was answered by questions {} times already", asking.rounds);
            return Err(ErrorObject::internal_error(why));
        }
        let limit = self.server.value_limit_value();
        let about = about(&self.method, &self.params, self.principal.as_deref(), limit)?;
        Ok(InputRequiredResult::new(requests).request_state(state.seal(asking, &about)?))
    }

    /// Takes the questions. Who still waits for an answer, or asks from now on, hears that there will be none.
    pub(crate) fn close(&self) -> InputRequests {
        let mut asked = self.lock();
        asked.is_over = true;
        let open = std::mem::take(&mut asked.open);
        drop(asked);
        let mut requests = InputRequests::new();
        for (key, (request, waiting)) in open {
            requests.insert(key, request);
            waiting.into_iter().for_each(Waker::wake);
        }
        requests
    }

    /// What the next round has to know.
    fn next_state(&self) -> State {
        let mut state = self.state.next();
        for key in &self.lock().answered {
            if let Some(answer) = self.fresh.get(key) {
                state.answers.entry(key.clone()).or_insert_with(|| answer.clone());
            }
        }
        state
    }

    /// What was answered in an earlier round stays as it was.
    fn answer(&self, key: &str) -> Option<&RawJson> {
        if let Some(answer) = self.state.answers.get(key) {
            return Some(answer);
        }
        let answer = self.fresh.get(key).filter(|answer| !answer.is_null())?;
        self.lock().answered.push(key.to_owned());
        Some(answer)
    }

    fn open<'a>(&'a self, key: &'a str, request: InputRequest) -> Result<Open<'a>, AskError> {
        let mut asked = self.lock();
        if asked.is_over {
            return Err(AskError(Kind::Over));
        }
        asked.open.insert(key.to_owned(), (request, None));
        let ending = asked.ending.take();
        drop(asked);
        ending.into_iter().for_each(Waker::wake);
        Ok(Open { pass: self, key })
    }

    fn lock(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock()
    }
}

fn asked_again(known: Option<&Waker>, waker: &Waker) -> bool {
    known.is_some_and(|known| known.will_wake(waker))
}

/// Such an answer came with the request, so the request is wrong.
fn wrong_answer(key: &str, why: String) -> AskError {
    AskError(Kind::Wrong { key: key.to_owned(), why, in_params: true })
}

/// A question that is withdrawn where nobody waits for its answer any more.
struct Open<'a> {
    pass: &'a Pass,
    key: &'a str,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.pass.lock().open.remove(self.key);
    }
}
