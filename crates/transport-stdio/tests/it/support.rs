use std::future::Future;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use agentwire_transport::{Fault, Packet};
use agentwire_transport_stdio::{Child, Command, Exited, Stderr};
use rustix::process::{Pid, PidfdFlags};

/// Long enough for a busy machine; a test that needs it has failed.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Runs a test, which must end.
pub(crate) fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(LONG, test).await.expect("the test hangs") })
}

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

pub(crate) const HELLO: &str = r#"{"jsonrpc":"2.0","method":"hello"}"#;

/// The program of an example, which cargo builds with the tests.
pub(crate) fn example(name: &str) -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.push("examples");
    path.push(name);
    assert!(path.exists(), "{} is missing: run `cargo build --examples`", path.display());
    path
}

/// The processes of a group.
pub(crate) fn members(group: u32) -> Vec<u32> {
    found(group).into_iter().map(|(id, ..)| id).collect()
}

/// Nothing of a group is alive, and no zombie waits for us. One may wait for its new parent.
pub(crate) fn assert_gone(group: u32) {
    for (id, state, parent) in found(group) {
        assert!(state == "Z" && parent != std::process::id(), "{id} of {group} is there, as {state}");
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

/// A process, to wait for although it is not a child of ours.
#[derive(Debug)]
pub(crate) struct Stranger(Option<rustix::fd::OwnedFd>);

impl Stranger {
    /// Takes hold of a process before something happens to it.
    pub(crate) fn of(id: u32) -> Self {
        let id = Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
        Self(rustix::process::pidfd_open(id, PidfdFlags::empty()).ok())
    }

    /// Waits until it has ended.
    pub(crate) fn wait(&self) {
        assert!(self.ends_within(LONG), "the process lives on");
    }

    fn ends_within(&self, time: Duration) -> bool {
        // If it could not be opened it was gone by then.
        let Some(fd) = &self.0 else { return true };
        let mut polled = [rustix::event::PollFd::new(fd, rustix::event::PollFlags::IN)];
        rustix::event::poll(&mut polled, Some(&time.try_into().unwrap())).unwrap() == 1
    }
}

/// Kills a process that takes too long, so that a test which waits for it fails.
pub(crate) fn watch(process: &std::process::Child) {
    let stranger = Stranger::of(process.id());
    std::thread::spawn(move || {
        if !stranger.ends_within(LONG)
            && let Some(fd) = &stranger.0
        {
            rustix::process::pidfd_send_signal(fd, rustix::process::Signal::KILL).unwrap();
        }
    });
}

/// What a fault says of an end.
pub(crate) fn exited(fault: Fault) -> Exited {
    let Fault::Other(error) = fault else { panic!("another fault: {fault}") };
    *error.downcast().expect("the fault is about the end of a process")
}
