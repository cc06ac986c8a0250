//! Iterates over the members of a JSON object, and the elements of an array, as slices of its text.

use std::borrow::Cow;

use crate::reader;
use crate::text::scan::{skip_space, string_end, value_end};

/// An iterator over the members of a JSON object in their order: the name of each, and its value as text.
///
/// Use it to pick members out of text that is known to be valid JSON, such as that of a [`RawJson`](crate::RawJson). Finding the end
/// of a value takes less time than parsing it.
///
/// ```
/// use agentwire_jsonrpc::RawJson;
/// use agentwire_jsonrpc::runtime::Members;
///
/// # fn main() -> Result<(), serde_json::Error> {
/// let params = RawJson::parse(r#"{"name": "echo", "arguments": {"text": "}"}}"#.into())?;
/// let members: Vec<_> = Members::of(params.as_str()).collect();
/// assert_eq!(members, [("name".into(), r#""echo""#), ("arguments".into(), r#"{"text": "}"}"#)]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Members<'a> {
    text: &'a str,
    /// The index of the brace or comma before the next member. After the last member, the index of the closing brace.
    at: usize,
    over: bool,
}

/// An iterator over the members of a JSON object and of one inner object, in one pass over the text. See
/// [`Members::within`].
#[derive(Clone, Debug)]
pub struct MembersWithin<'a> {
    members: Members<'a>,
    name: &'static str,
    /// The start of the inner object, while its members are returned.
    inner: Option<usize>,
}

/// A member of an object, or of an object in it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Member<'a> {
    /// The name.
    pub name: Cow<'a, str>,
    /// The text of its value.
    pub value: &'a str,
    /// Whether it is a member of the inner object.
    pub is_inner: bool,
}

impl<'a> Members<'a> {
    /// The members of an object, or no members if the text is another value. The text must begin with its first token. If it
    /// is not JSON, the returned members are meaningless.
    pub fn of(text: &'a str) -> Self {
        Self { text, at: 0, over: !text.starts_with('{') }
    }

    /// Also enters the member with this name if its value is an object: returns the members of that object, and then the member
    /// itself.
    ///
    /// ```
    /// use agentwire_jsonrpc::runtime::Members;
    ///
    /// let members = Members::of(r#"{"_meta":{"a":1},"b":2}"#).within("_meta");
    /// let found: Vec<_> = members.map(|member| (member.name, member.value, member.is_inner)).collect();
    /// assert_eq!(found, [("a".into(), "1", true), ("_meta".into(), r#"{"a":1}"#, false), ("b".into(), "2", false)]);
    /// ```
    pub fn within(self, name: &'static str) -> MembersWithin<'a> {
        MembersWithin { members: self, name, inner: None }
    }

    /// The name of the next member, and the index of its value.
    #[inline]
    fn next_name(&mut self) -> Option<(Cow<'a, str>, usize)> {
        let bytes = self.text.as_bytes();
        if self.over {
            return None;
        }
        let name = skip_space(bytes, self.at + 1);
        if bytes.get(name) != Some(&b'"') {
            (self.at, self.over) = (name, true);
            return None;
        }
        let name_end = string_end(bytes, name)?;
        let colon = skip_space(bytes, name_end.at);
        if bytes.get(colon) != Some(&b':') {
            return None;
        }
        let value = skip_space(bytes, colon + 1);
        let plain = self.text.get(name + 1..name_end.at - 1)?;
        // A name with an invalid escape equals no name that a caller looks for.
        let decoded =
            if name_end.escapes { reader::decode(self.text.get(name..name_end.at)?).ok() } else { None };
        Some((decoded.map_or(Cow::Borrowed(plain), Cow::Owned), value))
    }

    /// Returns the value that begins at `start`, and moves past it.
    #[inline]
    fn take_value(&mut self, start: usize) -> Option<&'a str> {
        let end = value_end(self.text.as_bytes(), start)?;
        self.pass(end);
        self.text.get(start..end)
    }

    /// Moves past a value that ends at `end`.
    #[inline]
    fn pass(&mut self, end: usize) {
        let bytes = self.text.as_bytes();
        self.at = skip_space(bytes, end);
        self.over = bytes.get(self.at) != Some(&b',');
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.next_name().and_then(|(name, value)| Some((name, self.take_value(value)?)));
        self.over |= found.is_none();
        found
    }
}

impl<'a> MembersWithin<'a> {
    fn find_next(&mut self) -> Option<Member<'a>> {
        let members = &mut self.members;
        loop {
            let Some((name, value)) = members.next_name() else {
                let start = self.inner.take()?;
                let end = members.at + 1;
                members.pass(end);
                let (name, value) = (Cow::Borrowed(self.name), members.text.get(start..end)?);
                return Some(Member { name, value, is_inner: false });
            };
            let is_inner = self.inner.is_some();
            if !is_inner && name == self.name && members.text.as_bytes().get(value) == Some(&b'{') {
                self.inner = Some(value);
                members.at = value;
            } else {
                return Some(Member { name, value: members.take_value(value)?, is_inner });
            }
        }
    }
}

impl<'a> Iterator for MembersWithin<'a> {
    type Item = Member<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.find_next();
        if found.is_none() {
            (self.members.over, self.inner) = (true, None);
        }
        found
    }
}

/// The elements of an array, each as text, or no elements if the text is another value. As with [`Members`], they are
/// meaningless if the text is not JSON.
pub(crate) fn elements(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut at = if bytes.first() == Some(&b'[') { Some(skip_space(bytes, 1)) } else { None };
    if at.is_some_and(|at| bytes.get(at) == Some(&b']')) {
        at = None;
    }
    std::iter::from_fn(move || {
        let start = at.take()?;
        let end = value_end(bytes, start)?;
        let comma = skip_space(bytes, end);
        at = (bytes.get(comma) == Some(&b',')).then(|| skip_space(bytes, comma + 1));
        text.get(start..end)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value};

    use super::{Member, Members};

    /// The members, put together again, equal the parsed text.
    fn check(text: &str) {
        let read: Map<String, Value> = serde_json::from_str(text).expect("the text is an object");
        let found: Map<String, Value> = Members::of(text)
            .map(|(name, value)| (name.into_owned(), serde_json::from_str(value).expect("a value")))
            .collect();
        assert_eq!(found, read, "{text}");
        check_within(text, &read);
    }

    /// Entering each member finds the same outer members, and the members of the inner object.
    fn check_within(text: &str, read: &Map<String, Value>) {
        for name in ["a", "b", "nested"] {
            let (inner, outer): (Vec<_>, Vec<_>) =
                Members::of(text).within(name).partition(|member| member.is_inner);
            let values = |members: Vec<Member<'_>>| -> Map<String, Value> {
                let value = |member: Member<'_>| {
                    (member.name.into_owned(), serde_json::from_str(member.value).expect("a value"))
                };
                members.into_iter().map(value).collect()
            };
            assert_eq!(values(outer), *read, "{text}");
            let expected = read.get(name).and_then(Value::as_object).cloned().unwrap_or_default();
            assert_eq!(values(inner), expected, "{text}");
        }
    }

    #[test]
    fn members_equal_those_of_the_parsed_text() {
        check("{}");
        check("{ }");
        check(r#"{"a":1,"b":-2.5e3,"c":true,"d":null,"e":"x"}"#);
        check(r#"{"a":{},"b":{"c":{"a":[{}]},"d":"}"}}"#);
        check(r#"{ "nested" : { "a" : { } , "x":1 } , "b" : { } }"#);
        check("{ \"a\" : 1 ,\t\"b\" : [ ] , \"c\":{ } }\n");
        check(r#"{"nested":{"a":[{"b":"]}"},[[]],{}]},"after":"}"}"#);
        check(r#"{"a":"12345678","b":"1234567\"","éééééééé":"\\\\\\\\\\\\\\\"","c":"12345678901234567"}"#);
        check(r#"{"quote\"d":"a \\\" b\\","\u005fmeta":{"\\":"\\"}}"#);
    }

    #[test]
    fn other_text_has_none_and_broken_text_ends() {
        let texts =
            r#"[1] 1 "{" { {" {"a {"a" {"a": {"a":} {"a":"\ {] {"a":[} {"a"é1 {"a":é {"\é":1} {"a":1é é"#;
        for text in texts.split(' ').chain([""]) {
            assert!(Members::of(text).count() <= 1, "{text}");
            assert!(Members::of(text).within("a").count() <= 1, "{text}");
        }
    }
}
