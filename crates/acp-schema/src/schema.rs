//! What the generator of the protocol's JSON Schema needs: each definition, and the type that speaks it.
//!
//! Each version lists its own: [`v1::schema::DEFINITIONS`](crate::v1::schema::DEFINITIONS).
//!
//! The schema of a type says more than the published one may: `"x-open": true` marks a union or a set of words of which
//! a member that is not listed is kept instead of refused, which only some versions publish.

use schemars::{Schema, SchemaGenerator};

/// A definition of the published schema and the type that speaks it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Definition {
    /// The published name, which is the type's too.
    pub name: &'static str,
    /// Adds the definition, and those that it refers to, to what the generator has; gives a reference to it.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// Decodes JSON text into the type, and encodes that again.
    ///
    /// # Errors
    ///
    /// When the text is not one of the type.
    pub round_trip: fn(&str) -> Result<String, serde_json::Error>,
}

/// Lists the definitions of a module by their types.
macro_rules! definitions {
    ($(#[$doc:meta])* $table:ident { $($name:ident,)+ }) => {
        $(#[$doc])*
        pub const $table: &[$crate::schema::Definition] = &[$($crate::schema::Definition {
            name: stringify!($name),
            schema: |generator| generator.subschema_for::<$name>(),
            round_trip: |text| serde_json::from_str::<$name>(text).and_then(|value| serde_json::to_string(&value)),
        },)+];
    };
}
pub(crate) use definitions;
