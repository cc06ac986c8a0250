//! How a check ends.

use serde::Serialize;

/// The outcome of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Verdict {
    /// The subject does what the requirement demands.
    Pass,
    /// It does not.
    Fail(Failure),
    /// The requirement does not apply to what the subject offers.
    NotApplicable {
        /// Why.
        why: String,
        /// The role that the profile lacks, if it would let the requirement apply.
        #[serde(skip_serializing_if = "Option::is_none")]
        role: Option<String>,
    },
    /// The check could not find out.
    Inconclusive {
        /// Why.
        why: String,
    },
}

/// The expected behaviour and the observed one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Failure {
    /// The expected behaviour.
    pub expected: String,
    /// The observed behaviour.
    pub seen: String,
}

impl Verdict {
    /// The same with other texts.
    pub(crate) fn map_texts(self, map: impl Fn(String) -> String) -> Self {
        match self {
            Self::Pass => Self::Pass,
            Self::Fail(Failure { expected, seen }) => {
                Self::Fail(Failure { expected: map(expected), seen: map(seen) })
            }
            Self::NotApplicable { why, role } => Self::NotApplicable { why: map(why), role },
            Self::Inconclusive { why } => Self::Inconclusive { why: map(why) },
        }
    }
}

/// Why a check ends before its last line.
#[derive(Debug, Clone)]
pub(crate) enum Stop {
    Failed(Failure),
    /// The program ended before it had sent a message: the same if it does so in this check alone.
    Ended(Failure),
    NotApplicable(Absence),
    Inconclusive(String),
}

/// The feature that the subject does not offer.
#[derive(Debug, Clone)]
pub(crate) struct Absence {
    pub(crate) why: String,
    /// The role that the profile lacks, if it is that.
    role: Option<String>,
}

/// The return type of a check: `Ok` if the subject passes.
pub(crate) type Outcome<T = ()> = Result<T, Stop>;

impl Stop {
    /// The requirement is broken.
    pub(crate) fn failed(expected: impl Into<String>, seen: impl Into<String>) -> Self {
        Self::Failed(Failure { expected: expected.into(), seen: seen.into() })
    }

    /// The subject does not offer what the requirement is about.
    pub(crate) fn not_applicable(why: impl Into<String>) -> Self {
        Self::NotApplicable(Absence { why: why.into(), role: None })
    }

    /// The profile names nothing that plays a role.
    pub(crate) fn missing_role(role: &str) -> Self {
        let why = format!("the profile has no `{role}`");
        Self::NotApplicable(Absence { why, role: Some(role.to_owned()) })
    }

    /// Nothing can be said, because something else went wrong.
    pub(crate) fn inconclusive(why: impl Into<String>) -> Self {
        Self::Inconclusive(why.into())
    }

    /// Appends a remark to the reason.
    pub(crate) fn remark(&mut self, remark: &str) {
        let said = match self {
            Self::Failed(Failure { seen, .. }) | Self::Ended(Failure { seen, .. }) => seen,
            Self::NotApplicable(Absence { why, .. }) | Self::Inconclusive(why) => why,
        };
        said.push_str(remark);
    }

    /// Makes a failure inconclusive: it happened while the check still prepared its conversation.
    pub(crate) fn while_preparing(self) -> Self {
        match self {
            Self::Failed(Failure { expected, seen }) | Self::Ended(Failure { expected, seen }) => {
                Self::Inconclusive(format!(
                    "the conversation could not be prepared: expected {expected}; {seen}"
                ))
            }
            other => other,
        }
    }

    /// An end before the first message as the failure that it is.
    pub(crate) fn into_failure(self) -> Self {
        match self {
            Self::Ended(failure) => Self::Failed(failure),
            other => other,
        }
    }

    /// Turns a failure into that of a program that ends before its first message.
    pub(crate) fn at_start(self) -> Self {
        match self {
            Self::Failed(failure) => Self::Ended(failure),
            other => other,
        }
    }
}

impl From<Outcome> for Verdict {
    fn from(outcome: Outcome) -> Self {
        match outcome
            .map_err(|stop| if matches!(stop, Stop::Ended(_)) { stop.while_preparing() } else { stop })
        {
            Ok(()) => Self::Pass,
            Err(Stop::Failed(failure) | Stop::Ended(failure)) => Self::Fail(failure),
            Err(Stop::NotApplicable(Absence { why, role })) => Self::NotApplicable { why, role },
            Err(Stop::Inconclusive(why)) => Self::Inconclusive { why },
        }
    }
}

/// Ends a check with a failure unless a condition holds: `ensure!(condition, "what was expected", "what was seen: {x}")`.
macro_rules! ensure {
    ($condition:expr, $expected:expr, $($seen:tt)+) => {
        let holds: bool = $condition;
        if !holds {
            return Err($crate::verdict::Stop::failed($expected, format!($($seen)+)));
        }
    };
}
pub(crate) use ensure;
