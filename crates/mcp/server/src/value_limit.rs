//! Limits the memory that a client's JSON may take once it is decoded.

use agentwire_jsonrpc::runtime::Members;
use agentwire_jsonrpc::{ErrorObject, RawJson, Request, RequestId, RequestMethod, TreeCost};
use agentwire_mcp_schema::CallToolRequest;
use agentwire_mcp_wire::Member;
use serde::de::{DeserializeOwned, Error};

use crate::quota::{Holder, Limits, Share};
use crate::request::params::Params;
use crate::settings::Settings;

/// A shorter text is not counted.
const FEW_BYTES: usize = 128;

/// Fails where the decoded parts of a request would take more memory than the limits allow.
///
/// The arguments of a tool are not looked at, because not all tools decode them. Those that do
/// [count them](crate::Context::hold_values) before.
pub(crate) fn check(settings: &Settings, request: &Request, params: &Params<'_>) -> Result<(), ErrorObject> {
    if let Some(meta) = params.get(Member::Meta).filter(|meta| meta.len() > settings.meta_limit) {
        let (length, limit) = (meta.len(), settings.meta_limit);
        let why = format_args!("`_meta` has {length} bytes, at most {limit} are taken (Server::meta_limit)");
        return Err(ErrorObject::invalid_params(why));
    }
    if let Some(token) = params.in_meta(Member::MetaProgressToken)
        && token.len() > RequestId::LIMIT
    {
        let why =
            format_args!("`progressToken` has {} bytes, at most {} are taken", token.len(), RequestId::LIMIT);
        return Err(ErrorObject::invalid_params(why));
    }
    let (text, limit) = (request.params.as_ref().map_or("", RawJson::as_str), settings.value_limit);
    // Nearly every text is too short to reach the limit, and is not scanned.
    if text.len() <= limit / TreeCost::MAX_PER_BYTE {
        return Ok(());
    }
    let is_call = &*request.method == CallToolRequest::NAME;
    let bytes: usize = if text.starts_with('{') {
        let members =
            Members::of(text).filter(|(name, _)| name != "_meta" && !(is_call && name == "arguments"));
        members.map(|(_, value)| TreeCost::of(value).bytes).sum()
    } else {
        TreeCost::of(text).bytes
    };
    if bytes > limit { Err(ErrorObject::invalid_params(over("params", limit))) } else { Ok(()) }
}

/// Counts what is kept of a client's text as values, or fails because it takes too much memory: it alone, or with what else is
/// kept of the client. `beside` is memory that is not values. Nothing is counted for a short text.
pub(crate) fn hold(
    settings: &Settings,
    holder: impl FnOnce() -> Holder,
    what: &str,
    text: &str,
    beside: usize,
) -> Result<Option<Share>, String> {
    if text.len() < FEW_BYTES {
        return Ok(None);
    }
    let limit = settings.value_limit;
    let limits = Limits { total: usize::MAX, holder: limit };
    let share = settings.values.take(holder(), TreeCost::of(text).bytes + beside, limits);
    share.map(Some).map_err(|_full| over(what, limit))
}

/// The fault of text that would take more memory than it may as a tree of values. `None` if it fits.
pub(crate) fn is_over(what: &str, text: &str, limit: usize) -> Option<String> {
    TreeCost::is_over(text, limit).then(|| over(what, limit))
}

/// Decodes what a client answered, within the default limit: an answer is read where the server's own is not known.
pub(crate) fn decode_answer<R: DeserializeOwned>(answer: &RawJson) -> Result<R, serde_json::Error> {
    if let Some(why) = is_over("the answer", answer.as_str(), Settings::VALUE_LIMIT) {
        return Err(serde_json::Error::custom(why));
    }
    match answer.decode_leniently() {
        Err(_) if answer.is_null() => RawJson::EMPTY_OBJECT.decode(),
        decoded => decoded,
    }
}

#[cold]
pub(crate) fn over(what: &str, limit: usize) -> String {
    format!("{what} would take more than {limit} bytes of memory (Server::value_limit)")
}
