//! For the protocol crates: finds and reads parts of text that is not decoded as a whole. **Exempt from semver**: the items change in
//! any release. The functions that derived code calls are in [`wire`](crate::wire).

pub use crate::raw::empty_array::as_object;
pub use crate::raw::skipped::read_items;
pub use crate::reader::readable;
pub use crate::text::members::{Member, Members, MembersWithin};
