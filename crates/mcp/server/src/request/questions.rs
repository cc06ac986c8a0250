//! The methods of `Context` that ask the client questions while a function runs.

use agentwire_mcp_schema::{CreateMessageRequest, CreateMessageResult, ListRootsRequest, Root};
use agentwire_peer::CallError;

use crate::Context;
use crate::input::{
    AskError, AskErrorKind, Elicitation, Elicited, Question, Questioner, lacking, read_elicited,
};

/// The key under which the client's folders are asked for.
const ROOTS_KEY: &str = "roots";

/// Asks the client questions.
///
/// Each question has a key, a word of your choice, which no other question of the same call has. Write the function
/// as if the answer came at once:
///
/// - In a session the question is a request to the client, which is awaited, and withdrawn when the call is cancelled.
/// - A modern request (since 2026-07-28) is answered with the question. The function is dropped where it asks, as
///   when its call is cancelled. The client makes its request again, with the answer. Then the function runs again from its
///   beginning, and gets the answer to that question at once.
///
/// So code before a question runs once for each round. Put side effects after the last question.
/// Questions that are asked at once, by `try_join!` for example, go out in one round:
///
/// ```
/// use agentwire_mcp_server::{Context, Elicited, Form, NoArguments, ToolError, field};
/// use agentwire_mcp_server::schema::{CreateMessageRequest, SamplingMessage};
///
/// async fn greet(_: NoArguments, cx: Context) -> Result<String, ToolError> {
///     let form = Form::new("What is your name?").required("name", field::text());
///     let greeting = CreateMessageRequest::new(vec![SamplingMessage::user("A short greeting, please.")], 50);
///     let (answer, greeting) =
///         futures::try_join!(cx.elicit("user_name", form), cx.sample("greeting", greeting))?;
///     let Elicited::Accept(answer) = answer else { return Ok("As you like.".into()) };
///     Ok(format!("{:?}, {}", greeting.content, answer["name"]))
/// }
/// ```
///
/// A question that ends its round returns nothing, so code around it cannot mistake it for an error.
impl Context {
    /// Asks the user: by a [`Form`](crate::Form), or by a [`Page`](crate::Page) to go to. Since 2025-06-18, pages since
    /// 2025-11-25.
    ///
    /// The user's values are checked against the form, and an empty field with a default gets it. Secrets are
    /// never asked for by a form.
    ///
    /// ```
    /// # use agentwire_mcp_server::{Context, Elicited, Form, NoArguments, ToolError, field};
    /// async fn delete(_: NoArguments, cx: Context) -> Result<&'static str, ToolError> {
    ///     let form = Form::new("Delete everything?").required("sure", field::boolean());
    ///     match cx.elicit("confirm", form).await? {
    ///         Elicited::Accept(answer) if answer["sure"] == true => Ok("deleted"),
    ///         _ => Ok("kept"),
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// When the client cannot be asked this, or does not answer, or answers something else. See [`AskError`].
    pub async fn elicit<E: Elicitation>(
        &self,
        key: &str,
        elicitation: E,
    ) -> Result<Elicited<E::Accepted>, AskError> {
        let answer = self.ask(key, elicitation.request()).await?;
        read_elicited(&elicitation, answer).map_err(|why| {
            // Only in a modern call, the answer is a part of the request.
            AskError::wrong(key, why, !self.in_session() && self.task().is_none())
        })
    }

    /// Asks the client's language model.
    ///
    /// # Errors
    ///
    /// When the client cannot be asked this, refuses, or does not answer. See [`AskError`].
    pub async fn sample(
        &self,
        key: &str,
        request: CreateMessageRequest,
    ) -> Result<CreateMessageResult, AskError> {
        self.ask(key, request).await
    }

    /// Asks for the folders and files that the client works in. The question's key is `roots`.
    ///
    /// # Errors
    ///
    /// When the client cannot be asked this, or does not answer. See [`AskError`].
    pub async fn list_roots(&self) -> Result<Vec<Root>, AskError> {
        self.list_roots_as(ROOTS_KEY).await
    }

    /// The same, under a key of your choice.
    ///
    /// # Errors
    ///
    /// As above.
    pub async fn list_roots_as(&self, key: &str) -> Result<Vec<Root>, AskError> {
        Ok(self.ask(key, ListRootsRequest::default()).await?.roots)
    }

    async fn ask<Q: Question>(&self, key: &str, question: Q) -> Result<Q::Response, AskError> {
        let answer = self.ask_once(key, question).await;
        // A refusal and an answer of an earlier round are ready at once.
        self.yields().yield_if_due().await;
        answer
    }

    async fn ask_once<Q: Question>(&self, key: &str, mut question: Q) -> Result<Q::Response, AskError> {
        let claim = self.keys().claim(key)?;
        let revision = self.revision();
        if let Some(capability) = lacking(&question, revision, self.client_context().capabilities()) {
            return Err(AskErrorKind::Missing { capability, has_code: revision.is_modern() }.into());
        }
        question.downgrade(revision);
        if let Err(unsupported) = question.fits(revision) {
            return Err(CallError::not_allowed(Q::NAME, unsupported.to_string()).into());
        }
        let answer = self.send_question(key, question).await?;
        claim.keep();
        Ok(answer)
    }

    /// Chooses the questioner: the session, the round of a modern request, or the task that the call has become.
    async fn send_question<Q: Question>(&self, key: &str, question: Q) -> Result<Q::Response, AskError> {
        if let Some(session) = self.session() {
            return match self.task() {
                Some(task) => task.ask(key, question).await,
                None => session.questioner(self.scope().peer()).ask(key, question).await,
            };
        }
        // The answers of earlier rounds are there for a task, too.
        let for_task = self.task_handle().map(|_| question.clone());
        let answer = match self.round() {
            Some(round) => round.ask(key, question).await,
            None => Err(AskErrorKind::Nowhere.into()),
        };
        // The call may have become a task while the question waited, which closes the round.
        match (answer, self.task(), for_task) {
            (Err(error), Some(task), Some(question))
                if matches!(error.kind(), AskErrorKind::Over | AskErrorKind::Nowhere) =>
            {
                task.ask(key, question).await
            }
            (answer, ..) => answer,
        }
    }
}
