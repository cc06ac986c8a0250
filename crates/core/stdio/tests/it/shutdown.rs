use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use agentwire_transport_stdio::{Command, Stderr};
use futures::{SinkExt, StreamExt};

use crate::children::{assert_gone, listen, members, packet, shell, spawn};
use crate::support::{HELLO, LONG, Stranger, example, run, watch};

const SHORT: Duration = Duration::from_millis(100);

#[test]
fn an_end_of_input_is_enough_for_most() {
    run(async {
        let start = Instant::now();
        let mut child = spawn(Command::new("cat").grace(Duration::from_secs(30)));
        child.send(packet(HELLO)).await.unwrap();
        child.close().await.unwrap();
        assert!(start.elapsed() < Duration::from_secs(10));
        assert_gone(child.id());
    });
}

#[test]
fn child_that_ignores_the_end_gets_sigterm() {
    run(async {
        let script = "trap 'echo asked >&2; exit' TERM; echo ready >&2; while :; do sleep 0.01; done";
        let (command, lines) = listen(shell(script).grace(Duration::from_millis(500)));
        let mut child = spawn(command);
        wait_for(&mut child, &lines, "ready").await;
        child.close().await.unwrap();
        // Shells also tell of the sleep that was hit.
        assert!(lines.try_iter().any(|line| line == "asked"));
        assert_gone(child.id());
    });
}

#[test]
fn child_that_ignores_sigterm_is_killed() {
    run(async {
        let (command, lines) =
            listen(shell("trap '' TERM; echo ready >&2; while :; do sleep 1000; done").grace(SHORT));
        let mut child = spawn(command);
        wait_for(&mut child, &lines, "ready").await;
        let start = Instant::now();
        child.close().await.unwrap();
        assert!(start.elapsed() >= 2 * SHORT && start.elapsed() < Duration::from_secs(10));
        assert_gone(child.id());
    });
}

#[test]
fn last_output_does_not_delay_the_end() {
    run(async {
        // It ends only when all its output has been taken.
        let mut child = spawn(shell("read end; head -c 1000000 /dev/zero").grace(Duration::from_secs(30)));
        child.close().await.unwrap();
    });
}

#[test]
fn an_answer_to_the_end_reaches_whoever_still_listens() {
    run(async {
        // Listening and closing in turn, and in two tasks. What the leader leaves behind answers, so that the
        // end of the stream comes last.
        let script = format!("(while read line; do :; done; sleep 0.1; echo '{HELLO}') <&0 & exit");
        for tasks in [1, 2] {
            let start = Instant::now();
            let command = shell(&script).stderr(Stderr::Discard).grace(Duration::from_secs(30));
            let (mut sink, stream) = spawn(command).split();
            let packets = if tasks == 1 {
                let (closed, packets) = futures::join!(sink.close(), stream.collect::<Vec<_>>());
                closed.unwrap();
                packets
            } else {
                let listening = tokio::spawn(stream.collect::<Vec<_>>());
                sink.close().await.unwrap();
                listening.await.unwrap()
            };
            assert_eq!(packets.into_iter().map(Result::unwrap).collect::<Vec<_>>(), [packet(HELLO)]);
            assert!(start.elapsed() < Duration::from_secs(10));
        }
    });
}

/// A process with a grandchild that ignores the end of its input and SIGTERM, and does not hold the output.
const FAMILY: &str = "trap '' TERM; sleep 1000 >/dev/null 2>&1 & echo $! >&2; exec cat";

#[test]
fn grandchildren_go_with_a_close() {
    run(async {
        // Without the guard, which would do it too.
        let (command, lines) = listen(shell(FAMILY).guard(false));
        let mut child = spawn(command);
        let grandchild = Stranger::of(wait_for(&mut child, &lines, "").await.parse().unwrap());
        child.close().await.unwrap();
        grandchild.wait();
        assert!(child.next().await.is_none());
    });
}

#[test]
fn grandchildren_go_with_a_drop() {
    run(async {
        // Without the guard, which would do it too.
        let (command, lines) = listen(shell(FAMILY).guard(false));
        let mut child = spawn(command);
        let grandchild = Stranger::of(wait_for(&mut child, &lines, "").await.parse().unwrap());
        let leader = child.id();
        drop(child);
        grandchild.wait();
        assert_gone(leader);
    });
}

#[test]
fn grandchildren_that_speak_get_their_grace() {
    run(async {
        // The leader ends at once; the one that has its output needs a while and reports that it had it.
        let script = "(while read line; do :; done; sleep 0.3; echo late >&2) <&0 & exit";
        let (command, lines) = listen(shell(script).grace(Duration::from_secs(30)));
        let mut child = spawn(command);
        child.close().await.unwrap();
        assert_eq!(lines.try_iter().collect::<Vec<_>>(), ["late"]);
    });
}

#[test]
fn our_own_death_is_the_end_of_all() {
    let mut keeper = std::process::Command::new(example("keeper"))
        .arg(format!(r#"/bin/sh -c "{}""#, "trap '' TERM HUP; sleep 1000 & echo $$ $! >&2; wait; wait"))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    watch(&keeper);
    let mut line = String::new();
    BufReader::new(keeper.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let line = line.strip_prefix("sh: ").unwrap();
    let ids: Vec<u32> = line.split_whitespace().map(|id| id.parse().unwrap()).collect();
    let start = Instant::now();
    while !members(ids[0]).into_iter().all(ignores_requests) {
        assert!(start.elapsed() < LONG, "something does not ignore SIGTERM");
        std::thread::yield_now();
    }
    let group = members(ids[0]);
    assert_eq!(group.len(), 3, "the process, its child and the guard");
    let members: Vec<_> = group.into_iter().map(Stranger::of).collect();
    let other = spawn(Command::new("cat").guard(false));
    keeper.kill().unwrap();
    keeper.wait().unwrap();
    for member in members {
        member.wait();
    }
    assert_eq!(crate::children::members(other.id()), [other.id()], "another group was hit");
}

/// Whether a process ignores SIGTERM.
fn ignores_requests(id: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(ignored.trim(), 16).unwrap() & (1 << (15 - 1)) != 0
}

#[test]
fn a_guard_is_optional() {
    let guarded = spawn(Command::new("cat"));
    assert_eq!(members(guarded.id()).len(), 2);
    let unguarded = spawn(Command::new("cat").guard(false));
    assert_eq!(members(unguarded.id()).len(), 1);
}

/// Reads the child's lines until one is `wanted`; any is where that is empty.
async fn wait_for(
    child: &mut agentwire_transport_stdio::Child,
    lines: &std::sync::mpsc::Receiver<String>,
    wanted: &str,
) -> String {
    std::future::poll_fn(|cx| {
        assert!(child.poll_next_unpin(cx).is_pending());
        match lines.try_iter().find(|line| wanted.is_empty() || line == wanted) {
            Some(line) => std::task::Poll::Ready(line),
            None => std::task::Poll::Pending,
        }
    })
    .await
}
