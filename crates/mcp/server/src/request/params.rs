//! The members of a request's params that decide how it is handled, found without decoding the params.

use std::borrow::Cow;

use agentwire_jsonrpc::{ErrorObject, RawJson, RawObject, decode_params, read};
use agentwire_mcp_wire::{Member, ParamsIndex, ParamsMembers};
use agentwire_transport::MessageSource;
use serde::de::DeserializeOwned;

use crate::warning::Warnings;

/// The members of a request's params that decide how it is handled, as text. A tool is found by `name`, and decodes
/// `arguments` itself.
#[derive(Clone, Copy, Default)]
pub(crate) struct Params<'a> {
    whole: Option<&'a RawJson>,
    members: ParamsMembers<'a>,
}

/// If one of these is repeated, the params have no members here, and their decoding fails with the reason.
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
        let members = members.unwrap_or_else(|| ParamsMembers::read(params));
        if members.repeats_any(UNIQUE) { Self::default() } else { Self { whole: params, members } }
    }

    /// The text of a member. `None` if it is absent or `null`.
    pub(crate) fn get(&self, member: Member) -> Option<&'a str> {
        self.members.get(member).filter(|value| *value != "null")
    }

    /// The text of a member of `_meta` that the protocol defines. `None` if it is absent, or one of them stands twice.
    pub(crate) fn in_meta(&self, member: Member) -> Option<&'a str> {
        if self.repeats_in_meta() { None } else { self.members.get(member) }
    }

    /// Whether a member of `_meta` that the protocol defines stands twice.
    pub(crate) fn repeats_in_meta(&self) -> bool {
        self.members.repeats_any(UNIQUE_IN_META)
    }

    /// The name of the tool or prompt.
    pub(crate) fn name(&self) -> Result<Cow<'a, str>, ErrorObject> {
        let text =
            self.get(Member::Name).ok_or_else(|| ErrorObject::invalid_params("missing field `name`"))?;
        let plain = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        match plain.filter(|plain| !plain.contains('\\')) {
            Some(plain) => Ok(Cow::Borrowed(plain)),
            None => read(text).map(Cow::Owned).map_err(ErrorObject::invalid_params),
        }
    }

    /// The arguments, an object; absent ones count as an empty one.
    pub(crate) fn arguments(&self) -> Result<RawJson, ErrorObject> {
        let Some((whole, text)) = self.whole.zip(self.get(Member::Arguments)) else {
            return Ok(RawJson::EMPTY_OBJECT);
        };
        let arguments = whole.part(text).into_object();
        arguments.ok_or_else(|| ErrorObject::invalid_params("`arguments` must be an object"))
    }

    /// The attachments, an object. Anything else counts as absent, because the server itself does not use them.
    pub(crate) fn meta(&self) -> Option<RawJson> {
        self.kept(self.get(Member::Meta)?).into_object()
    }

    /// A value of these params that may outlive the message: a slice of a short message, a copy of a part of a long one.
    pub(crate) fn kept(&self, text: &str) -> RawJson {
        const SHORT: usize = 4 << 10;
        match self.whole {
            Some(whole) if whole.len() <= SHORT => whole.part(text),
            Some(whole) => whole.part(text).detached(),
            None => RawJson::NULL,
        }
    }
}

/// Reads the params of a request; absent ones count as an empty object. A `_meta` that is not an object counts as absent. Any
/// other malformed member is an error, because leaving it out would change the request.
pub(crate) fn read_params<P: DeserializeOwned>(params: Option<&RawJson>) -> Result<P, ErrorObject> {
    decode_params(params.cloned()).or_else(|error| match params.and_then(without_malformed_meta) {
        Some(params) => decode_params(Some(params)),
        None => Err(error),
    })
}

/// The params without their `_meta`. `None` if that is not malformed.
#[cold]
fn without_malformed_meta(params: &RawJson) -> Option<RawJson> {
    let mut params = RawObject::try_from(params.clone()).ok()?;
    if params.get("_meta")?.into_object().is_some() {
        return None;
    }
    params.remove("_meta");
    Some(params.into())
}

/// Reads the params of a request that only describes the client. Leaves out malformed parts that are not required.
pub(crate) fn read_description<P: DeserializeOwned>(
    params: Option<&RawJson>,
    warnings: &Warnings,
) -> Result<P, ErrorObject> {
    let params = params.cloned().unwrap_or(RawJson::EMPTY_OBJECT);
    warnings.noting_client(|| params.decode_leniently()).map_err(ErrorObject::invalid_params)
}
