use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::common::lenient::{items, lenient};
use crate::common::{Meta, builder};

/// The update `available_commands_update`: all slash commands that there are now.
///
/// See <https://agentclientprotocol.com/protocol/v1/slash-commands>.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AvailableCommandsUpdate {
    /// The commands.
    #[serde(deserialize_with = "items")]
    pub available_commands: Vec<AvailableCommand>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    AvailableCommandsUpdate::new(available_commands: Vec<AvailableCommand>) {
        option meta: Meta,
    }
}

/// A slash command: the person types `/name` at the start of a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AvailableCommand {
    /// Its name, without the slash.
    pub name: String,
    /// A sentence about it, for people.
    pub description: String,
    /// What may follow the name.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub input: Option<AvailableCommandInput>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    AvailableCommand::new(name: String, description: String) {
        option input: AvailableCommandInput,
        option meta: Meta,
    }
}

/// What may follow the name of a slash command.
///
/// The schema has one case and no tag; an object that is not of that case counts as no input.
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UnstructuredCommandInput {
    /// What to show while nothing is typed.
    pub hint: String,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    UnstructuredCommandInput::new(hint: String) {
        option meta: Meta,
    }
}
