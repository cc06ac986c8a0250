//! The two eras of the protocol.

use crate::revision::Revision;

/// The era of the protocol that one side speaks. The names are those of the specification.
///
/// See <https://modelcontextprotocol.io/specification/draft/basic/versioning#terminology>.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Era {
    /// Both. A client finds out what its server speaks, and prefers the modern era. A server lets each client choose.
    #[default]
    Auto,
    /// The revisions up to 2025-11-25. A connection is a session that begins with `initialize`.
    Legacy,
    /// The revisions since 2026-07-28. Each request carries its revision and describes its client in `_meta`, without a
    /// session.
    Modern,
}

impl Era {
    /// Whether a revision belongs to the era.
    pub fn includes(self, revision: Revision) -> bool {
        match self {
            Self::Auto => true,
            Self::Legacy => revision.is_legacy(),
            Self::Modern => revision.is_modern(),
        }
    }
}
