//! The input of the generator of the protocol's JSON Schema: each definition, and the type that implements it.
//!
//! Each version lists its own: [`v1::schema::DEFINITIONS`](crate::v1::schema::DEFINITIONS).
//!
//! The schema of a type may say more than the published one: `"x-open": true` marks a union or a set of strings that keeps
//! an unlisted value instead of refusing it. Only some versions publish that.

use schemars::{Schema, SchemaGenerator};
#[cfg(feature = "v2")]
use serde_json::Value;

/// A definition of the published schema and the type that implements it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Definition {
    /// The published name, which is also the type's name.
    pub name: &'static str,
    /// Adds the definition and its references to the generator, and returns a reference to it.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// Decodes JSON text into the type, and encodes that again.
    ///
    /// # Errors
    ///
    /// When the text is not a value of the type.
    pub round_trip: fn(&str) -> Result<String, serde_json::Error>,
}

/// The additions of drafts to a definition of the published schema.
#[cfg(feature = "unstable")]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Addition {
    /// The published name of the definition.
    pub name: &'static str,
    /// The added members or variants as a schema of their own, not a reference; the generator gets the definitions that it
    /// refers to. The schemas of types refer to the definition as it is without the additions.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// Decodes JSON text into the type with the additions, and encodes that again.
    ///
    /// # Errors
    ///
    /// When the text is not a value of the type.
    pub round_trip: fn(&str) -> Result<String, serde_json::Error>,
}

/// Removes the default of a member, for a member whose default is not published.
pub(crate) fn without_default(schema: &mut Schema) {
    schema.remove("default");
}

/// Adds a keyword to a member of a definition.
#[cfg(feature = "v2")]
pub(crate) fn add_keyword(
    generator: &mut SchemaGenerator,
    name: &str,
    member: &str,
    keyword: &str,
    value: Value,
) {
    let definition = generator.definitions_mut().get_mut(name);
    let member =
        definition.and_then(|definition| definition.get_mut("properties")?.get_mut(member)?.as_object_mut());
    if let Some(member) = member {
        member.insert(keyword.to_owned(), value);
    }
}

/// Lists the definitions of a module by their types.
///
/// `Name where { "member" "keyword" = value }` adds a keyword to a member, for a type that versions share although one of them
/// publishes more about the member. No reader checks such a keyword.
macro_rules! definitions {
    ($(#[$doc:meta])* $table:ident {
        $($name:ident $(where { $($member:literal $keyword:literal = $value:literal,)+ })?,)+
    }) => {
        $(#[$doc])*
        pub const $table: &[$crate::schema::Definition] = &[$($crate::schema::Definition {
            name: stringify!($name),
            schema: |generator| {
                let schema = generator.subschema_for::<$name>();
                $($($crate::schema::add_keyword(generator, stringify!($name), $member, $keyword, $value.into());)+)?
                schema
            },
            round_trip: |text| agentwire_jsonrpc::read::<$name>(text).and_then(|value| serde_json::to_string(&value)),
        },)+];
    };
}
pub(crate) use definitions;

/// Lists the additions of a module: the definition, and the type that has them, or the type without them and a view.
#[cfg(feature = "unstable")]
macro_rules! additions {
    ($(#[$doc:meta])* $table:ident { $($name:ident = $type:ty $(: $added:ty)?,)+ }) => {
        $(#[$doc])*
        pub const $table: &[$crate::schema::Addition] = &[$($crate::schema::Addition {
            name: stringify!($name),
            schema: $crate::schema::additions!(@schema $type $(, $added)?),
            round_trip: $crate::schema::additions!(@round_trip $type $(, $added)?),
        },)+];
    };
    (@schema $type:ty) => { <$type as $crate::common::unstable::Added>::added };
    (@schema $type:ty, $added:ty) => { <$added as $crate::common::unstable::Added>::added };
    (@round_trip $type:ty) => {
        |text| agentwire_jsonrpc::read::<$type>(text).and_then(|value| serde_json::to_string(&value))
    };
    (@round_trip $type:ty, $added:ty) => {
        |text| {
            let mut value: $type = agentwire_jsonrpc::read(text)?;
            <$added>::of(&value.extra).put(&mut value.extra);
            serde_json::to_string(&value)
        }
    };
}
#[cfg(feature = "unstable")]
pub(crate) use additions;
