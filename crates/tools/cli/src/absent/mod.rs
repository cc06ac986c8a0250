//! Stand-ins for the parts that cargo features add. In a build without the feature, each file here replaces the module of its name
//! with the same interface, which does nothing.

#![allow(dead_code, reason = "a build with all features has no stand-ins")]

use clap::error::ErrorKind;
use clap::{ArgMatches, Command, FromArgMatches, Subcommand};

/// A value that only exists with a feature. As a command line it has no commands.
#[derive(Clone, Debug)]
pub(crate) enum Absent {}

impl Absent {
    /// The name of a command to which `--json` means nothing.
    pub(crate) fn without_json(&self) -> Option<&'static str> {
        match *self {}
    }
}

impl FromArgMatches for Absent {
    fn from_arg_matches(_: &ArgMatches) -> Result<Self, clap::Error> {
        Err(clap::Error::new(ErrorKind::InvalidSubcommand))
    }

    fn update_from_arg_matches(&mut self, _: &ArgMatches) -> Result<(), clap::Error> {
        match *self {}
    }
}

impl Subcommand for Absent {
    fn augment_subcommands(command: Command) -> Command {
        command
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        command
    }

    fn has_subcommand(_: &str) -> bool {
        false
    }
}
