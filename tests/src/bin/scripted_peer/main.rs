//! An agent or an MCP server that fails as its arguments describe.
//!
//! ```text
//! scripted_peer agent|server [MOMENT FAULT] [stubborn] [grandchild]
//! ```
//!
//! It answers correctly, with the least that the protocol requires, until MOMENT; then FAULT happens. `script.rs` lists the
//! moments and faults. With `stubborn` it ends neither when its stdin does nor on
//! SIGTERM. With `grandchild` it starts a process that holds all of its streams and would run for minutes.
//!
//! It shares no code with the programs under test.

mod faults;
mod script;
mod speaking;

use std::os::unix::process::CommandExt;
use std::process::Command;

use self::script::Script;
use self::speaking::Peer;

/// Set once SIGTERM is ignored.
const STUBBORN: &str = "SCRIPTED_PEER_IS_STUBBORN";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let script = Script::parse(&arguments).expect("the arguments are those of the first lines of this file");
    if script.stubborn && std::env::var_os(STUBBORN).is_none() {
        ignore_terminate(&arguments);
    }
    if script.grandchild {
        // No process waits for it: the test checks that it is left over.
        drop(Command::new("sleep").arg("600").spawn().expect("`sleep` starts"));
    }
    let stubborn = script.stubborn;
    Peer::new(script).run();
    if stubborn {
        faults::sleep_for_ever();
    }
}

/// Becomes itself again, with SIGTERM ignored. What a shell ignores stays ignored in what it becomes.
fn ignore_terminate(arguments: &[String]) {
    let ourselves = std::env::current_exe().expect("a program knows where it is");
    let failed = Command::new("/bin/sh")
        .args(["-c", "trap '' TERM; exec \"$0\" \"$@\""])
        .arg(ourselves)
        .args(arguments)
        .env(STUBBORN, "1")
        .exec();
    panic!("the shell does not start: {failed}");
}
