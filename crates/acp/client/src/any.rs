//! A connection whose version the agent's answer to `initialize` selects.

pub(crate) mod negotiated;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use agentwire_acp_schema::{v1, v2 as schema};
use agentwire_jsonrpc::{ErrorObject, Notification, RawJson, Request, RequestMethod, Response, Skipped};
use agentwire_peer::runtime::{CallExt, PeerExt, set_revision};
use agentwire_peer::{CallError, Handler, Peer, RequestContext, TokioClock, driver};
use agentwire_transport::{Packet, Transport, tap};
use agentwire_wire_derive::Build;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::any::negotiated::{Answer, BothVersions, NegotiatedVersion};
use crate::decode::decode;
use crate::dispatch::Dispatch;
use crate::session::ConnectionState;
use crate::{AgentHandle, BoxError, Client, Config, ConnectionError, v2};

const INITIALIZE: &str = v1::InitializeRequest::NAME;

/// A client of both versions, with its capabilities, for [`connect_any`].
#[derive(Debug, Build)]
#[non_exhaustive]
pub struct AnyClient<C1, C2> {
    /// Serves the agent where it speaks version 1.
    #[build(skip)]
    pub v1: C1,
    /// Serves the agent where it speaks version 2.
    #[build(skip)]
    pub v2: C2,
    /// The client's name and version. Version 2 requires them.
    #[build(skip)]
    pub info: v1::Implementation,
    /// Its capabilities in version 1 (default: none).
    pub v1_capabilities: v1::ClientCapabilities,
    /// Its capabilities in version 2 (default: none).
    pub v2_capabilities: schema::ClientCapabilities,
    /// Sets how long it waits for each answer to `initialize`. Calls that `main` makes have their own
    /// time limits.
    pub timeout: Option<Duration>,
}

impl<C1: Client, C2: v2::Client> AnyClient<C1, C2> {
    /// Makes a client of both versions that advertises nothing.
    pub fn new(info: v1::Implementation, v1: C1, v2: C2) -> Self {
        let (v1_capabilities, v2_capabilities) = Default::default();
        Self { v1, v2, info, v1_capabilities, v2_capabilities, timeout: None }
    }
}

/// The connected and initialized agent, in its version.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AnyAgent {
    /// It speaks version 1.
    V1(AgentHandle),
    /// It speaks version 2.
    V2(v2::AgentHandle),
}

/// Connects to an agent of either version, with the defaults, while `main` runs. Initializes it first, with the highest
/// version that both sides speak.
///
/// # What is sent
///
/// It sends one `initialize` for version 2, with that version's members `info` and `capabilities`, and beside them
/// `clientInfo` and `clientCapabilities` of version 1, which a reader of version 2 ignores. By the
/// [draft](https://agentclientprotocol.com/protocol/v2/initialization#version-negotiation) the agent answers with its
/// highest version up to 2, and the connection continues in that version:
///
/// - **2**: the agent speaks version 2.
/// - **1**: the agent speaks version 1. One that was written for version 1 alone reads the members of version 1, with the
///   client's files and terminals. One on an official SDK of late 2026 may read the newer members only, and then uses
///   neither files nor terminals. There is no second `initialize`: such agents would accept it, but others refuse it.
/// - **2, without the members that version 2 requires**: an agent that repeats the requested version. It gets a second
///   `initialize` of version 1 alone. So does an agent that refuses the first one for another reason than its version.
///
/// The official SDK for Rust opens a second connection to an agent of version 1, unless the client advertises nothing
/// that version 2 lacks. A transport that exists only once does not allow that. Later messages are never converted:
/// each version has its own trait, [`Client`] and [`v2::Client`].
///
/// # Errors
///
/// A [`ConnectionError`] with the error of `main`. Before `main` starts: when the agent speaks neither version; the error names
/// its versions, and the connection is closed.
///
/// ```no_run
/// # use agentwire_acp_client::{AnyAgent, AnyClient, Client, ConnectionError, connect_any, v2};
/// # use agentwire_acp_schema::{v1, v2 as schema};
/// # use agentwire_transport::Transport;
/// # async fn run(one: impl Client, two: impl v2::Client, transport: impl Transport) -> Result<(), ConnectionError> {
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
pub fn connect_any<C1, C2, T, F, R>(
    client: AnyClient<C1, C2>,
    transport: T,
    main: impl FnOnce(AnyAgent) -> F,
) -> impl Future<Output = Result<R, ConnectionError>>
where
    C1: Client,
    C2: v2::Client,
    T: Transport,
    F: Future<Output = Result<R, BoxError>>,
{
    connect_any_with(client, transport, Config::new(), main)
}

/// Connects to an agent of either version while `main` runs.
///
/// The future can be spawned, as that of [`connect`](crate::connect):
///
/// ```
/// use agentwire_acp_client::{AnyClient, Client, Config, ConnectionError, connect_any_with, v2};
/// use agentwire_transport::Transport;
/// use tokio::task::JoinHandle;
///
/// fn run<C1, C2, T>(client: AnyClient<C1, C2>, transport: T) -> JoinHandle<Result<bool, ConnectionError>>
/// where
///     C1: Client + 'static,
///     C2: v2::Client + 'static,
///     T: Transport + Send + 'static,
/// {
///     let main = async |agent| Ok(matches!(agent, agentwire_acp_client::AnyAgent::V2(_)));
///     tokio::spawn(connect_any_with(client, transport, Config::new(), main))
/// }
/// ```
///
/// # Errors
///
/// As for [`connect_any`].
pub async fn connect_any_with<C1, C2, T, F, R>(
    client: AnyClient<C1, C2>,
    transport: T,
    config: Config,
    main: impl FnOnce(AnyAgent) -> F,
) -> Result<R, ConnectionError>
where
    C1: Client,
    C2: v2::Client,
    T: Transport,
    F: Future<Output = Result<R, BoxError>>,
{
    let AnyClient { v1, v2, info, v1_capabilities, v2_capabilities, timeout } = client;
    let value_limit = config.0.value_limit;
    let (peer, driver) = driver(config.into(), TokioClock::default());
    let (one, two) = (Arc::new(ConnectionState::default()), Arc::new(v2::ConnectionState::default()));
    one.initialized.set_client(&v1_capabilities);
    two.initialized.set_client(&v2_capabilities);
    let version = Arc::new(NegotiatedVersion::default());
    let either = Either {
        one: Dispatch::new(v1, one.clone(), value_limit),
        two: v2::Dispatch::new(v2, two.clone(), value_limit),
        version: version.clone(),
    };
    let watching = version.clone();
    let transport = tap(transport, move |direction, packet: &Packet| watching.inspect(direction, packet));
    let negotiation = Negotiation { peer, version, one, two, timeout, value_limit };
    let run = async {
        let agent = negotiation.agree(&info, &v1_capabilities, &v2_capabilities).await?;
        main(agent).await
    };
    driver.run(either, transport, run).await.0.map_err(ConnectionError::new)
}

/// Negotiates the version with the agent.
struct Negotiation {
    peer: Peer,
    version: Arc<NegotiatedVersion>,
    one: Arc<ConnectionState>,
    two: Arc<v2::ConnectionState>,
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
                    "the agent answered with version 2 of the protocol, but without the members of that version",
                ),
            },
            Err(error) => match v2::unsupported_version(&error) {
                Some(data) => return Err(neither(&data.supported)),
                None if error.refusal().is_some() => error,
                None => return Err(error),
            },
        };
        let plain = v1::InitializeRequest::new(v1::ProtocolVersion::V1)
            .client_info(info.clone())
            .client_capabilities(v1_capabilities.clone());
        match self.ask(&plain).await {
            Ok(answer) if matches!(Answer::of(&answer), Answer::One) => self.one(answer),
            // The agent's first answer is more specific.
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
        set_revision(&self.peer, "1");
        self.one.initialized.set_agent(answer);
        Ok(AnyAgent::V1(AgentHandle::new(self.peer, self.one)))
    }

    fn two(self, answer: RawJson) -> Result<AnyAgent, CallError> {
        let answer = self.decode(answer)?;
        set_revision(&self.peer, "2");
        self.two.initialized.set_agent(answer);
        Ok(AnyAgent::V2(v2::AgentHandle::new(self.peer, self.two)))
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

/// The client of the selected version. No message reaches it before the version is selected.
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
        // The version is read before the future is polled: it is the one that was known when this request was delivered.
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

    fn cancelled_response(&self, response: Response) {
        match self.version.version() {
            2 => self.two.cancelled_response(response),
            _ => self.one.cancelled_response(response),
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
