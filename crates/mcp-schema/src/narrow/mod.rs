#[macro_use]
mod table;

mod older;
mod rules;

use std::collections::BTreeMap;

use crate::Revision;

#[cfg(feature = "schema")]
pub(crate) use rules::{MEMBERS, VARIANTS};
pub use table::Range;
#[cfg(feature = "schema")]
pub use table::{Member, Variant};

/// Turns a value into what the peer's revision knows.
///
/// What a revision does not have is left out or turned into its older form: a link to a resource becomes
/// text, structured content becomes text where there is no other, an icon goes. What a revision requires and
/// an older one did not know is filled in: in 2026-07-28, a result says that it is complete and that it may
/// not be kept.
///
/// ```
/// use agentwire_mcp_schema::{CallToolResult, ContentBlock, Narrow, ResultType, Revision};
///
/// let link = ContentBlock::resource_link("file:///notes.txt", "notes");
/// let mut result = CallToolResult::new(vec![link]);
/// result.narrow(Revision::V2026_07_28);
/// assert_eq!(result.result_type, Some(ResultType::Complete));
///
/// result.narrow(Revision::V2025_03_26);
/// assert_eq!(result.text(), "notes: file:///notes.txt");
/// assert_eq!(result.result_type, None);
/// ```
pub trait Narrow {
    /// Leaves only what `revision` has, and adds what it requires.
    fn narrow(&mut self, revision: Revision);
}

impl<T: Narrow> Narrow for Vec<T> {
    fn narrow(&mut self, revision: Revision) {
        self.iter_mut().for_each(|item| item.narrow(revision));
    }
}

impl<T: Narrow> Narrow for Option<T> {
    fn narrow(&mut self, revision: Revision) {
        if let Some(value) = self {
            value.narrow(revision);
        }
    }
}

impl<T: Narrow> Narrow for BTreeMap<String, T> {
    fn narrow(&mut self, revision: Revision) {
        self.values_mut().for_each(|value| value.narrow(revision));
    }
}
