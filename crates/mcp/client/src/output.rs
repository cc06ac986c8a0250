//! Keeps the output schemas of tools, and checks results against them.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use agentwire_jsonrpc::{RawJson, RequestMethod};
use agentwire_mcp_schema::{CallToolRequest, JsonSchema, Tool};
use agentwire_peer::CallError;
use agentwire_sync::Mutex;
use jsonschema::{PatternOptions, Validator};
use serde::Deserialize;
use serde_json::Value;

use crate::Warning;

/// How many schemas are kept. A server that lists more names than that makes the client forget the earlier ones.
const MAX_TOOLS: usize = 10_000;

/// The output schemas of the tools that were listed.
#[derive(Default)]
pub(crate) struct Outputs(Mutex<HashMap<String, Arc<Output>>>);

/// The output schema of one tool.
struct Output {
    schema: JsonSchema,
    /// Compiled on first use; `None` if compiling fails.
    validator: OnceLock<Option<Validator>>,
}

impl Outputs {
    /// Keeps a list's facts about a tool.
    pub(crate) fn learn(&self, tool: &Tool) {
        let mut outputs = self.0.lock();
        match &tool.output_schema {
            None => drop(outputs.remove(&tool.name)),
            // The same schema need not be compiled again.
            Some(schema) if outputs.get(&tool.name).is_some_and(|known| known.schema == *schema) => {}
            Some(schema) => {
                if outputs.len() >= MAX_TOOLS {
                    outputs.clear();
                }
                let output = Output { schema: schema.clone(), validator: OnceLock::new() };
                outputs.insert(tool.name.clone(), Arc::new(output));
            }
        }
    }

    /// The check of a tool's result; `None` if the tool has no known output schema.
    pub(crate) fn check(&self, tool: &str) -> Option<OutputCheck> {
        let output = self.0.lock().get(tool)?.clone();
        Some(OutputCheck { tool: tool.to_owned(), output })
    }
}

/// The check of one result, by the schema that was known when the call was made.
pub(crate) struct OutputCheck {
    tool: String,
    output: Arc<Output>,
}

impl OutputCheck {
    /// Fails if the result does not match the schema. A schema that cannot be used fails nothing, and warns once.
    pub(crate) fn run(&self, result: &RawJson, warn: impl Fn(Warning)) -> Result<(), CallError> {
        match self.output.validator(&self.tool, warn) {
            Some(validator) => {
                matches(result, validator).map_err(|why| CallError::unusable(CallToolRequest::NAME, why))
            }
            None => Ok(()),
        }
    }
}

impl Output {
    /// Returns `None` for a schema that cannot be used, and warns the first time.
    fn validator(&self, tool: &str, warn: impl Fn(Warning)) -> Option<&Validator> {
        let compile = || match compile(&self.schema) {
            Ok(validator) => Some(validator),
            Err(why) => {
                warn(Warning::OutputNotChecked { tool: tool.to_owned(), why });
                None
            }
        };
        self.validator.get_or_init(compile).as_ref()
    }
}

/// Compiles a schema. Nothing is fetched for it, and patterns match in linear time.
fn compile(schema: &JsonSchema) -> Result<Validator, String> {
    let schema = Value::Object(schema.as_map().clone());
    let options = jsonschema::options().offline().with_pattern_options(PatternOptions::regex());
    options.build(&schema).map_err(|error| error.to_string())
}

fn matches(result: &RawJson, validator: &Validator) -> Result<(), String> {
    #[derive(Deserialize)]
    #[serde(expecting = "an object")]
    #[serde(rename_all = "camelCase")]
    struct Structured {
        #[serde(default)]
        is_error: Option<bool>,
        structured_content: Option<Value>,
    }

    let Structured { is_error, structured_content } = result.decode().map_err(|error| error.to_string())?;
    match structured_content {
        _ if is_error == Some(true) => Ok(()),
        None => Err("the tool has an output schema, but its result has nothing structured".to_owned()),
        Some(content) => validator.validate(&content).map_err(|error| {
            // The value itself may be large or secret.
            format!(
                "the result does not match the tool's output schema: at `{}`: {}",
                error.instance_path(),
                error.masked()
            )
        }),
    }
}

impl fmt::Debug for Outputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outputs").finish_non_exhaustive()
    }
}
