//! How each request is read and its answer written.

use agentwire_acp_schema::v1::{
    AuthenticateRequest, CloseSessionRequest, DeleteSessionRequest, InitializeRequest, ListSessionsRequest,
    ListSessionsResponse, LoadSessionRequest, LoadSessionResponse, LogoutRequest, NewSessionRequest,
    NewSessionResponse, PromptRequest, PromptResponse, ResumeSessionRequest, ResumeSessionResponse,
    SetSessionConfigOptionRequest, SetSessionConfigOptionResponse, SetSessionModeRequest, StopReason,
};
use agentwire_jsonrpc::{RawJson, RequestMethod};
use agentwire_peer::Peer;

use crate::Error;
use crate::agreed::Agreed;
use crate::outgoing::{self, Checked};

/// A request as it travels, of either version.
///
/// The methods are implemented one type at a time, by functions without type parameters: so their code is made
/// once, when this crate is compiled, and not again for each agent, which takes seconds.
pub(crate) trait Wire: RequestMethod {
    /// Reads the parameters.
    fn decode(params: Option<RawJson>) -> Result<Self, Error>;

    /// Writes the answer.
    fn encode(peer: &Peer, response: &Self::Response) -> Result<RawJson, Error>;
}

/// What an answer must obey, and what of it depends on the client.
pub(crate) trait Answer: Wire {
    /// Looks at the answer before it is written.
    fn check(response: &mut Self::Response, agreed: &Agreed) -> Checked {
        let _ = (response, agreed);
        Ok(())
    }

    /// Looks at the answer and writes it.
    fn answer(peer: &Peer, mut response: Self::Response, agreed: &Agreed) -> Result<RawJson, Error> {
        Self::check(&mut response, agreed).map_err(|why| broken(Self::NAME, &why))?;
        Self::encode(peer, &response)
    }
}

/// The agent's own answer breaks the protocol.
pub(crate) fn broken(method: &str, why: &str) -> Error {
    Error::internal_error(format_args!("the agent's answer to {method} breaks the protocol: {why}"))
}

macro_rules! wire {
    ($($request:ty),+ $(,)?) => {$(
        impl $crate::wire::Wire for $request {
            fn decode(
                params: Option<agentwire_jsonrpc::RawJson>,
            ) -> Result<Self, $crate::Error> {
                agentwire_jsonrpc::decode_params(params)
            }

            fn encode(
                peer: &agentwire_peer::Peer,
                response: &Self::Response,
            ) -> Result<agentwire_jsonrpc::RawJson, $crate::Error> {
                peer.encode_answer(response).map_err($crate::Error::internal_error)
            }
        }
    )+};
}

#[cfg(any(feature = "unstable", feature = "v2"))]
pub(crate) use wire;

wire! {
    AuthenticateRequest,
    CloseSessionRequest,
    DeleteSessionRequest,
    InitializeRequest,
    ListSessionsRequest,
    LoadSessionRequest,
    LogoutRequest,
    NewSessionRequest,
    PromptRequest,
    ResumeSessionRequest,
    SetSessionConfigOptionRequest,
    SetSessionModeRequest,
}

impl Answer for AuthenticateRequest {}
impl Answer for CloseSessionRequest {}
impl Answer for DeleteSessionRequest {}
impl Answer for LogoutRequest {}
impl Answer for SetSessionModeRequest {}

impl Answer for ListSessionsRequest {
    fn check(response: &mut ListSessionsResponse, _: &Agreed) -> Checked {
        outgoing::sessions(&response.sessions)
    }
}

impl Answer for NewSessionRequest {
    fn check(response: &mut NewSessionResponse, agreed: &Agreed) -> Checked {
        outgoing::session(response.modes.as_ref(), &mut response.config_options, agreed.client_can())
    }
}

impl Answer for LoadSessionRequest {
    fn check(response: &mut LoadSessionResponse, agreed: &Agreed) -> Checked {
        outgoing::session(response.modes.as_ref(), &mut response.config_options, agreed.client_can())
    }
}

impl Answer for ResumeSessionRequest {
    fn check(response: &mut ResumeSessionResponse, agreed: &Agreed) -> Checked {
        outgoing::session(response.modes.as_ref(), &mut response.config_options, agreed.client_can())
    }
}

impl Answer for SetSessionConfigOptionRequest {
    fn check(response: &mut SetSessionConfigOptionResponse, agreed: &Agreed) -> Checked {
        outgoing::config_options(&mut response.config_options, agreed.client_can())
    }
}

impl Answer for PromptRequest {
    fn check(response: &mut PromptResponse, _: &Agreed) -> Checked {
        match &response.stop_reason {
            StopReason::Other(word) => Err(format!("{word:?} is no reason to stop")),
            _ => Ok(()),
        }
    }
}
