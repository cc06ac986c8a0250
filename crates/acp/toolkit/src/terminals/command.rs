//! Builds the command of `terminal/create`, for a program or for a shell.

use std::io;
use std::path::Path;
use std::process::Command;

use agentwire_acp_schema::v1::CreateTerminalRequest;
use agentwire_acp_schema::v1::error_code::RESOURCE_NOT_FOUND;
use agentwire_jsonrpc::ErrorObject as Error;
use agentwire_transport_stdio::startable_program;

/// Returns the command to start in `directory`.
pub(super) fn of(request: &CreateTerminalRequest, directory: &Path) -> Result<Command, Error> {
    let line = &request.command;
    let mut command = if request.args.is_empty() && is_shell_line(line, directory) {
        shell(line)
    } else {
        let path = request.env.iter().rev().find(|variable| variable.name.eq_ignore_ascii_case("PATH"));
        let path = path.map(|variable| variable.value.as_ref());
        let mut command = Command::new(startable_program(line.as_ref(), path, Some(directory)));
        command.args(&request.args);
        command
    };
    command.current_dir(directory);
    for variable in &request.env {
        let name = &variable.name;
        if name.is_empty() || name.contains(['=', '\0']) {
            let why = format!("{name:?} cannot be the name of an environment variable");
            return Err(Error::invalid_params(why));
        }
        command.env(name, &variable.value);
    }
    Ok(command)
}

/// Returns the error for the agent when the system did not start `program`.
pub(super) fn refused(program: &str, error: &io::Error) -> Error {
    let message = format!("cannot start {program:?}: {error}");
    match error.kind() {
        io::ErrorKind::NotFound => Error::new(RESOURCE_NOT_FOUND, message),
        io::ErrorKind::InvalidInput => Error::invalid_params(message),
        _ => Error::internal_error(message),
    }
}

/// Returns whether a command without arguments is more than the name of a program.
fn is_shell_line(command: &str, directory: &Path) -> bool {
    let means_itself = |c: char| c.is_alphanumeric() || "-_./\\+:,@%".contains(c);
    !command.chars().all(means_itself) && !directory.join(command).is_file()
}

#[cfg(not(windows))]
fn shell(line: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", line]);
    command
}

#[cfg(windows)]
fn shell(line: &str) -> Command {
    use std::os::windows::process::CommandExt;

    // `cmd` has rules of its own about quotes, so the line goes there as it is.
    let mut command = Command::new("cmd");
    command.arg("/C").raw_arg(line);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_for_a_shell_goes_to_a_shell() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("my tool"), "").unwrap();
        for program in ["ls", "./build.sh", "/usr/bin/g++", "my tool"] {
            assert!(!is_shell_line(program, directory.path()), "{program}");
        }
        for line in ["ls -l", "a|b", "echo $HOME", "true;false", "~/x", "a>b", "my other tool", "X=1"] {
            assert!(is_shell_line(line, directory.path()), "{line}");
        }
    }
}
