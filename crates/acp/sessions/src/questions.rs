//! Answers the requests of a session's MCP servers: elicitations by the ACP client, sampling by the author's hook, roots by
//! the session's directories.

pub(crate) mod elicitation;
pub(crate) mod responder;

use std::path::PathBuf;
use std::sync::Arc;

use agentwire_acp_agent::Error;
use agentwire_acp_schema::v1::{
    CreateElicitationRequest, ElicitationFormMode, ElicitationMode, ElicitationScope, ElicitationUrlMode,
};
use agentwire_jsonrpc::RawJson;
use agentwire_mcp_hub::HubConfig;
use agentwire_mcp_hub::schema::{
    CreateMessageRequest, CreateMessageResult, ElicitFormRequest, ElicitRequest, ElicitResult,
    ElicitUrlRequest, Root,
};
use futures_util::FutureExt;

use crate::client::RemoteClient;
use crate::questions::elicitation::{answer_to_mcp, form_from_mcp};
use crate::questions::responder::{AnswerFuture, Respond, Responder};
use crate::session::Session;
use crate::turn::Turn;

/// The author's handler of sampling requests, with the name of the MCP server.
pub(crate) type OnSampling =
    Arc<dyn Fn(Turn, String, CreateMessageRequest) -> AnswerFuture<CreateMessageResult> + Send + Sync>;

/// Adds to the hub's configuration the handlers of a session, except those that the author has set.
///
/// Forms and web pages are advertised to servers if the client supports them, and sampling if `samples` is set.
pub(crate) fn with_handlers(
    mut config: HubConfig,
    responder: &Responder,
    client: &RemoteClient,
    roots: &[PathBuf],
    samples: bool,
) -> HubConfig {
    let elicitation = client.capabilities().and_then(|client| client.elicitation.as_ref());
    if !config.has_elicitation() && elicitation.is_some_and(|can| can.form.is_some()) {
        let responder = responder.clone();
        config = config.elicitation(move |server, form: ElicitFormRequest| {
            responder.elicit(server, ElicitRequest::Form(form))
        });
    }
    if !config.has_elicitation_url() && elicitation.is_some_and(|can| can.url.is_some()) {
        let responder = responder.clone();
        config = config.elicitation_url(move |server, url: ElicitUrlRequest| {
            responder.elicit(server, ElicitRequest::Url(url))
        });
    }
    if !config.has_sampling() && samples {
        let responder = responder.clone();
        config = config.sampling(move |server, request| responder.sample(server, request));
    }
    if !config.has_roots() {
        config = config.roots(roots.iter().map(Root::at));
    }
    config
}

/// A turn that answers its session's MCP servers.
pub(crate) struct TurnResponder {
    pub(crate) turn: Turn,
    pub(crate) session: Arc<Session>,
    pub(crate) on_sampling: Option<OnSampling>,
    /// The limit of a question, in bytes of JSON.
    pub(crate) limit: usize,
}

impl TurnResponder {
    /// Returns the request to the client. The message begins with the server's name: a server must not pass for the agent.
    fn request(&self, server: &str, request: ElicitRequest) -> Result<CreateElicitationRequest, Error> {
        let scope = ElicitationScope::from(&self.session.id);
        let (message, mode): (_, ElicitationMode) = match request {
            ElicitRequest::Form(form) => {
                let schema = form_from_mcp(form.requested_schema)?;
                (form.message, ElicitationFormMode::new(scope, schema).into())
            }
            ElicitRequest::Url(url) => {
                // Ids of two servers may be the same.
                let id = self.session.next_id("elicitation");
                (url.message, ElicitationUrlMode::new(scope, id, url.url).into())
            }
            _ => return Err(Error::invalid_params("this agent has no such mode of elicitation")),
        };
        let message = format!("The MCP server `{server}` asks: {message}");
        let request = CreateElicitationRequest::new(message, mode);
        let bytes = RawJson::encode(&request).map_err(Error::internal_error)?.len();
        match bytes <= self.limit {
            true => Ok(request),
            false => Err(Error::invalid_params(format_args!(
                "the question has {bytes} bytes, and the limit is {}",
                self.limit
            ))),
        }
    }
}

impl Respond for TurnResponder {
    fn elicit(&self, server: String, request: ElicitRequest) -> AnswerFuture<ElicitResult> {
        let (turn, request) = (self.turn.clone(), self.request(&server, request));
        async move {
            let asked = turn.client().create_elicitation(request?);
            match turn.unless_cancelled(asked).await {
                Ok(answer) => answer_to_mcp(answer.map_err(Error::from)?),
                // The client withdraws the question when the request is cancelled.
                Err(_ended) => Ok(ElicitResult::cancel()),
            }
        }
        .boxed()
    }

    fn sample(&self, server: String, request: CreateMessageRequest) -> AnswerFuture<CreateMessageResult> {
        let (turn, hook) = (self.turn.clone(), self.on_sampling.clone());
        async move {
            let Some(hook) = hook else {
                return Err(Error::internal_error("this agent lends its model to no server"));
            };
            let sampled = hook(turn.clone(), server, request);
            turn.unless_cancelled(sampled).await.map_err(Error::internal_error)?
        }
        .boxed()
    }
}
