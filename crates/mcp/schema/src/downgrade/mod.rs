//! The trait `Downgrade`, which turns a value into what the revision of the peer knows, and its impls for containers. The table
//! in `rules` generates most other impls.

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

/// Turns a value into what the peer's revision knows.
///
/// A part that a revision does not have is left out or turned into its older form: a link to a resource becomes
/// text, structured content becomes text where there is no other, an icon goes. What a revision requires and
/// an older one did not know is filled in: in 2026-07-28, a result is marked as complete, and as one that may
/// not be kept. Some things can be neither: a page that the user is sent to has no older form, and only
/// the server can name it, as 2025-11-25 requires. [`fits`](Self::fits) finds these.
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
    /// Leaves only what `revision` has, and adds what it requires and can be made up.
    fn downgrade(&mut self, revision: Revision);

    /// Checks that a value that was downgraded to `revision` fits into it. Ask before it is sent.
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
    /// The first thing that the revision does not have or that it misses.
    fn fits(&self, revision: Revision) -> Result<(), Unsupported>;

    /// The first capability that a request asks for by what is in it and that its receiver does not have, such
    /// as `elicitation.url`. Ask before it is downgraded.
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
