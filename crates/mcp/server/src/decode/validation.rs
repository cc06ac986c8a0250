//! Validates values against a JSON Schema, with the crate `jsonschema`.

use std::sync::OnceLock;

use agentwire_jsonrpc::read;
use agentwire_mcp_schema::JsonSchema;
use serde_json::Value;

use crate::value_limit::is_over;

/// The most faults of one value that are reported. A model repairs a few at a time, and a value can have any number of them.
const MAX_FAULTS: usize = 8;

/// The length in bytes from which only one fault of a value is reported: finding all takes memory for each.
const LONG_VALUE: usize = 64 * 1024;

/// A schema against which values are checked. It is compiled when it is first needed, since most tools of a server are
/// never called. No reference in it is followed out of it, neither to the network nor to a file.
pub(crate) struct Validator {
    schema: JsonSchema,
    compiled: OnceLock<Result<jsonschema::Validator, String>>,
}

/// The fault found by a check.
pub(crate) enum ValidationError {
    /// The value does not match: the faults and their places.
    Value(String),
    /// The schema is invalid.
    Schema(String),
}

impl Validator {
    pub(crate) fn new(schema: &JsonSchema) -> Self {
        Self { schema: schema.clone(), compiled: OnceLock::new() }
    }

    /// Checks JSON against the schema, as a tree of values that takes at most `limit` bytes of memory.
    pub(crate) fn check(&self, json: &str, limit: usize) -> Result<(), ValidationError> {
        if let Some(why) = is_over("the value", json, limit) {
            return Err(ValidationError::Value(why));
        }
        let value: Value = read(json).map_err(|error| ValidationError::Value(error.to_string()))?;
        let compiled = self.compiled.get_or_init(|| self.compile());
        let validator = compiled.as_ref().map_err(|why| ValidationError::Schema(why.clone()))?;
        if validator.is_valid(&value) {
            return Ok(());
        }
        let most = if json.len() > LONG_VALUE { 1 } else { MAX_FAULTS };
        Err(ValidationError::Value(faults(validator, &value, most)))
    }

    fn compile(&self) -> Result<jsonschema::Validator, String> {
        let schema = Value::Object(self.schema.as_map().clone());
        jsonschema::validator_for(&schema).map_err(|fault| fault.masked().to_string())
    }
}

/// Lists each fault after its place. The values are left out: they can be long, and their sender knows them.
#[cold]
fn faults(validator: &jsonschema::Validator, value: &Value, most: usize) -> String {
    let told = |fault: jsonschema::ValidationError<'_>| {
        let path = fault.instance_path().as_str().to_owned();
        let path = if path.is_empty() { "the whole".to_owned() } else { format!("`{path}`") };
        format!("{path}: {}", fault.masked())
    };
    if most == 1 {
        return validator.validate(value).err().map(told).unwrap_or_default();
    }
    let faults: Vec<_> = validator.iter_errors(value).take(most).map(told).collect();
    faults.join("; ")
}
