//! What a function asks of the client while it works: the same words in both eras.
//!
//! In a session a question is a request that is sent and awaited. To a request that stands alone it is part of the
//! result: the [pass](pass::Pass) that wants to know something ends with what it wants to know, and the client makes
//! its request again with the answers. `crate::era` decides which of the two it is.

mod check;
mod config;
mod elicited;
mod error;
pub mod field;
mod form;
mod format;
mod keys;
mod page;
mod pass;
mod seal;
mod state;

use agentwire_jsonrpc::RequestMethod;
use agentwire_mcp_schema::{
    ClientCapabilities, CreateMessageRequest, CreateMessageResult, Downgrade, ElicitRequest, InputRequest,
    ListRootsRequest, Revision, Root,
};
use agentwire_peer::CallError;

use crate::Context;

pub use config::Asking;
pub use elicited::{Elicitation, Elicited};
pub use error::AskError;
pub(crate) use error::Kind;
pub use form::Form;
pub(crate) use keys::Keys;
pub use page::Page;
pub(crate) use pass::Pass;

/// The key under which the client's folders are asked for.
const ROOTS_KEY: &str = "roots";

/// Asking the client.
///
/// Each question has a key, a word of your choice, which no other question of the same call has. Write the function
/// as if the answer came at once; how it comes is not its business:
///
/// - In a session the question is a request to the client, which is awaited, and withdrawn when the call is cancelled.
/// - A request that stands alone (since 2026-07-28) can only be answered. So the function ends where it asks: it is
///   dropped, as it is when its call is cancelled, and the client is answered what is wanted. When the client makes its
///   request again, with the answers, the function runs anew from its beginning, and where it has asked before it gets
///   its answer at once.
///
/// So what stands before a question happens once for each round. What has an effect belongs behind the last question.
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
/// Nothing of this can be mistaken for an error: in the pass that ends, the question has no outcome at all, so there is
/// nothing that code around it could swallow.
impl Context {
    /// Asks the user: by a [`Form`], or by a [`Page`] to go to. Since 2025-06-18, pages since 2025-11-25.
    ///
    /// What a user fills in is held against the form, and what is left empty and has a default gets it. Secrets are
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
        elicited::read(&elicitation, answer).map_err(|why| self.wrong_answer(key, why))
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
        self.let_others_run().await;
        answer
    }

    async fn ask_once<Q: Question>(&self, key: &str, mut question: Q) -> Result<Q::Response, AskError> {
        let claim = self.keys().claim(key)?;
        let revision = self.revision();
        if let Some(capability) = lacking(&question, revision, self.client().capabilities()) {
            return Err(AskError(Kind::Missing { capability, has_code: revision.is_stateless() }));
        }
        question.downgrade(revision);
        if let Err(unsupported) = question.fits(revision) {
            return Err(CallError::not_allowed(Q::NAME, unsupported.to_string()).into());
        }
        let answer = self.caller().ask(self, key, question).await?;
        claim.keep();
        Ok(answer)
    }
}

/// What a client can be asked.
pub(crate) trait Question: RequestMethod + Downgrade + Clone + Into<InputRequest> {
    /// The capability of a client that can be asked this at all.
    const CAPABILITY: &'static str;
}

impl Question for ElicitRequest {
    const CAPABILITY: &'static str = "elicitation";
}

impl Question for CreateMessageRequest {
    const CAPABILITY: &'static str = "sampling";
}

impl Question for ListRootsRequest {
    const CAPABILITY: &'static str = "roots";
}

/// The capability that a question takes and the client does not have.
fn lacking<Q: Question>(question: &Q, revision: Revision, can: &ClientCapabilities) -> Option<&'static str> {
    // Of what it said, only what the revision has can be meant.
    let mut can = can.clone();
    can.downgrade(revision);
    let can = |capability: &str| can.has(capability);
    question.lacks(&can).or_else(|| (!can(Q::CAPABILITY)).then_some(Q::CAPABILITY))
}
