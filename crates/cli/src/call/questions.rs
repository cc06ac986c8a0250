//! A server's questions to the user while its tool runs.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;

use agentwire_acp_schema::v1::{CreateElicitationResponse, ElicitationSessionScope, ElicitationUrlMode};
use agentwire_acp_sessions::{answer_to_mcp, form_from_mcp};
use agentwire_acp_toolkit::{Form, UrlConsent};
use agentwire_jsonrpc::ErrorObject;
use agentwire_mcp_client::Client;
use agentwire_mcp_client::schema::{ElicitFormRequest, ElicitRequest, ElicitResult, ElicitUrlRequest};
use tokio::sync::{Notify, mpsc, oneshot};

use crate::terminal::{User, View};
use crate::text::{self, Notes};

type Outcome = Result<ElicitResult, ErrorObject>;

/// A question of the server that waits for its answer.
pub(super) struct Question {
    request: ElicitRequest,
    answer: oneshot::Sender<Outcome>,
}

/// A function that adds handlers for forms and URLs to a client, and the questions that they receive.
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

/// Answers the questions.
pub(super) enum Responder {
    /// Asks the person at the terminal.
    Present { user: User, interrupt: Arc<Notify> },
    /// Declines each question, with a note.
    Absent(Notes),
}

impl Responder {
    /// The person, if stdin and stdout are a terminal.
    pub(super) fn find(json: bool, notes: &Notes) -> Self {
        if json || !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Self::Absent(notes.clone());
        }
        let interrupt = Arc::<Notify>::default();
        Self::Present {
            user: User::new(Arc::new(View::new(false, notes.clone())), interrupt.clone()),
            interrupt,
        }
    }

    /// Sets the server's name.
    pub(super) fn set_asker(&self, server: &str) {
        if let Self::Present { user, .. } = self {
            user.set_asker(if server.is_empty() { "the server" } else { server });
        }
    }

    /// Completes when the person has pressed ^C at a question, in raw mode, where the terminal sends no signal.
    pub(super) async fn interrupts(&self) {
        match self {
            Self::Present { interrupt, .. } => interrupt.notified().await,
            Self::Absent(_) => std::future::pending().await,
        }
    }

    /// Answers a question, unless the server withdraws it first.
    pub(super) async fn answer(&self, question: Question) {
        let Question { request, mut answer } = question;
        let outcome = tokio::select! {
            outcome = self.decide(request) => outcome,
            () = answer.closed() => return self.question_withdrawn().await,
        };
        // The server may have withdrawn it meanwhile.
        let _withdrawn = answer.send(outcome);
    }

    /// Shows that the open question was withdrawn.
    pub(super) async fn question_withdrawn(&self) {
        if let Self::Present { user, .. } = self {
            user.question_withdrawn().await;
        }
    }

    async fn decide(&self, request: ElicitRequest) -> Outcome {
        let user = match self {
            Self::Present { user, .. } => user,
            Self::Absent(notes) => {
                notes.add(&declined_note(&request));
                return Ok(ElicitResult::decline());
            }
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
