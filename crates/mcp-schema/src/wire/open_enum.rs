//! Sets of words that grow with the protocol: a word we do not know is kept, not refused.

/// Declares an enum of words with an `Unknown` variant that keeps any other.
///
/// `as string` is for words that the protocol itself leaves open: its schema lists none of them.
macro_rules! open_enum {
    (
        $(#[doc = $about:literal])+
        pub enum $name:ident $(as $string:ident)? {
            $( $(#[doc = $variant_about:literal])+ $variant:ident = $word:literal, )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $( $(#[doc = $variant_about])+ $variant, )+
            /// A word that this version of the library does not know, kept as it came.
            Unknown(Box<str>),
        }

        impl $name {
            /// The word on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$variant => $word, )+
                    Self::Unknown(word) => word,
                }
            }

            /// Whether this is one of the words that the protocol defines.
            pub fn is_known(&self) -> bool {
                !matches!(self, Self::Unknown(_))
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                match word {
                    $( $word => Self::$variant, )+
                    other => Self::Unknown(other.into()),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Word;
                impl serde::de::Visitor<'_> for Word {
                    type Value = $name;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("a string")
                    }
                    fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<$name, E> {
                        Ok(word.into())
                    }
                }
                deserializer.deserialize_str(Word)
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                concat!(module_path!(), "::", stringify!($name)).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let is_string = open_enum!(@ $( $string )?);
                crate::schema::words(&[ $( $about ),+ ], &[ $( ($word, &[ $( $variant_about ),+ ]) ),+ ], is_string)
            }
        }
    };
    (@ string) => { true };
    (@) => { false };
}
