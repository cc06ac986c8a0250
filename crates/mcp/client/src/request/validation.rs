//! Checks structured results against their tools' output schemas, with the feature `validate`.

use agentwire_jsonrpc::RawJson;
use agentwire_peer::CallError;

use crate::connection::Connection;
#[cfg(feature = "validate")]
use crate::output::OutputCheck;
use crate::raw::{RawAnswer, RawCall};

/// The check of one call's result. It is made before the call, by the schema that was listed then.
pub(crate) struct Validation {
    #[cfg(feature = "validate")]
    check: Option<OutputCheck>,
}

impl Validation {
    pub(crate) fn of(connection: &Connection, call: &RawCall) -> Self {
        if !is_on(connection) {
            return Self::none();
        }
        call.tool().map_or_else(Self::none, |tool| Self::of_tool(connection, &tool))
    }

    /// Whether there is anything to check.
    pub(crate) fn is_needed(&self) -> bool {
        #[cfg(feature = "validate")]
        return self.check.is_some();
        #[cfg(not(feature = "validate"))]
        return false;
    }

    /// Returns the answer if its result matches the schema.
    pub(crate) fn apply(self, connection: &Connection, answer: RawAnswer) -> Result<RawAnswer, CallError> {
        // The result of a task that is only started is checked when it is there.
        if answer.task.is_none() {
            self.check(connection, &answer.result)?;
        }
        Ok(answer)
    }
}

#[cfg(feature = "validate")]
impl Validation {
    pub(crate) fn of_tool(connection: &Connection, tool: &str) -> Self {
        Self { check: connection.outputs.as_ref().and_then(|outputs| outputs.check(tool)) }
    }

    fn none() -> Self {
        Self { check: None }
    }

    pub(crate) fn check(&self, connection: &Connection, result: &RawJson) -> Result<(), CallError> {
        let warn = |warning| connection.warn(warning);
        self.check.as_ref().map_or(Ok(()), |check| check.run(result, warn))
    }
}

#[cfg(feature = "validate")]
fn is_on(connection: &Connection) -> bool {
    connection.outputs.is_some()
}

#[cfg(not(feature = "validate"))]
impl Validation {
    pub(crate) fn of_tool(_: &Connection, _: &str) -> Self {
        Self {}
    }

    fn none() -> Self {
        Self {}
    }

    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the feature has a check")]
    pub(crate) fn check(&self, _: &Connection, _: &RawJson) -> Result<(), CallError> {
        Ok(())
    }
}

#[cfg(not(feature = "validate"))]
fn is_on(_: &Connection) -> bool {
    false
}
