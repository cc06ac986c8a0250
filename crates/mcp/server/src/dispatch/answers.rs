//! The functions that answer requests for resources, prompts and completions. A server without them is linked without them.

use std::sync::OnceLock;

use agentwire_jsonrpc::ErrorObject;

use super::pending::PendingRequest;
use super::{completions, prompts, resources};
use crate::request::request_future::Reply;

/// Answers the requests for one kind of item.
type Answer = fn(PendingRequest<'_>) -> Result<Reply, ErrorObject>;

/// The functions that answer requests for resources, prompts and completions.
///
/// Each is set when something of its kind is registered or advertised. Nothing else names these functions, so a program
/// whose server has tools alone is built without them.
#[derive(Default)]
pub(crate) struct Answers {
    resources: OnceLock<Answer>,
    prompts: OnceLock<Answer>,
    completions: OnceLock<Answer>,
}

impl Answers {
    pub(crate) fn for_resources(&self) {
        self.resources.get_or_init(|| resources::answer);
    }

    pub(crate) fn for_prompts(&self) {
        self.prompts.get_or_init(|| prompts::answer);
    }

    pub(crate) fn for_completions(&self) {
        self.completions.get_or_init(|| completions::answer);
    }

    pub(crate) fn for_all(&self) {
        self.for_resources();
        self.for_prompts();
        self.for_completions();
    }

    /// The function that answers requests of that method; `None` if it is not set.
    pub(super) fn of(&self, method: &str) -> Option<Answer> {
        let answer = match method.split_once('/')?.0 {
            "resources" => &self.resources,
            "prompts" => &self.prompts,
            "completion" => &self.completions,
            _ => return None,
        };
        answer.get().copied()
    }
}
