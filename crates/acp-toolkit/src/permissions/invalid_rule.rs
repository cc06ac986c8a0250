/// A rule that could never cover a call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{rule:?} is no rule: {why}")]
pub struct InvalidRule {
    pub(super) rule: String,
    pub(super) why: &'static str,
}
