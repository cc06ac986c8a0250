//! The description of the client in the `_meta` of every modern request: the revision, the capabilities, the name and the
//! log level. A session has it once, in `initialize`.
//!
//! The stamp is written as the request is encoded, so that it costs no second copy of the parameters. Parameters that a
//! caller or a layer has given a `_meta` of their own are stamped when the request is sent.

use std::borrow::Cow;

use agentwire_jsonrpc::{RawJson, RawObject};
use agentwire_mcp_schema::{
    ClientCapabilities, Downgrade, HasMeta, Implementation, LoggingLevel, Meta, RequestMeta, Revision,
};
use agentwire_mcp_wire::meta::LOG_LEVEL;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

/// The members of `_meta` that every modern request repeats.
#[derive(Debug)]
pub(crate) struct Stamp {
    meta: Meta,
    /// The same as text, for the many requests that have no other `_meta`.
    text: Box<RawValue>,
}

/// A request without a `_meta` of its own.
#[derive(Serialize)]
pub(crate) struct Stamped<'a, M> {
    #[serde(flatten)]
    request: &'a M,
    #[serde(rename = "_meta")]
    meta: &'a RawValue,
}

impl Stamp {
    /// A stamp in the terms of the revision.
    pub(crate) fn new(
        revision: Revision,
        mut info: Implementation,
        capabilities: ClientCapabilities,
        log_level: Option<LoggingLevel>,
    ) -> Self {
        info.downgrade(revision);
        let mut meta = RequestMeta::new(revision, capabilities).client_info(info);
        meta.log_level = log_level;
        let meta = meta.to_meta();
        let text = to_raw_value(&meta).expect("the keys of a map of JSON are strings");
        Self { meta, text }
    }

    /// A request that has no `_meta`, with the stamp.
    pub(crate) fn with<'a, M>(&'a self, request: &'a M) -> Stamped<'a, M> {
        Stamped { request, meta: &self.text }
    }

    /// Writes the stamp into parameters as text.
    pub(crate) fn write_to_params(&self, params: &RawJson) -> Result<RawJson, serde_json::Error> {
        let mut params = RawObject::try_from(params.clone())?;
        let meta = params.get("_meta").map(Meta::try_from).transpose()?;
        params.insert("_meta", self.merged(meta));
        Ok(params.into())
    }

    /// Writes the stamp into the `_meta` of a typed request.
    pub(crate) fn write_to(&self, request: &mut impl HasMeta) {
        let slot = request.meta_slot();
        *slot = Some(self.merged(slot.take()));
    }

    /// Returns a `_meta` with the stamp in it. Its own log level stays.
    fn merged(&self, meta: Option<Meta>) -> Meta {
        let Some(mut meta) = meta else { return self.meta.clone() };
        let own_level = meta.get(LOG_LEVEL).map(|level| (Cow::Borrowed(LOG_LEVEL), level));
        meta.extend(self.meta.iter().chain(own_level));
        meta
    }
}
