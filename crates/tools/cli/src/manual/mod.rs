//! `agentwire completions` and `agentwire man`: the command line for shells and for `man`.

mod arguments;

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use anyhow::Result;
use clap::Command;
use clap_mangen::Man as Page;

pub(crate) use self::arguments::Commands;
use self::arguments::{Completions, Man};
use crate::arguments::help::command;
use crate::failure::Usage;
use crate::output::text::print_line;

/// Runs `completions` or `man`.
pub(crate) fn run(command: &Commands) -> Result<()> {
    match command {
        Commands::Completions(completions) => print_completions(completions),
        Commands::Man(man) => write_pages(man),
    }
}

/// Prints the completions of a shell.
fn print_completions(Completions { shell }: &Completions) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(*shell, &mut command(), "agentwire", &mut script);
    print(&script)
}

/// Prints the page of the program, or writes those of all its commands and names them.
fn write_pages(Man { folder }: &Man) -> Result<()> {
    // `help` has no page, so no page may refer to it.
    let mut program = command().disable_help_subcommand(true);
    program.build();
    match folder {
        Some(folder) => {
            fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
            write_with_subcommands(&program, folder)
        }
        None => print(&page(&program)?),
    }
}

/// Writes the page of a command, and those of the commands below it.
fn write_with_subcommands(command: &Command, folder: &Path) -> Result<()> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let path = folder.join(format!("{name}.1"));
    fs::write(&path, page(command)?).map_err(|error| cannot_write(&path, &error))?;
    print_line(&path.display().to_string())?;
    let below = command.get_subcommands().filter(|below| !below.is_hide_set());
    below.into_iter().try_for_each(|below| write_with_subcommands(below, folder))
}

fn cannot_write(path: &Path, error: &io::Error) -> Usage {
    Usage(format!("{}: {error}", path.display()))
}

fn page(command: &Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    // The title is the display name, such as `agentwire-sessions-check`.
    Page::new(command.clone()).render(&mut page)?;
    Ok(page)
}

/// Prints our own text, which needs no escapes.
fn print(text: &[u8]) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text)?;
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use clap_complete::Shell;

    use super::*;

    #[test]
    fn every_command_that_is_shown_has_a_page() {
        let folder = tempfile::tempdir().unwrap();
        write_pages(&Man { folder: Some(folder.path().to_owned()) }).unwrap();
        let page = |name: &str| fs::read_to_string(folder.path().join(name));
        for (name, words) in [
            ("agentwire.1", ".TH agentwire 1"),
            ("agentwire-chat.1", "agentwire\\-chat"),
            ("agentwire-sessions-check.1", "Name each damaged session"),
        ] {
            let page = page(name).unwrap();
            assert!(page.contains(words) && !page.contains("help(1)"), "{name}: {page}");
        }
        for hidden in ["agentwire-stand-in.1", "agentwire-help.1"] {
            assert!(page(hidden).is_err(), "{hidden}");
        }
    }

    #[test]
    fn the_completions_of_each_shell_have_the_commands() {
        for shell in <Shell as clap::ValueEnum>::value_variants() {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut command(), "agentwire", &mut script);
            let script = String::from_utf8(script).unwrap();
            assert!(script.contains("sessions") && script.contains("mcp-config"), "{shell}");
        }
    }
}
