//! For protocol runtimes: finding and reading parts of text that is not decoded as a whole. **Exempt from semver**: the items
//! change in any release. What derived code calls is in [`wire`](crate::wire).

pub use crate::raw::empty_array::as_object;
pub use crate::raw::skipped::read_items;
pub use crate::reader::readable;
pub use crate::text::members::{Member, Members, MembersWithin};
