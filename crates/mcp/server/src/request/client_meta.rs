//! The description of the client in the `_meta` of a modern request. Since revision 2026-07-28.

use std::sync::Arc;

use agentwire_jsonrpc::runtime::Members;
use agentwire_jsonrpc::{ErrorObject, RawJson, read};
use agentwire_mcp_schema::code::UnsupportedVersion;
use agentwire_mcp_schema::{
    ClientCapabilities, Implementation, LoggingLevel, ProgressToken, ProtocolVersion, RequestMeta, Revision,
};
use agentwire_mcp_wire::Member;
use serde::Deserialize;

use crate::lazy_capabilities::LazyCapabilities;
use crate::lazy_json::LazyJson;
use crate::request::params::Params;
use crate::warning::Warnings;

/// The client of a modern request, as the request describes it.
pub(crate) struct ClientMeta {
    revision: Revision,
    info: Option<LazyJson<Implementation>>,
    capabilities: LazyCapabilities,
    log_level: Option<LoggingLevel>,
    progress_token: Option<ProgressToken>,
}

impl ClientMeta {
    /// Reads the client from the params. `None` for a request without that description, which belongs to a session.
    ///
    /// # Errors
    ///
    /// When a required member is missing or malformed, or the version is not supported.
    pub(crate) fn of(
        params: &Params<'_>,
        in_session: bool,
        warnings: &Warnings,
    ) -> Result<Option<Arc<Self>>, ErrorObject> {
        let Some(text) = params.get(Member::Meta) else {
            return Ok(None);
        };
        if !params.repeats_in_meta() && params.in_meta(Member::MetaProtocolVersion).is_none() {
            return Ok(None);
        }
        match Self::read(params) {
            Some(client_meta) => Ok(Some(Arc::new(client_meta))),
            None => Self::parse(&params.kept(text), in_session, warnings),
        }
    }

    /// Reads a correct `_meta`, as nearly all are. `None` for any other.
    fn read(params: &Params<'_>) -> Option<Self> {
        let version = params.in_meta(Member::MetaProtocolVersion)?.strip_prefix('"')?.strip_suffix('"')?;
        let capabilities = match params.in_meta(Member::MetaClientCapabilities)? {
            "{}" => LazyCapabilities::default(),
            some => read::<ClientCapabilities>(some).ok()?.into(),
        };
        let info = match params.in_meta(Member::MetaClientInfo) {
            Some(info) if is_plain_info(info) => Some(LazyJson::new(params.kept(info))),
            Some(info) => Some(LazyJson::decoded(read(info).ok()?)),
            None => None,
        };
        let log_level: Option<LoggingLevel> =
            params.in_meta(Member::MetaLogLevel).map(read).transpose().ok()?;
        if log_level.as_ref().is_some_and(|level| !level.is_known()) {
            return None;
        }
        Some(Self {
            revision: Revision::parse(version).filter(|revision| revision.is_modern())?,
            info,
            capabilities,
            log_level,
            progress_token: params.in_meta(Member::MetaProgressToken).map(read).transpose().ok()?,
        })
    }

    /// Reads any other `_meta`, without malformed optional parts. Returns an error that names the fault in a required part.
    #[cold]
    fn parse(
        text: &RawJson,
        in_session: bool,
        warnings: &Warnings,
    ) -> Result<Option<Arc<Self>>, ErrorObject> {
        let read = warnings.noting_client(|| text.decode_leniently::<RequestMeta>());
        let found;
        let version = match &read {
            Ok(meta) => &meta.protocol_version,
            Err(_) => {
                found = version_in(text.as_str())?;
                let Some(version) = &found else { return Ok(None) };
                version
            }
        };
        let revision = match version.revision() {
            Some(revision) if revision.is_modern() => revision,
            Some(_) if in_session => return Ok(None),
            _ => return Err(UnsupportedVersion::new(supported(), version.clone()).into()),
        };
        let meta = read.map_err(|error| ErrorObject::invalid_params(format_args!("`_meta`: {error}")))?;
        if let Some(level) = meta.log_level.as_ref().filter(|level| !level.is_known()) {
            return Err(ErrorObject::invalid_params(format_args!(
                "`_meta`: `{level}` is not a logging level"
            )));
        }
        Ok(Some(Arc::new(Self {
            revision,
            info: meta.client_info.map(LazyJson::decoded),
            capabilities: meta.client_capabilities.into(),
            log_level: meta.log_level,
            progress_token: meta.progress_token,
        })))
    }

    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }

    pub(crate) fn info(&self) -> Option<&Implementation> {
        self.info.as_ref()?.value()
    }

    pub(crate) fn capabilities(&self) -> &ClientCapabilities {
        self.capabilities.get()
    }

    /// Whether there is anything that the client can be asked.
    pub(crate) fn can_be_asked(&self) -> bool {
        let can = self.capabilities.named();
        can.is_some_and(|can| can.elicitation.is_some() || can.sampling.is_some() || can.roots.is_some())
    }

    pub(crate) fn progress_token(&self) -> Option<&ProgressToken> {
        self.progress_token.as_ref()
    }

    /// Whether the client gets log messages at that level.
    pub(crate) fn wants_log(&self, level: &LoggingLevel) -> bool {
        self.log_level.as_ref().is_some_and(|least| level >= least)
    }
}

/// Whether a `clientInfo` is certainly valid without decoding it: it has a name and a version, and nothing else.
fn is_plain_info(info: &str) -> bool {
    let (mut names, mut versions) = (0, 0);
    for (member, value) in Members::of(info) {
        let count = match &*member {
            "name" => &mut names,
            "version" => &mut versions,
            _ => return false,
        };
        *count += 1;
        if !value.starts_with('"') || value.contains('\\') {
            return false;
        }
    }
    names == 1 && versions == 1
}

/// The version in a `_meta` that lacks another required member.
#[cold]
fn version_in(meta: &str) -> Result<Option<ProtocolVersion>, ErrorObject> {
    #[derive(Deserialize)]
    #[serde(expecting = "an object")]
    struct Version {
        #[serde(default, rename = "io.modelcontextprotocol/protocolVersion")]
        version: Option<RawJson>,
    }

    let Ok(Version { version: Some(version) }) = read(meta) else {
        return Ok(None);
    };
    version.decode().map(Some).map_err(ErrorObject::invalid_params)
}

/// The versions that a modern request may name.
pub(crate) fn supported() -> Vec<ProtocolVersion> {
    let modern = Revision::ALL.iter().filter(|revision| revision.is_modern());
    modern.map(|revision| ProtocolVersion::from(*revision)).collect()
}
