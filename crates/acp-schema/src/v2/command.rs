use crate::wire::{object, tagged_union};

object! {
    /// The update `available_commands_update`: all commands that there are now.
    AvailableCommandsUpdate {
        /// The commands.
        required_valid_items available_commands: Vec<AvailableCommand>,
        meta,
    }
}

tagged_union! {
    /// Something that the person can invoke by its name.
    AvailableCommand by "type" {
        /// A slash command: the person types `/name` at the start of a prompt.
        "command" => Command(Command) from Command,
    }
    else requiring "name" => String, "description" => String {
        /// A command of a type that this version does not know: the whole object. It may be shown by its members `name` and
        /// `description`.
        Unknown
    }
}

object! {
    /// A slash command.
    Command {
        /// Its name, without the slash and without a space. No two commands have the same one.
        required name: String,
        /// A sentence about it, for people.
        required description: String,
        /// What may follow the name.
        lenient input: Option<AvailableCommandInput>,
        meta,
    }
}

tagged_union! {
    /// What may follow the name of a command.
    AvailableCommandInput by "type" {
        /// Whatever the person types.
        "text" => Text(TextCommandInput) from TextCommandInput,
    }
    else {
        /// Input of a type that this version does not know: the whole object. The command can be shown without it.
        Unknown
    }
}

object! {
    /// Everything that is typed after the command's name and a space.
    TextCommandInput {
        /// What to show while nothing is typed.
        required hint: String,
        meta,
    }
}
