//! What a message says about its own route, without decoding what it says to its reader.

use std::borrow::Cow;

use agentwire_jsonrpc::{Members, Message, RawJson, read};
use serde::Deserialize;

/// The members of `params`, or of a result, that a transport looks at. One that is no string is passed over.
#[derive(Debug, Default)]
pub(crate) struct Params<'a> {
    /// The revision that `initialize` offers.
    pub(crate) protocol_version: Option<Cow<'a, str>>,
    /// The name of a tool or of a prompt.
    pub(crate) name: Option<Cow<'a, str>>,
    /// The URI of a resource.
    pub(crate) uri: Option<Cow<'a, str>>,
    /// The id of a task.
    pub(crate) task_id: Option<Cow<'a, str>>,
    /// The revision that the request speaks: every request of the stateless ones says it, in `_meta`.
    pub(crate) spoken: Option<Cow<'a, str>>,
}

impl<'a> Params<'a> {
    /// Looks into the params of a message; nothing where they are of another shape.
    pub(crate) fn of(message: &'a Message) -> Self {
        match message {
            Message::Request(request) => Self::read(request.params.as_ref()),
            Message::Notification(notification) => Self::read(notification.params.as_ref()),
            _ => Self::default(),
        }
    }

    /// Looks into params, or into a result. Where a member stands twice, which two readers could read differently, there
    /// is nothing to see.
    pub(crate) fn read(params: Option<&'a RawJson>) -> Self {
        params.and_then(Self::find).unwrap_or_default()
    }

    fn find(params: &'a RawJson) -> Option<Self> {
        let (mut protocol_version, mut name, mut uri, mut task_id) = (None, None, None, None);
        let (mut meta, mut spoken) = (None, None);
        for member in Members::of(params.as_str()).within("_meta") {
            let place = match (&*member.name, member.is_inner) {
                ("protocolVersion", false) => &mut protocol_version,
                ("name", false) => &mut name,
                ("uri", false) => &mut uri,
                ("taskId", false) => &mut task_id,
                ("_meta", false) => &mut meta,
                ("io.modelcontextprotocol/protocolVersion", true) => &mut spoken,
                _ => continue,
            };
            if place.replace(member.value).is_some() {
                return None;
            }
        }
        Some(Self {
            protocol_version: protocol_version.and_then(string),
            name: name.and_then(string),
            uri: uri.and_then(string),
            task_id: task_id.and_then(string),
            spoken: spoken.and_then(string),
        })
    }
}

/// The string that a JSON text is, borrowed where it has no escapes.
fn string(text: &str) -> Option<Cow<'_, str>> {
    let plain = text.strip_prefix('"')?.strip_suffix('"')?;
    if plain.contains('\\') { read(text).ok().map(Cow::Owned) } else { Some(Cow::Borrowed(plain)) }
}

/// The revision that an answer to `initialize` settles on, if it is one that is known.
#[cfg(feature = "server")]
pub(crate) fn agreed(result: &RawJson) -> Option<crate::revision::Revision> {
    crate::revision::Revision::parse(&Params::read(Some(result)).protocol_version?)
}

/// The request that a notification cancels, if that is what it does.
pub(crate) fn cancelled(
    notification: &agentwire_jsonrpc::Notification,
) -> Option<agentwire_jsonrpc::RequestId> {
    #[derive(Deserialize)]
    struct Cancelled {
        #[serde(rename = "requestId")]
        request_id: agentwire_jsonrpc::RequestId,
    }
    let params = notification.params.as_ref().filter(|_| notification.method == "notifications/cancelled")?;
    params.decode::<Cancelled>().ok().map(|cancelled| cancelled.request_id)
}
