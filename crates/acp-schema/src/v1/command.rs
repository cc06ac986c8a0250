use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::wire::object;

object! {
    /// The update `available_commands_update`: all slash commands that there are now.
    ///
    /// See <https://agentclientprotocol.com/protocol/v1/slash-commands>.
    AvailableCommandsUpdate {
        /// The commands.
        required_items available_commands: Vec<AvailableCommand>,
        meta,
    }
}

object! {
    /// A slash command: the person types `/name` at the start of a prompt.
    AvailableCommand {
        /// Its name, without the slash.
        required name: String,
        /// A sentence about it, for people.
        required description: String,
        /// What may follow the name.
        lenient input: Option<AvailableCommandInput>,
        meta,
    }
}

/// What may follow the name of a slash command.
///
/// The schema has one case and no tag; an object that is not of that case counts as no input.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(untagged))]
#[non_exhaustive]
pub enum AvailableCommandInput {
    /// Whatever the person types.
    Unstructured(UnstructuredCommandInput),
}

impl Serialize for AvailableCommandInput {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self::Unstructured(input) = self;
        input.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for AvailableCommandInput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        UnstructuredCommandInput::deserialize(deserializer).map(Self::Unstructured)
    }
}

impl From<UnstructuredCommandInput> for AvailableCommandInput {
    fn from(input: UnstructuredCommandInput) -> Self {
        Self::Unstructured(input)
    }
}

object! {
    /// Everything that is typed after the command's name.
    UnstructuredCommandInput {
        /// What to show while nothing is typed.
        required hint: String,
        meta,
    }
}
