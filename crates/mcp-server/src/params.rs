//! The members of a request's params that decide what becomes of it, found without decoding the params.

use std::borrow::Cow;

use agentwire_jsonrpc::{ErrorObject, RawJson, read};
use agentwire_mcp_wire::{Member, ParamsIndex, ParamsMembers};
use agentwire_transport::MessageSource;
use serde::de::DeserializeOwned;

/// The members of a request's params that decide what becomes of it, as text. A tool is found by `name`, and decodes
/// `arguments` itself.
#[derive(Clone, Copy, Default)]
pub(crate) struct Params<'a> {
    whole: Option<&'a RawJson>,
    pub(crate) meta: Option<&'a str>,
    /// The members of `_meta` that mean something to the protocol. None if one of them stands twice.
    pub(crate) meta_fields: Option<MetaFields<'a>>,
    name: Option<&'a str>,
    arguments: Option<&'a str>,
    /// The client's answers to questions.
    pub(crate) input_responses: Option<&'a str>,
    /// The state that the server gave with its questions.
    pub(crate) request_state: Option<&'a str>,
    /// How the client wants it to run as a task. Only 2025-11-25.
    pub(crate) task: Option<&'a str>,
}

/// The members of a `_meta` that mean something to the protocol.
#[derive(Clone, Copy, Default)]
pub(crate) struct MetaFields<'a> {
    pub(crate) protocol_version: Option<&'a str>,
    pub(crate) client_capabilities: Option<&'a str>,
    pub(crate) client_info: Option<&'a str>,
    pub(crate) log_level: Option<&'a str>,
    pub(crate) progress_token: Option<&'a str>,
}

/// Where one of these stands twice, the params have no members here, and their decoding fails with the reason.
const UNIQUE: &[Member] = &[
    Member::Meta,
    Member::Name,
    Member::Arguments,
    Member::InputResponses,
    Member::RequestState,
    Member::Task,
];

const UNIQUE_IN_META: &[Member] = &[
    Member::MetaProtocolVersion,
    Member::MetaClientCapabilities,
    Member::MetaClientInfo,
    Member::MetaLogLevel,
    Member::MetaProgressToken,
];

impl<'a> Params<'a> {
    /// Finds the members. A transport that has read the same params already has left their index in the source, so they are
    /// read once.
    pub(crate) fn of(params: Option<&'a RawJson>, source: Option<&dyn MessageSource>) -> Self {
        let Some(whole) = params else { return Self::default() };
        let index = source.and_then(|source| source.extension::<ParamsIndex>());
        let members = index.and_then(|index| index.members_of(whole));
        Self::select(whole, &members.unwrap_or_else(|| ParamsMembers::read(params)))
    }

    fn select(whole: &'a RawJson, members: &ParamsMembers<'a>) -> Self {
        if members.repeats_any(UNIQUE) {
            return Self::default();
        }
        let text = |member| members.get(member);
        let present = |member| text(member).filter(|value| *value != "null");
        let meta_fields = MetaFields {
            protocol_version: text(Member::MetaProtocolVersion),
            client_capabilities: text(Member::MetaClientCapabilities),
            client_info: text(Member::MetaClientInfo),
            log_level: text(Member::MetaLogLevel),
            progress_token: text(Member::MetaProgressToken),
        };
        Self {
            whole: Some(whole),
            meta: present(Member::Meta),
            meta_fields: Some(meta_fields).filter(|_| !members.repeats_any(UNIQUE_IN_META)),
            name: present(Member::Name),
            arguments: present(Member::Arguments),
            input_responses: present(Member::InputResponses),
            request_state: present(Member::RequestState),
            task: present(Member::Task),
        }
    }

    /// The name of what is asked for.
    pub(crate) fn name(&self) -> Result<Cow<'a, str>, ErrorObject> {
        let text = self.name.ok_or_else(|| ErrorObject::invalid_params("missing field `name`"))?;
        let plain = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        match plain.filter(|plain| !plain.contains('\\')) {
            Some(plain) => Ok(Cow::Borrowed(plain)),
            None => read(text).map(Cow::Owned).map_err(ErrorObject::invalid_params),
        }
    }

    /// The arguments, an object; absent ones count as an empty one.
    pub(crate) fn arguments(&self) -> Result<RawJson, ErrorObject> {
        match self.whole.zip(self.arguments) {
            None => Ok(RawJson::EMPTY_OBJECT),
            Some((whole, text)) if text.starts_with('{') => Ok(whole.part(text)),
            Some(_) => Err(ErrorObject::invalid_params("`arguments` must be an object")),
        }
    }

    /// The text of the attachments, an object.
    pub(crate) fn meta(&self) -> Result<Option<&'a str>, ErrorObject> {
        match self.meta {
            Some(text) if !text.starts_with('{') => {
                Err(ErrorObject::invalid_params("`_meta` must be an object"))
            }
            text => Ok(text),
        }
    }
}

/// Reads the params of a request; absent ones count as an empty object.
pub(crate) fn read_params<P: DeserializeOwned>(params: Option<&RawJson>) -> Result<P, ErrorObject> {
    params.unwrap_or(&RawJson::EMPTY_OBJECT).decode().map_err(ErrorObject::invalid_params)
}

/// The same for what serde would take from an array too.
pub(crate) fn read_object<P: DeserializeOwned>(params: Option<&RawJson>) -> Result<P, ErrorObject> {
    match params {
        Some(params) if !params.as_str().starts_with('{') => {
            Err(ErrorObject::invalid_params("params must be an object"))
        }
        params => read_params(params),
    }
}
