//! Support for tests that start children with the crate itself.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use agentwire_transport::{Exited, Packet, TransportError};
use agentwire_transport_stdio::{Child, Command, Stderr};

/// How long a process that was killed may take to end, on a busy machine.
const SOON: Duration = Duration::from_secs(30);

/// A shell that runs `script`.
pub(crate) fn shell(script: &str) -> Command {
    Command::new("/bin/sh").arg("-c").arg(script).stderr(Stderr::Capture)
}

pub(crate) fn spawn(command: Command) -> Child {
    Child::spawn(command).unwrap()
}

/// Has the lines of a command's stderr sent here.
pub(crate) fn listen(command: Command) -> (Command, mpsc::Receiver<String>) {
    let (sender, receiver) = mpsc::channel();
    let lines = move |line: &str| drop(sender.send(line.to_owned()));
    (command.stderr(Stderr::Lines(std::sync::Arc::new(lines))), receiver)
}

pub(crate) fn packet(text: &str) -> Packet {
    Packet::from_json(text)
}

/// The end that a fault reports.
pub(crate) fn exited(fault: TransportError) -> Exited {
    let TransportError::Other(error) = fault else { panic!("another fault: {fault}") };
    *error.downcast().expect("the fault is about the end of a process")
}

/// The processes of a group.
pub(crate) fn members(group: u32) -> Vec<u32> {
    found(group).into_iter().map(|(id, ..)| id).collect()
}

/// Nothing of a group is alive, and no zombie waits for us. One may wait for its new parent, and one that was killed for its
/// turn to end.
pub(crate) fn assert_gone(group: u32) {
    let is_left = |(_, state, parent): &(u32, String, u32)| state != "Z" || *parent == std::process::id();
    let deadline = Instant::now() + SOON;
    loop {
        let left: Vec<_> = found(group).into_iter().filter(is_left).collect();
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "of {group} there are {left:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The processes of a group, zombies too, with their state and parent.
fn found(group: u32) -> Vec<(u32, String, u32)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        // After the name, which is in parentheses: state, parent, group.
        let rest: Vec<_> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        if rest[2].parse() == Ok(group) {
            found.push((id, rest[0].to_owned(), rest[1].parse().unwrap()));
        }
    }
    found
}
