//! What the hub's owner answers when a server asks: forms, web pages, the language model and the folders.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use agentwire_mcp_client::{Client, ErrorObject};
use agentwire_mcp_schema::{
    CreateMessageRequest, CreateMessageResult, ElicitFormRequest, ElicitResult, ElicitUrlRequest, Root,
};
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::config::HubConfig;

/// Answers a question of the server of that name.
type Answer<Q, A> = Arc<dyn Fn(String, Q) -> BoxFuture<'static, Result<A, ErrorObject>> + Send + Sync>;

/// How the questions of servers are answered. A server is told only of what is set.
#[derive(Clone, Default)]
pub(crate) struct Questions {
    form: Option<Answer<ElicitFormRequest, ElicitResult>>,
    url: Option<Answer<ElicitUrlRequest, ElicitResult>>,
    sampling: Option<Answer<CreateMessageRequest, CreateMessageResult>>,
    roots: Option<Vec<Root>>,
    /// How many questions a server may ask at once; `None` for the default of [`Client`].
    limit: Option<usize>,
    /// How long an answer may take; the outer `None` for the default of [`Client`].
    timeout: Option<Option<Duration>>,
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

fn shared<Q: 'static, A, O>(function: impl Fn(String, Q) -> O + Send + Sync + 'static) -> Answer<Q, A>
where
    O: Future<Output = Result<A, ErrorObject>> + Send + 'static,
{
    Arc::new(move |server, question| function(server, question).boxed())
}

/// # Questions of servers
///
/// A server may ask while it works on a call. It is told that it may only for what is set here. The functions get the
/// server's name, which belongs beside whatever is shown to a person: a server must not pass for another one, or for the
/// program. They answer in sessions, in stateless rounds and in tasks alike, and concurrently; see
/// [`Client`](agentwire_mcp_client::Client#questions). When a call is dropped or the connection ends, their futures are dropped.
impl HubConfig {
    /// Lets servers ask the user by forms.
    ///
    /// Fields that an accepted form leaves out get their defaults, so the function need only return what the user changed.
    ///
    /// ```
    /// use agentwire_mcp_hub::HubConfig;
    /// use agentwire_mcp_hub::schema::{ElicitFormRequest, ElicitResult};
    ///
    /// let config = HubConfig::new().elicitation(async |server: String, form: ElicitFormRequest| {
    ///     println!("{server} asks: {}", form.message);
    ///     Ok(ElicitResult::decline())
    /// });
    /// # let _ = config;
    /// ```
    #[must_use]
    pub fn elicitation<F, O>(mut self, function: F) -> Self
    where
        F: Fn(String, ElicitFormRequest) -> O + Send + Sync + 'static,
        O: Future<Output = Result<ElicitResult, ErrorObject>> + Send + 'static,
    {
        self.questions.form = Some(shared(function));
        self
    }

    /// Lets servers send the user to a web page. Show the whole URL and ask before it is opened.
    #[must_use]
    pub fn elicitation_url<F, O>(mut self, function: F) -> Self
    where
        F: Fn(String, ElicitUrlRequest) -> O + Send + Sync + 'static,
        O: Future<Output = Result<ElicitResult, ErrorObject>> + Send + 'static,
    {
        self.questions.url = Some(shared(function));
        self
    }

    /// Lets servers use the host's language model. Ask the user first.
    #[must_use]
    pub fn sampling<F, O>(mut self, function: F) -> Self
    where
        F: Fn(String, CreateMessageRequest) -> O + Send + Sync + 'static,
        O: Future<Output = Result<CreateMessageResult, ErrorObject>> + Send + 'static,
    {
        self.questions.sampling = Some(shared(function));
        self
    }

    /// Tells these folders to servers that ask for them.
    #[must_use]
    pub fn roots(mut self, roots: impl IntoIterator<Item = Root>) -> Self {
        self.questions.roots = Some(roots.into_iter().collect());
        self
    }

    /// Sets how many questions each server may ask at once (default 100, that of
    /// [`Client::input_requests`](agentwire_mcp_client::Client::input_requests)).
    #[must_use]
    pub fn input_requests(mut self, requests: usize) -> Self {
        self.questions.limit = Some(requests);
        self
    }

    /// Sets how long the answer to a question may take (default 1 h, that of
    /// [`Client::input_timeout`](agentwire_mcp_client::Client::input_timeout)); `None` for ever.
    #[must_use]
    pub fn input_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.questions.timeout = Some(timeout.into());
        self
    }

    /// Returns whether forms are answered.
    pub fn has_elicitation(&self) -> bool {
        self.questions.form.is_some()
    }

    /// Returns whether requests to open a web page are answered.
    pub fn has_elicitation_url(&self) -> bool {
        self.questions.url.is_some()
    }

    /// Returns whether requests for the language model are answered.
    pub fn has_sampling(&self) -> bool {
        self.questions.sampling.is_some()
    }

    /// Returns whether the folders are told.
    pub fn has_roots(&self) -> bool {
        self.questions.roots.is_some()
    }
}
