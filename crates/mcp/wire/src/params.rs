//! Finds the params members that transports and runtimes need, such as `_meta` and `name`, in one pass over the JSON text.

use std::borrow::Cow;

use agentwire_jsonrpc::runtime::Members;
use agentwire_jsonrpc::{Message, RawJson, read};

use crate::meta;

/// A member of the params of a message, or of a result, that a transport or a runtime reads before the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Member {
    /// `_meta`.
    Meta,
    /// `name`: of a tool or a prompt.
    Name,
    /// `uri`: of a resource.
    Uri,
    /// `taskId`.
    TaskId,
    /// `protocolVersion`, in the params and the result of `initialize`.
    ProtocolVersion,
    /// `arguments`.
    Arguments,
    /// `inputResponses`: the client's answers to questions.
    InputResponses,
    /// `requestState`: the state that the server sent with its questions.
    RequestState,
    /// `task`: how the request runs as a task. Only 2025-11-25.
    Task,
    /// [`meta::PROTOCOL_VERSION`] in `_meta`.
    MetaProtocolVersion,
    /// [`meta::CLIENT_CAPABILITIES`] in `_meta`.
    MetaClientCapabilities,
    /// [`meta::CLIENT_INFO`] in `_meta`.
    MetaClientInfo,
    /// [`meta::LOG_LEVEL`] in `_meta`.
    MetaLogLevel,
    /// [`meta::PROGRESS_TOKEN`] in `_meta`.
    MetaProgressToken,
}

impl Member {
    const COUNT: usize = Self::MetaProgressToken as usize + 1;

    /// The member of that name, of the params or of their `_meta`.
    fn find(name: &str, in_meta: bool) -> Option<Self> {
        Some(match (name, in_meta) {
            ("_meta", false) => Self::Meta,
            ("name", false) => Self::Name,
            ("uri", false) => Self::Uri,
            ("taskId", false) => Self::TaskId,
            ("protocolVersion", false) => Self::ProtocolVersion,
            ("arguments", false) => Self::Arguments,
            ("inputResponses", false) => Self::InputResponses,
            ("requestState", false) => Self::RequestState,
            ("task", false) => Self::Task,
            (meta::PROTOCOL_VERSION, true) => Self::MetaProtocolVersion,
            (meta::CLIENT_CAPABILITIES, true) => Self::MetaClientCapabilities,
            (meta::CLIENT_INFO, true) => Self::MetaClientInfo,
            (meta::LOG_LEVEL, true) => Self::MetaLogLevel,
            (meta::PROGRESS_TOKEN, true) => Self::MetaProgressToken,
            _ => return None,
        })
    }

    fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// The [`Member`]s in the params of one message, found in one pass over the text, without memory on the heap.
///
/// ```
/// use agentwire_jsonrpc::RawJson;
/// use agentwire_mcp_wire::{Member, ParamsMembers};
///
/// # fn main() -> Result<(), serde_json::Error> {
/// let params = RawJson::parse(r#"{"name": "echo", "arguments": {"text": "hi"}}"#.into())?;
/// let members = ParamsMembers::read(Some(&params));
/// assert_eq!(members.get(Member::Name), Some(r#""echo""#));
/// assert_eq!(members.get(Member::Arguments), Some(r#"{"text": "hi"}"#));
/// assert_eq!(members.get(Member::Task), None);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ParamsMembers<'a> {
    /// The text of each value; empty for an absent member.
    values: [&'a str; Member::COUNT],
    /// A bit for each member that occurs more than once.
    repeated: u16,
}

impl<'a> ParamsMembers<'a> {
    /// Reads params, or a result. A value that is not an object has no members.
    pub fn read(params: Option<&'a RawJson>) -> Self {
        let mut read = Self::default();
        for found in Members::of(params.map_or("", RawJson::as_str)).within("_meta") {
            let Some(member) = Member::find(&found.name, found.is_inner) else { continue };
            let value = &mut read.values[member as usize];
            if !value.is_empty() {
                read.repeated |= member.bit();
            }
            *value = found.value;
        }
        read
    }

    /// Reads the params of a message.
    pub fn of(message: &'a Message) -> Self {
        Self::read(params_of(message))
    }

    /// The text of a member's value, or `None` if the member is absent. Of a [repeated](Self::repeats_any) member, the last
    /// value.
    #[inline]
    pub fn get(&self, member: Member) -> Option<&'a str> {
        let value = self.values[member as usize];
        if value.is_empty() { None } else { Some(value) }
    }

    /// A member's value if it is a string, borrowed if it has no escapes. `None` for any other value.
    pub fn string(&self, member: Member) -> Option<Cow<'a, str>> {
        let text = self.get(member)?;
        let plain = text.strip_prefix('"')?.strip_suffix('"')?;
        if plain.contains('\\') { read(text).ok().map(Cow::Owned) } else { Some(Cow::Borrowed(plain)) }
    }

    /// Whether one of these members occurs more than once.
    #[inline]
    pub fn repeats_any(&self, members: &[Member]) -> bool {
        self.repeated != 0 && members.iter().any(|member| self.repeated & member.bit() != 0)
    }
}

/// The positions of [`ParamsMembers`], to carry beside the message, so that its receiver does not read the params again.
///
/// It holds the text that it was made from, so a comparison of addresses proves that other params are the same text.
#[derive(Clone, Debug)]
pub struct ParamsIndex {
    params: Option<RawJson>,
    /// The start and the end of each value; an empty span for an absent member, and for one beyond 4 GiB.
    spans: [(u32, u32); Member::COUNT],
    repeated: u16,
}

impl ParamsIndex {
    /// Reads the params of a message.
    pub fn of(message: &Message) -> Self {
        let params = params_of(message);
        let ParamsMembers { values, repeated } = ParamsMembers::read(params);
        let text = params.map_or("", RawJson::as_str);
        let spans = values.map(|value| {
            let start = if value.is_empty() { 0 } else { value.as_ptr().addr() - text.as_ptr().addr() };
            u32::try_from(start).ok().zip(u32::try_from(start + value.len()).ok()).unwrap_or_default()
        });
        Self { params: params.cloned(), spans, repeated }
    }

    /// The members of these params if the index was made of the same text, at the same place in memory.
    pub fn members_of<'a>(&self, params: &'a RawJson) -> Option<ParamsMembers<'a>> {
        let text = params.as_str();
        if !self.params.as_ref().is_some_and(|held| std::ptr::eq(held.as_str(), text)) {
            return None;
        }
        let values = self.spans.map(|(start, end)| text.get(start as usize..end as usize).unwrap_or(""));
        Some(ParamsMembers { values, repeated: self.repeated })
    }
}

/// The params of a request or a notification.
pub(crate) fn params_of(message: &Message) -> Option<&RawJson> {
    match message {
        Message::Request(request) => request.params.as_ref(),
        Message::Notification(notification) => notification.params.as_ref(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use agentwire_jsonrpc::Request;

    use super::*;

    fn params(text: &str) -> RawJson {
        RawJson::parse(text.into()).unwrap()
    }

    #[test]
    fn members_are_found_where_they_stand() {
        let params = params(
            r#"{"na\u006de": "a\u0062", "_meta": {"progressToken": 7, "name": "inner", "x": {"progressToken": 8}},
               "progressToken": 9, "taskId": 5}"#,
        );
        let members = ParamsMembers::read(Some(&params));
        assert_eq!(members.string(Member::Name).as_deref(), Some("ab"), "escapes are read");
        assert_eq!(members.get(Member::MetaProgressToken), Some("7"), "that of `_meta` alone");
        assert!(members.get(Member::Meta).unwrap().starts_with(r#"{"progressToken": 7"#));
        assert_eq!((members.get(Member::TaskId), members.string(Member::TaskId)), (Some("5"), None));
        assert!(!members.repeats_any(&[Member::Name, Member::MetaProgressToken]));
    }

    #[test]
    fn repeated_member_is_recognized() {
        let params = params(
            r#"{"name": "a", "uri": "u", "name": "b", "_meta": {"progressToken": 1, "progressToken": 1}}"#,
        );
        let members = ParamsMembers::read(Some(&params));
        assert!(
            members.repeats_any(&[Member::Uri, Member::Name])
                && members.repeats_any(&[Member::MetaProgressToken])
        );
        assert!(!members.repeats_any(&[Member::Uri, Member::Meta]));
    }

    #[test]
    fn an_index_is_of_one_text_only() {
        let request =
            |text: &str| -> Message { Request::new(1_u64, "tools/call", Some(params(text))).into() };
        let (one, other) = (request(r#"{"name": "a"}"#), request(r#"{"name": "a"}"#));
        let index = ParamsIndex::of(&one);
        let name = |message: &Message| {
            let members = index.members_of(params_of(message).unwrap())?;
            members.get(Member::Name).map(str::to_owned)
        };
        assert_eq!(name(&one.clone()).as_deref(), Some(r#""a""#), "a clone shares the text");
        assert_eq!(name(&other), None);
        // The text stays where it is for as long as the index, so no other text takes its place.
        drop(one);
        for _ in 0..100 {
            assert_eq!(name(&request(r#"{"name": "b"}"#)), None);
        }
        for nothing in ["[]", "null", r#""name""#, "{}"] {
            assert_eq!(ParamsMembers::read(Some(&params(nothing))).get(Member::Name), None, "{nothing}");
        }
    }
}
