use std::collections::HashSet;
use std::fmt;

use serde_json::{Map, Value};

use crate::Tool;

const MARK: &str = "x-mcp-header";

/// What the name of such a header begins with.
const PREFIX: &str = "Mcp-Param-";

/// Keywords whose values are data, in which nothing is a mark.
const DATA: &[&str] = &["const", "default", "enum", "examples"];

/// Keywords whose members are schemas under names of the author's choice.
const NAMED: &[&str] = &["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

/// An argument of a tool that is repeated in a header of the HTTP request, by the mark `x-mcp-header` in its schema.
/// Since 2026-07-28.
///
/// See <https://modelcontextprotocol.io/specification/2026-07-28/server/tools#x-mcp-header>.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderMark {
    header: String,
    path: Vec<String>,
}

impl HeaderMark {
    /// The name of the header, such as `Mcp-Param-Region`.
    pub fn header(&self) -> &str {
        &self.header
    }

    /// The names that lead to the argument, each a member of the one before; at least one.
    pub fn path(&self) -> &[String] {
        &self.path
    }
}

/// A mark `x-mcp-header` that is not as it must be: what is wrong with it, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidHeaderMark {
    /// Where it is in the schema, a JSON pointer.
    place: String,
    wrong: Wrong,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    Place,
    Name,
    Kind,
    Twice,
}

impl fmt::Display for InvalidHeaderMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.place {
            "" => write!(f, "`{MARK}` at the root ")?,
            place => write!(f, "`{MARK}` at `{place}` ")?,
        }
        f.write_str(match self.wrong {
            Wrong::Place => "is not on a property that `properties` alone lead to",
            Wrong::Name => "is no name of a header",
            Wrong::Kind => "is on what is neither a string nor an integer nor a boolean",
            Wrong::Twice => "names a header that another property has",
        })
    }
}

impl std::error::Error for InvalidHeaderMark {}

impl Tool {
    /// The arguments that are repeated in headers where the tool is called over HTTP.
    ///
    /// ```
    /// use agentwire_mcp_schema::{JsonSchema, Tool};
    /// use serde_json::json;
    ///
    /// let schema = json!({
    ///     "type": "object",
    ///     "properties": { "region": { "type": "string", "x-mcp-header": "Region" }, "query": { "type": "string" } },
    /// });
    /// let tool = Tool::new("execute_sql", JsonSchema::try_from(schema).unwrap());
    /// let marks = tool.header_marks().unwrap();
    /// assert_eq!((marks[0].header(), marks[0].path()), ("Mcp-Param-Region", &["region".to_owned()][..]));
    /// ```
    ///
    /// # Errors
    ///
    /// The first mark that is wrong. Over HTTP clients leave a tool out that has one.
    pub fn header_marks(&self) -> Result<Vec<HeaderMark>, InvalidHeaderMark> {
        // Most schemas have none, and are looked at as the text that they are.
        if !self.input_schema.may_have(MARK) {
            return Ok(Vec::new());
        }
        let mut walk = Walk::default();
        match walk.schema(self.input_schema.as_map(), Place::Root) {
            Ok(()) => Ok(walk.found),
            Err(wrong) => {
                let place = walk.path.iter().flat_map(|step| ["/", step]).collect();
                Err(InvalidHeaderMark { place, wrong })
            }
        }
    }
}

#[derive(Default)]
struct Walk<'a> {
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
    Elsewhere,
}

impl<'a> Walk<'a> {
    /// Leaves the path at what is wrong.
    fn schema(&mut self, schema: &'a Map<String, Value>, place: Place) -> Result<(), Wrong> {
        if let Some(mark) = schema.get(MARK) {
            self.mark(mark, schema.get("type"), place)?;
        }
        for (keyword, value) in schema {
            if DATA.contains(&keyword.as_str()) || keyword == MARK {
                continue;
            }
            self.path.push(keyword);
            if NAMED.contains(&keyword.as_str()) {
                let leads_on = keyword == "properties" && place != Place::Elsewhere;
                let inner = if leads_on { Place::Property } else { Place::Elsewhere };
                for (name, value) in value.as_object().into_iter().flatten() {
                    self.path.push(name);
                    self.value(value, inner)?;
                    self.path.pop();
                }
            } else {
                self.value(value, Place::Elsewhere)?;
            }
            self.path.pop();
        }
        Ok(())
    }

    fn value(&mut self, value: &'a Value, place: Place) -> Result<(), Wrong> {
        match value {
            Value::Object(schema) => self.schema(schema, place),
            Value::Array(items) => items.iter().try_for_each(|item| self.value(item, Place::Elsewhere)),
            _ => Ok(()),
        }
    }

    fn mark(&mut self, mark: &Value, kind: Option<&Value>, place: Place) -> Result<(), Wrong> {
        if place != Place::Property {
            return Err(Wrong::Place);
        }
        let token = mark.as_str().filter(|text| is_token(text)).ok_or(Wrong::Name)?;
        if !matches!(kind.and_then(Value::as_str), Some("string" | "integer" | "boolean")) {
            return Err(Wrong::Kind);
        }
        if !self.headers.insert(token.to_ascii_lowercase()) {
            return Err(Wrong::Twice);
        }
        // Every other step is the keyword `properties`.
        let path = self.path.iter().skip(1).step_by(2).map(|&name| name.to_owned()).collect();
        self.found.push(HeaderMark { header: format!("{PREFIX}{token}"), path });
        Ok(())
    }
}

/// Whether a text is a token of HTTP, of which names of headers are made.
fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::JsonSchema;

    fn marks(schema: Value) -> Result<Vec<(String, String)>, String> {
        let tool = Tool::new("t", JsonSchema::try_from(schema).unwrap());
        let marks = tool.header_marks().map_err(|wrong| wrong.to_string())?;
        Ok(marks.into_iter().map(|mark| (mark.header, mark.path.join("."))).collect())
    }

    #[test]
    fn a_mark_says_which_header_repeats_which_argument() {
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
    fn what_is_wrong_is_said_with_its_place() {
        let wrong = |schema| marks(json!({ "properties": { "a": schema } })).unwrap_err();
        let number = wrong(json!({ "type": "number", "x-mcp-header": "One" }));
        assert!(number.starts_with("`x-mcp-header` at `/properties/a` is on what is neither"), "{number}");
        let deep = wrong(json!({ "items": [{ "type": "string", "x-mcp-header": "One" }] }));
        assert!(deep.starts_with("`x-mcp-header` at `/properties/a/items` is not on a property"), "{deep}");
        let root = marks(json!({ "x-mcp-header": "One" })).unwrap_err();
        assert!(root.starts_with("`x-mcp-header` at the root is not on a property"), "{root}");
    }
}
