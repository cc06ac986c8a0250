//! The error of `Downgrade::fits`: the type that a revision lacks, or the required member that is not set.

use std::fmt;

use crate::Revision;

/// Why a value does not fit into a revision, even downgraded. See [`Downgrade::fits`](crate::Downgrade::fits).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unsupported {
    /// The revision does not have a part, and no older form of it has the same meaning.
    #[non_exhaustive]
    Unknown {
        /// The missing part: the name of a type, or a few words where no type is for it.
        what: &'static str,
        /// The revision.
        revision: Revision,
    },
    /// The revision requires a member that is missing, and only the creator of the value knows it.
    #[non_exhaustive]
    Missing {
        /// The name of the type.
        owner: &'static str,
        /// The name of the type's field.
        member: &'static str,
        /// The revision.
        revision: Revision,
    },
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { what, revision } => {
                write!(f, "revision {revision} does not have `{what}`, nor an older form of it")
            }
            Self::Missing { owner, member, revision } => {
                write!(f, "revision {revision} requires `{member}` of `{owner}`, which is not set")
            }
        }
    }
}

impl std::error::Error for Unsupported {}
