//! JSON-RPC as clients have to speak it.

use super::AcpClient;
use crate::check::{Check, STDIO, audit};
use crate::faults;
use crate::trace::{Part, Sender, Trace, message_of};
use crate::verdict::{Outcome, ensure};

pub(super) const CHECKS: &[Check<AcpClient>] = &[audit!("TR-04", only_messages_on_stdin, STDIO, [
    "writes a greeting" => faults::each_line(|line| if line.starts_with(b"{") { line.insert(0, b'x') }),
])];

fn only_messages_on_stdin(_: &AcpClient, trace: &Trace) -> Outcome {
    for event in trace.events() {
        if event.from == Sender::Subject && event.what == Part::Line {
            let text = String::from_utf8_lossy(&event.bytes);
            ensure!(message_of(&event).is_some(), "messages alone on the agent's standard input", "`{text}`");
        }
    }
    Ok(())
}
