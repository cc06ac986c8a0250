//! How a failure is told: a sentence on stderr, or a line of JSON.

use std::fmt;

use agentwire_peer::CallError;
use serde_json::{Value, json};

/// A failed call, and what to do about it.
#[derive(Debug)]
pub(crate) struct Explained {
    error: CallError,
    hint: String,
}

impl Explained {
    pub(crate) fn new(error: CallError, hint: String) -> Self {
        Self { error, hint }
    }
}

impl fmt::Display for Explained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.error, self.hint)
    }
}

impl std::error::Error for Explained {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// A failure as an object: what the other side said, where it was the other side.
pub(crate) fn to_json(error: &anyhow::Error) -> Value {
    let refusal = error.chain().find_map(|cause| {
        let call = cause.downcast_ref::<CallError>();
        call.and_then(CallError::refusal)
    });
    match refusal {
        Some(refusal) => json!({ "error": refusal, "message": error.to_string() }),
        None => json!({ "error": { "code": null, "message": format!("{error:#}") } }),
    }
}
