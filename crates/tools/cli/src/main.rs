//! The `agentwire` command. All of it is in the library, so that tests and other programs can link it.

use std::process::ExitCode;

fn main() -> ExitCode {
    agentwire_cli::main()
}
