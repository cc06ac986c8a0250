//! Finds `x-mcp-header` marks in a tool's input schema, and formats or compares the `Mcp-Param-` headers of `tools/call`.

use std::collections::HashSet;
use std::fmt;

use agentwire_jsonrpc::runtime::Members;
use agentwire_jsonrpc::{Printable, read};
use serde_json::{Map, Value};

use crate::header::{PARAM_PREFIX, decode_value, is_token};

/// Keywords whose values are data, which have no marks.
const DATA: &[&str] = &["const", "default", "enum", "examples"];

/// Keywords whose members are schemas under names of the author's choice.
const NAMED: &[&str] = &["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

/// The largest integer that every reader of JSON reads alike: 2^53 - 1.
const MAX_EXACT_INTEGER: u64 = (1 << 53) - 1;

/// An argument of a tool that is repeated in a header of the HTTP request, by the mark `x-mcp-header` in its schema.
/// Since 2026-07-28.
///
/// See <https://modelcontextprotocol.io/specification/2026-07-28/server/tools#x-mcp-header>.
///
/// ```
/// use agentwire_mcp_wire::HeaderMark;
/// use serde_json::json;
///
/// let schema = json!({ "properties": { "region": { "type": "string", "x-mcp-header": "Region" } } });
/// let marks = HeaderMark::all_in(schema.as_object().unwrap()).unwrap();
/// assert_eq!((marks[0].header(), marks[0].path()), ("Mcp-Param-Region", &["region".to_owned()][..]));
/// // A client writes the header, and a server compares it.
/// let arguments = r#"{"region": "eu"}"#;
/// assert_eq!(marks[0].value(arguments).as_deref(), Some("eu"));
/// assert!(marks[0].check(arguments, Some(b"eu")).is_ok());
/// assert!(marks[0].check(arguments, Some(b"us")).is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderMark {
    header: String,
    path: Vec<String>,
}

/// An invalid mark `x-mcp-header`: the error and the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidHeaderMark {
    /// Where it is in the schema, a JSON pointer.
    place: String,
    error: MarkError,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MarkError {
    Place,
    Name,
    Kind,
    Duplicate,
}

/// A header that does not repeat the argument of its [`HeaderMark`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderMismatch {
    header: String,
    path: String,
    why: &'static str,
}

impl HeaderMark {
    /// The member of a property's schema that is the mark.
    pub const KEYWORD: &str = "x-mcp-header";

    /// The marks in the input schema of a tool.
    ///
    /// # Errors
    ///
    /// The first invalid mark. Over HTTP, clients ignore a tool that has one.
    pub fn all_in(schema: &Map<String, Value>) -> Result<Vec<Self>, InvalidHeaderMark> {
        let mut search = MarkSearch::default();
        match search.schema(schema, Place::Root) {
            Ok(()) => Ok(search.found),
            Err(error) => {
                let place = search.path.iter().flat_map(|step| ["/", step]).collect();
                Err(InvalidHeaderMark { place, error })
            }
        }
    }

    /// The name of the header, such as `Mcp-Param-Region`.
    pub fn header(&self) -> &str {
        &self.header
    }

    /// The path to the argument: the names of nested members, at least one.
    pub fn path(&self) -> &[String] {
        &self.path
    }

    /// The header's value before [encoding](crate::header::encode_value).
    ///
    /// None if the arguments, a JSON object, lack the argument or it is null; for an object or an array; and for an
    /// integer beyond 2^53 - 1, which not every reader reads alike.
    pub fn value(&self, arguments: &str) -> Option<String> {
        match read(self.find(arguments)?).ok()? {
            Value::String(text) => Some(text),
            Value::Bool(value) => Some(value.to_string()),
            Value::Number(number) => {
                let whole = number.as_i64().or_else(|| {
                    let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
                    // Within this range the conversion is exact.
                    (float.abs() <= MAX_EXACT_INTEGER as f64).then_some(float as i64)
                })?;
                (whole.unsigned_abs() <= MAX_EXACT_INTEGER).then(|| whole.to_string())
            }
            _ => None,
        }
    }

    /// Compares the argument with the header's value as received. Both may be absent. Numbers are compared as numbers.
    ///
    /// # Errors
    ///
    /// When they differ, or only one of them is present.
    pub fn check(&self, arguments: &str, header: Option<&[u8]>) -> Result<(), HeaderMismatch> {
        compare(self.find(arguments), header).map_err(|why| HeaderMismatch {
            header: self.header.clone(),
            path: self.path.join("."),
            why,
        })
    }

    /// The text of the argument. None also for null, which counts as absent.
    fn find<'a>(&self, arguments: &'a str) -> Option<&'a str> {
        let member = |text, name: &String| {
            // A value that is not an object has no members. Of repeated members the last one counts, as for any reader of arguments.
            Members::of(text).filter(|(other, _)| other == name).last().map(|(_, value)| value)
        };
        self.path.iter().try_fold(arguments, member).filter(|text| *text != "null")
    }
}

fn compare(argument: Option<&str>, header: Option<&[u8]>) -> Result<(), &'static str> {
    let (argument, header) = match (argument, header) {
        (None, None) => return Ok(()),
        (Some(_), None) => return Err("is missing"),
        (None, Some(_)) => return Err("repeats an argument that is absent"),
        (Some(argument), Some(header)) => (argument, header),
    };
    let header = decode_value(header).ok_or("is not encoded as it must be")?;
    if is_same(&header, argument) { Ok(()) } else { Err("differs from the body") }
}

/// Whether a header repeats an argument, which is given as JSON. An object or an array cannot be repeated.
fn is_same(header: &str, argument: &str) -> bool {
    match argument.as_bytes().first() {
        Some(b'"') => read::<String>(argument).is_ok_and(|argument| argument == header),
        Some(b't' | b'f') => header == argument,
        Some(b'-' | b'0'..=b'9') => {
            let (Ok(header), Ok(argument)) = (read(header), read(argument)) else {
                return false;
            };
            let (header, argument): (f64, f64) = (header, argument);
            header == argument && argument.abs() <= MAX_EXACT_INTEGER as f64
        }
        _ => false,
    }
}

impl fmt::Display for HeaderMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = Printable::display(&self.path);
        write!(f, "the header {} {} (the argument `{path}`)", self.header, self.why)
    }
}

impl std::error::Error for HeaderMismatch {}

impl fmt::Display for InvalidHeaderMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.place {
            "" => write!(f, "`{}` at the root ", HeaderMark::KEYWORD)?,
            place => write!(f, "`{}` at `{}` ", HeaderMark::KEYWORD, Printable::new(place))?,
        }
        f.write_str(match self.error {
            MarkError::Place => "is not on a property that is reached through `properties` alone",
            MarkError::Name => "is not the name of a header",
            MarkError::Kind => "is on a property that is not a string, an integer or a boolean",
            MarkError::Duplicate => "names a header that another property has",
        })
    }
}

impl std::error::Error for InvalidHeaderMark {}

#[derive(Default)]
struct MarkSearch<'a> {
    path: Vec<&'a str>,
    found: Vec<HeaderMark>,
    /// The names of the headers, in lower case.
    headers: HashSet<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Root,
    /// A property of the arguments, or of a property of these.
    Property,
    /// Anywhere else. A mark there is invalid.
    Other,
}

impl<'a> MarkSearch<'a> {
    /// Searches a schema. On an error, the path is that of the invalid mark.
    fn schema(&mut self, schema: &'a Map<String, Value>, place: Place) -> Result<(), MarkError> {
        if let Some(mark) = schema.get(HeaderMark::KEYWORD) {
            self.mark(mark, schema.get("type"), place)?;
        }
        for (keyword, value) in schema {
            if DATA.contains(&keyword.as_str()) || keyword == HeaderMark::KEYWORD {
                continue;
            }
            self.path.push(keyword);
            if NAMED.contains(&keyword.as_str()) {
                let may_hold_marks = keyword == "properties" && place != Place::Other;
                let inner = if may_hold_marks { Place::Property } else { Place::Other };
                for (name, value) in value.as_object().into_iter().flatten() {
                    self.path.push(name);
                    self.value(value, inner)?;
                    self.path.pop();
                }
            } else {
                self.value(value, Place::Other)?;
            }
            self.path.pop();
        }
        Ok(())
    }

    fn value(&mut self, value: &'a Value, place: Place) -> Result<(), MarkError> {
        match value {
            Value::Object(schema) => self.schema(schema, place),
            Value::Array(items) => items.iter().try_for_each(|item| self.value(item, Place::Other)),
            _ => Ok(()),
        }
    }

    fn mark(&mut self, mark: &Value, kind: Option<&Value>, place: Place) -> Result<(), MarkError> {
        if place != Place::Property {
            return Err(MarkError::Place);
        }
        let token = mark.as_str().filter(|text| is_token(text)).ok_or(MarkError::Name)?;
        if !matches!(kind.and_then(Value::as_str), Some("string" | "integer" | "boolean")) {
            return Err(MarkError::Kind);
        }
        if !self.headers.insert(token.to_ascii_lowercase()) {
            return Err(MarkError::Duplicate);
        }
        // Every other step is the keyword `properties`.
        let path = self.path.iter().skip(1).step_by(2).map(|&name| name.to_owned()).collect();
        self.found.push(HeaderMark { header: format!("{PARAM_PREFIX}{token}"), path });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn marks(schema: Value) -> Result<Vec<(String, String)>, String> {
        let marks = HeaderMark::all_in(schema.as_object().unwrap()).map_err(|wrong| wrong.to_string())?;
        Ok(marks.into_iter().map(|mark| (mark.header, mark.path.join("."))).collect())
    }

    #[test]
    fn a_mark_names_the_header_that_repeats_an_argument() {
        let found = marks(json!({ "properties": {
            "a": { "type": "string", "x-mcp-header": "One" },
            "b": { "properties": { "properties": { "type": "integer", "x-mcp-header": "two" } } },
            "c": { "type": "string", "default": { "x-mcp-header": "" } },
        } }));
        let expected = [("Mcp-Param-One", "a"), ("Mcp-Param-two", "b.properties")];
        assert_eq!(found.unwrap(), expected.map(|(header, path)| (header.to_owned(), path.to_owned())));
        assert_eq!(marks(json!({ "type": "object" })), Ok(vec![]));
    }

    #[test]
    fn error_names_the_place_of_the_invalid_mark() {
        let wrong = |schema| marks(json!({ "properties": { "a": schema } })).unwrap_err();
        let number = wrong(json!({ "type": "number", "x-mcp-header": "One" }));
        assert!(number.starts_with("`x-mcp-header` at `/properties/a` is on a property that"), "{number}");
        let deep = wrong(json!({ "items": [{ "type": "string", "x-mcp-header": "One" }] }));
        assert!(deep.starts_with("`x-mcp-header` at `/properties/a/items` is not on a property"), "{deep}");
        let root = marks(json!({ "x-mcp-header": "One" })).unwrap_err();
        assert!(root.starts_with("`x-mcp-header` at the root is not on a property"), "{root}");
    }

    #[test]
    fn a_value_is_the_text_of_a_string_a_whole_number_or_a_boolean() {
        let schema = json!({ "properties": { "a": { "type": "string", "x-mcp-header": "A" } } });
        let mark = HeaderMark::all_in(schema.as_object().unwrap()).unwrap().remove(0);
        for (argument, value) in [
            (r#""e\u0075""#, Some("eu")),
            ("42.0", Some("42")),
            ("-7", Some("-7")),
            ("true", Some("true")),
            ("9007199254740993", None),
            ("1e999", None),
            ("0.5", None),
            ("null", None),
            ("[]", None),
        ] {
            let arguments = format!(r#"{{"a":"first","b":"other","a":{argument}}}"#);
            assert_eq!(mark.value(&arguments).as_deref(), value, "{argument}");
            // A server accepts what a client writes.
            assert!(
                value.is_none_or(|value| mark.check(&arguments, Some(value.as_bytes())).is_ok()),
                "{argument}"
            );
        }
        assert!(mark.check("{}", None).is_ok() && mark.check(r#"{"a":null}"#, None).is_ok());
        let mismatch = mark.check(r#"{"a":"eu"}"#, Some(b"us")).unwrap_err().to_string();
        assert_eq!(mismatch, "the header Mcp-Param-A differs from the body (the argument `a`)");
    }

    #[test]
    fn st_20_numbers_are_compared_as_numbers() {
        for (header, argument) in [("42", "42"), ("42.0", "42"), ("42", "42.0"), ("4.2e1", "42"), ("-0", "0")]
        {
            assert!(is_same(header, argument), "{header} {argument}");
        }
        assert!(is_same("-9007199254740991", "-9007199254740991"));
        for (header, argument) in [
            ("43", "42"),
            ("", "42"),
            ("+42", "42"),
            ("0x2a", "42"),
            ("\"42\"", "42"),
            ("42 0", "42"),
            // Alike as far as an `f64` goes, which is why they are not safe to compare.
            ("9007199254740993", "9007199254740992"),
            ("1e999", "1e999"),
        ] {
            assert!(!is_same(header, argument), "{header} {argument}");
        }
    }

    #[test]
    fn other_values_are_compared_as_text() {
        for (header, argument) in [
            ("eu", r#""eu""#),
            ("e\n", r#""\u0065\n""#),
            ("", r#""""#),
            ("true", "true"),
            ("42.0", r#""42.0""#),
        ] {
            assert!(is_same(header, argument), "{header} {argument}");
        }
        for (header, argument) in [
            ("EU", r#""eu""#),
            ("42", r#""42.0""#),
            ("True", "true"),
            ("false", "true"),
            ("[]", "[]"),
            ("{}", "{}"),
        ] {
            assert!(!is_same(header, argument), "{header} {argument}");
        }
    }
}
