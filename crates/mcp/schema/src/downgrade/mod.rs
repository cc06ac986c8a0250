//! The trait `Downgrade`, which reduces a value to the parts that the revision of the peer has, and its impls for containers. The
//! table in `rules` generates most other impls.

#[macro_use]
mod table;

mod older;
mod rules;
mod unsupported;

use std::collections::BTreeMap;

use crate::Revision;

#[cfg(feature = "schema")]
pub(crate) use rules::{MEMBERS, VARIANTS};
pub use table::Range;
#[cfg(feature = "schema")]
pub use table::{Member, Variant};
pub use unsupported::Unsupported;

/// Reduces a value to the parts that the peer's revision has.
///
/// A part that a revision does not have is left out or turned into its older form: a link to a resource becomes text,
/// structured content becomes text if there is no other text, and an icon is removed. A member that a newer revision requires
/// is filled in: in 2026-07-28, a result is marked as complete, and as one that may not be cached. Neither works for some parts:
/// a page that the user is sent to has no older form, and only the server knows the id that 2025-11-25 requires for it.
/// [`fits`](Self::fits) finds these.
///
/// ```
/// use agentwire_mcp_schema::{CallToolResult, ContentBlock, Downgrade, ResultType, Revision};
///
/// let link = ContentBlock::resource_link("file:///notes.txt", "notes");
/// let mut result = CallToolResult::new(vec![link]);
/// result.downgrade(Revision::V2026_07_28);
/// assert_eq!(result.result_type, Some(ResultType::Complete));
///
/// result.downgrade(Revision::V2025_03_26);
/// assert_eq!(result.text(), "notes: file:///notes.txt");
/// assert_eq!(result.result_type, None);
/// ```
pub trait Downgrade {
    /// Leaves only the parts that `revision` has, and adds required members that have a default.
    fn downgrade(&mut self, revision: Revision);

    /// Checks that a value that was downgraded to `revision` fits into it. Call this before the value is sent.
    ///
    /// A type or member that this version of the library does not know is taken to fit.
    ///
    /// ```
    /// use agentwire_mcp_schema::{ElicitRequest, Downgrade, Revision};
    ///
    /// let mut request = ElicitRequest::url("Please sign in", "https://example.com/sign-in");
    /// request.downgrade(Revision::V2025_06_18);
    /// assert!(request.fits(Revision::V2025_06_18).is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// The first part that the revision does not have, or required member that is missing.
    fn fits(&self, revision: Revision) -> Result<(), Unsupported>;

    /// The first capability that the content of a request requires and its receiver does not have, such as `elicitation.url`.
    /// Call this before the request is downgraded.
    ///
    /// The requirement of the method as a whole is its [gate](crate::MethodInfo::gate).
    fn lacks(&self, can: &dyn Fn(&str) -> bool) -> Option<&'static str>;
}

/// Whether a member is not there, or is empty.
fn is_absent<T: Default + PartialEq>(member: &T) -> bool {
    *member == T::default()
}

impl<T: Downgrade> Downgrade for Vec<T> {
    fn downgrade(&mut self, revision: Revision) {
        self.iter_mut().for_each(|item| item.downgrade(revision));
    }

    fn fits(&self, revision: Revision) -> Result<(), Unsupported> {
        self.iter().try_for_each(|item| item.fits(revision))
    }

    fn lacks(&self, can: &dyn Fn(&str) -> bool) -> Option<&'static str> {
        self.iter().find_map(|item| item.lacks(can))
    }
}

impl<T: Downgrade> Downgrade for Option<T> {
    fn downgrade(&mut self, revision: Revision) {
        if let Some(value) = self {
            value.downgrade(revision);
        }
    }

    fn fits(&self, revision: Revision) -> Result<(), Unsupported> {
        self.iter().try_for_each(|value| value.fits(revision))
    }

    fn lacks(&self, can: &dyn Fn(&str) -> bool) -> Option<&'static str> {
        self.as_ref()?.lacks(can)
    }
}

impl<T: Downgrade> Downgrade for BTreeMap<String, T> {
    fn downgrade(&mut self, revision: Revision) {
        self.values_mut().for_each(|value| value.downgrade(revision));
    }

    fn fits(&self, revision: Revision) -> Result<(), Unsupported> {
        self.values().try_for_each(|value| value.fits(revision))
    }

    fn lacks(&self, can: &dyn Fn(&str) -> bool) -> Option<&'static str> {
        self.values().find_map(|value| value.lacks(can))
    }
}

/// A named value, such as a field of a form.
impl<T: Downgrade> Downgrade for (String, T) {
    fn downgrade(&mut self, revision: Revision) {
        self.1.downgrade(revision);
    }

    fn fits(&self, revision: Revision) -> Result<(), Unsupported> {
        self.1.fits(revision)
    }

    fn lacks(&self, can: &dyn Fn(&str) -> bool) -> Option<&'static str> {
        self.1.lacks(can)
    }
}
