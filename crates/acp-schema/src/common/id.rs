use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::wire::fields::Text;

/// Makes a newtype for a string that only its maker understands. Shared memory, so a clone copies no text.
macro_rules! string_id {
    ($($(#[$doc:meta])* $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct $name(Arc<str>);

        impl $name {
            /// Takes any text.
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, f)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }

        impl From<Arc<str>> for $name {
            fn from(text: Arc<str>) -> Self {
                Self(text)
            }
        }

        impl From<&$name> for $name {
            fn from(id: &$name) -> Self {
                id.clone()
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, text: &str) -> bool {
                &*self.0 == text
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, text: &&str) -> bool {
                &*self.0 == *text
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Text::deserialize(deserializer).map(|text| Self(text.into()))
            }
        }
    )*};
}

string_id! {
    /// Names a conversation. The agent chooses it in the answer to `session/new`.
    SessionId,
    /// Names one message; chunks that share it belong together, a new one begins a new message.
    MessageId,
    /// Names a tool call within its session.
    ToolCallId,
    /// Names a terminal of the client, until `terminal/release`.
    TerminalId,
    /// Names a URL elicitation, so that `elicitation/complete` can refer to it.
    ElicitationId,
    /// Names one compaction of the context within its session.
    CompactionId,
    /// Names a way to authenticate that the agent offers.
    AuthMethodId,
    /// Names a mode of a session.
    SessionModeId,
    /// Names a configuration option of a session.
    SessionConfigId,
    /// Names a value of a configuration option.
    SessionConfigValueId,
    /// Names a group of values of a configuration option.
    SessionConfigGroupId,
    /// Names an answer that a permission request offers.
    PermissionOptionId,
}
