//! The host's functions that answer servers' questions: forms, web pages, the language model and the folders.

use std::sync::Arc;
use std::time::Duration;

use agentwire_mcp_client::{Client, ErrorObject};
use agentwire_mcp_schema::{
    CreateMessageRequest, CreateMessageResult, ElicitFormRequest, ElicitResult, ElicitUrlRequest, Root,
};
use futures_util::future::BoxFuture;

/// Answers a question of the server of that name.
pub(crate) type Answer<Q, A> =
    Arc<dyn Fn(String, Q) -> BoxFuture<'static, Result<A, ErrorObject>> + Send + Sync>;

/// The answers to questions of servers. A server gets the capabilities only of those that are set.
#[derive(Clone, Default)]
pub(crate) struct Questions {
    pub(crate) form: Option<Answer<ElicitFormRequest, ElicitResult>>,
    pub(crate) url: Option<Answer<ElicitUrlRequest, ElicitResult>>,
    pub(crate) sampling: Option<Answer<CreateMessageRequest, CreateMessageResult>>,
    pub(crate) roots: Option<Vec<Root>>,
    /// How many questions a server may ask at once; `None` for the default of [`Client`].
    pub(crate) limit: Option<usize>,
    /// How long an answer may take; the outer `None` for the default of [`Client`].
    pub(crate) timeout: Option<Option<Duration>>,
}

impl Questions {
    /// Sets up the client of one server.
    pub(crate) fn set_up(&self, server: &str, mut client: Client) -> Client {
        if let Some(answer) = named(server, &self.form) {
            client = client.elicitation(answer);
        }
        if let Some(answer) = named(server, &self.url) {
            client = client.elicitation_url(answer);
        }
        if let Some(answer) = named(server, &self.sampling) {
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
fn named<Q: 'static, A: 'static>(
    server: &str,
    answer: &Option<Answer<Q, A>>,
) -> Option<impl Fn(Q) -> BoxFuture<'static, Result<A, ErrorObject>> + Send + Sync + use<Q, A>> {
    let (server, answer) = (server.to_owned(), answer.clone()?);
    Some(move |question| answer(server.clone(), question))
}
