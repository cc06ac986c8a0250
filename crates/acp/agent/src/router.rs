//! Serves an agent of version 1, of version 2, or of both on one connection.

use std::future::Future;
use std::sync::OnceLock;

use agentwire_acp_schema::v1::ProtocolVersion;
use agentwire_acp_schema::v2::InitializeRequest;
use agentwire_jsonrpc::{Notification, RawJson, Request, RequestMethod, Response};
use agentwire_peer::runtime::set_revision;
use agentwire_peer::{Handler, Peer, RequestContext, TokioClock, driver};
use agentwire_transport::Transport;
use futures_util::future::Either;

use crate::dispatch::Dispatch;
use crate::v2::dispatch::{Dispatch as DispatchV2, asked_version};
use crate::v2::rules::unsupported;
use crate::{Absent, Agent, Closed, Config, Error, v2};

/// Agents of version 1, of version 2, or of both, for one connection. Requires the feature `v2`.
///
/// The first `initialize` that succeeds selects the version of the connection: the highest
/// served version that the client supports.
/// All later messages go to the agent of that version unchanged.
///
/// | requested version | answer with version 1 alone | with version 2 alone | with both |
/// |---|---|---|---|
/// | 0 | 1 | refused | 1, or refused if the request has the form of version 2 |
/// | 1 | 1 | refused | 1 |
/// | 2 and more | 1 | 2 | 2 |
///
/// "Refused" is the error `-32022` of the draft. Its data name the requested version and the supported ones. Version 1
/// does not have that error: an agent answers an unsupported version with its own version. So an `initialize` in the form of
/// version 1 is refused only if there is no agent of version 1. The form of version 2 has the member `info`.
///
/// Before the version is selected, other requests fail with "invalid request", and notifications are ignored. An
/// `initialize` whose version is not a 16-bit number fails with "invalid params".
///
/// ```
/// # use agentwire_acp_agent::{Agent, Router, v2};
/// # async fn run(one: impl Agent, two: impl v2::Agent) -> Result<(), Box<dyn std::error::Error>> {
/// # use agentwire_transport_stdio::stdio;
/// Router::both(one, two).serve(stdio()?).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Router<One, Two> {
    one: Option<One>,
    two: Option<Two>,
}

impl<One: Agent> Router<One, Absent> {
    /// Serves an agent of version 1 alone.
    pub fn v1(agent: One) -> Self {
        Self { one: Some(agent), two: None }
    }
}

impl<Two: v2::Agent> Router<Absent, Two> {
    /// Serves an agent of version 2 alone.
    pub fn v2(agent: Two) -> Self {
        Self { one: None, two: Some(agent) }
    }
}

impl<One: Agent, Two: v2::Agent> Router<One, Two> {
    /// Serves an agent of each version.
    pub fn both(one: One, two: Two) -> Self {
        Self { one: Some(one), two: Some(two) }
    }

    /// Serves a client until it closes the connection, with the defaults.
    ///
    /// # Errors
    ///
    /// When the transport fails.
    pub async fn serve<T: Transport>(self, transport: T) -> Result<(), Closed> {
        self.serve_with(transport, Config::new()).await
    }

    /// Serves a client until it closes the connection.
    ///
    /// # Errors
    ///
    /// When the transport fails.
    pub async fn serve_with<T: Transport>(self, transport: T, config: Config) -> Result<(), Closed> {
        let limit = config.0.connection.request_limit;
        let (_client, driver) = driver(config.into(), TokioClock::default());
        let handler = RouterHandler {
            one: self.one.map(Dispatch::new),
            two: self.two.map(|agent| DispatchV2::new(agent, limit)),
            version: OnceLock::new(),
        };
        driver.serve(handler, transport).await
    }
}

struct RouterHandler<One, Two> {
    one: Option<Dispatch<One>>,
    two: Option<DispatchV2<Two>>,
    /// The version of the connection; empty until an `initialize` has succeeded.
    version: OnceLock<ProtocolVersion>,
}

/// The agent of the selected version.
enum SelectedAgent<'a, One, Two> {
    One(&'a Dispatch<One>),
    Two(&'a DispatchV2<Two>),
}

impl<One: Agent, Two: v2::Agent> RouterHandler<One, Two> {
    fn selected_agent(&self) -> Option<SelectedAgent<'_, One, Two>> {
        self.agent(*self.version.get()?)
    }

    fn agent(&self, version: ProtocolVersion) -> Option<SelectedAgent<'_, One, Two>> {
        match version {
            ProtocolVersion::V2 => self.two.as_ref().map(SelectedAgent::Two),
            _ => self.one.as_ref().map(SelectedAgent::One),
        }
    }

    /// Returns the version for a client that asks for `asked`.
    fn select_version(
        &self,
        asked: ProtocolVersion,
        params: Option<&RawJson>,
    ) -> Result<ProtocolVersion, Error> {
        let versions =
            [self.one.as_ref().map(|_| ProtocolVersion::V1), self.two.as_ref().map(|_| ProtocolVersion::V2)];
        let supported: Vec<_> = versions.into_iter().flatten().collect();
        if let Some(version) = supported.iter().rev().find(|version| **version <= asked) {
            return Ok(*version);
        }
        // Version 1: "Otherwise, the Agent MUST respond with the latest version it supports."
        let is_of_the_draft =
            self.two.is_some() && params.is_some_and(|params| params.member("info").is_some());
        if self.one.is_some() && !is_of_the_draft {
            return Ok(ProtocolVersion::V1);
        }
        Err(unsupported(asked, &supported))
    }

    /// Answers a request that arrives before the version is selected.
    async fn initialize(&self, request: Request, context: RequestContext) -> Result<RawJson, Error> {
        if &*request.method != InitializeRequest::NAME {
            return Err(Error::invalid_request("initialize must be the first request"));
        }
        let params = request.params.as_ref();
        let version = self.select_version(asked_version(params)?, params)?;
        let peer = context.peer().clone();
        let answer = match self.agent(version) {
            Some(SelectedAgent::One(agent)) => agent.request(request, context).await?,
            Some(SelectedAgent::Two(agent)) => agent.request(request, context).await?,
            None => return Err(unsupported(version, &[])),
        };
        // A concurrent `initialize` may have selected a version while the agent handled this one.
        let twice = |_| Error::invalid_request("the connection is initialized already");
        self.version.set(version).map_err(twice)?;
        set_revision(&peer, version.to_string());
        Ok(answer)
    }
}

impl<One: Agent, Two: v2::Agent> Handler for RouterHandler<One, Two> {
    fn request(
        &self,
        request: Request,
        context: RequestContext,
    ) -> impl Future<Output = Result<RawJson, Error>> {
        match self.selected_agent() {
            Some(SelectedAgent::One(agent)) => Either::Left(Either::Left(agent.request(request, context))),
            Some(SelectedAgent::Two(agent)) => Either::Left(Either::Right(agent.request(request, context))),
            None => Either::Right(Box::pin(self.initialize(request, context))),
        }
    }

    fn notification(&self, notification: Notification, peer: &Peer) {
        match self.selected_agent() {
            Some(SelectedAgent::One(agent)) => agent.notification(notification, peer),
            Some(SelectedAgent::Two(agent)) => agent.notification(notification, peer),
            None => {}
        }
    }

    fn unmatched_response(&self, response: Response) {
        match self.selected_agent() {
            Some(SelectedAgent::One(agent)) => agent.unmatched_response(response),
            Some(SelectedAgent::Two(agent)) => agent.unmatched_response(response),
            None => {}
        }
    }
}
