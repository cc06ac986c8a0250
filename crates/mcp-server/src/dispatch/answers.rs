use std::sync::OnceLock;

use agentwire_jsonrpc::ErrorObject;

use super::{Asked, completions, prompts, resources};
use crate::era::Reply;

/// Answers the requests for one kind of things.
type Answer = fn(Asked<'_>) -> Result<Reply, ErrorObject>;

/// Who answers for the kinds of things that few servers have.
///
/// Each is here from when there is something of its kind, or may be. Nobody else names these functions, so a program whose
/// server has tools alone is built without them.
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

    /// Who answers requests of that method. None where nobody does.
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
