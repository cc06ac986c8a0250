//! Reads a child's stderr continuously, keeps its last 20 lines, and forwards lines to this process's stderr or to a closure.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use agentwire_jsonrpc::Printable;
use futures::{AsyncRead, AsyncWrite};

use crate::process::Stderr;
use crate::{Input, Output};

/// How much of stderr is kept for [`Exited`](agentwire_transport::Exited), in bytes and in lines.
const TAIL_BYTES: usize = 8 << 10;
const TAIL_LINES: usize = 20;

/// The longest line that is passed on in one part, in bytes.
const MAX_LINE: usize = 8 << 10;

/// How many bytes may wait for our own stderr.
const MAX_WAITING: usize = 64 << 10;

/// The size of one read, in bytes.
const CHUNK: usize = 16 << 10;

/// The capacity of a pipe in bytes, at most, unless an administrator allows more.
const MAX_PIPE: usize = 1 << 20;

/// Reads a child's stderr as it comes, so that the child never blocks on it. Forwards the lines and keeps the last ones.
#[derive(Debug)]
pub(super) struct Drain {
    input: Option<Input>,
    buffer: Vec<u8>,
    tail: Vec<u8>,
    target: Target,
}

enum Target {
    Nowhere,
    /// A function, with the unfinished line.
    Ours(Vec<u8>, Forward),
    Lines(Vec<u8>, Arc<dyn Fn(&str) + Send + Sync>),
}

impl Drain {
    /// Reads `input`, if there is one, of a process that runs `program`.
    pub(super) fn new(input: Option<Input>, stderr: &Stderr, program: &str) -> Self {
        let target = match stderr {
            // Without a stderr of our own, the lines cannot be forwarded.
            Stderr::Forward => Output::stderr()
                .map_or(Target::Nowhere, |ours| Target::Ours(Vec::new(), Forward::new(ours, program))),
            Stderr::Lines(call) => Target::Lines(Vec::new(), call.clone()),
            Stderr::Capture | Stderr::Discard => Target::Nowhere,
        };
        Self { input, buffer: Vec::new(), tail: Vec::new(), target }
    }

    /// Reads all available bytes. The task of `cx` is woken for more.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) {
        while let Some(input) = &mut self.input {
            self.buffer.resize(CHUNK, 0);
            match Pin::new(input).poll_read(cx, &mut self.buffer) {
                Poll::Pending => break,
                Poll::Ready(Ok(count)) if count > 0 => self.take(count),
                // The end of stderr. An error of stderr does not end the transport.
                Poll::Ready(_) => self.end(),
            }
        }
        self.pass_on(cx);
    }

    /// Reads the bytes that the killed processes have left in the pipe, also if the runtime has not reported them yet.
    pub(super) fn take_rest(&mut self) {
        // A process that left the group may still write, but the killed ones left no more than fits into a pipe.
        for _ in 0..MAX_PIPE / CHUNK {
            let Some(input) = &mut self.input else { break };
            self.buffer.resize(CHUNK, 0);
            match input.try_read(&mut self.buffer) {
                Ok(0) => self.end(),
                Ok(count) => self.take(count),
                Err(_) => break,
            }
        }
        self.pass_on(&mut Context::from_waker(Waker::noop()));
    }

    /// Takes the first bytes of the buffer.
    fn take(&mut self, count: usize) {
        self.buffer.truncate(count);
        self.keep();
        self.target.take(&self.buffer);
    }

    fn end(&mut self) {
        self.input = None;
        self.buffer = Vec::new();
        self.target.end();
    }

    fn pass_on(&mut self, cx: &mut Context<'_>) {
        if let Target::Ours(_, ours) = &mut self.target
            && ours.poll(cx).is_err()
        {
            self.target = Target::Nowhere;
        }
    }

    fn keep(&mut self) {
        if self.tail.len() + self.buffer.len() > 4 * TAIL_BYTES {
            self.tail.drain(..self.tail.len().saturating_sub(TAIL_BYTES));
        }
        self.tail.extend_from_slice(&self.buffer);
    }

    /// The last lines, without a line end after the last.
    pub(super) fn tail(&self) -> String {
        let kept = &self.tail[self.tail.len().saturating_sub(TAIL_BYTES)..];
        let text = String::from_utf8_lossy(kept);
        let text = text.trim_end();
        let start = text.rmatch_indices('\n').nth(TAIL_LINES - 1).map_or(0, |(at, _)| at + 1);
        text[start..].to_owned()
    }
}

impl Target {
    fn take(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (Self::Ours(started, _) | Self::Lines(started, _)) = self else { return };
            started.extend_from_slice(piece);
            if started.ends_with(b"\n") || started.len() >= MAX_LINE {
                self.give_line();
            }
        }
    }

    /// Forwards an unfinished last line at the end of stderr.
    fn end(&mut self) {
        if let Self::Ours(started, _) | Self::Lines(started, _) = self
            && !started.is_empty()
        {
            self.give_line();
        }
    }

    /// Forwards the current line.
    fn give_line(&mut self) {
        let (Self::Ours(started, _) | Self::Lines(started, _)) = self else { return };
        let line = std::mem::take(started);
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        let text = String::from_utf8_lossy(text.strip_suffix(b"\r").unwrap_or(text));
        match self {
            Self::Nowhere => {}
            Self::Ours(_, ours) => ours.take(&text),
            Self::Lines(_, call) => call(&text),
        }
    }
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Nowhere => "Nowhere",
            Self::Ours(..) => "Ours",
            Self::Lines(..) => "Lines",
        })
    }
}

/// Forwards lines to our own stderr through a bounded buffer, because that may be slower than the child.
#[derive(Debug)]
struct Forward {
    ours: Output,
    /// The prefix of each line, so that no line looks like one of ours.
    name: String,
    waiting: Vec<u8>,
    /// How many lines were left out.
    lost: usize,
}

impl Forward {
    fn new(ours: Output, program: &str) -> Self {
        let name = Path::new(program).file_name().unwrap_or(program.as_ref()).to_string_lossy();
        Self { ours, name: Printable::one_line(&name).to_string(), waiting: Vec::new(), lost: 0 }
    }

    fn take(&mut self, line: &str) {
        let line = format!("{}: {}\n", self.name, Printable::one_line(line));
        // Once a line is dropped, later lines are too, until there is room for the line with their number.
        if self.lost > 0 || self.waiting.len() + line.len() > MAX_WAITING {
            self.lost += 1;
        } else {
            self.waiting.extend(line.bytes());
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        loop {
            if self.waiting.is_empty() {
                match std::mem::take(&mut self.lost) {
                    0 => return Ok(()),
                    lost => self.waiting.extend(format!("{}: [{lost} lines left out]\n", self.name).bytes()),
                }
            }
            match Pin::new(&mut self.ours).poll_write(cx, &self.waiting) {
                Poll::Pending => return Ok(()),
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(count)) => drop(self.waiting.drain(..count)),
                Poll::Ready(Err(error)) => return Err(error),
            }
        }
    }
}
