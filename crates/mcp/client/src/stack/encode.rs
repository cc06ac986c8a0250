//! Encodes a typed request as a [`RawCall`], with its `_meta`.

use agentwire_jsonrpc::{RawObject, RequestMethod};
use agentwire_mcp_schema::HasMeta;
use agentwire_peer::CallError;
use agentwire_peer::runtime::PeerExt;
use bytestring::ByteString;

use crate::connection::Connection;
use crate::raw::{CallOptions, RawCall};

impl RawCall {
    /// Encodes a request, with the stamp where the request has no `_meta` of its own.
    pub(crate) fn encode<M: RequestMethod + HasMeta>(
        connection: &Connection,
        request: &M,
        options: CallOptions,
    ) -> Result<Self, CallError> {
        let method = ByteString::from_static(M::NAME);
        let has_own_meta = request.meta_ref().is_some();
        let stamp = connection.server.stamp.as_ref().filter(|_| !has_own_meta);
        let params = match stamp {
            Some(stamp) => connection.peer.encode_params(&method, &stamp.with(request))?,
            None => connection.peer.encode_params(&method, request)?,
        };
        Ok(Self {
            method,
            params,
            options,
            is_stamped: stamp.is_some(),
            has_own_meta,
            is_recovered: false,
            tools: connection.tools.clone(),
        })
    }

    /// A request with these parameters, with the client's default time limits.
    pub(crate) fn new(connection: &Connection, method: ByteString, params: RawObject) -> Self {
        Self {
            method,
            has_own_meta: params.contains_key("_meta"),
            params: params.into(),
            options: CallOptions { waits: connection.server.waits, ..CallOptions::default() },
            is_stamped: false,
            is_recovered: false,
            tools: connection.tools.clone(),
        }
    }

    /// Writes the stamp into the parameters, unless they have it or the server has a session.
    pub(crate) fn stamp(&mut self, connection: &Connection) -> Result<(), CallError> {
        if let (false, Some(stamp)) = (self.is_stamped, &connection.server.stamp) {
            self.params = stamp
                .write_to_params(&self.params)
                .map_err(|why| CallError::not_allowed(self.method.clone(), why.to_string()))?;
            self.is_stamped = true;
        }
        Ok(())
    }
}
