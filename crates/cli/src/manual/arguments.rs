//! The command lines of `completions` and `man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

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
