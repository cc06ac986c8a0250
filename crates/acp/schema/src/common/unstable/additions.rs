//! Additions to capabilities. Those keep what they do not know, and so an addition is a view of that.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::common::Meta;

/// Reads the additions that are there. What is malformed counts as missing.
pub(crate) fn read<A: DeserializeOwned + Default>(extra: &Meta) -> A {
    extra.decode().unwrap_or_default()
}

/// Writes what the additions say, and takes away what they do not say.
pub(crate) fn write<A: Serialize>(added: &A, keys: &[&str], extra: &mut Meta) {
    extra.retain(|name| !keys.contains(&name));
    if let Ok(members) = Meta::encode(added) {
        extra.extend(members.iter());
    }
}

/// Gives additions to capabilities their way in and out of the capabilities; after each are its members on the wire.
macro_rules! capability_additions {
    ($($name:ident: $($key:literal),+;)+) => {$(
        impl $name {
            /// The additions in the capabilities, of which these are the members that were not known: the field `extra`. A
            /// malformed one counts as missing.
            #[must_use]
            pub fn of(extra: &$crate::common::Meta) -> Self {
                $crate::common::unstable::additions::read(extra)
            }

            /// Makes the capabilities, of which these are the members that were not known, say this and nothing else of it.
            pub fn put(&self, extra: &mut $crate::common::Meta) {
                $crate::common::unstable::additions::write(self, &[$($key),+], extra);
            }
        }

        #[cfg(feature = "schema")]
        impl $crate::common::unstable::Added for $name {
            fn added(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                <Self as schemars::JsonSchema>::json_schema(generator)
            }
        }
    )+};
}
pub(crate) use capability_additions;
