//! Checks of a tool's arguments and results against its schemas.

use agentwire_jsonrpc::{ErrorObject, RawJson};
use agentwire_mcp_schema::{CallToolResult, Tool};

#[cfg(feature = "validate")]
use crate::decode::validation::{ValidationError, Validator};

/// The checks of a registered tool.
#[derive(Default)]
pub(crate) struct Checks {
    name: String,
    /// Whether the output schema requires structured content.
    is_structured: bool,
    #[cfg(feature = "validate")]
    input: Option<Validator>,
    #[cfg(feature = "validate")]
    output: Option<Validator>,
}

impl Checks {
    pub(crate) fn new(tool: &Tool) -> Self {
        Self {
            name: tool.name.clone(),
            is_structured: tool.output_schema.is_some(),
            #[cfg(feature = "validate")]
            input: Some(Validator::new(&tool.input_schema)),
            #[cfg(feature = "validate")]
            output: tool.output_schema.as_ref().map(Validator::new),
        }
    }

    /// Checks arguments, an object.
    ///
    /// # Errors
    ///
    /// The fault of the arguments; or within, that nothing can be checked against the schema.
    #[cfg(feature = "validate")]
    pub(crate) fn input(&self, arguments: &str, limit: usize) -> Result<Result<(), ErrorObject>, String> {
        let Some(input) = &self.input else { return Ok(Ok(())) };
        match input.check(arguments, limit) {
            Ok(()) => Ok(Ok(())),
            Err(ValidationError::Value(why)) => Err(why),
            Err(ValidationError::Schema(why)) => Ok(Err(self.fault("input schema", &why))),
        }
    }

    /// Checks a result, and its structured content if `validate` is set. An error may have any shape.
    ///
    /// # Errors
    ///
    /// Fails with an internal error if the result contradicts the output schema. The client cannot correct that.
    pub(crate) fn output(&self, result: &CallToolResult, validate: bool) -> Result<(), ErrorObject> {
        if !self.is_structured || result.is_error {
            return Ok(());
        }
        match &result.structured_content {
            Some(structured) if validate => self.structured(structured),
            Some(_) => Ok(()),
            None => Err(self.fault("result", "there is an output schema, but no structured content")),
        }
    }

    #[cfg(feature = "validate")]
    fn structured(&self, content: &RawJson) -> Result<(), ErrorObject> {
        let Some(output) = &self.output else { return Ok(()) };
        // The content is the server's own.
        output.check(content.as_str(), usize::MAX).map_err(|wrong| match wrong {
            ValidationError::Value(why) => self.fault("result", &why),
            ValidationError::Schema(why) => self.fault("output schema", &why),
        })
    }

    #[cfg(not(feature = "validate"))]
    fn structured(&self, _content: &RawJson) -> Result<(), ErrorObject> {
        Ok(())
    }

    #[cold]
    fn fault(&self, of: &str, why: &str) -> ErrorObject {
        ErrorObject::internal_error(format_args!("the {of} of the tool `{}`: {why}", self.name))
    }
}
