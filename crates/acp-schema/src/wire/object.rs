/// Defines an object of the protocol: its struct, how it is read and written, its `new` and setters, and its schema.
///
/// A word before each member says what the published schema says of it:
///
/// | word | type | when the member is missing | when it is malformed |
/// |---|---|---|---|
/// | `required` | `T` | error | error |
/// | `required_items` | `Vec<T>` | error | a bad item is dropped, anything else is empty |
/// | `required_valid_items` | `Vec<T>` | error | a bad item is dropped, anything else is an error |
/// | `required_list` | `Vec<T>` | error | `null` is empty, anything else an error |
/// | `optional` | `Option<T>` | none | error |
/// | `number` | `Option<T>` | none | error; the setter takes a `T`, so that a literal needs no suffix |
/// | `optional_list` | `Option<Vec<T>>` | none | error |
/// | `lenient` | `Option<T>` | none | none |
/// | `lenient_number` | `Option<T>` | none | none; with the setter of `number` |
/// | `lenient_list` | `Option<Vec<T>>` | none | none |
/// | `raw` | `Option<RawJson>` | none | never: it is kept as text, and null is something |
/// | `raw_object` | `Option<RawJson>` | none | error, if it is no object; `null` is none |
/// | `default` | `T` | the default, which is always written | the same |
/// | `or_default` | `T` | the default, which is always written | error |
/// | `list` | a collection | empty, and not written | `null` is empty, anything else an error |
/// | `items` | `Vec<T>` | empty, and not written | a bad item is dropped, anything else is empty |
/// | `optional_items` | `Option<Vec<T>>` | none | a bad item is dropped, anything else is none |
/// | `patch` | [`Patch<T>`](crate::wire::Patch) | kept | kept; `null` clears |
/// | `strict_patch` | `Patch<T>` | kept | error; `null` clears |
/// | `patch_items` | `Patch<Vec<T>>` | kept | a bad item is dropped, anything else is kept; `null` clears |
/// | `union` | a union | error | error: its members are the object's own, and nothing else reads them |
///
/// `new` takes what is required, in this order, except a `required_list`, which begins empty. A wire name that is not the
/// member's in camel case follows as `= "name"`. At the end, `meta,` stands for the member `_meta`, and `extra,` keeps
/// members that nobody here knows. `Name without new { … }` leaves `new` to be written by hand.
macro_rules! object {
    ($(#[$doc:meta])* $name:ident { $($members:tt)* }) => {
        $crate::wire::object! { @next { [$(#[$doc])*] $name new [] [] [] [[] [] []] } $($members)* }
    };
    ($(#[$doc:meta])* $name:ident without new { $($members:tt)* }) => {
        $crate::wire::object! { @next { [$(#[$doc])*] $name old [] [] [] [[] [] []] } $($members)* }
    };

    // One rule for each word: the type, serde's attributes, the schema's keywords, the setter.
    (@next $so_far:tt $(#[$doc:meta])* required $member:ident: $type:ty $(= $wire:literal)?, $($rest:tt)*) => {
        $crate::wire::object! {
            @add $so_far [$(#[$doc])*] $member $type; [$(rename = $wire,)?] [] [$member: $type,] [] $($rest)*
        }
    };
    (@next $so_far:tt $(#[$doc:meta])* required_items $member:ident: Vec<$type:ty> $(= $wire:literal)?, $($rest:tt)*) => {
        $crate::wire::object! {
            @add $so_far [$(#[$doc])*] $member Vec<$type>;
            [$(rename = $wire,)? deserialize_with = "crate::wire::lenient::items"]
            [extend("x-deserialize-default-on-error" = true, "x-deserialize-skip-invalid-items" = true)]
            [$member: Vec<$type>,] []
            $($rest)*
        }
    };
    (@next $so_far:tt $(#[$doc:meta])* required_valid_items $member:ident: Vec<$type:ty> $(= $wire:literal)?, $($rest:tt)*) => {
        $crate::wire::object! {
            @add $so_far [$(#[$doc])*] $member Vec<$type>;
            [$(rename = $wire,)? deserialize_with = "crate::wire::lenient::valid_items"]
            [extend("x-deserialize-skip-invalid-items" = true)]
            [$member: Vec<$type>,] []
            $($rest)*
        }
    };
    (@next $so_far:tt $(#[$doc:meta])* required_list $member:ident: Vec<$type:ty> $(= $wire:literal)?, $($rest:tt)*) => {
        $crate::wire::object! {
            @add $so_far [$(#[$doc])*] $member Vec<$type>;
            [$(rename = $wire,)? deserialize_with = "crate::wire::lenient::null_as_empty"]
            [extend("x-deserialize-default-on-null" = true)]
            [] [list $member: $type,]
            $($rest)*
        }
    };
    (@next $so_far:tt $(#[$doc:meta])* optional $member:ident: Option<$type:ty> $(= $wire:literal)?, $($rest:tt)*) => {
        $crate::wire::object! {
            @add $so_far [$(#[$doc])*] $member Option<$type>;
            [$(rename = $wire,)? default, skip_serializing_if = "Option::is_none"]
            [] [] [option $member: $type,]
            $($rest)*
        }
    };
    (@next $so_far:tt $(#[$doc:meta])* number $member:ident: Option<$type:ty> $(= $wire:literal)?, $($rest:tt)*) => {
        $crate::wire::object! {
            @add $so_far [$(#[$doc])*] $member Option<$type>;
            [$(rename = $wire,)? default, skip_serializing_if = "Option::is_none"]
            [] [] [number $member: $type,]
            $($rest)*
        }
    };
    (@next $so_far:tt $(#[$doc:meta])* optional_list $member:ident: Option<Vec<$type:ty>> $(= $wire:literal)?, $($rest:tt)*) => {
        $crate::wire::object! {
            @add $so_far [$(#[$doc])*] $member Option<Vec<$type>>;
            [$(rename = $wire,)? default, skip_serializing_if = "Option::is_none"]
            [] [] [option_list $member: $type,]
            $($rest)*
        }
    };
    (@next $so_far:tt $(#[$doc:meta])* lenient $member:ident: Option<$type:ty> $(= $wire:literal)?, $($rest:tt)*) => {
        $crate::wire::object! { @lenient $so_far [$(#[$doc])*] $member $type; [option] [$($wire)?] $($rest)* }
    };
    (@next $so_far:tt $(#[$doc:meta])* lenient_number $member:ident: Option<$type:ty> $(= $wire:literal)?, $($rest:tt)*) => {
        $crate::wire::object! { @lenient $so_far [$(#[$doc])*] $member $type; [number] [$($wire)?] $($rest)* }
    };
    (@next $so_far:tt $(#[$doc:meta])* lenient_list $member:ident: Option<Vec<$type:ty>> $(= $wire:literal)?, $($rest:tt)*) => {
        $crate::wire::object! {
            @add $so_far [$(#[$doc])*] $member Option<Vec<$type>>;
            [$(rename = $wire,)? default, deserialize_with = "crate::wire::lenient::lenient",
                skip_serializing_if = "Option::is_none"]
            [extend("x-deserialize-default-on-error" = true)]
            [] [option_list $member: $type,]
            $($rest)*
        }
    };
    (@next $so_far:tt $(#[$doc:meta])* raw $member:ident: Option<$type:ty> $(= $wire:literal)?, $($rest:tt)*) => {
        $crate::wire::object! {
            @add $so_far [$(#[$doc])*] $member Option<$type>;
            [$(rename = $wire,)? default, deserialize_with = "crate::wire::raw::raw",
                skip_serializing_if = "Option::is_none"]
            [] [] [option $member: $type,]
            $($rest)*
        }
    };
    (@next $so_far:tt $(#[$doc:meta])* raw_object $member:ident: Option<$type:ty> $(= $wire:literal)?, $($rest:tt)*) => {
        $crate::wire::object! {
            @add $so_far [$(#[$doc])*] $member Option<$type>;
            [$(rename = $wire,)? default, deserialize_with = "crate::wire::raw::raw_object",
                skip_serializing_if = "Option::is_none"]
            [with = "Option<crate::common::Meta>"] [] [option $member: $type,]
            $($rest)*
        }
    };
    (@next $so_far:tt $(#[$doc:meta])* default $member:ident: $type:ty $(= $wire:literal)?, $($rest:tt)*) => {
        $crate::wire::object! {
            @add $so_far [$(#[$doc])*] $member $type;
            [$(rename = $wire,)? default, deserialize_with = "crate::wire::lenient::lenient"]
            [extend("x-deserialize-default-on-error" = true)]
            [] [plain $member: $type,]
            $($rest)*
        }
    };
    (@next $so_far:tt $(#[$doc:meta])* or_default $member:ident: $type:ty $(= $wire:literal)?, $($rest:tt)*) => {
        $crate::wire::object! {
            @add $so_far [$(#[$doc])*] $member $type; [$(rename = $wire,)? default] [] [] [plain $member: $type,] $($rest)*
        }
    };
    (@next $so_far:tt $(#[$doc:meta])* list $member:ident: Vec<$type:ty> $(= $wire:literal)?, $($rest:tt)*) => {
        $crate::wire::object! {
            @add $so_far [$(#[$doc])*] $member Vec<$type>;
            [$(rename = $wire,)? default, deserialize_with = "crate::wire::lenient::null_as_empty",
                skip_serializing_if = "Vec::is_empty"]
            [extend("x-deserialize-default-on-null" = true)]
            [] [list $member: $type,]
            $($rest)*
        }
    };
    (@next $so_far:tt $(#[$doc:meta])* list $member:ident: BTreeMap<$key:ty, $type:ty> $(= $wire:literal)?, $($rest:tt)*) => {
        $crate::wire::object! {
            @add $so_far [$(#[$doc])*] $member BTreeMap<$key, $type>;
            [$(rename = $wire,)? default, deserialize_with = "crate::wire::lenient::null_as_empty",
                skip_serializing_if = "BTreeMap::is_empty"]
            [extend("x-deserialize-default-on-null" = true)]
            [] [plain $member: BTreeMap<$key, $type>,]
            $($rest)*
        }
    };
    (@next $so_far:tt $(#[$doc:meta])* items $member:ident: Vec<$type:ty> $(= $wire:literal)?, $($rest:tt)*) => {
        $crate::wire::object! {
            @add $so_far [$(#[$doc])*] $member Vec<$type>;
            [$(rename = $wire,)? default, deserialize_with = "crate::wire::lenient::items",
                skip_serializing_if = "Vec::is_empty"]
            [extend("x-deserialize-default-on-error" = true, "x-deserialize-skip-invalid-items" = true)]
            [] [list $member: $type,]
            $($rest)*
        }
    };
    (@next $so_far:tt $(#[$doc:meta])* optional_items $member:ident: Option<Vec<$type:ty>> $(= $wire:literal)?, $($rest:tt)*) => {
        $crate::wire::object! {
            @add $so_far [$(#[$doc])*] $member Option<Vec<$type>>;
            [$(rename = $wire,)? default, deserialize_with = "crate::wire::lenient::optional_items",
                skip_serializing_if = "Option::is_none"]
            [extend("x-deserialize-default-on-error" = true, "x-deserialize-skip-invalid-items" = true)]
            [] [option_list $member: $type,]
            $($rest)*
        }
    };
    (@next $so_far:tt $(#[$doc:meta])* patch $member:ident: Patch<$type:ty> $(= $wire:literal)?, $($rest:tt)*) => {
        $crate::wire::object! {
            @add $so_far [$(#[$doc])*] $member Patch<$type>;
            [$(rename = $wire,)? default, deserialize_with = "crate::wire::lenient::lenient",
                skip_serializing_if = "Patch::is_keep"]
            [extend("x-deserialize-default-on-error" = true)]
            [] [patch $member: $type,]
            $($rest)*
        }
    };
    (@next $so_far:tt $(#[$doc:meta])* strict_patch $member:ident: Patch<$type:ty> $(= $wire:literal)?, $($rest:tt)*) => {
        $crate::wire::object! {
            @add $so_far [$(#[$doc])*] $member Patch<$type>;
            [$(rename = $wire,)? default, skip_serializing_if = "Patch::is_keep"]
            [] [] [patch $member: $type,]
            $($rest)*
        }
    };
    (@next $so_far:tt $(#[$doc:meta])* patch_items $member:ident: Patch<Vec<$type:ty>> $(= $wire:literal)?, $($rest:tt)*) => {
        $crate::wire::object! {
            @add $so_far [$(#[$doc])*] $member Patch<Vec<$type>>;
            [$(rename = $wire,)? default, deserialize_with = "crate::wire::lenient::patch_items",
                skip_serializing_if = "Patch::is_keep"]
            [extend("x-deserialize-default-on-error" = true, "x-deserialize-skip-invalid-items" = true)]
            [] [patch $member: Vec<$type>,]
            $($rest)*
        }
    };
    (
        @next {
            $head:tt $name:ident $new:ident [$($members:tt)*] [$($required:tt)*] $setters:tt [$own:tt $names:tt []]
        }
        $(#[$doc:meta])* union $member:ident: $type:ty, $($rest:tt)*
    ) => {
        $crate::wire::object! {
            @next {
                $head $name $new
                [$($members)* $(#[$doc])* #[serde(flatten)] pub $member: $type,]
                [$($required)* $member: $type,]
                $setters
                [$own $names [union $member]]
            }
            $($rest)*
        }
    };
    (@next $so_far:tt meta, $($rest:tt)*) => {
        $crate::wire::object! {
            @lenient $so_far [#[doc = "Free room: its keys belong to whoever sent them."]] meta $crate::common::Meta; [option] ["_meta"]
            $($rest)*
        }
    };
    (
        @next {
            $head:tt $name:ident $new:ident [$($members:tt)*] $required:tt [$($setters:tt)*] [$own:tt $names:tt []]
        }
        extra, $($rest:tt)*
    ) => {
        $crate::wire::object! {
            @next {
                $head $name $new
                [
                    $($members)*
                    /// Members that this version does not know, as they came: real peers say more than the schema lists.
                    #[serde(flatten, serialize_with = "crate::common::Meta::serialize_members")]
                    pub extra: $crate::common::Meta,
                ]
                $required
                [$($setters)* plain extra: $crate::common::Meta,]
                [$own $names [extra]]
            }
            $($rest)*
        }
    };

    (@lenient $so_far:tt $docs:tt $member:ident $type:ty; [$setter:ident] [$($wire:literal)?] $($rest:tt)*) => {
        $crate::wire::object! {
            @add $so_far $docs $member Option<$type>;
            [$(rename = $wire,)? default, deserialize_with = "crate::wire::lenient::lenient",
                skip_serializing_if = "Option::is_none"]
            [extend("x-deserialize-default-on-error" = true)]
            [] [$setter $member: $type,]
            $($rest)*
        }
    };

    // Adds one member to what there is so far.
    (
        @add {
            $head:tt $name:ident $new:ident [$($members:tt)*] [$($required:tt)*] [$($setters:tt)*]
            [[$($own:tt)*] [$($names:tt)*] $union:tt]
        }
        [$($doc:tt)*] $member:ident $type:ty; [$($serde:tt)*] [$($schema:tt)*] [$($needs:tt)*] [$($setter:tt)*]
        $($rest:tt)*
    ) => {
        $crate::wire::object! {
            @next {
                $head $name $new
                [
                    $($members)*
                    $($doc)*
                    #[serde($($serde)*)]
                    #[cfg_attr(feature = "schema", schemars($($schema)*))]
                    pub $member: $type,
                ]
                [$($required)* $($needs)*]
                [$($setters)* $($setter)*]
                [[$($own)* #[serde($($serde)*)] $member: $type,] [$($names)* $member] $union]
            }
            $($rest)*
        }
    };

    // No member is left. What needs nothing has a default.
    (@next { [$($doc:tt)*] $name:ident $new:ident [$($members:tt)*] [] $setters:tt $own:tt }) => {
        $crate::wire::object! { @struct [#[derive(Default)] $($doc)*] $name [$($members)*] }
        $crate::wire::object! { @$new $name [] $setters }
        $crate::wire::object! { @read $name $own }
    };
    (@next { [$($doc:tt)*] $name:ident $new:ident [$($members:tt)*] [$($required:tt)+] $setters:tt $own:tt }) => {
        $crate::wire::object! { @struct [$($doc)*] $name [$($members)*] }
        $crate::wire::object! { @$new $name [$($required)+] $setters }
        $crate::wire::object! { @read $name $own }
    };
    (@read $name:ident [[$($own:tt)*] [$($member:ident)*] []]) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                #[derive(serde::Deserialize)]
                #[serde(rename_all = "camelCase")]
                struct Own { $($own)* }

                let Own { $($member),* } =
                    serde::Deserialize::deserialize($crate::wire::object_only::ObjectOnly(deserializer))?;
                Ok(Self { $($member),* })
            }
        }
    };
    // Derived code would buffer what a union is read from, and what is left over, in a form that holds no JSON text.
    (@read $name:ident [[$($own:tt)*] [$($member:ident)*] [union $union:ident]]) => {
        $crate::wire::object! {
            @split $name [$($own)*] [$($member)*] $union |others| others.decode().map_err(serde::de::Error::custom)
        }
    };
    (@read $name:ident [[$($own:tt)*] [$($member:ident)*] [extra]]) => {
        $crate::wire::object! { @split $name [$($own)*] [$($member)*] extra |others| Ok(others) }
    };
    (@split $name:ident [$($own:tt)*] [$($member:ident)*] $last:ident |$others:ident| $read:expr) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                #[derive(serde::Deserialize)]
                #[serde(rename_all = "camelCase")]
                struct Own { $($own)* }

                let (own, $others) = $crate::wire::fields::split(deserializer)?;
                let Own { $($member),* } = own;
                let read: Result<_, D::Error> = $read;
                Ok(Self { $($member,)* $last: read? })
            }
        }
    };
    (@struct [$($doc:tt)*] $name:ident [$($members:tt)*]) => {
        $($doc)*
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "camelCase")]
        #[non_exhaustive]
        pub struct $name { $($members)* }
    };
    (@new $name:ident [$($member:ident: $type:ty,)*] [$($setters:tt)*]) => {
        $crate::wire::builder! { $name::new($($member: $type),*) { $($setters)* } }
    };
    (@old $name:ident [$($member:ident: $type:ty,)*] [$($setters:tt)*]) => {
        $crate::wire::builder! { $name { $($setters)* } }
    };
}
pub(crate) use object;
