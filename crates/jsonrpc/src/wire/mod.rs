//! What the code calls that `agentwire-wire-derive` generates: how members are read and written, once for all protocols.
//!
//! For schema crates and their derive, and exempt from semantic versioning: call it by the derive.
//!
//! Generated code reads an object member by member ([`take`]), each in the way that its attribute names ([`ReadAs`]). It
//! writes members into an object that is open already ([`WriteMembers`]), so that a union's tag, its variant's members and the
//! members around it become one object without a buffer. Unions are read by [`Tagged`].

#[cfg(feature = "schema")]
mod described;
mod lenient;
mod members;
mod patch;
mod tagged;
mod undecoded;

pub use crate::text::Text;
#[cfg(feature = "schema")]
pub use described::describe_tag;
pub use lenient::{
    Items, Lenient, NullAsDefault, OptionalItems, PatchItems, RawObjectOrNull, RawOrNull, ReadAs, Strict,
    ValidItems, lenient,
};
pub use members::{Key, Names, Others, WriteMembers, read_members, required, take, write_members};
pub use patch::Patch;
pub use tagged::{Tagged, ignore_members, read_tagged, require, with_tag};
