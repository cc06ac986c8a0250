//! Clients that call the tools of the limit's server.

use std::collections::HashMap;

use anyhow::{Context, Result, ensure};

use super::calls::{BIG, MAX_MEMORY};
use super::form::Form;
use super::server::start;
use crate::load::pace::Pace;
use crate::load::process::{Process, on_two_cores};
use crate::load::rows::{Floor, Row, Unit};
use crate::load::scenario::{Sample, Scenario};
use crate::load::subject::{Side, Subject};

/// Calls in flight.
const TASKS: u64 = 64;

/// Progress notifications for each call.
const STEPS: u64 = 100;

const MEMORY: Row = Row::cost("", "", Unit::Megabytes, &[Floor::AtMost(MAX_MEMORY)]);

pub(crate) const SCENARIOS: [Scenario; 4] = [
    Scenario {
        name: "a client's calls",
        rows: &[
            Row::rate("b", "client: echo calls/s, 64 in flight", &[Floor::OfRival(2.0)]),
            Row::cost("b-cpu", "client's processor time for each of them", Unit::Microseconds, &[]),
        ],
        measure: echoes,
    },
    Scenario {
        name: "progress at a client",
        rows: &[
            Row::rate("c3", "client: progress/s received, 100 for each call", &[]),
            Row::cost(
                "c3-order",
                "client: share of it received right after a later one",
                Unit::Share,
                &[Floor::AtMost(0.0)],
            ),
        ],
        measure: bursts,
    },
    Scenario {
        name: "a 16 MiB result at a client, JSON",
        rows: &[Row { key: "e3", title: "client's peak memory, 16 MiB result, JSON", ..MEMORY }],
        measure: |subject, _| big(subject, Form::SessionJson),
    },
    Scenario {
        name: "a 16 MiB result at a client, events",
        rows: &[Row { key: "e4", title: "client's peak memory, 16 MiB result, SSE", ..MEMORY }],
        measure: |subject, _| big(subject, Form::SessionEvents),
    },
];

fn echoes(subject: &Subject, pace: &Pace) -> Result<Vec<Sample>> {
    let window = [pace.window.warm_up, pace.window.measured].map(|time| time.as_millis().to_string());
    let [warm_up, measured] = window;
    let seen = run_client(subject, Form::SessionJson, &["echo", &TASKS.to_string(), &warm_up, &measured])?;
    let (calls, seconds) = (seen.number("calls")?, seen.number("elapsed_ns")? / 1e9);
    Ok(vec![Some(calls / seconds), Some(seen.processor_time * 1e6 / calls)])
}

fn bursts(subject: &Subject, pace: &Pace) -> Result<Vec<Sample>> {
    let calls = (pace.burst / STEPS).to_string();
    let seen = run_client(subject, Form::SessionEvents, &["burst", &calls, &STEPS.to_string()])?;
    let (events, seconds) = (seen.number("events")?, seen.number("elapsed_ns")? / 1e9);
    ensure!(events == pace.burst as f64, "{events} of {} events", pace.burst);
    Ok(vec![Some(events / seconds), Some(seen.number("disorder")? / events)])
}

/// A rival that fails has no sample; the run goes on.
fn big(subject: &Subject, form: Form) -> Result<Vec<Sample>> {
    let seen = match run_client(subject, form, &["big", &BIG.to_string()]) {
        Err(_) if subject.side == Side::Rival => return Ok(vec![None]),
        seen => seen?,
    };
    ensure!(seen.number("bytes")? == BIG as f64, "the result has another length");
    Ok(vec![Some(seen.peak_memory / 1e6)])
}

/// The results of a client.
struct ClientResult {
    /// The names and numbers that it printed.
    numbers: HashMap<String, f64>,
    /// In seconds, between its two lines.
    processor_time: f64,
    peak_memory: f64,
}

impl ClientResult {
    fn number(&self, name: &str) -> Result<f64> {
        self.numbers.get(name).copied().with_context(|| format!("the client did not print {name}"))
    }
}

/// Runs a client on one core against the limit's server on the other. The client prints `begin`, and at the end its
/// numbers. It runs until its input ends, so that its memory can be read.
fn run_client(subject: &Subject, form: Form, arguments: &[&str]) -> Result<ClientResult> {
    on_two_cores(|cores| {
        let (server, address) = start(&subject.service, form, None)?;
        let mut client = {
            let launch = subject.client.as_ref().context("no client program")?;
            let url = format!("http://{address}/mcp");
            let arguments = [url.as_str()].into_iter().chain(arguments.iter().copied());
            cores.start(launch, &arguments.map(str::to_owned).collect::<Vec<_>>())?
        };
        let seen = read_results(&mut client);
        let seen = client.finish(seen);
        server.finish(seen)
    })
}

fn read_results(client: &mut Process) -> Result<ClientResult> {
    ensure!(client.lines.next()? == b"begin", "the client did not begin");
    let before = client.processor_time()?;
    let line = std::str::from_utf8(client.lines.next()?)?.to_owned();
    let processor_time = (client.processor_time()? - before).as_secs_f64();
    let mut words = line.split_whitespace();
    let mut numbers = HashMap::new();
    while let (Some(name), Some(number)) = (words.next(), words.next()) {
        numbers.insert(name.to_owned(), number.parse()?);
    }
    Ok(ClientResult { numbers, processor_time, peak_memory: client.peak_memory()? })
}
