//! The update `available_commands_update`, with the slash commands and their input.

use agentwire_wire_derive::{Build, Wire};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::common::Meta;

/// The update `available_commands_update`: all current slash commands.
///
/// See <https://agentclientprotocol.com/protocol/v1/slash-commands>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct AvailableCommandsUpdate {
    /// The commands.
    #[wire(required_items)]
    pub available_commands: Vec<AvailableCommand>,
    /// Extension metadata; receivers make no assumptions about its keys.
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
    /// A description for people.
    #[wire(required)]
    pub description: String,
    /// The input that may follow the name.
    #[wire(lenient)]
    pub input: Option<AvailableCommandInput>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The input that may follow the name of a slash command.
///
/// The schema has one case and no tag; an object that is not of that case counts as no input.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(untagged))]
#[non_exhaustive]
pub enum AvailableCommandInput {
    /// Any text.
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

/// All text after the command's name.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct UnstructuredCommandInput {
    /// The hint to show while the input is empty.
    #[wire(required)]
    pub hint: String,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
