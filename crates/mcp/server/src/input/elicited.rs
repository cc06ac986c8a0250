//! `Elicited`: the user's decision on a form or a page, and the trait of these questions.

use agentwire_mcp_schema::{ElicitAction, ElicitRequest, ElicitResult, JsonObject};

/// The user's decision.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(
    clippy::exhaustive_enums,
    reason = "a caller that forgets one of the three should get a compile error"
)]
pub enum Elicited<T> {
    /// Filled in the form, or agreed to go to the page.
    Accept(T),
    /// The user declined.
    Decline,
    /// Turned away without an answer.
    Cancel,
}

impl<T> Elicited<T> {
    /// The values of the form; `None` if the user did anything else.
    pub fn accepted(self) -> Option<T> {
        match self {
            Self::Accept(value) => Some(value),
            Self::Decline | Self::Cancel => None,
        }
    }

    /// Whether the user agreed.
    pub fn is_accepted(&self) -> bool {
        matches!(self, Self::Accept(_))
    }
}

/// A question to a user: a [`Form`](crate::Form) or a [`Page`](crate::Page). The trait is sealed.
pub trait Elicitation: sealed::Sealed + Send + Sync {
    /// The value once the user agreed.
    type Accepted;

    #[doc(hidden)]
    fn request(&self) -> ElicitRequest;

    /// Reads the values, or returns their fault.
    #[doc(hidden)]
    fn read(&self, content: JsonObject) -> Result<Self::Accepted, String>;
}

pub(super) mod sealed {
    #[allow(unnameable_types, reason = "so that nobody else implements what requires it")]
    pub trait Sealed {}
}

pub(crate) fn read<E: Elicitation>(
    elicitation: &E,
    answer: ElicitResult,
) -> Result<Elicited<E::Accepted>, String> {
    match answer.action {
        ElicitAction::Accept => elicitation.read(answer.content.unwrap_or_default()).map(Elicited::Accept),
        ElicitAction::Decline => Ok(Elicited::Decline),
        ElicitAction::Cancel => Ok(Elicited::Cancel),
        other => Err(format!("`{other}` is nothing that a user can do")),
    }
}
