//! The update `available_commands_update`. Commands and their input are tagged unions, which keep unknown types.

use agentwire_wire_derive::{Build, Wire};

use crate::common::Meta;

/// The update `available_commands_update`: all current commands.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct AvailableCommandsUpdate {
    /// The commands.
    #[wire(required_valid_items)]
    pub available_commands: Vec<AvailableCommand>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// A command that the person can invoke by its name.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum AvailableCommand {
    /// A slash command: the person types `/name` at the start of a prompt.
    #[wire("command", from)]
    Command(Command),
    /// A command of a type that this version does not know: the whole object. Show it by its members `name` and
    /// `description`.
    #[wire(unknown, requires("name" = String, "description" = String))]
    Unknown(Meta),
}

/// A slash command.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct Command {
    /// Its name, without the slash and without a space. No two commands have the same one.
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

/// The input that may follow the name of a command.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum AvailableCommandInput {
    /// Any text.
    #[wire("text", from)]
    Text(TextCommandInput),
    /// Input of a type that this version does not know: the whole object. The command can be shown without it.
    #[wire(unknown)]
    Unknown(Meta),
}

/// All text after the command's name and a space.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct TextCommandInput {
    /// The hint to show while the input is empty.
    #[wire(required)]
    pub hint: String,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
