//! Converts the arguments of the command line to the types of a tool's input schema.

use std::collections::{BTreeMap, HashSet};

use agentwire_jsonrpc::{RawJson, RawObject, did_you_mean};
use agentwire_mcp_client::schema::Tool;
use serde_json::{Map, Value};

use super::kinds::{Kinds, array};
use crate::arguments::words::{Source, Word, twice};
use crate::failure::Usage;
use crate::output::signature::signature;
use crate::output::text;
use crate::output::text::quoted;

/// The arguments as one object.
///
/// # Errors
///
/// [`Usage`] if a value does not have the schema's type, if the tool has no such argument, or if a required one is missing.
pub(super) fn typed(tool: &Tool, words: &[Word]) -> Result<RawObject, Usage> {
    let root = tool.input_schema.as_map();
    let empty = Map::new();
    let properties = root.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let mut all = RawObject::new();
    // The names since the last object that has them, and whether their words are texts.
    let mut seen = BTreeMap::new();
    for (at, word) in words.iter().enumerate() {
        match word {
            Word::Object(object) => {
                // The object replaces earlier values of these names.
                for (name, _) in object.iter() {
                    seen.remove(&*name);
                }
                all.extend(object.iter());
            }
            Word::Json { name, value } => {
                check_known(tool, properties, name)?;
                if seen.insert(name.clone(), false).is_some() {
                    return Err(twice(name));
                }
                all.insert(name, value.clone());
            }
            Word::Text { name, .. } => {
                check_known(tool, properties, name)?;
                match seen.insert(name.clone(), true) {
                    // All words of a name together: an array can have several.
                    None => {
                        let texts = texts_of(&words[at..], name);
                        all.insert(name, value_of(root, properties.get(name), name, &texts)?);
                    }
                    Some(true) => {}
                    Some(false) => return Err(twice(name)),
                }
            }
        }
    }
    // A set: both lists are the server's, and may be long.
    let required = root.get("required").and_then(Value::as_array).into_iter().flatten();
    let required: HashSet<_> = required.filter_map(Value::as_str).collect();
    let is_missing = |name: &&String| required.contains(name.as_str()) && !all.contains_key(name.as_str());
    match properties.keys().find(is_missing) {
        Some(name) => Err(Usage(format!("argument {} is missing: {}", quoted(name), line(tool)))),
        None => Ok(all),
    }
}

/// The tool's signature on one line, whatever its names have.
fn line(tool: &Tool) -> String {
    text::one_line(&signature(tool))
}

/// The texts of all words with this name, up to an object that has it.
fn texts_of<'a>(words: &'a [Word], name: &str) -> Vec<(&'a str, Source)> {
    let has_name = |word: &&Word| matches!(word, Word::Object(object) if object.contains_key(name));
    let texts = words.iter().take_while(|word| !has_name(word)).filter_map(|word| match word {
        Word::Text { name: other, text, source } if other == name => Some((&**text, *source)),
        _ => None,
    });
    texts.collect()
}

/// Fails for an argument that the schema does not name, unless it allows others.
fn check_known(tool: &Tool, properties: &Map<String, Value>, name: &str) -> Result<(), Usage> {
    let root = tool.input_schema.as_map();
    let allows_others = match root.get("additionalProperties") {
        Some(Value::Bool(allows)) => *allows,
        Some(_) => true,
        // Few schemas forbid other arguments explicitly. One without names, or one in parts, does not list all arguments.
        None => {
            let parts = ["patternProperties", "allOf", "anyOf", "oneOf", "$ref", "if"];
            properties.is_empty() && !is_empty(root) || parts.iter().any(|part| root.contains_key(*part))
        }
    };
    if allows_others || properties.contains_key(name) {
        return Ok(());
    }
    let meant = did_you_mean(name, properties.keys().map(String::as_str));
    Err(Usage(format!("the tool has no argument {}: {}{meant}", quoted(name), line(tool))))
}

/// Whether the tool has no arguments by its schema.
fn is_empty(root: &Map<String, Value>) -> bool {
    root.get("properties").and_then(Value::as_object).is_some_and(Map::is_empty)
}

fn value_of(
    root: &Map<String, Value>,
    schema: Option<&Value>,
    name: &str,
    texts: &[(&str, Source)],
) -> Result<RawJson, Usage> {
    let kinds = Kinds::of(root, schema);
    let explain = |(text, source): &(&str, Source), why: String| {
        let shown = match source {
            Source::CommandLine => quoted(text),
            Source::File => "the text of the file".to_owned(),
        };
        Usage(format!("argument {}: {shown} {why}", quoted(name)))
    };
    match texts {
        [text] => kinds.value(root, text.0).map_err(|why| explain(text, why)),
        texts if kinds.types.contains("array") => {
            let elements = texts
                .iter()
                .enumerate()
                .map(|(place, text)| kinds.element(root, place, text.0).map_err(|why| explain(text, why)));
            array(&elements.collect::<Result<Vec<_>, _>>()?)
        }
        _ => Err(twice(name)),
    }
}

#[cfg(test)]
mod tests {
    use agentwire_mcp_client::schema::JsonSchema;
    use serde_json::json;

    use super::*;

    fn words(words: &[&str]) -> Vec<Word> {
        let words: Vec<_> = words.iter().map(ToString::to_string).collect();
        match crate::arguments::words::Arguments::read(&words) {
            Ok(crate::arguments::words::Arguments::Members(words)) => words,
            _ => panic!("{words:?} are no words"),
        }
    }

    fn of(schema: Value, text: &[&str]) -> Result<String, String> {
        let tool = Tool::new("f", JsonSchema::try_from(schema).unwrap());
        typed(&tool, &words(text)).map(|object| object.as_str().to_owned()).map_err(|Usage(why)| why)
    }

    #[test]
    fn a_value_gets_the_type_of_the_schema() {
        let schema = json!({
            "properties": {
                "n": { "type": "number" }, "i": { "type": "integer" }, "b": { "type": "boolean" }, "s": { "type": "string" },
                "o": { "type": "object" }, "l": { "type": "array", "items": { "type": "integer" } }, "any": {},
                "c": { "enum": ["red", "green", 3, null] }, "m": { "anyOf": [{ "type": "integer" }, { "type": "null" }] },
                "r": { "$ref": "#/$defs/R" }, "u": { "type": ["string", "integer"] },
            },
            "$defs": { "R": { "type": "boolean" } },
        });
        let rows = [
            (vec!["n=2", "s=2"], Ok(r#"{"n":2,"s":"2"}"#)),
            (vec!["n=123456789012345678901234567890.10"], Ok(r#"{"n":123456789012345678901234567890.10}"#)),
            (vec!["i=-7", "b=true", "o={\"x\": 1}"], Ok(r#"{"i":-7,"b":true,"o":{"x": 1}}"#)),
            (vec!["l=1"], Ok(r#"{"l":[1]}"#)),
            (vec!["l=1", "s=x", "l=2"], Ok(r#"{"l":[1,2],"s":"x"}"#)),
            (vec!["l=[1, 2]"], Ok(r#"{"l":[1, 2]}"#)),
            (vec!["any=2", "u=2"], Ok(r#"{"any":"2","u":"2"}"#)),
            (vec!["c=red"], Ok(r#"{"c":"red"}"#)),
            (vec!["c=3", "m=null", "r=false"], Ok(r#"{"c":3,"m":null,"r":false}"#)),
            (vec!["n:=\"x\""], Ok(r#"{"n":"x"}"#)),
            (vec!["n=two"], Err("argument `n`: `two` is not a number")),
            (vec!["n=05"], Err("argument `n`: `05` is not a number")),
            (vec!["i=1.5"], Err("argument `i`: `1.5` is not an integer")),
            (vec!["b=yes"], Err("argument `b`: `yes` is not `true` or `false`")),
            (vec!["m=x"], Err("argument `m`: `x` is neither an integer nor `null`")),
            (vec!["l=1", "l=x"], Err("argument `l`: `x` is not an integer")),
            (
                vec!["c=gren"],
                Err("argument `c`: `gren` is not one of red, green, 3, null; did you mean `green`?"),
            ),
            (vec!["s=1", "s=2"], Err("argument `s` is given twice")),
            (vec!["s:=1", "s:=2"], Err("argument `s` is given twice")),
            (vec!["s:=1", "s=2"], Err("argument `s` is given twice")),
            (vec!["s=1", "s:=2"], Err("argument `s` is given twice")),
            (vec!["l:=[1]", "l=2"], Err("argument `l` is given twice")),
            (vec!["l=1", "l:=[2]", "l=3"], Err("argument `l` is given twice")),
            (vec!["{\"s\":1}", "s=2", "s=3"], Err("argument `s` is given twice")),
            (vec!["s=1", "{\"i\":1}", "s=2"], Err("argument `s` is given twice")),
            (vec!["s=1", "{\"s\":\"2\"}"], Ok(r#"{"s":"2"}"#)),
            (vec!["s:=1", "{\"s\":\"2\"}", "s=3"], Ok(r#"{"s":"3"}"#)),
            (vec!["l=1", "{\"l\":[5]}", "l=2"], Ok(r#"{"l":[2]}"#)),
            (vec!["l=1", "{\"i\":5}", "l=2"], Ok(r#"{"l":[1,2],"i":5}"#)),
        ];
        for (words, expected) in rows {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(of(schema.clone(), &words), expected, "{words:?}");
        }
    }

    #[test]
    fn reference_is_a_pointer_with_escapes_and_percent_encoding() {
        let schema = json!({
            "properties": {
                "slash": { "$ref": "#/$defs/a~1b~0c" }, "space": { "$ref": "#/$defs/a%20b" },
                "deep": { "$ref": "#/$defs/group/inner" }, "place": { "$ref": "#/$defs/tuple/prefixItems/1" },
                "both": { "$ref": "#/%24defs/x~1y%25" }, "wrong": { "$ref": "#/$defs/%zz" },
            },
            "$defs": {
                "a/b~c": { "type": "integer" }, "a b": { "type": "integer" }, "x/y%": { "type": "integer" },
                "group": { "inner": { "type": "integer" } },
                "tuple": { "prefixItems": [{ "type": "string" }, { "type": "integer" }] },
            },
        });
        for name in ["slash", "space", "deep", "place", "both"] {
            let word = format!("{name}=5");
            assert_eq!(of(schema.clone(), &[&word]), Ok(format!("{{\"{name}\":5}}")), "{name}");
        }
        // A reference without a target does not limit the type.
        assert_eq!(of(schema, &["wrong=5"]).as_deref(), Ok(r#"{"wrong":"5"}"#));
    }

    #[test]
    fn element_of_a_tuple_has_the_type_of_its_place() {
        let tuple = json!([{ "type": "integer" }, { "type": "string" }]);
        for schema in [
            json!({ "type": "array", "prefixItems": tuple, "items": { "type": "boolean" } }),
            json!({ "prefixItems": tuple, "items": { "type": "boolean" } }),
            // The form of JSON Schema before 2020-12.
            json!({ "type": "array", "items": tuple, "additionalItems": { "type": "boolean" } }),
        ] {
            let schema = json!({ "properties": { "a": schema } });
            let of = |words: &[&str]| of(schema.clone(), words);
            assert_eq!(of(&["a=5"]).as_deref(), Ok(r#"{"a":[5]}"#), "{schema}");
            assert_eq!(of(&["a=5", "a=5", "a=true"]).as_deref(), Ok(r#"{"a":[5,"5",true]}"#), "{schema}");
            assert_eq!(of(&["a=x"]), Err("argument `a`: `x` is not an integer".into()), "{schema}");
        }
    }

    #[test]
    fn names_are_those_of_the_schema() {
        let schema = json!({ "properties": { "first": { "type": "number" }, "b": { "type": "number" } }, "required": ["first"] });
        let signature = "f(b?: number, first: number)";
        let why = format!("the tool has no argument `frist`: {signature}; did you mean `first`?");
        assert_eq!(of(schema.clone(), &["frist=1"]), Err(why));
        assert_eq!(of(schema.clone(), &["b=1"]), Err(format!("argument `first` is missing: {signature}")));
        assert_eq!(of(schema.clone(), &[]), Err(format!("argument `first` is missing: {signature}")));
        let mut open = schema;
        open["additionalProperties"] = json!(true);
        assert_eq!(of(open, &["first=1", "other=1"]).as_deref(), Ok(r#"{"first":1,"other":"1"}"#));
        assert_eq!(of(json!({ "type": "object" }), &["other=1"]).as_deref(), Ok(r#"{"other":"1"}"#));
        let none = of(json!({ "properties": {} }), &["other=1"]);
        assert_eq!(none, Err("the tool has no argument `other`: f()".into()));
    }

    #[test]
    fn long_lists_of_a_schema_take_no_time() {
        let properties: Map<_, _> = (0..100_000).map(|n| (format!("p{n}"), json!({}))).collect();
        let required: Vec<_> = (0..100_000).map(|n| format!("q{n}")).collect();
        let since = std::time::Instant::now();
        let all = of(json!({ "properties": properties, "required": required }), &["p1=x"]);
        assert_eq!(all.as_deref(), Ok(r#"{"p1":"x"}"#));
        // Comparing each name with each would take more than a minute.
        assert!(since.elapsed().as_secs() < 15, "{:?}", since.elapsed());
    }

    #[test]
    fn reading_a_recursive_schema_ends() {
        let schema = json!({ "properties": { "a": { "$ref": "#/$defs/L" } }, "$defs": { "L": { "anyOf": [
            { "$ref": "#/$defs/L" }, { "$ref": "#/$defs/L" } ] } } });
        assert_eq!(of(schema, &["a=1"]).as_deref(), Ok(r#"{"a":"1"}"#));
    }
}
