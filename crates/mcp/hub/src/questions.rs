//! The host's functions that answer servers' questions: forms, web pages, the language model and the folders.

use std::sync::Arc;
use std::time::Duration;

use agentwire_mcp_client::{Client, ErrorObject};
use agentwire_mcp_schema::{
    CreateMessageRequest, CreateMessageResult, ElicitFormRequest, ElicitResult, ElicitUrlRequest, Root,
};
use futures_util::future::BoxFuture;

/// A function that answers a question of the server with that name.
pub(crate) type AnswerFunction<Q, A> =
    Arc<dyn Fn(String, Q) -> BoxFuture<'static, Result<A, ErrorObject>> + Send + Sync>;

/// The functions that are set. A client advertises only the capabilities of these.
#[derive(Clone, Default)]
pub(crate) struct AnswerFunctions {
    pub(crate) form: Option<AnswerFunction<ElicitFormRequest, ElicitResult>>,
    pub(crate) url: Option<AnswerFunction<ElicitUrlRequest, ElicitResult>>,
    pub(crate) sampling: Option<AnswerFunction<CreateMessageRequest, CreateMessageResult>>,
    pub(crate) roots: Option<Vec<Root>>,
    /// How many questions a server may ask at once; `None` for the default of [`Client`].
    pub(crate) limit: Option<usize>,
    /// How long an answer may take; the outer `None` for the default of [`Client`].
    pub(crate) timeout: Option<Option<Duration>>,
}

impl AnswerFunctions {
    /// Sets up the client of one server.
    pub(crate) fn set_up(&self, server: &str, mut client: Client) -> Client {
        if let Some(answer) = for_server(server, &self.form) {
            client = client.elicitation(answer);
        }
        if let Some(answer) = for_server(server, &self.url) {
            client = client.elicitation_url(answer);
        }
        if let Some(answer) = for_server(server, &self.sampling) {
            client = client.sampling(answer);
        }
        if let Some(roots) = &self.roots {
            client = client.roots(roots.clone());
        }
        if let Some(limit) = self.limit {
            client = client.input_requests(limit);
        }
        match self.timeout {
            Some(timeout) => client.input_timeout(timeout),
            None => client,
        }
    }
}

/// The function that answers one server.
fn for_server<Q: 'static, A: 'static>(
    server: &str,
    answer: &Option<AnswerFunction<Q, A>>,
) -> Option<impl Fn(Q) -> BoxFuture<'static, Result<A, ErrorObject>> + Send + Sync + use<Q, A>> {
    let (server, answer) = (server.to_owned(), answer.clone()?);
    Some(move |question| answer(server.clone(), question))
}
