use agentwire_wire_derive::{Build, Wire};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::common::Meta;

/// The update `available_commands_update`: all slash commands that there are now.
///
/// See <https://agentclientprotocol.com/protocol/v1/slash-commands>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct AvailableCommandsUpdate {
    /// The commands.
    #[wire(required_items)]
    pub available_commands: Vec<AvailableCommand>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// A slash command: the person types `/name` at the start of a prompt.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct AvailableCommand {
    /// Its name, without the slash.
    #[wire(required)]
    pub name: String,
    /// A sentence about it, for people.
    #[wire(required)]
    pub description: String,
    /// What may follow the name.
    #[wire(lenient)]
    pub input: Option<AvailableCommandInput>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
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

/// Everything that is typed after the command's name.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct UnstructuredCommandInput {
    /// What to show while nothing is typed.
    #[wire(required)]
    pub hint: String,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
