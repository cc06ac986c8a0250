//! Answers a server's questions by `--answer` or by asking the person.

use std::cell::RefCell;
use std::io::{self, IsTerminal as _};
use std::sync::Arc;

use agentwire_acp_schema::v1::{CreateElicitationResponse, ElicitationSessionScope, ElicitationUrlMode};
use agentwire_acp_sessions::{answer_to_mcp, form_from_mcp};
use agentwire_acp_toolkit::{Form, UrlConsent};
use agentwire_jsonrpc::ErrorObject;
use agentwire_mcp_client::Client;
use agentwire_mcp_client::schema::{ElicitFormRequest, ElicitRequest, ElicitResult, ElicitUrlRequest};
use tokio::sync::{Notify, mpsc, oneshot};

use super::answers::{Answers, Filled};
use crate::arguments::values::Answer;
use crate::output::text;
use crate::output::text::Notes;
use crate::terminal::{Format, User, View};

/// The reasons of declined forms and of declined pages.
const NO_ANSWER: &str =
    "nobody is at a terminal to answer the question of the server; --answer NAME=VALUE answers a form";
const NO_VISIT: &str = "nobody is at a terminal to open the page for which the server asks; run the command at a terminal, without --json";

/// The most fields of a form that the note on a declined question names.
const FIELDS: usize = 10;

type Outcome = Result<ElicitResult, ErrorObject>;

/// A question of the server that waits for its answer.
pub(crate) struct Question {
    request: ElicitRequest,
    answer: oneshot::Sender<Outcome>,
}

/// A function that adds handlers for forms and URLs to a client, and the questions that these handlers receive.
pub(super) fn channel() -> (impl FnOnce(Client) -> Client, mpsc::Receiver<Question>) {
    let (forms, questions) = mpsc::channel(1);
    let urls = forms.clone();
    let add_handlers = |client: Client| {
        client
            .elicitation(move |form| ask(forms.clone(), ElicitRequest::Form(form)))
            .elicitation_url(move |url| ask(urls.clone(), ElicitRequest::Url(url)))
    };
    (add_handlers, questions)
}

async fn ask(questions: mpsc::Sender<Question>, request: ElicitRequest) -> Outcome {
    let (answer, answered) = oneshot::channel();
    let ended = || ErrorObject::internal_error("the client has stopped answering questions");
    questions.send(Question { request, answer }).await.map_err(|_| ended())?;
    answered.await.map_err(|_| ended())?
}

/// Answers the questions: by `--answer`, or else by a person.
pub(crate) struct Responder {
    answers: Answers,
    notes: Notes,
    person: Presence,
    /// The reason why a question was declined, if it was because no person is there.
    declined: RefCell<Option<&'static str>>,
    /// The reason why an answer of the command line was invalid, if no person can give another.
    wrong_answer: RefCell<Option<String>>,
}

/// The presence of a person.
enum Presence {
    /// Asks the person at the terminal.
    Present { user: User, interrupt: Arc<Notify> },
    /// Declines each question with a note, because no person is there.
    Absent,
}

impl Responder {
    /// Finds the person, if stdin and stdout are a terminal.
    pub(crate) fn find(json: bool, notes: &Notes, answers: Vec<Answer>) -> Self {
        let answers = Answers::new(answers);
        let person = if json || !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            Presence::Absent
        } else {
            let interrupt = Arc::<Notify>::default();
            Presence::Present {
                user: User::new(Arc::new(View::new(Format::Text, notes.clone())), interrupt.clone()),
                interrupt,
            }
        };
        let (declined, wrong_answer) = (RefCell::default(), RefCell::default());
        Self { answers, notes: notes.clone(), person, declined, wrong_answer }
    }

    /// Sets the server's name.
    pub(crate) fn set_asker(&self, server: &str) {
        if let Presence::Present { user, .. } = &self.person {
            user.set_asker(if server.is_empty() { "the server" } else { server });
        }
    }

    /// The reason why a question was declined, if it was because no person is there.
    pub(super) fn declined(&self) -> Option<&'static str> {
        *self.declined.borrow()
    }

    /// The reason why an answer of the command line was invalid and its question declined.
    pub(super) fn wrong_answer(&self) -> Option<String> {
        self.wrong_answer.take()
    }

    /// Adds a note on each answer for which the server did not ask.
    pub(super) fn note_unused_answers(&self) {
        for (name, meant) in self.answers.unused() {
            let name = text::one_line(name);
            self.notes.add(&format!("--answer {name}: the server did not ask for it{meant}"));
        }
    }

    /// Completes when the person has pressed ^C at a question, in raw mode, where the terminal sends no signal.
    pub(super) async fn interrupts(&self) {
        match &self.person {
            Presence::Present { interrupt, .. } => interrupt.notified().await,
            Presence::Absent => std::future::pending().await,
        }
    }

    /// Answers a question, unless the server withdraws it first.
    pub(super) async fn answer(&self, question: Question) {
        let Question { request, mut answer } = question;
        let outcome = tokio::select! {
            outcome = self.decide(request) => outcome,
            () = answer.closed() => return self.question_withdrawn().await,
        };
        // The server may have withdrawn it since.
        let _withdrawn = answer.send(outcome);
    }

    /// Shows that the open question was withdrawn.
    pub(super) async fn question_withdrawn(&self) {
        if let Presence::Present { user, .. } = &self.person {
            user.question_withdrawn().await;
        }
    }

    async fn decide(&self, request: ElicitRequest) -> Outcome {
        if let ElicitRequest::Form(form) = &request {
            match self.answers.fill_in(form)? {
                Filled::Unknown => {}
                Filled::Complete(answer, note) => {
                    self.notes.add(&note);
                    return Ok(answer);
                }
                Filled::Wrong(why) if matches!(self.person, Presence::Absent) => {
                    *self.wrong_answer.borrow_mut() = Some(why);
                    return Ok(ElicitResult::decline());
                }
                Filled::Wrong(why) => self.notes.add(&why),
            }
        }
        let Presence::Present { user, .. } = &self.person else {
            *self.declined.borrow_mut() = Some(match &request {
                ElicitRequest::Url(_) => NO_VISIT,
                _ => NO_ANSWER,
            });
            self.notes.add(&declined_note(&request));
            if let Some(hint) = answer_hint(&request) {
                self.notes.add(&hint);
            }
            return Ok(ElicitResult::decline());
        };
        let response = match request {
            ElicitRequest::Form(form) => fill_in(user, form).await,
            ElicitRequest::Url(url) => visit(user, url).await,
            _ => Err(ErrorObject::invalid_params("this client knows no such mode of elicitation")),
        };
        answer_to_mcp(response?)
    }
}

/// The note on a declined question.
fn declined_note(request: &ElicitRequest) -> String {
    let question = match request {
        ElicitRequest::Url(url) => format!("{} ({})", url.message, url.url),
        request => request.message().to_owned(),
    };
    format!("declined, because nobody is at a terminal to be asked: {}", text::one_line(&question))
}

/// The options that answer the form, if it has fields.
fn answer_hint(request: &ElicitRequest) -> Option<String> {
    let ElicitRequest::Form(form) = request else { return None };
    let names = form.requested_schema.properties.iter().map(|(name, _)| format!("--answer {name}=…"));
    let names: Vec<_> = names.take(FIELDS).collect();
    (!names.is_empty()).then(|| format!("to answer it: {}", text::one_line(&names.join(" "))))
}

async fn fill_in(user: &User, form: ElicitFormRequest) -> Result<CreateElicitationResponse, ErrorObject> {
    let ElicitFormRequest { message, requested_schema, .. } = form;
    let order: Vec<_> = requested_schema.properties.iter().map(|(name, _)| name.clone()).collect();
    let form = Form::new(form_from_mcp(requested_schema)?)?;
    user.fill_in(&message, form, &order).await
}

async fn visit(user: &User, url: ElicitUrlRequest) -> Result<CreateElicitationResponse, ErrorObject> {
    let ElicitUrlRequest { message, url, elicitation_id, .. } = url;
    let scope = ElicitationSessionScope::new("");
    let mode = ElicitationUrlMode::new(scope, elicitation_id.unwrap_or_default(), url);
    user.visit(&message, UrlConsent::new(&mode)?).await
}

#[cfg(test)]
mod tests {
    use agentwire_mcp_client::schema::ElicitSchema;
    use serde_json::json;

    use super::*;

    #[test]
    fn every_kind_of_field_can_be_filled_in() {
        let titled = json!([{ "const": "r", "title": "Red" }, { "const": "b" }]);
        let schema: ElicitSchema = serde_json::from_value(json!({ "type": "object", "required": ["name"],
            "properties": {
                "name": { "type": "string", "minLength": 1, "title": "Name" },
                "age": { "type": "integer", "minimum": 0, "default": 7 },
                "height": { "type": "number" },
                "sure": { "type": "boolean", "default": true },
                "plain": { "type": "string", "enum": ["a", "b"] },
                "titled": { "type": "string", "oneOf": titled },
                "legacy": { "type": "string", "enum": ["a", "b"], "enumNames": ["Ah", "Be"] },
                "several": { "type": "array", "items": { "type": "string", "enum": ["x", "y"] } },
                "some": { "type": "array", "items": { "anyOf": titled } },
            },
        }))
        .unwrap();
        let mut form = Form::new(form_from_mcp(schema).unwrap()).unwrap();
        assert_eq!(form.fields().count(), 9, "{:?}", form.schema());
        assert_eq!(form.choices("legacy"), Some(vec![("a", "Ah"), ("b", "Be")]));
        let entries =
            [("name", "Ada"), ("titled", "Red"), ("legacy", "Be"), ("several", "x, y"), ("some", "b")];
        for (field, text) in entries {
            form.enter(field, text).unwrap();
        }
        let answer = answer_to_mcp(form.accept().unwrap()).unwrap();
        let content = json!({ "name": "Ada", "age": 7, "sure": true, "titled": "r", "legacy": "b",
            "several": ["x", "y"], "some": ["b"] });
        assert_eq!(serde_json::to_value(answer).unwrap(), json!({ "action": "accept", "content": content }));
    }
}
