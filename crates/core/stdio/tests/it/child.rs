use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use agentwire_jsonrpc::Frame;
use agentwire_transport::{Packet, TransportError};
use agentwire_transport_stdio::{Child, Command, SpawnError, Stderr};
use futures::{Sink, SinkExt, StreamExt};

use crate::children::{assert_gone, exited, listen, packet, shell, spawn};
use crate::support::{HELLO, Stranger, example, run, watch};

/// Ten megabytes, in lines of 99 letters.
const FLOOD: &str = "head -c 10000000 /dev/zero | tr '\\0' x | fold -w 99";

#[test]
fn speaks_with_a_process() {
    run(async {
        let mut child = spawn(Command::parse("cat '-'").unwrap());
        for _ in 0..3 {
            child.send(packet(HELLO)).await.unwrap();
            assert_eq!(child.next().await.unwrap().unwrap(), packet(HELLO));
        }
        child.close().await.unwrap();
        assert!(child.next().await.is_none());
    });
}

#[test]
fn gives_it_arguments_environment_and_directory() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let script = r#"echo "$1,$SET,$HOME,$(pwd)" >&2"#;
        let command = shell(script)
            .args(["name", "two words"])
            .env("SET", "yes")
            .env_remove("HOME")
            .current_dir(&folder);
        let mut child = spawn(command);
        let exited = exited(child.next().await.unwrap().unwrap_err());
        assert_eq!(exited.stderr, format!("two words,yes,,{}", folder.display()));
    });
}

#[test]
fn a_flood_on_stderr_stalls_nobody() {
    run(async {
        let mut child = spawn(shell(&format!("{FLOOD} >&2; exec cat")));
        child.send(packet(HELLO)).await.unwrap();
        assert_eq!(child.next().await.unwrap().unwrap(), packet(HELLO));
        let words = child.stderr_tail();
        assert!(words.len() <= 8 << 10 && words.lines().count() == 20, "{words}");
    });
}

#[test]
fn stderr_is_read_while_nothing_else_is() {
    run(async {
        // The driver does not read, because of back-pressure, and has nothing to write.
        let (command, lines) = listen(shell(&format!("{FLOOD} >&2; echo >&2; echo done >&2; exec cat")));
        let mut child = spawn(command);
        poll_fn(|cx| {
            assert!(Pin::new(&mut child).poll_flush(cx).is_ready());
            if lines.try_iter().any(|line| line == "done") { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    });
}

#[test]
fn stderr_is_read_when_two_tasks_share_the_child() {
    run(async {
        let (mut sink, mut stream) = spawn(shell(&format!("read go; {FLOOD} >&2; exec cat"))).split();
        let reading = tokio::spawn(async move { stream.next().await.unwrap().unwrap() });
        // The task that polls last stops polling. The other must be woken for the flood.
        for _ in 0..2 {
            tokio::task::yield_now().await;
            sink.send(packet(HELLO)).await.unwrap();
        }
        assert_eq!(reading.await.unwrap(), packet(HELLO));
    });
}

#[test]
fn forwards_stderr_to_ours() {
    let keeper = std::process::Command::new(example("keeper"))
        .arg("/bin/sh -c 'echo first >&2; printf \"\\\\033[2J\\\\302\\\\233m\\\\r\\\\177\" >&2; exit 7'")
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    watch(&keeper);
    let text = String::from_utf8(keeper.wait_with_output().unwrap().stderr).unwrap();
    // What would steer the terminal that we run at does not reach it, and whose words they are can be seen.
    assert!(text.starts_with("sh: first\nsh: ^[[2J<U+009B>m^M^?\n"), "{text}");
}

#[test]
fn an_end_is_a_fault_that_says_how_and_why() {
    run(async {
        let mut child = spawn(shell("echo one >&2; echo two >&2; exit 3"));
        let id = child.id();
        let fault = child.next().await.unwrap().unwrap_err();
        assert_eq!(fault.to_string(), "`/bin/sh` exited with status 3; its last words were: one\ntwo");
        assert_eq!(exited(fault).status.unwrap().code(), Some(3));
        assert!(child.next().await.is_none());
        assert_gone(id);
        child.close().await.unwrap();
    });
}

#[test]
fn a_signal_is_named() {
    run(async {
        let mut child = spawn(shell("kill -SEGV $$").stderr(Stderr::Discard));
        let fault = child.next().await.unwrap().unwrap_err();
        assert_eq!(fault.to_string(), "`/bin/sh` was killed by SIGSEGV");
    });
}

#[test]
fn messages_before_the_end_are_received() {
    run(async {
        let mut child = spawn(shell(&format!("exec <&-; echo '{HELLO}'; exit 5")));
        Stranger::of(child.id()).wait();
        // It can no longer be written to, but the stream is to tell, and until then the sink keeps quiet.
        // A child that another test is starting holds the pipe's read end too, until it executes its program.
        loop {
            child.feed(packet(HELLO)).await.unwrap();
            if futures::poll!(child.flush()).is_pending() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(child.next().await.unwrap().unwrap(), packet(HELLO));
        assert_eq!(exited(child.next().await.unwrap().unwrap_err()).status.unwrap().code(), Some(5));
        assert_eq!(exited(child.flush().await.unwrap_err()).status.unwrap().code(), Some(5));
    });
}

#[test]
fn an_end_is_told_also_while_somebody_else_holds_its_stdout() {
    run(async {
        let mut child = spawn(shell(&format!("sleep 1000 & echo '{HELLO}'; exit 6")));
        let id = child.id();
        assert_eq!(child.next().await.unwrap().unwrap(), packet(HELLO));
        assert_eq!(exited(child.next().await.unwrap().unwrap_err()).status.unwrap().code(), Some(6));
        assert_gone(id);
        assert!(child.next().await.is_none());
    });
}

#[test]
fn stderr_comes_in_lines_to_whoever_wants_them() {
    run(async {
        let (command, lines) = listen(shell(r"printf 'one\r\n\377\nlast' >&2"));
        let mut child = spawn(command);
        assert!(child.next().await.unwrap().is_err());
        assert_eq!(lines.try_iter().collect::<Vec<_>>(), ["one", "\u{fffd}", "last"]);
    });
}

#[test]
fn a_sink_alone_learns_of_the_end_too() {
    run(async {
        let mut child = spawn(shell("exit 4"));
        let fault = loop {
            match child.send(packet(HELLO)).await {
                Ok(()) => tokio::task::yield_now().await,
                Err(fault) => break fault,
            }
        };
        assert_eq!(exited(fault).status.unwrap().code(), Some(4));
    });
}

#[test]
fn closing_only_its_stdout_ends_the_stream() {
    run(async {
        let mut child = spawn(shell("exec >&-; read never"));
        assert!(child.next().await.is_none());
        child.close().await.unwrap();
    });
}

#[test]
fn garbage_and_a_line_over_the_limit_are_survived() {
    run(async {
        let script =
            format!(r"printf 'garbage\n\377\n'; head -c 3000000 /dev/zero; echo; echo '{HELLO}'; exec cat");
        let mut child = spawn(shell(&script).limit(1 << 20));
        for _ in 0..3 {
            let Packet::Frame { frame, .. } = child.next().await.unwrap().unwrap() else { panic!() };
            assert!(matches!(frame, Frame::Malformed(_)), "{frame:?}");
        }
        assert_eq!(child.next().await.unwrap().unwrap(), packet(HELLO));
    });
}

#[test]
fn a_failed_start_names_the_program() {
    let error = Child::spawn(Command::new("/nowhere/agent")).unwrap_err();
    assert!(matches!(error, SpawnError::Start { .. }) && error.to_string().contains("`/nowhere/agent`"));
    let error = Child::spawn(Command::new("cat").current_dir("/nowhere")).unwrap_err();
    assert!(matches!(error, SpawnError::Directory { .. }) && error.to_string().contains("/nowhere"));
    assert!(Command::parse("'open").is_err() && Command::parse(" ").is_err());
}

#[test]
fn a_child_that_does_not_read_holds_us_back() {
    run(async {
        let mut child = spawn(shell("exec sleep 1000").grace(std::time::Duration::from_millis(50)));
        let message = format!(r#"{{"jsonrpc":"2.0","method":"{}"}}"#, "x".repeat(1000));
        let mut sent = 0;
        while futures::poll!(child.feed(packet(&message))).is_ready() {
            sent += message.len();
            assert!(sent < 1 << 20, "no back-pressure");
        }
        // A full pipe and one full buffer.
        assert!(sent >= 64 << 10, "{sent}");
        // What waits to be written does not keep it from being closed.
        child.close().await.unwrap();
    });
}

#[test]
fn a_line_of_many_megabytes_passes() {
    run(async {
        let text = format!(r#"{{"jsonrpc":"2.0","method":"big","params":["{}"]}}"#, "x".repeat(16 << 20));
        let (mut sink, mut stream) = spawn(Command::new("cat")).split();
        let sent = packet(&text);
        let (result, received) = futures::join!(sink.send(sent.clone()), stream.next());
        result.unwrap();
        assert!(received.unwrap().unwrap() == sent);
    });
}

#[test]
fn no_runtime_is_an_error_and_dropping_needs_none() {
    let mut child = spawn(Command::new("cat"));
    let id = child.id();
    let fault = futures_lite_next(&mut child);
    assert!(matches!(fault, TransportError::Io(_)), "{fault}");
    drop(child);
    assert_gone(id);

    let child = run(async {
        let mut child = spawn(Command::new("cat"));
        child.send(packet(HELLO)).await.unwrap();
        child
    });
    let id = child.id();
    drop(child);
    assert_gone(id);
}

fn futures_lite_next(child: &mut Child) -> TransportError {
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    match child.poll_next_unpin(&mut cx) {
        Poll::Ready(Some(Err(fault))) => fault,
        other => panic!("{other:?}"),
    }
}
