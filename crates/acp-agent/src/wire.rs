//! How each request is read and its answer written.

use agentwire_acp_schema::v1::{
    AuthenticateRequest, CloseSessionRequest, DeleteSessionRequest, InitializeRequest, ListSessionsRequest,
    LoadSessionRequest, LogoutRequest, NewSessionRequest, PromptRequest, ResumeSessionRequest,
    SetSessionConfigOptionRequest, SetSessionModeRequest,
};
use agentwire_jsonrpc::{Method, RawJson, decode_params};
use agentwire_peer::Peer;

use crate::Error;

/// A request as it travels.
///
/// The methods are implemented one type at a time, by functions without type parameters: so their code is made
/// once, when this crate is compiled, and not again for each agent, which takes seconds.
pub(crate) trait Wire: Method {
    /// Reads the parameters.
    fn decode(params: Option<RawJson>) -> Result<Self, Error>;

    /// Writes the answer.
    fn encode(peer: &Peer, response: &Self::Response) -> Result<RawJson, Error>;
}

macro_rules! wire {
    ($($request:ty),+ $(,)?) => {$(
        impl Wire for $request {
            fn decode(params: Option<RawJson>) -> Result<Self, Error> {
                decode_params(params)
            }

            fn encode(peer: &Peer, response: &Self::Response) -> Result<RawJson, Error> {
                peer.encode_answer(response).map_err(Error::internal_error)
            }
        }
    )+};
}

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
