//! The load generator's side of a conversation over pipes.
//!
//! It must be much faster than its subjects. So it counts newlines, finds a response's `id` by its bytes, and joins the
//! requests that one read makes room for into one write. A JSON parser checks the content of the responses once for each
//! program, before the measurement.

use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use memchr::memmem::Finder;
use serde_json::{Value, json};

use crate::load::process::Process;

/// A request without its id: the text before the id, and the text after it.
pub(crate) struct Template {
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl Template {
    /// `params` is JSON text: a parsed value would lose the order of members that real peers write.
    pub(crate) fn new(method: &str, params: &str) -> Self {
        let tail = format!(",\"method\":\"{method}\",\"params\":{params}}}\n");
        Self { head: b"{\"jsonrpc\":\"2.0\",\"id\":".to_vec(), tail: tail.into_bytes() }
    }

    /// Adds one request, a line.
    pub(crate) fn write(&self, id: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.head);
        // Infallible: the target is a `Vec`.
        let _ = write!(out, "{id}");
        out.extend_from_slice(&self.tail);
    }
}

/// How long to load a program.
#[derive(Clone, Copy)]
pub(crate) struct Window {
    pub(crate) warm_up: Duration,
    pub(crate) measured: Duration,
}

/// The results of a window.
pub(crate) struct Rate {
    pub(crate) per_second: f64,
    /// The program's processor time for one call, in microseconds.
    pub(crate) microseconds: f64,
}

/// How many requests are sent at once.
#[derive(Clone, Copy)]
pub(crate) struct Flow {
    pub(crate) in_flight: u64,
    /// The maximum number of requests in one write. With `in_flight`, the client replaces all requests that one read
    /// answered. With less, the program works while the client reads.
    pub(crate) joined: usize,
}

impl Flow {
    pub(crate) const SEQUENTIAL: Self = Self { in_flight: 1, joined: 1 };
    pub(crate) const IN_FLIGHT: Self = Self { in_flight: 64, joined: 64 };
    pub(crate) const OVERLAPPED: Self = Self { in_flight: 64, joined: 16 };
}

/// Keeps requests in flight and counts the responses of the window. Each id must be answered once, with a result.
pub(crate) fn pump(process: &mut Process, template: &Template, flow: Flow, window: Window) -> Result<Rate> {
    let mut pump = Pump::new(template, flow);
    pump.send(process, flow.in_flight)?;
    pump.run(process, window.warm_up)?;
    let processor_time = process.processor_time()?;
    let begun = Instant::now();
    let calls = pump.run(process, window.measured)?;
    let wall = begun.elapsed();
    let processor_time = process.processor_time()? - processor_time;
    pump.drain(process)?;
    Ok(Rate {
        per_second: calls as f64 / wall.as_secs_f64(),
        microseconds: processor_time.as_secs_f64() * 1e6 / calls as f64,
    })
}

struct Pump<'a> {
    template: &'a Template,
    flow: Flow,
    id: Finder<'static>,
    result: Finder<'static>,
    out: Vec<u8>,
    sent: u64,
    answered: u64,
    /// The sum of the answered ids, to compare with the sum of the sent ones.
    ids: u64,
    refused: u64,
}

impl<'a> Pump<'a> {
    fn new(template: &'a Template, flow: Flow) -> Self {
        let (id, result) = (Finder::new("\"id\":"), Finder::new("\"result\":"));
        Self { template, flow, id, result, out: Vec::new(), sent: 0, answered: 0, ids: 0, refused: 0 }
    }

    fn send(&mut self, process: &mut Process, count: u64) -> Result<()> {
        self.out.clear();
        for _ in 0..count {
            self.sent += 1;
            self.template.write(self.sent, &mut self.out);
        }
        Ok(process.input.write_all(&self.out)?)
    }

    fn receive(&mut self, process: &mut Process) -> Result<u64> {
        let before = self.answered;
        process.lines.batch(self.flow.joined, |line| {
            let id = self.id.find(line).map(|at| number(&line[at + 5..]));
            self.refused += u64::from(self.result.find(line).is_none() || id.is_none());
            self.ids += id.unwrap_or(0);
            self.answered += 1;
        })?;
        Ok(self.answered - before)
    }

    fn run(&mut self, process: &mut Process, time: Duration) -> Result<u64> {
        let (begun, before) = (Instant::now(), self.answered);
        while begun.elapsed() < time {
            let room = self.receive(process)?;
            self.send(process, room)?;
        }
        Ok(self.answered - before)
    }

    /// Waits for the responses that are missing.
    fn drain(&mut self, process: &mut Process) -> Result<()> {
        while self.answered < self.sent {
            self.receive(process)?;
        }
        ensure!(self.refused == 0, "{} of {} answers were no results", self.refused, self.sent);
        ensure!(self.ids == self.sent * (self.sent + 1) / 2, "not every request was answered exactly once");
        Ok(())
    }
}

fn number(digits: &[u8]) -> u64 {
    digits
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .fold(0, |sum, byte| sum * 10 + u64::from(byte - b'0'))
}

/// The times of a burst of notifications.
pub(crate) struct Burst {
    /// From the request to the first byte.
    pub(crate) first: Duration,
    pub(crate) all: Duration,
}

/// Sends a request for `count` notifications, and reads them and the response, which must be the last line. After the first
/// byte it does not read for `stall`.
pub(crate) fn burst(process: &mut Process, request: &Value, count: u64, stall: Duration) -> Result<Burst> {
    let line = format!("{request}\n");
    let begun = Instant::now();
    process.input.write_all(line.as_bytes())?;
    process.lines.wait()?;
    let first = begun.elapsed();
    std::thread::sleep(stall);
    let last = process.lines.skip_to(count + 1)?;
    let all = begun.elapsed();
    let last: Value = serde_json::from_slice(last).context("the line after the burst is not JSON")?;
    ensure!(last["id"] == request["id"] && last["result"].is_object(), "after {count} lines came {last}");
    Ok(Burst { first, all })
}

/// Sends a request and returns its result, for handshakes and checks. Earlier notifications are passed to `seen`.
pub(crate) fn call(process: &mut Process, request: &Value, mut seen: impl FnMut(Value)) -> Result<Value> {
    process.input.write_all(format!("{request}\n").as_bytes())?;
    loop {
        let mut message: Value = serde_json::from_slice(process.lines.next()?)?;
        match message.get("id") {
            None => seen(message),
            Some(id) if *id == request["id"] && message["result"].is_object() => {
                return Ok(message["result"].take());
            }
            Some(_) => bail!("{request} was answered with {message}"),
        }
    }
}

/// A request as a value.
pub(crate) fn request(id: u64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}
