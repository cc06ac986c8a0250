//! The MCP rows: the load generator is the client of a server.

use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use memchr::memmem;
use serde_json::{Value, json};

use super::wire::{Flow, Rate, Template, burst, call, pump, request};
use crate::load::pace::{Pace, median};
use crate::load::process::Launch;
use crate::load::process::{Process, on_one_core};
use crate::load::rows::{Better, Floor, Row, Unit};
use crate::load::scenario::{Sample, Scenario};
use crate::load::subject::Subject;

/// The argument of a small call.
const TEXT: &str = "thirty-two bytes of plain ascii.";

/// The number of additional tools in that row.
const MORE_TOOLS: usize = 98;

/// The length of the big call's argument, in bytes.
const BIG: usize = 16 * 1024 * 1024;

/// How long a server may take for the big call before it counts as unanswered.
const BIG_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) const SCENARIOS: [Scenario; 5] = [
    Scenario {
        name: "calls, 64 in flight",
        rows: &[
            Row::rate(
                "i",
                "echo calls/s, 64 in flight, two cores",
                &[Floor::OfLimit(0.4), Floor::OfRival(3.0)],
            ),
            Row::cost(
                "j",
                "server's processor time for each of them",
                Unit::Microseconds,
                &[Floor::AtMost(3.0)],
            ),
            Row::rate("i-overlapped", "echo calls/s, new requests 16 at a time", &[]),
        ],
        measure: in_flight,
    },
    Scenario {
        name: "calls, one at a time",
        rows: &[Row::rate("k", "echo calls/s, one at a time, both ends on one core", &[Floor::OfLimit(0.5)])],
        measure: sequential,
    },
    Scenario {
        name: "burst of progress",
        rows: &[Row::rate(
            "l",
            "progress notifications/s, burst of 100 k",
            &[Floor::OfLimit(0.25), Floor::OfRival(4.0)],
        )],
        measure: progress,
    },
    Scenario {
        name: "98 more tools",
        rows: &[Row {
            key: "m",
            title: "calls/s one at a time with 98 more tools, as a share of without",
            unit: Unit::Share,
            better: Better::Higher,
            floors: &[Floor::AtLeast(0.95)],
        }],
        measure: with_more_tools,
    },
    Scenario {
        name: "a 16 MiB argument",
        rows: &[
            Row::cost("n", "a 16 MiB argument echoed", Unit::Milliseconds, &[Floor::AtMostOfLimit(1.5)]),
            Row::cost("n-memory", "server's peak memory then", Unit::Megabytes, &[Floor::AtMost(64.0)]),
        ],
        measure: big,
    },
];

/// Checks with a JSON parser that the server behaves as every subject must.
pub(crate) fn check(subject: &Subject) -> Result<()> {
    let mut server = open_session(&subject.service.clone().with("TOOLS", MORE_TOOLS))?;
    let tools = call(&mut server, &request(2, "tools/list", json!({})), drop)?;
    let tools = tools["tools"].as_array().context("no tools")?;
    ensure!(tools.len() == MORE_TOOLS + 2, "{} tools instead of {}", tools.len(), MORE_TOOLS + 2);
    let echoed = call(
        &mut server,
        &request(3, "tools/call", json!({ "name": "echo", "arguments": { "text": TEXT } })),
        drop,
    )?;
    let block = &echoed["content"][0];
    ensure!(block["type"] == "text" && block["text"] == TEXT, "echo answered {echoed}");
    let mut seen = Vec::new();
    call(&mut server, &burst_request(4, 3), |message| seen.push(message))?;
    for (step, message) in (1..).zip(&seen) {
        let params = &message["params"];
        let right = message["method"] == "notifications/progress"
            && params["progressToken"] == 4
            && params["progress"].as_f64() == Some(f64::from(step))
            && params["total"].as_f64() == Some(3.0);
        ensure!(right, "expected progress {step} of 3, got {message}");
    }
    ensure!(seen.len() == 3, "asked for 3 notifications, got {}", seen.len());
    server.finish(Ok(()))
}

fn in_flight(subject: &Subject, pace: &Pace) -> Result<Vec<Sample>> {
    let rate = echoes(&subject.service, pace, Flow::IN_FLIGHT)?;
    let overlapped = echoes(&subject.service, pace, Flow::OVERLAPPED)?;
    Ok(vec![Some(rate.per_second), Some(rate.microseconds), Some(overlapped.per_second)])
}

fn sequential(subject: &Subject, pace: &Pace) -> Result<Vec<Sample>> {
    on_one_core(|| Ok(vec![Some(echoes(&subject.service, pace, Flow::SEQUENTIAL)?.per_second)]))
}

fn with_more_tools(subject: &Subject, pace: &Pace) -> Result<Vec<Sample>> {
    on_one_core(|| {
        let alone = echoes(&subject.service, pace, Flow::SEQUENTIAL)?.per_second;
        let crowd =
            echoes(&subject.service.clone().with("TOOLS", MORE_TOOLS), pace, Flow::SEQUENTIAL)?.per_second;
        Ok(vec![Some(crowd / alone)])
    })
}

fn echoes(launch: &Launch, pace: &Pace, flow: Flow) -> Result<Rate> {
    let mut server = open_session(launch)?;
    let template = echo(TEXT);
    let rate = pump(&mut server, &template, flow, pace.window);
    server.finish(rate)
}

fn progress(subject: &Subject, pace: &Pace) -> Result<Vec<Sample>> {
    let mut server = open_session(&subject.service)?;
    let mut run = |id, count| burst(&mut server, &burst_request(id, count), count, Duration::ZERO);
    let mut measure = || {
        run(2, 1_000)?;
        (3..3 + pace.bursts).map(|id| run(id, pace.burst)).collect::<Result<Vec<_>>>()
    };
    let bursts = measure();
    let bursts = server.finish(bursts)?;
    Ok(vec![Some(median(bursts.iter().map(|burst| pace.burst as f64 / burst.all.as_secs_f64())))])
}

/// A server that never answers has no sample; the run goes on.
fn big(subject: &Subject, pace: &Pace) -> Result<Vec<Sample>> {
    let mut server = open_session(&subject.service)?;
    server.set_timeout(BIG_TIMEOUT);
    server.lines.reserve(2 * BIG);
    let text = "a".repeat(BIG);
    let times: Result<Vec<Duration>> =
        (2..2 + pace.bursts).map(|id| echo_big(&mut server, id, &text)).collect();
    if times.is_err() && server.has_timed_out() {
        return Ok(vec![None, None]);
    }
    let measured = times.and_then(|times| Ok((times, server.peak_memory()? / 1e6)));
    let (times, peak) = server.finish(measured)?;
    Ok(vec![Some(median(times.iter().map(|time| time.as_secs_f64() * 1e3))), Some(peak)])
}

fn echo_big(server: &mut Process, id: u64, text: &str) -> Result<Duration> {
    let mut line = Vec::with_capacity(text.len() + 256);
    echo(text).write(id, &mut line);
    let begun = Instant::now();
    // Written on another thread, because a server may begin to answer before it has read everything.
    let answer = std::thread::scope(|scope| {
        let writer = scope.spawn(|| server.input.write_all(&line));
        let answer = server.lines.next();
        match writer.join() {
            Ok(written) => written.and(answer),
            Err(_) => Err(std::io::Error::other("the writing thread panicked")),
        }
    })?;
    let elapsed = begun.elapsed();
    ensure!(memmem::find(answer, text.as_bytes()).is_some(), "the text came back changed");
    Ok(elapsed)
}

/// Starts a server and opens a session.
pub(in crate::load) fn open_session(launch: &Launch) -> Result<Process> {
    let opened = Process::start(launch, &[])?.prepare(|server| {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "bench", "version": "0.1.0" },
        });
        let result = call(server, &request(0, "initialize", params), drop)?;
        ensure!(result["protocolVersion"] == "2025-11-25", "the server speaks {}", result["protocolVersion"]);
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        Ok(server.input.write_all(format!("{initialized}\n").as_bytes())?)
    });
    opened.map(|(server, ())| server)
}

fn echo(text: &str) -> Template {
    Template::new("tools/call", &format!(r#"{{"name":"echo","arguments":{{"text":"{text}"}}}}"#))
}

fn burst_request(id: u64, count: u64) -> Value {
    let meta = json!({ "progressToken": id });
    request(id, "tools/call", json!({ "name": "burst", "arguments": { "n": count }, "_meta": meta }))
}
