//! Arguments of a tool that are repeated in HTTP headers, by the mark `x-mcp-header` in its schema. Transports do
//! it; here it is only found out whether they can.
//!
//! See <https://modelcontextprotocol.io/specification/2026-07-28/server/tools#x-mcp-header>.

use std::collections::HashSet;
use std::fmt;

use agentwire_mcp_schema::JsonSchema;
use serde_json::{Map, Value};

const MARK: &str = "x-mcp-header";

/// Keywords whose values are data, in which nothing is a mark.
const DATA: &[&str] = &["const", "default", "enum", "examples"];

/// Keywords whose members are schemas under names of the author's choice.
const NAMED: &[&str] = &["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

/// Looks at all marks in the schema of a tool's arguments.
///
/// # Errors
///
/// What is wrong with the first wrong one, and where it is.
pub(crate) fn check(schema: &JsonSchema) -> Result<(), String> {
    let mut walk = Walk { path: Vec::new(), headers: HashSet::new() };
    walk.schema(schema.as_map(), Place::Root).map_err(|wrong| {
        let path: String = walk.path.iter().flat_map(|step| ["/", step]).collect();
        let place = if path.is_empty() { "the root".to_owned() } else { format!("`{path}`") };
        format!("`{MARK}` at {place} {wrong}")
    })
}

struct Walk<'a> {
    path: Vec<&'a str>,
    /// In lower case.
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
        if self.headers.insert(token.to_ascii_lowercase()) { Ok(()) } else { Err(Wrong::Twice) }
    }
}

enum Wrong {
    Place,
    Name,
    Kind,
    Twice,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Place => "is not on a property that `properties` alone lead to",
            Self::Name => "is no name of a header",
            Self::Kind => "is on what is neither a string nor an integer nor a boolean",
            Self::Twice => "names a header that another property has",
        })
    }
}

/// Whether a text is a token of HTTP, of which names of headers are made.
fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}
