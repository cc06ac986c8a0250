/// Defines a set of words that may grow: an enum with a variant per word that the schema knows, and one that keeps any
/// other word as it came, so that a newer peer is neither refused nor changed on the way through.
macro_rules! open_enum {
    (
        $(#[$doc:meta])*
        $name:ident {
            $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+
        } else $other:ident
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
            /// A word that this version of the crate does not know, as it came.
            $other(String),
        }

        impl $name {
            /// The word on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $word,)+
                    Self::$other(word) => word,
                }
            }

            fn known(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                Self::known(word).unwrap_or_else(|| Self::$other(word.to_owned()))
            }
        }

        impl From<String> for $name {
            fn from(word: String) -> Self {
                Self::known(&word).unwrap_or(Self::$other(word))
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
                let word = <$crate::wire::fields::Text<'de> as serde::Deserialize>::deserialize(deserializer)?;
                Ok(Self::known(word.as_str()).unwrap_or_else(|| Self::$other(word.into_string())))
            }
        }

        #[cfg(feature = "schema")]
        $crate::wire::described_by! {
            $name
            $(#[$doc])*
            #[derive(schemars::JsonSchema)]
            #[allow(dead_code, reason = "only its shape is looked at")]
            enum Described {
                $($(#[$variant_doc])* #[schemars(rename = $word)] $variant,)+
            }
        }
    };
}
pub(crate) use open_enum;
