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
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire)]
        #[wire(tag = $key)]
        #[non_exhaustive]
        pub enum $name {
            $(
                $(#[$variant_doc])*
                #[wire($tag)]
                $variant($type),
            )+
            $($(
                $(#[$new_doc])*
                #[wire($new_tag)]
                $new($new_type),
            )+)?
            /// A value of the version without drafts.
            #[wire(base)]
            Stable($version::$stable),
        }

        /// A value that the version does not know is looked at once more.
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
        /// that is not text.
        impl TryFrom<$name> for $version::$stable {
            type Error = serde_json::Error;

            fn try_from(draft: $name) -> Result<Self, serde_json::Error> {
                match draft {
                    $name::Stable(stable) => Ok(stable),
                    added => $crate::common::Meta::encode(&added).map(Self::Unknown),
                }
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
