//! The functions of a [`HubConfig`] that answer the questions of servers.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use agentwire_mcp_client::ErrorObject;
use agentwire_mcp_schema::{
    CreateMessageRequest, CreateMessageResult, ElicitFormRequest, ElicitResult, ElicitUrlRequest, Root,
};
use futures_util::FutureExt;

use crate::config::HubConfig;
use crate::questions::AnswerFunction;

/// # Questions of servers
///
/// A server may ask while it works on a call. It gets a capability only for each function that is set here. The functions get
/// the server's name. Show the name with the question: a server must not pass for another server, or for the program. They
/// answer in sessions, in modern rounds and in tasks alike, and concurrently; see
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

    /// Sends these folders to servers that ask for them.
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

    /// Returns whether the folders are sent.
    pub fn has_roots(&self) -> bool {
        self.questions.roots.is_some()
    }
}

fn shared<Q: 'static, A, O>(function: impl Fn(String, Q) -> O + Send + Sync + 'static) -> AnswerFunction<Q, A>
where
    O: Future<Output = Result<A, ErrorObject>> + Send + 'static,
{
    Arc::new(move |server, question| function(server, question).boxed())
}
