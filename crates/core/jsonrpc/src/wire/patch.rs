//! The type of update members with three states: absent keeps the value, null clears it, a value replaces it.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::RawObject;

/// A member of an update that distinguishes "keep", "clear" and "set".
///
/// On the wire: a missing member, `null`, a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "JSON has no fourth way to write a member")]
pub enum Patch<T> {
    /// The member is missing: the receiver keeps its value.
    #[default]
    Keep,
    /// `null`: the receiver clears its value.
    Clear,
    /// A value that replaces the receiver's value.
    Set(T),
}

impl<T> Patch<T> {
    /// Whether the member is missing.
    pub fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }

    /// The new value, if there is one.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Set(value) => Some(value),
            Self::Keep | Self::Clear => None,
        }
    }

    /// Applies the patch to `target`.
    pub fn apply(self, target: &mut Option<T>) {
        match self {
            Self::Keep => {}
            Self::Clear => *target = None,
            Self::Set(value) => *target = Some(value),
        }
    }
}

impl Patch<RawObject> {
    /// Applies the patch to `_meta`, key by key. A key whose value is null is removed.
    ///
    /// See <https://agentclientprotocol.com/protocol/v2/extensibility#metadata-patches>.
    pub fn merge(self, target: &mut Option<RawObject>) {
        match self {
            Self::Keep => {}
            Self::Clear => *target = None,
            Self::Set(patch) => target.get_or_insert_default().merge(&patch),
        }
    }
}

impl<T> From<T> for Patch<T> {
    fn from(value: T) -> Self {
        Self::Set(value)
    }
}

/// Writes `null` for [`Patch::Keep`] too: the containing struct must skip the member instead.
impl<T: Serialize> Serialize for Patch<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Patch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(|value| value.map_or(Self::Clear, Self::Set))
    }
}

/// The schema of an optional value, which allows `null`. The schema of the containing object decides whether the member may be missing.
#[cfg(feature = "schema")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for Patch<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        Option::<T>::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Option::<T>::json_schema(generator)
    }
}
