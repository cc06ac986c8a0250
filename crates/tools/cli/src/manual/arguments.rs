//! The command lines of `completions` and `man`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use clap_complete::Shell;

#[derive(Debug, Subcommand)]
pub(crate) enum Commands {
    /// Print the completions of a shell, for its folder of completions.
    Completions(Completions),
    /// Print the manual page of this program, or write those of all commands to a folder.
    Man(Man),
}

impl Commands {
    /// The name of the command: neither prints JSON.
    pub(crate) fn without_json(&self) -> Option<&'static str> {
        Some(match self {
            Self::Completions(_) => "completions",
            Self::Man(_) => "man",
        })
    }
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub(super) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The folder for the pages of all commands, such as ~/.local/share/man/man1 [default: one page, on stdout]
    #[arg(value_name = "DIR")]
    pub(super) folder: Option<PathBuf>,
}
