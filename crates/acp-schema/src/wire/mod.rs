//! How types are defined, read and written, once for all: nothing in this module is a word of the protocol.

mod builder;
#[cfg(feature = "schema")]
mod described;
pub(crate) mod fields;
pub(crate) mod lenient;
mod object;
pub(crate) mod object_only;
mod open_enum;
mod patch;
#[cfg(feature = "unstable")]
pub(crate) mod raw;
mod string_id;
pub(crate) mod tagged;
mod undecoded;

pub(crate) use builder::{builder, empty_object, marker_capability, setter};
#[cfg(feature = "schema")]
pub(crate) use described::described_by;
pub(crate) use object::object;
pub(crate) use open_enum::open_enum;
pub use patch::Patch;
pub(crate) use string_id::string_id;
pub(crate) use tagged::tagged_union;
