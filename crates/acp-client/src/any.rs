//! A connection whose version is not known before the agent has answered.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use agentwire_acp_schema::{v1, v2 as schema};
use agentwire_jsonrpc::{ErrorObject, Notification, RawJson, Request, RequestMethod, Response, Skipped};
use agentwire_peer::runtime::{CallExt, PeerExt};
use agentwire_peer::{CallError, Handler, Peer, RequestContext, TokioClock, driver};
use agentwire_transport::{Packet, Transport, tap};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::decode::decode;
use crate::dispatch::Dispatch;
use crate::negotiated::{Answer, BothVersions, NegotiatedVersion};
use crate::session::Shared;
use crate::{Agent, BoxError, Client, Config, v2};

const INITIALIZE: &str = v1::InitializeRequest::NAME;

/// A client in both versions, and what it says of itself: for [`connect_any`].
#[derive(Debug)]
#[non_exhaustive]
pub struct AnyClient<C1, C2> {
    /// What is asked of it where the agent speaks version 1.
    pub v1: C1,
    /// What is asked of it where the agent speaks version 2.
    pub v2: C2,
    /// What it is. Version 2 demands to know.
    pub info: v1::Implementation,
    /// What it can do in version 1 (default nothing).
    pub v1_capabilities: v1::ClientCapabilities,
    /// What it can do in version 2 (default nothing).
    pub v2_capabilities: schema::ClientCapabilities,
    /// How long it waits for each answer to `initialize` (default without end).
    pub timeout: Option<Duration>,
}

impl<C1: Client, C2: v2::Client> AnyClient<C1, C2> {
    /// A client in both versions that advertises nothing.
    pub fn new(info: v1::Implementation, v1: C1, v2: C2) -> Self {
        let (v1_capabilities, v2_capabilities) = Default::default();
        Self { v1, v2, info, v1_capabilities, v2_capabilities, timeout: None }
    }

    /// Sets how long it waits for each answer to `initialize`. What `main` asks has times of its own.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets what it can do in version 1.
    #[must_use]
    pub fn v1_capabilities(mut self, capabilities: v1::ClientCapabilities) -> Self {
        self.v1_capabilities = capabilities;
        self
    }

    /// Sets what it can do in version 2.
    #[must_use]
    pub fn v2_capabilities(mut self, capabilities: schema::ClientCapabilities) -> Self {
        self.v2_capabilities = capabilities;
        self
    }
}

/// The agent at the other end, in the version that it speaks. It is initialized.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AnyAgent {
    /// It speaks version 1.
    V1(Agent),
    /// It speaks version 2.
    V2(v2::Agent),
}

/// Connects to an agent of whichever version, with the defaults, for as long as `main` runs. The newest version that both
/// speak is agreed on before that.
///
/// # What is sent
///
/// One `initialize`, which names version 2 and has the members that version 2 prescribes, `info` and `capabilities`.
/// Beside them stand those of version 1, `clientInfo` and `clientCapabilities`, which a reader of version 2 passes over.
/// The [draft](https://agentclientprotocol.com/protocol/v2/initialization#version-negotiation) has the agent answer with
/// the highest version that it speaks up to that, and the connection goes on in it:
///
/// - **2**: the agent speaks version 2.
/// - **1**: it speaks version 1. An agent that was written for version 1 alone reads its own members and so knows the
///   client's files and terminals. One that is built on an official SDK of late 2026 may read the newer members only,
///   and takes a client of version 2 to have neither: it asks for less than it could, and that is all. Nothing is asked
///   for a second time: such agents would listen, but others refuse a second `initialize`.
/// - **2, and yet none of its required members**: an agent that gives back every version it is asked for. It is asked
///   once more, in the words of version 1 alone. So is one that refuses the first request, other than because it speaks
///   neither version.
///
/// The official SDK for Rust opens a second connection where an agent speaks version 1, unless the client advertises
/// nothing that version 2 lacks; that cannot be done to a transport that is there once. Later traffic is never
/// converted: each version has its own trait, [`Client`] and [`v2::Client`].
///
/// # Errors
///
/// Those of `main`, and before it, when the agent speaks neither version: the error names those that it speaks. The
/// connection is closed then.
///
/// ```no_run
/// # use agentwire_acp_client::{AnyAgent, AnyClient, BoxError, Client, connect_any, v2};
/// # use agentwire_acp_schema::{v1, v2 as schema};
/// # use agentwire_transport::Transport;
/// # async fn run(one: impl Client, two: impl v2::Client, transport: impl Transport) -> Result<(), BoxError> {
/// let editor = v1::Implementation::new("editor", "1.0.0");
/// connect_any(AnyClient::new(editor, one, two), transport, async |agent| {
///     match agent {
///         AnyAgent::V1(agent) => {
///             let session = agent.new_session(v1::NewSessionRequest::new("/repo")).await?;
///             agent.prompt(v1::PromptRequest::new(session.session_id, "Fix the bug")).await?;
///         }
///         AnyAgent::V2(agent) => {
///             let session = agent.new_session(schema::NewSessionRequest::new("/repo")).await?;
///             agent.prompt(schema::PromptRequest::new(session.session_id, "Fix the bug")).await?;
///         }
///         _ => return Err("a version that this program does not know".into()),
///     }
///     Ok(())
/// })
/// .await
/// # }
/// ```
pub async fn connect_any<C1, C2, T, R>(
    client: AnyClient<C1, C2>,
    transport: T,
    main: impl AsyncFnOnce(AnyAgent) -> Result<R, BoxError>,
) -> Result<R, BoxError>
where
    C1: Client,
    C2: v2::Client,
    T: Transport,
{
    connect_any_with(client, transport, Config::new(), main).await
}

/// Connects to an agent of whichever version for as long as `main` runs.
///
/// # Errors
///
/// As [`connect_any`] says.
pub async fn connect_any_with<C1, C2, T, R>(
    client: AnyClient<C1, C2>,
    transport: T,
    config: Config,
    main: impl AsyncFnOnce(AnyAgent) -> Result<R, BoxError>,
) -> Result<R, BoxError>
where
    C1: Client,
    C2: v2::Client,
    T: Transport,
{
    let AnyClient { v1, v2, info, v1_capabilities, v2_capabilities, timeout } = client;
    let value_limit = config.0.value_limit;
    let (peer, driver) = driver(config.into(), TokioClock::default());
    let (one, two) = (Arc::new(Shared::default()), Arc::new(v2::Shared::default()));
    one.initialized.set_client(&v1_capabilities);
    two.initialized.set_client(&v2_capabilities);
    let version = Arc::new(NegotiatedVersion::default());
    let either = Either {
        one: Dispatch::new(v1, one.clone(), value_limit),
        two: v2::Dispatch::new(v2, two.clone(), value_limit),
        version: version.clone(),
    };
    let watching = version.clone();
    let transport = tap(transport, move |direction, packet: &Packet| watching.look(direction, packet));
    let negotiation = Negotiation { peer, version, one, two, timeout, value_limit };
    let run = async {
        let agent = negotiation.agree(&info, &v1_capabilities, &v2_capabilities).await?;
        main(agent).await
    };
    driver.run(either, transport, run).await.0
}

/// Finds out which version the agent speaks.
struct Negotiation {
    peer: Peer,
    version: Arc<NegotiatedVersion>,
    one: Arc<Shared>,
    two: Arc<v2::Shared>,
    timeout: Option<Duration>,
    value_limit: usize,
}

impl Negotiation {
    async fn agree(
        self,
        info: &v1::Implementation,
        v1_capabilities: &v1::ClientCapabilities,
        v2_capabilities: &schema::ClientCapabilities,
    ) -> Result<AnyAgent, CallError> {
        let both = BothVersions {
            protocol_version: v1::ProtocolVersion::V2,
            info,
            capabilities: v2_capabilities,
            client_info: info,
            client_capabilities: v1_capabilities,
        };
        let first = match self.ask(&both).await {
            Ok(answer) => match Answer::of(&answer) {
                Answer::One => return self.one(answer),
                Answer::Two => return self.two(answer),
                Answer::Other(version) => return Err(neither(&[version])),
                Answer::Unreadable(why) => return Err(CallError::unusable(INITIALIZE, why)),
                Answer::Echo => CallError::unusable(
                    INITIALIZE,
                    "the agent's answer is said to be of version 2 of the protocol, and is not",
                ),
            },
            Err(error) => match v2::unsupported_version(&error) {
                Some(told) => return Err(neither(&told.supported)),
                None if error.refusal().is_some() => error,
                None => return Err(error),
            },
        };
        let plain = v1::InitializeRequest::new(v1::ProtocolVersion::V1)
            .client_info(info.clone())
            .client_capabilities(v1_capabilities.clone());
        match self.ask(&plain).await {
            Ok(answer) if matches!(Answer::of(&answer), Answer::One) => self.one(answer),
            // What the agent said first says more.
            Ok(_) | Err(CallError::Refused { .. }) => Err(first),
            Err(error) => Err(error),
        }
    }

    async fn ask<P: Serialize>(&self, params: &P) -> Result<RawJson, CallError> {
        let id = self.peer.reserve_call();
        self.version.add_request(id.request_id());
        let call = self.peer.call_method(INITIALIZE, Some(params)).reserved(id);
        match self.timeout {
            Some(timeout) => call.timeout(timeout).await,
            None => call.await,
        }
    }

    fn decode<R: DeserializeOwned>(&self, answer: RawJson) -> Result<R, CallError> {
        decode(Some(answer), self.value_limit, |_| {})
            .map_err(|why| CallError::unusable(INITIALIZE, why.message.into_owned()))
    }

    fn one(self, answer: RawJson) -> Result<AnyAgent, CallError> {
        let answer = self.decode(answer)?;
        self.one.initialized.set_agent(answer);
        Ok(AnyAgent::V1(Agent::new(self.peer, self.one)))
    }

    fn two(self, answer: RawJson) -> Result<AnyAgent, CallError> {
        let answer = self.decode(answer)?;
        self.two.initialized.set_agent(answer);
        Ok(AnyAgent::V2(v2::Agent::new(self.peer, self.two)))
    }
}

fn neither(speaks: &[v1::ProtocolVersion]) -> CallError {
    let versions: Vec<_> = speaks.iter().map(ToString::to_string).collect();
    let versions = if versions.is_empty() { "none".to_owned() } else { versions.join(", ") };
    let why = format!(
        "the agent speaks other versions of the protocol ({versions}), and this client speaks versions 1 and 2"
    );
    CallError::unusable(INITIALIZE, why)
}

/// Whoever is asked once the version is known. Before that there is nothing to ask.
struct Either<C1, C2> {
    one: Dispatch<C1>,
    two: v2::Dispatch<C2>,
    version: Arc<NegotiatedVersion>,
}

impl<C1: Client, C2: v2::Client> Handler for Either<C1, C2> {
    fn request(
        &self,
        request: Request,
        context: RequestContext,
    ) -> impl Future<Output = Result<RawJson, ErrorObject>> {
        // By the version as it is now: what follows is not looked at before this has begun.
        let version = self.version.version();
        async move {
            match version {
                1 => self.one.request(request, context).await,
                2 => self.two.request(request, context).await,
                _ => Err(ErrorObject::invalid_request("initialize has not been answered")),
            }
        }
    }

    fn notification(&self, notification: Notification, peer: &Peer) {
        match self.version.version() {
            1 => self.one.notification(notification, peer),
            2 => self.two.notification(notification, peer),
            _ => {}
        }
    }

    fn unmatched_response(&self, response: Response) {
        match self.version.version() {
            2 => self.two.unmatched_response(response),
            _ => self.one.unmatched_response(response),
        }
    }

    fn skipped(&self, method: &str, skipped: Skipped) {
        match self.version.version() {
            2 => self.two.skipped(method, skipped),
            _ => self.one.skipped(method, skipped),
        }
    }

    fn unreadable(&self, error: ErrorObject) {
        match self.version.version() {
            2 => self.two.unreadable(error),
            _ => self.one.unreadable(error),
        }
    }
}
