//! Additions to unions. Those keep variants that they do not know, and so can hold an addition without knowing it.

/// Defines a tagged union that adds variants to one of a version.
///
/// ```text
/// draft_union! {
///     /// What it is.
///     Name by "type" adding to v1::Name {
///         /// What the variant is.
///         "tag" => Variant(Type) from Type,
///     }
///     replacing {
///         /// What the variant is; the other union has one for that tag, and this makes it from that.
///         "tag" => Variant(Type) |old| new,
///     }
/// }
/// ```
///
/// With `from`, the type converts into the union. Into the other union, the variants go as what that does not know.
macro_rules! draft_union {
    (
        $(#[$doc:meta])*
        $name:ident by $key:literal adding to $version:ident::$stable:ident {
            $($(#[$variant_doc:meta])* $tag:literal => $variant:ident($type:ty) $(from $from:ty)?,)+
        }
        $(replacing {
            $($(#[$new_doc:meta])* $new_tag:literal => $new:ident($new_type:ty) |$old:ident| $convert:expr,)+
        })?
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_doc])* $variant($type),)+
            $($($(#[$new_doc])* $new($new_type),)+)?
            /// What the version has without drafts.
            Stable($version::$stable),
        }

        impl $crate::wire::tagged::Tagged for $name {
            const KEY: &'static str = $key;

            fn knows(tag: &str) -> bool {
                matches!(tag, $($tag)|+ $($(| $new_tag)+)?) || $version::$stable::knows(tag)
            }

            fn unknown<E: serde::de::Error>(object: $crate::common::Meta) -> Result<Self, E> {
                $version::$stable::unknown(object).map(Self::Stable)
            }

            fn decode<'de, D: serde::Deserializer<'de>>(tag: &str, members: D) -> Result<Self, D::Error> {
                use serde::Deserialize as _;

                match tag {
                    $($tag => <$type>::deserialize(members).map(Self::$variant),)+
                    $($($new_tag => <$new_type>::deserialize(members).map(Self::$new),)+)?
                    _ => $version::$stable::decode(tag, members).map(Self::Stable),
                }
            }

            fn decode_untagged<'de, D: serde::Deserializer<'de>>(members: D) -> Result<Self, D::Error> {
                $version::$stable::decode_untagged(members).map(Self::Stable)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::wire::tagged::deserialize(deserializer)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                #[derive(serde::Serialize)]
                struct Variant<'a, T> {
                    #[serde(rename = $key)]
                    tag: &'static str,
                    #[serde(flatten)]
                    members: &'a T,
                }

                match self {
                    $(Self::$variant(members) => Variant { tag: $tag, members }.serialize(serializer),)+
                    $($(Self::$new(members) => Variant { tag: $new_tag, members }.serialize(serializer),)+)?
                    Self::Stable(stable) => stable.serialize(serializer),
                }
            }
        }

        /// What the version does not know is looked at once more.
        impl From<$version::$stable> for $name {
            fn from(stable: $version::$stable) -> Self {
                match stable {
                    $version::$stable::Unknown(object) => match object.text($key).as_deref() {
                        Some($($tag)|+) => object
                            .decode()
                            .unwrap_or_else(|_| Self::Stable($version::$stable::Unknown(object.clone()))),
                        _ => Self::Stable($version::$stable::Unknown(object)),
                    },
                    $($($version::$stable::$new($old) => Self::$new($convert),)+)?
                    stable => Self::Stable(stable),
                }
            }
        }

        /// An addition becomes what the version does not know. It fails where the addition has no JSON form, such as a path
        /// that is no text.
        impl TryFrom<$name> for $version::$stable {
            type Error = serde_json::Error;

            fn try_from(draft: $name) -> Result<Self, serde_json::Error> {
                match draft {
                    $name::Stable(stable) => Ok(stable),
                    added => $crate::common::Meta::encode(&added).map(Self::Unknown),
                }
            }
        }

        /// The definition without the additions: those are listed apart, for whoever puts a schema together.
        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $version::$stable::schema_name()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                $version::$stable::schema_id()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $version::$stable::json_schema(generator)
            }
        }

        #[cfg(feature = "schema")]
        impl $crate::common::unstable::Added for $name {
            fn added(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                #[derive(schemars::JsonSchema)]
                #[schemars(tag = $key)]
                #[allow(dead_code, reason = "only its shape is looked at")]
                enum Described {
                    $($(#[$variant_doc])* #[schemars(rename = $tag)] $variant($type),)+
                }

                <Described as schemars::JsonSchema>::json_schema(generator)
            }
        }

        $($(
            impl From<$from> for $name {
                fn from(value: $from) -> Self {
                    Self::$variant(value.into())
                }
            }
        )?)+
    };
}
pub(crate) use draft_union;
