use std::borrow::Cow;

use agentwire_jsonrpc::{Members, Message, RawJson, read};

use crate::meta;

/// A member of the params of a message, or of a result, that decides what becomes of it.
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
    /// `inputResponses`: what the client answers to questions.
    InputResponses,
    /// `requestState`: what the server gave with its questions.
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

/// Where each [`Member`] stands in the params of one message: found in one pass over the text, without memory on the heap.
///
/// It holds positions, so a transport can carry it with the message, and whoever gets the message need not read the params
/// again:
///
/// ```
/// use agentwire_jsonrpc::RawJson;
/// use agentwire_mcp_wire::{Member, ParamsIndex};
///
/// # fn main() -> Result<(), serde_json::Error> {
/// let params = RawJson::parse(r#"{"name": "echo", "arguments": {"text": "hi"}}"#.into())?;
/// let index = ParamsIndex::read(Some(&params));
/// assert_eq!(index.get(&params, Member::Name), Some(r#""echo""#));
/// assert_eq!(index.get(&params, Member::Arguments), Some(r#"{"text": "hi"}"#));
/// assert_eq!(index.get(&params, Member::Task), None);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ParamsIndex {
    /// The address and the length of the text, by which it is known again.
    text: (usize, usize),
    /// From where to where; an empty span for a member that is not there.
    spans: [(u32, u32); Member::COUNT],
    /// A bit for each member that stands more than once.
    repeated: u16,
}

impl ParamsIndex {
    /// Reads params, or a result. What is no object has no members.
    pub fn read(params: Option<&RawJson>) -> Self {
        let text = params.map_or("", RawJson::as_str);
        let mut index = Self { text: identity(text), spans: [(0, 0); Member::COUNT], repeated: 0 };
        for found in Members::of(text).within("_meta") {
            let Some(member) = Member::find(&found.name, found.is_inner) else { continue };
            let start = found.value.as_ptr().addr() - text.as_ptr().addr();
            let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(start + found.value.len()))
            else {
                break;
            };
            let span = &mut index.spans[member as usize];
            if *span != (0, 0) {
                index.repeated |= member.bit();
            }
            *span = (start, end);
        }
        index
    }

    /// Reads the params of a message.
    pub fn of(message: &Message) -> Self {
        Self::read(params_of(message))
    }

    /// Whether this is the index of these params: of the same text, at the same place in memory.
    pub fn is_of(&self, params: Option<&RawJson>) -> bool {
        self.text == identity(params.map_or("", RawJson::as_str))
    }

    /// The text of a member's value; of a member that is [repeated](Self::repeats_any), that of the last. None for a member
    /// that is not there, and for other params than the index was made of.
    #[inline]
    pub fn get<'a>(&self, params: &'a RawJson, member: Member) -> Option<&'a str> {
        let text = params.as_str();
        let (start, end) = self.spans[member as usize];
        if start == end || self.text != identity(text) {
            return None;
        }
        text.get(start as usize..end as usize)
    }

    /// The string that a member's value is, borrowed if it has no escapes. None for any other value too.
    pub fn string<'a>(&self, params: &'a RawJson, member: Member) -> Option<Cow<'a, str>> {
        let text = self.get(params, member)?;
        let plain = text.strip_prefix('"')?.strip_suffix('"')?;
        if plain.contains('\\') { read(text).ok().map(Cow::Owned) } else { Some(Cow::Borrowed(plain)) }
    }

    /// Whether one of these members stands more than once.
    pub fn repeats_any(&self, members: &[Member]) -> bool {
        let wanted = members.iter().fold(0, |bits, member| bits | member.bit());
        self.repeated & wanted != 0
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

fn identity(text: &str) -> (usize, usize) {
    (text.as_ptr().addr(), text.len())
}

#[cfg(test)]
mod tests {
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
        let index = ParamsIndex::read(Some(&params));
        assert_eq!(index.string(&params, Member::Name).as_deref(), Some("ab"), "escapes are read");
        assert_eq!(index.get(&params, Member::MetaProgressToken), Some("7"), "that of `_meta` alone");
        assert!(index.get(&params, Member::Meta).unwrap().starts_with(r#"{"progressToken": 7"#));
        assert_eq!(
            (index.get(&params, Member::TaskId), index.string(&params, Member::TaskId)),
            (Some("5"), None)
        );
        assert!(!index.repeats_any(&[Member::Name, Member::MetaProgressToken]));
    }

    #[test]
    fn a_member_that_stands_twice_is_known_as_such() {
        let params = params(
            r#"{"name": "a", "uri": "u", "name": "b", "_meta": {"progressToken": 1, "progressToken": 1}}"#,
        );
        let index = ParamsIndex::read(Some(&params));
        assert!(
            index.repeats_any(&[Member::Uri, Member::Name])
                && index.repeats_any(&[Member::MetaProgressToken])
        );
        assert!(!index.repeats_any(&[Member::Uri, Member::Meta]));
    }

    #[test]
    fn an_index_is_of_one_text_only() {
        let (one, other) = (params(r#"{"name": "a"}"#), params(r#"{"name": "a"}"#));
        let index = ParamsIndex::read(Some(&one));
        assert!(index.is_of(Some(&one.clone())) && !index.is_of(Some(&other)) && !index.is_of(None));
        assert_eq!(index.get(&other, Member::Name), None);
        for nothing in ["[]", "null", r#""name""#, "{}"] {
            let params = params(nothing);
            assert_eq!(ParamsIndex::read(Some(&params)).get(&params, Member::Name), None, "{nothing}");
        }
    }
}
