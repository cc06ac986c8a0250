//! A process group that is not a transport.

use std::future::poll_fn;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use agentwire_transport_stdio::ProcessGroup;
use futures::AsyncReadExt as _;

use crate::children::{assert_gone, members};
use crate::support::run;

fn shell(script: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// The leader is a zombie until `finish`, so its id stays that of the group.
#[test]
fn the_end_of_the_leader_is_reported_before_the_group_is_killed() {
    run(async {
        for (script, code, signal) in
            [("exit 7", Some(7), None), ("kill -TERM $$", None, Some(15)), ("exit 0", Some(0), None)]
        {
            let mut group = ProcessGroup::spawn(shell(&format!("sleep 100 & {script}"))).unwrap();
            poll_fn(|cx| group.poll_ended(cx)).await;
            assert!(group.has_ended());
            let status = group.status().unwrap();
            assert_eq!((status.code(), status.signal()), (code, signal), "{script}");
            assert!(members(group.id()).len() > 1, "what it has started runs on");
            let id = group.id();
            assert_eq!(group.finish(), Some(status), "{script}");
            assert_eq!(group.finish(), Some(status), "the second time");
            assert_gone(id);
        }
    });
}

/// The shell looks for the signal after each command, and waits for nothing that it could miss the signal in.
#[test]
fn a_group_is_asked_to_end_and_goes_with_a_drop() {
    run(async {
        let mut group =
            ProcessGroup::spawn(shell("trap 'echo asked; exit 3' TERM; echo; while :; do :; done")).unwrap();
        let mut stdout = group.take_pipes().unwrap().stdout;
        let mut byte = [0];
        stdout.read_exact(&mut byte).await.unwrap();
        assert!(!group.has_ended() && group.status().is_none());
        group.terminate();
        let mut text = String::new();
        stdout.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "asked\n");
        poll_fn(|cx| group.poll_ended(cx)).await;
        assert_eq!(group.finish().unwrap().code(), Some(3));

        let group = ProcessGroup::spawn(shell("sleep 100")).unwrap();
        let id = group.id();
        drop(group);
        assert_gone(id);
    });
}

#[test]
fn only_pipes_can_be_taken() {
    let mut command = shell("exit 0");
    command.stdout(Stdio::null());
    let mut group = ProcessGroup::spawn(command).unwrap();
    assert!(group.take_pipes().is_err());
}
