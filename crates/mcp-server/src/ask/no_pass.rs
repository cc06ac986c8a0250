use std::task::Waker;

use agentwire_jsonrpc::{ErrorObject, RawJson};
use agentwire_mcp_schema::{InputRequests, InputRequiredResult};
use agentwire_transport::Origin;
use bytestring::ByteString;

use crate::Server;
use crate::ask::{AskError, Question};

/// Without the feature `rounds` there is none, so what would come of one is not built either.
pub(crate) enum Pass {}

impl Pass {
    /// Refuses what this server cannot have given.
    pub(crate) fn begin(
        _server: &Server,
        _method: &ByteString,
        _params: &RawJson,
        _responses: Option<&str>,
        sealed: Option<&str>,
        _origin: Option<&dyn Origin>,
    ) -> Result<Option<Self>, ErrorObject> {
        let foreign = "`requestState` is not what this server gave for this request";
        sealed.map_or(Ok(None), |_| Err(ErrorObject::invalid_params(foreign)))
    }

    pub(crate) async fn ask<Q: Question>(&self, _key: &str, _question: Q) -> Result<Q::Response, AskError> {
        match *self {}
    }

    pub(crate) fn ends(&self, _waker: &Waker) -> bool {
        match *self {}
    }

    pub(crate) fn end(&self) -> Result<InputRequiredResult, ErrorObject> {
        match *self {}
    }

    pub(crate) fn close(&self) -> InputRequests {
        match *self {}
    }
}
