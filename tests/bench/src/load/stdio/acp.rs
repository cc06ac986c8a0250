//! The ACP rows: the load generator is the client of an agent, or the agent of a client.

use std::io::{BufRead, BufReader, Write};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::wire::{Flow, Template, burst, call, pump, request};
use crate::load::pace::{Pace, median};
use crate::load::process::{Process, on_one_core};
use crate::load::rows::{Floor, Row, Unit};
use crate::load::scenario::{Sample, Scenario};
use crate::load::subject::Subject;

/// An update with its members in the order in which agents write them. A late tag costs a reader more.
const UPDATE: &str = concat!(
    r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"session-1","update":"#,
    r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a piece of the answer as it comes"}}}}"#,
);

/// How long a client stops reading.
const STALL: Duration = Duration::from_secs(2);

pub(crate) const SCENARIOS: [Scenario; 5] = [
    Scenario {
        name: "prompts, one at a time",
        rows: &[
            Row::rate(
                "a",
                "prompts/s, one at a time, both ends on one core",
                &[Floor::OfLimit(0.6), Floor::OfRival(3.0)],
            ),
            Row::cost("a-cpu", "agent's processor time for each of them", Unit::Microseconds, &[]),
        ],
        measure: sequential,
    },
    Scenario {
        name: "prompts, 64 in flight",
        rows: &[
            Row::rate("b", "prompts/s, 64 in flight", &[Floor::OfLimit(0.5), Floor::OfRival(15.0)]),
            Row::rate("b-overlapped", "the same, new requests 16 at a time", &[]),
        ],
        measure: in_flight,
    },
    Scenario {
        name: "burst of updates",
        rows: &[
            Row::rate("c", "updates/s, burst of 100 k", &[Floor::OfLimit(0.6), Floor::OfRival(50.0)]),
            Row::cost("d", "first update of that burst", Unit::Milliseconds, &[Floor::Below(1.0)]),
            Row::cost("e", "agent's peak memory in that burst", Unit::Megabytes, &[Floor::Below(8.0)]),
        ],
        measure: updates,
    },
    Scenario {
        name: "a client that stops reading",
        rows: &[Row::cost(
            "f",
            "agent's peak memory, 500 k updates, client stops reading for 2 s",
            Unit::Megabytes,
            &[Floor::Below(16.0)],
        )],
        measure: stalled,
    },
    Scenario {
        name: "updates received",
        rows: &[Row::rate("g", "client: updates/s received, 100 k", &[Floor::OfRival(6.0)])],
        measure: received,
    },
];

/// Checks with a JSON parser that the agent behaves as every subject must.
pub(crate) fn check(subject: &Subject) -> Result<()> {
    let (mut agent, session) = open_session(subject)?;
    let mut seen = Vec::new();
    let outcome = call(&mut agent, &prompt(&session, 7, "burst 3"), |message| seen.push(message))?;
    ensure!(outcome["stopReason"] == "end_turn", "the turn ended with {outcome}");
    for (number, message) in seen.iter().enumerate() {
        let content = json!({ "type": "text", "text": format!("chunk {number}") });
        let expected = json!({ "sessionUpdate": "agent_message_chunk", "content": content });
        let right = message["method"] == "session/update"
            && message["params"]["sessionId"] == session
            && message["params"]["update"] == expected;
        ensure!(right, "expected the update {expected}, got {message}");
    }
    ensure!(seen.len() == 3, "asked for 3 updates, got {}", seen.len());
    let outcome = call(&mut agent, &prompt(&session, 8, "hello"), |message| seen.push(message))?;
    ensure!(
        outcome["stopReason"] == "end_turn" && seen.len() == 3,
        "a plain prompt must end the turn at once"
    );
    agent.finish(Ok(()))
}

fn sequential(subject: &Subject, pace: &Pace) -> Result<Vec<Sample>> {
    on_one_core(|| {
        let rate = prompts(subject, pace, Flow::SEQUENTIAL)?;
        Ok(vec![Some(rate.per_second), Some(rate.microseconds)])
    })
}

fn in_flight(subject: &Subject, pace: &Pace) -> Result<Vec<Sample>> {
    let one_write = prompts(subject, pace, Flow::IN_FLIGHT)?.per_second;
    let overlapped = prompts(subject, pace, Flow::OVERLAPPED)?.per_second;
    Ok(vec![Some(one_write), Some(overlapped)])
}

fn prompts(subject: &Subject, pace: &Pace, flow: Flow) -> Result<super::wire::Rate> {
    let (mut agent, session) = open_session(subject)?;
    let session = json!(session);
    let params = format!(r#"{{"sessionId":{session},"prompt":[{{"type":"text","text":"hello"}}]}}"#);
    let template = Template::new("session/prompt", &params);
    let rate = pump(&mut agent, &template, flow, pace.window);
    agent.finish(rate)
}

fn updates(subject: &Subject, pace: &Pace) -> Result<Vec<Sample>> {
    let (mut agent, session) = open_session(subject)?;
    let mut run = |count: u64| {
        burst(&mut agent, &prompt(&session, count, &format!("burst {count}")), count, Duration::ZERO)
    };
    let mut measure = || {
        run(1_000)?;
        (0..pace.bursts).map(|_| run(pace.burst)).collect::<Result<Vec<_>>>()
    };
    let bursts = measure();
    let measured = bursts.and_then(|bursts| Ok((bursts, agent.peak_memory()? / 1e6)));
    let (bursts, peak) = agent.finish(measured)?;
    let rate = median(bursts.iter().map(|burst| pace.burst as f64 / burst.all.as_secs_f64()));
    let first = median(bursts.iter().map(|burst| burst.first.as_secs_f64() * 1e3));
    Ok(vec![Some(rate), Some(first), Some(peak)])
}

fn stalled(subject: &Subject, pace: &Pace) -> Result<Vec<Sample>> {
    let (mut agent, session) = open_session(subject)?;
    let count = 5 * pace.burst;
    let burst = burst(&mut agent, &prompt(&session, 2, &format!("burst {count}")), count, STALL);
    let peak = burst.and_then(|_| agent.peak_memory());
    Ok(vec![Some(agent.finish(peak)? / 1e6)])
}

/// Starts the agent and opens a session.
fn open_session(subject: &Subject) -> Result<(Process, String)> {
    Process::start(&subject.service, &[])?.prepare(|agent| {
        let params = json!({ "protocolVersion": 1, "clientCapabilities": {} });
        let result = call(agent, &request(0, "initialize", params), drop)?;
        ensure!(result["protocolVersion"] == 1, "the agent speaks version {}", result["protocolVersion"]);
        let params = json!({ "cwd": "/", "mcpServers": [] });
        let session = call(agent, &request(1, "session/new", params), drop)?;
        Ok(session["sessionId"].as_str().context("no sessionId")?.to_owned())
    })
}

fn prompt(session: &str, id: u64, text: &str) -> Value {
    request(
        id,
        "session/prompt",
        json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] }),
    )
}

/// Sends a burst to a client that asks for it, and measures the time until the client reports the last update.
fn received(subject: &Subject, pace: &Pace) -> Result<Vec<Sample>> {
    let launch = subject.client.as_ref().context("no client program")?;
    let mut client = Process::start_with_stderr(launch, &[pace.burst.to_string()])?;
    let elapsed = send_burst(&mut client, pace.burst);
    Ok(vec![Some(pace.burst as f64 / client.finish(elapsed)?.as_secs_f64())])
}

fn send_burst(client: &mut Process, updates: u64) -> Result<Duration> {
    let answer = loop {
        let message: Value = serde_json::from_slice(client.lines.next()?)?;
        let result = match message["method"].as_str() {
            Some("initialize") => json!({ "protocolVersion": 1, "agentCapabilities": {} }),
            Some("session/new") => json!({ "sessionId": "session-1" }),
            Some("session/prompt") => {
                let wanted = format!("burst {updates}");
                ensure!(message["params"]["prompt"][0]["text"] == wanted, "the client prompts {message}");
                break json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "stopReason": "end_turn" } });
            }
            _ => bail!("the client sent {message}"),
        };
        let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
        client.input.write_all(format!("{answer}\n").as_bytes())?;
    };
    // As many whole lines as fill a pipe, prepared before the measurement.
    let line = format!("{UPDATE}\n");
    let many = 64 * 1024 / line.len();
    let block = line.repeat(many);
    let mut left = updates as usize;
    let begun = Instant::now();
    while left > 0 {
        let now = left.min(many);
        client.input.write_all(&block.as_bytes()[..now * line.len()])?;
        left -= now;
    }
    client.input.write_all(format!("{answer}\n").as_bytes())?;
    let mut report = String::new();
    BufReader::new(client.stderr.as_mut().context("stderr is a pipe")?).read_line(&mut report)?;
    let elapsed = begun.elapsed();
    let seen = report.strip_prefix("updates ").and_then(|rest| rest.split_whitespace().next());
    ensure!(
        seen == Some(updates.to_string().as_str()),
        "sent {updates} updates, the client reported {report:?}"
    );
    Ok(elapsed)
}
