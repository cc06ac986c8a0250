//! The messages of our programs on a wire, held against the generated schema of the negotiated version.
//!
//! The messages of test peers are read and not checked: those peers misbehave on purpose.

use std::fs;
use std::path::Path;

use agentwire_schema_tests::{Conversation, Side};
use serde_json::Value;

/// The messages of both ends of a connection, checked in their order.
struct Wire {
    conversation: Conversation,
    ours: &'static [Side],
    checked: usize,
    faults: Vec<String>,
}

/// The lines that a test has sent to a program, each with the number of bytes received from it before.
#[derive(Debug, Default)]
pub(crate) struct SentLines {
    lines: Vec<(usize, Vec<u8>)>,
    unfinished: Vec<u8>,
}

/// Bytes that are kept of a line. Longer lines are not messages.
const LONGEST: usize = 1 << 20;

/// Messages of ours after which notifications are no longer checked: a burst repeats the same one.
const ENOUGH: usize = 1000;

impl SentLines {
    pub(crate) fn add(&mut self, received: usize, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.unfinished.len() < LONGEST {
                self.unfinished.extend_from_slice(piece);
            }
            if piece.ends_with(b"\n") {
                self.lines.push((received, std::mem::take(&mut self.unfinished)));
            }
        }
    }
}

/// Checks a program's messages on its stdout, and returns their number.
///
/// # Panics
///
/// When one of them is not valid.
pub(crate) fn check_program(arguments: &[String], sent: &SentLines, stdout: &str) -> usize {
    let protocol = match arguments.first().map(String::as_str) {
        Some("agent") => "acp",
        Some("server") => "mcp",
        _ => return 0,
    };
    let mut wire = Wire::new(protocol, "server");
    let (mut received, mut sent) = (0, sent.lines.iter().peekable());
    for line in whole_lines(stdout.as_bytes()) {
        received += line.len() + 1;
        // A program that has not received all of it cannot have answered it.
        while let Some((_, line)) = sent.next_if(|(when, _)| *when < received) {
            wire.check(Side::Client, line);
        }
        wire.check(Side::Server, line);
    }
    wire.into_checked()
}

/// Checks the recordings in a folder, and returns the number of our messages.
///
/// # Panics
///
/// When one of them is not valid.
pub(crate) fn check_recordings(folder: &Path) -> usize {
    let mut checked = 0;
    for entry in fs::read_dir(folder).expect("it is our folder") {
        let entry = entry.expect("it is our folder");
        let name = entry.file_name().to_string_lossy().into_owned();
        let mut parts = name.split('.');
        let (Some(protocol), Some(ours)) = (parts.next(), parts.next()) else { panic!("{name}") };
        let mut wire = Wire::new(protocol, ours);
        for line in whole_lines(&fs::read(entry.path()).expect("it can be read")) {
            match line.strip_prefix(b"client ") {
                Some(line) => wire.check(Side::Client, line),
                None => wire.check(Side::Server, line.strip_prefix(b"server ").expect("one of the two")),
            }
        }
        checked += wire.into_checked();
    }
    checked
}

/// The last line of a killed process, or of one without a reader, may be incomplete.
fn whole_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').filter_map(|line| line.strip_suffix(b"\n"))
}

impl Wire {
    fn new(protocol: &str, ours: &str) -> Self {
        let conversation = if protocol == "acp" { Conversation::acp() } else { Conversation::mcp() };
        let ours: &[Side] = match ours {
            "client" => &[Side::Client],
            "server" => &[Side::Server],
            _ => &[Side::Client, Side::Server],
        };
        Self { conversation, ours, checked: 0, faults: Vec::new() }
    }

    fn check(&mut self, from: Side, line: &[u8]) {
        let ours = self.ours.contains(&from);
        if ours && self.checked >= ENOUGH && !line.windows(4).any(|word| word == b"\"id\"") {
            return;
        }
        let valid = match serde_json::from_slice::<Value>(line) {
            Ok(message) => self.conversation.check(from, &message),
            Err(why) => Err(why.to_string()),
        };
        if ours {
            self.checked += 1;
            let text = || String::from_utf8_lossy(line).into_owned();
            self.faults.extend(valid.err().map(|fault| format!("{fault}\n  from the {from:?}: {}", text())));
        }
    }

    fn into_checked(self) -> usize {
        let Self { checked, faults, .. } = self;
        let shown = faults.iter().take(5).map(String::as_str).collect::<Vec<_>>().join("\n");
        assert!(faults.is_empty(), "{} of {checked} messages violate the schema: {shown}", faults.len());
        checked
    }
}
