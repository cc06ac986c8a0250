//! A JSON object kept as text, with lookup and change of single members. Used for `_meta`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::de::{DeserializeOwned, Error};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::raw::RawJson;
use crate::reader;
use crate::text::any_text::{ObjectText, escaped};
use crate::text::members::Members;

/// One JSON object, kept as the text in which it arrived, with access to members by name.
///
/// For objects with foreign members, such as `_meta`. A member is decoded only when it is requested, so an object takes the
/// memory of its text, and every number keeps its digits. Cloning copies no text. The text is on one line, as that of a
/// [`RawJson`].
///
/// A look-up reads the text from its beginning, and a change writes it again, so both take time in proportion to its
/// length. Two objects are equal if their values are, as for [`RawJson`].
///
/// ```
/// use agentwire_jsonrpc::{RawObject, read};
/// use serde_json::json;
///
/// # fn main() -> Result<(), serde_json::Error> {
/// let mut meta: RawObject = read(r#"{"example.com/id": 12345678901234567890123, "trace": [1.10]}"#)?;
/// assert_eq!(meta.get("example.com/id").unwrap().as_str(), "12345678901234567890123");
/// assert_eq!(meta.decode_member::<Vec<f64>>("trace")?, Some(vec![1.1]));
///
/// meta.insert("trace", json!("off"));
/// assert_eq!(meta.as_str(), r#"{"example.com/id": 12345678901234567890123, "trace": "off"}"#);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct RawObject(pub(crate) RawJson);

impl RawObject {
    /// The object `{}`.
    pub const fn new() -> Self {
        Self(RawJson::EMPTY_OBJECT)
    }

    /// Encodes a value.
    ///
    /// # Errors
    ///
    /// When the value has no JSON form, or one that is not an object.
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        RawJson::encode(value)?.try_into()
    }

    /// Decodes the whole object as [`read`](crate::read) does.
    ///
    /// # Errors
    ///
    /// When the text is not what `T` wants; the error names the place.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        self.0.decode()
    }

    /// The value of the member of that name, as a slice of the same text. If the name is repeated, the last one.
    pub fn get(&self, name: &str) -> Option<RawJson> {
        self.0.member(name)
    }

    /// The string value of the member of that name; the last one of several. `None` if it is missing or not a string.
    pub fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        let (_, value) = self.members().filter(|(other, _)| other == name).last()?;
        match value.strip_prefix('"')?.strip_suffix('"')? {
            text if !text.contains('\\') => Some(Cow::Borrowed(text)),
            _ => reader::decode::<String>(value).ok().map(Cow::Owned),
        }
    }

    /// Decodes the value of the member of that name; `None` if it is missing.
    ///
    /// # Errors
    ///
    /// When the value is not what `T` wants, or there are several members of that name: readers differ in which of them
    /// they believe.
    pub fn decode_member<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, serde_json::Error> {
        let mut found = self.members().filter(|(other, _)| other == name);
        let Some((_, value)) = found.next() else { return Ok(None) };
        if found.next().is_some() {
            return Err(serde_json::Error::custom(format_args!("duplicate field `{name}`")));
        }
        reader::decode(value).map(Some)
    }

    /// Whether there is a member of that name, whatever its value.
    pub fn contains_key(&self, name: &str) -> bool {
        self.members().any(|(other, _)| other == name)
    }

    /// Whether the object has no members.
    pub fn is_empty(&self) -> bool {
        self.members().next().is_none()
    }

    /// The members in their order: names, and values as slices of the same text.
    pub fn iter(&self) -> impl Iterator<Item = (Cow<'_, str>, RawJson)> {
        self.members().map(|(name, value)| (name, self.0.part(value)))
    }

    /// Sets the value of the member of that name. A new member comes last.
    pub fn insert(&mut self, name: impl AsRef<str>, value: impl Into<RawJson>) {
        let (name, value) = (name.as_ref(), value.into());
        let text = self.as_str();
        let mut found = self.members().filter(|(other, _)| other == name).map(|(_, old)| old);
        // The fast path for a call's `_meta`: one allocation.
        let changed = match (found.next(), found.next()) {
            (Some(old), None) => {
                let at = old.as_ptr().addr() - text.as_ptr().addr();
                [&text[..at], value.as_str(), &text[at + old.len()..]].concat()
            }
            (None, _) => {
                let comma = if self.is_empty() { "" } else { "," };
                let before = &text[..text.len() - 1];
                [before, comma, "\"", &escaped(name), "\":", value.as_str(), "}"].concat()
            }
            _ => return self.change([(Cow::Borrowed(name), Some(value.as_str()))].into_iter()),
        };
        *self = Self(RawJson::of_known(changed.into()));
    }

    /// Removes all members of that name. Returns the value of the last.
    pub fn remove(&mut self, name: &str) -> Option<RawJson> {
        let removed = self.get(name)?;
        self.retain(|other| other != name);
        Some(removed)
    }

    /// Removes all members whose names `keep` refuses.
    pub fn retain(&mut self, mut keep: impl FnMut(&str) -> bool) {
        let keeps: Vec<_> = self.members().map(|(name, _)| keep(&name)).collect();
        if keeps.iter().all(|keep| *keep) {
            return;
        }
        let mut kept = ObjectText::default();
        for ((name, value), _) in self.members().zip(keeps).filter(|(_, keep)| *keep) {
            kept.push(&name, value);
        }
        *self = Self::of_text(kept);
    }

    /// Sets the members of `patch` in this object, and removes those whose value there is null. Not recursive.
    pub fn merge(&mut self, patch: &Self) {
        let value = |value: &str| value != "null";
        let changes = patch.members().map(|(name, text)| (name, Some(text).filter(|text| value(text))));
        self.change(changes);
    }

    /// The value.
    pub fn as_raw(&self) -> &RawJson {
        &self.0
    }

    /// The text as it arrived or was written, on one line.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Writes the members one by one instead of the text as a whole: for an object that is flattened into another, by
    /// `#[serde(flatten, serialize_with = "RawObject::serialize_members")]`.
    ///
    /// # Errors
    ///
    /// When the serializer fails.
    pub fn serialize_members<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.iter() {
            map.serialize_entry(&name, &value)?;
        }
        map.end()
    }

    pub(crate) fn of_text(text: ObjectText) -> Self {
        if text.is_empty() {
            return Self::new();
        }
        Self(RawJson::of_known(text.into_text().into_boxed_str().into()))
    }

    fn members(&self) -> Members<'_> {
        Members::of(self.as_str())
    }

    /// Sets or removes members. Of several changes to a member the last counts.
    fn change<'a>(&mut self, changes: impl Iterator<Item = (Cow<'a, str>, Option<&'a str>)> + Clone) {
        // `None` once the member is written, so that each name is written once.
        let mut left: HashMap<_, _> = changes.clone().map(|(name, value)| (name, Some(value))).collect();
        let mut changed = ObjectText::default();
        for (name, value) in self.members() {
            match left.get_mut(&name).map(Option::take) {
                None => changed.push(&name, value),
                Some(Some(Some(value))) => changed.push(&name, value),
                Some(_) => {}
            }
        }
        for (name, _) in changes {
            if let Some(Some(value)) = left.get_mut(&name).and_then(Option::take) {
                changed.push(&name, value);
            }
        }
        *self = Self::of_text(changed);
    }
}

impl Default for RawObject {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for RawObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for RawObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Fails for any value but an object; an empty array is an empty object.
impl TryFrom<RawJson> for RawObject {
    type Error = serde_json::Error;

    fn try_from(value: RawJson) -> Result<Self, serde_json::Error> {
        value.into_object().map(Self).ok_or_else(|| serde_json::Error::custom("expected an object"))
    }
}

impl From<RawObject> for RawJson {
    fn from(object: RawObject) -> Self {
        object.0
    }
}

impl From<Map<String, Value>> for RawObject {
    fn from(members: Map<String, Value>) -> Self {
        Self(Value::Object(members).into())
    }
}

impl<N: AsRef<str>, V: Into<RawJson>> FromIterator<(N, V)> for RawObject {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(members: I) -> Self {
        let mut object = Self::new();
        object.extend(members);
        object
    }
}

/// Sets each of the members, as [`insert`](RawObject::insert) does for one, and writes the text once.
impl<N: AsRef<str>, V: Into<RawJson>> Extend<(N, V)> for RawObject {
    fn extend<I: IntoIterator<Item = (N, V)>>(&mut self, members: I) {
        let members: Vec<_> = members.into_iter().map(|(name, value)| (name, value.into())).collect();
        self.change(members.iter().map(|(name, value)| (Cow::Borrowed(name.as_ref()), Some(value.as_str()))));
    }
}

/// Writes the text as it is where the format is `serde_json`'s.
impl Serialize for RawObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};
    use serde_json::{Value, json};

    use super::RawObject;
    use crate::read;

    fn object(text: &str) -> RawObject {
        read(text).unwrap()
    }

    #[test]
    fn text_is_kept_unchanged() {
        for text in [
            "{}",
            r#"{"b":1,"a":2,"b":3}"#,
            r#"{ "n" : 1.10000000000000000000001 , "i":-123456789012345678901234567890,"e":1E999 }"#,
            r#"{"half":"\ud83d","\u0041":"\/","deep":[[[{"":{"":[]}}]]]}"#,
        ] {
            assert_eq!(serde_json::to_string(&object(text)).unwrap(), text);
            assert_eq!(object(text).as_str(), text);
            assert_eq!(
                object(text).iter().map(|(name, _)| name).collect::<String>().is_empty(),
                text == "{}"
            );
        }
        let deep = format!(r#"{{"deep":{}{}}}"#, "[".repeat(5000), "]".repeat(5000));
        assert_eq!(object(&deep).as_str(), deep);
        assert_eq!(object("{\"a\":\r\n1}").as_str(), "{\"a\":  1}", "it is one line");
    }

    #[test]
    fn only_objects_without_reserved_names_are_read() {
        for text in
            ["[1]", "null", "1", r#""{}""#, "true", "{", r#"{"a":{"$serde_json::private::RawValue":"1"}}"#]
        {
            assert!(read::<RawObject>(text).is_err(), "{text}");
        }
        assert_eq!(read::<Option<RawObject>>("null").unwrap(), None);
        let error = read::<RawObject>("[1]").unwrap_err().to_string();
        assert!(error.starts_with("invalid type: array, expected an object"), "{error}");
    }

    #[test]
    fn members_are_found_by_name() {
        let found = object(r#"{"a":1,"b":{"a":2},"a":"3","\u0063":null}"#);
        assert_eq!(found.get("a").unwrap().as_str(), r#""3""#);
        assert_eq!(found.decode_member::<RawObject>("b").unwrap().unwrap().as_str(), r#"{"a":2}"#);
        assert!(found.decode_member::<Value>("a").is_err(), "it is there twice");
        assert!(
            found.decode_member::<i32>("b").is_err() && found.decode_member::<i32>("d").unwrap().is_none()
        );
        assert_eq!(found.decode_member::<Option<i32>>("c").unwrap(), Some(None));
        assert_eq!((found.text("a").as_deref(), found.text("b"), found.text("d")), (Some("3"), None, None));
        assert_eq!(object(r#"{"a":"x","a":"\u0061\ud800"}"#).text("a").unwrap(), "a\u{fffd}");
        assert!(found.contains_key("c") && !found.contains_key("d") && !found.is_empty());
    }

    #[test]
    fn changes_leave_the_other_members_as_they_are() {
        let mut changed = object(r#"{ "a" : 1.0, "b":[ 1 ],"a":2, "c":3 }"#);
        changed.insert("a", json!({ "new": true }));
        assert_eq!(changed.as_str(), r#"{"a":{"new":true},"b":[ 1 ],"c":3}"#);
        assert_eq!(changed.remove("b").unwrap().as_str(), "[ 1 ]");
        assert_eq!(changed.remove("b"), None);
        changed.extend([("d\"\n", json!(1)), ("c", json!(4)), ("d\"\n", json!(5))]);
        assert_eq!(changed.as_str(), r#"{"a":{"new":true},"c":4,"d\"\n":5}"#);
        changed.retain(|name| name == "c");
        assert_eq!(changed.as_str(), r#"{"c":4}"#);
        let kept = changed.as_str().as_ptr();
        changed.retain(|_| true);
        assert_eq!(changed.as_str().as_ptr(), kept, "nothing is written where nothing changes");
        assert_eq!(RawObject::from_iter([("x", json!(1)), ("x", json!(2))]).as_str(), r#"{"x":2}"#);
    }

    #[test]
    fn patch_sets_and_removes_members() {
        let mut merged = object(r#"{"a":1,"b":{"c":2},"a":3}"#);
        merged.merge(&object(r#"{"a":null,"b":{ "d":3.0 },"e":null,"f":1,"f":1e400}"#));
        assert_eq!(merged.as_str(), r#"{"b":{ "d":3.0 },"f":1e400}"#);
        merged.merge(&object(r#"{"b":null,"f":null}"#));
        assert_eq!(merged, RawObject::new());
    }

    #[derive(Debug, PartialEq, Deserialize, Serialize)]
    struct Around {
        a: i32,
        #[serde(flatten, serialize_with = "RawObject::serialize_members")]
        rest: RawObject,
    }

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Object(RawObject),
        Other(i32),
    }

    #[test]
    fn it_is_read_from_what_is_not_text() {
        let text = r#"{"b":[1,{"c":"\n"}],"x":null}"#;
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::from_value::<RawObject>(value.clone()).unwrap().as_str(), text);
        assert_eq!(serde_json::to_value(object(text)).unwrap(), value);
        assert_eq!(object(text).decode::<Value>().unwrap(), value);
        assert_eq!(serde_json::from_value::<RawObject>(json!([])).unwrap(), RawObject::new());
        assert!(serde_json::from_value::<RawObject>(json!([1])).is_err());

        let around: Around = read(r#"{"b":[1,{"c":"\n"}],"a":1,"x":null}"#).unwrap();
        assert_eq!(around.rest.as_str(), text);
        assert_eq!(serde_json::to_string(&around).unwrap(), r#"{"a":1,"b":[1,{"c":"\n"}],"x":null}"#);
        let Either::Object(buffered) = read(text).unwrap() else { panic!("it is an object") };
        assert_eq!(buffered.as_str(), text);
        assert!(matches!(read("5"), Ok(Either::Other(5))));
    }
}
