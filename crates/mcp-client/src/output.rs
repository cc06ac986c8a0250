//! Results of tools that say what these look like.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use agentwire_jsonrpc::{Method, RawJson};
use agentwire_mcp_schema::{CallToolRequest, JsonSchema, Tool};
use agentwire_peer::CallError;
use agentwire_sync::Mutex;
use bytestring::ByteString;
use jsonschema::{PatternOptions, Validator};
use serde::Deserialize;
use serde_json::Value;

use crate::call::Check;
use crate::{Server, Warning};

/// How many tools are known at once: whoever lists more names than that without end fills no memory.
const MOST_TOOLS: usize = 10_000;

/// The output schemas of the tools that were listed.
#[derive(Default)]
pub(crate) struct Outputs(Mutex<HashMap<String, Arc<Output>>>);

/// What the results of one tool look like.
struct Output {
    schema: JsonSchema,
    /// Made when it is first needed.
    validator: OnceLock<Option<Validator>>,
}

impl Outputs {
    /// Takes what a list says of a tool.
    pub(crate) fn learn(&self, tool: &Tool) {
        let mut outputs = self.0.lock();
        match &tool.output_schema {
            None => drop(outputs.remove(&tool.name)),
            // What is compiled already need not be compiled again.
            Some(schema) if outputs.get(&tool.name).is_some_and(|known| known.schema == *schema) => {}
            Some(schema) => {
                if outputs.len() >= MOST_TOOLS {
                    outputs.clear();
                }
                let output = Output { schema: schema.clone(), validator: OnceLock::new() };
                outputs.insert(tool.name.clone(), Arc::new(output));
            }
        }
    }

    /// What checks the results of a request; none where there is nothing to check.
    pub(crate) fn check<M: Method>(&self, server: &Server, request: &M) -> Option<Check> {
        #[derive(Deserialize)]
        struct Call {
            name: String,
        }

        if M::NAME != CallToolRequest::NAME {
            return None;
        }
        let Call { name } = RawJson::encode(request).ok()?.decode().ok()?;
        let output = self.0.lock().get(&name)?.clone();
        let server = server.clone();
        Some(Box::new(move |result| match output.validator(&name, &server) {
            Some(validator) => fits(result, validator)
                .map_err(|why| CallError::unusable(ByteString::from_static(M::NAME), why)),
            None => Ok(()),
        }))
    }
}

impl Output {
    /// None if it cannot be checked, which is told once.
    fn validator(&self, tool: &str, server: &Server) -> Option<&Validator> {
        let compile = || match compile(&self.schema) {
            Ok(validator) => Some(validator),
            Err(why) => {
                server.warn(Warning::OutputNotChecked { tool: tool.to_owned(), why });
                None
            }
        };
        self.validator.get_or_init(compile).as_ref()
    }
}

/// Nothing is fetched for a schema, and no pattern takes longer than its text is long.
fn compile(schema: &JsonSchema) -> Result<Validator, String> {
    let schema = Value::Object(schema.as_map().clone());
    let options = jsonschema::options().offline().with_pattern_options(PatternOptions::regex());
    options.build(&schema).map_err(|error| error.to_string())
}

fn fits(result: &RawJson, validator: &Validator) -> Result<(), String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Structured {
        #[serde(default)]
        is_error: Option<bool>,
        structured_content: Option<Value>,
    }

    let Structured { is_error, structured_content } = result.decode().map_err(|error| error.to_string())?;
    match structured_content {
        _ if is_error == Some(true) => Ok(()),
        None => Err("the tool has an output schema, and its result nothing structured".to_owned()),
        Some(content) => validator.validate(&content).map_err(|error| {
            // The value itself may be large, and somebody's secret.
            format!(
                "the result is not as the tool's output schema says: at `{}`: {}",
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
