//! The ACP rows: the driver plays the client to an agent, and the agent to a client.

use std::io::{BufRead, BufReader, Write};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::pace::{Pace, median};
use super::process::{Process, on_one_core};
use super::rows::{Better, Floor, Row, Unit};
use super::scenario::{Sample, Scenario};
use super::subject::Subject;
use super::wire::{Flow, Template, burst, call, pump, request};

/// An update as an agent writes it, members in the order in which agents write them: a tag that comes late costs a reader more.
const UPDATE: &str = concat!(
    r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"session-1","update":"#,
    r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a piece of the answer as it comes"}}}}"#,
);

pub(crate) const SCENARIOS: [Scenario; 5] = [
    Scenario {
        name: "prompts, one at a time",
        rows: &[
            Row {
                key: "a",
                title: "prompts/s, one at a time, both ends on one core",
                unit: Unit::PerSecond,
                better: Better::Higher,
                floors: &[Floor::OfLimit(0.6), Floor::OfRival(3.0)],
            },
            Row {
                key: "a-cpu",
                title: "agent's processor time for each of them",
                unit: Unit::Microseconds,
                better: Better::Lower,
                floors: &[],
            },
        ],
        measure: sequential,
    },
    Scenario {
        name: "prompts, 64 in flight",
        rows: &[
            Row {
                key: "b",
                title: "prompts/s, 64 in flight",
                unit: Unit::PerSecond,
                better: Better::Higher,
                floors: &[Floor::OfLimit(0.5), Floor::OfRival(15.0)],
            },
            Row {
                key: "b-overlapped",
                title: "the same, asked again 16 at a time",
                unit: Unit::PerSecond,
                better: Better::Higher,
                floors: &[],
            },
        ],
        measure: in_flight,
    },
    Scenario {
        name: "burst of updates",
        rows: &[
            Row {
                key: "c",
                title: "updates/s, burst of 100 k",
                unit: Unit::PerSecond,
                better: Better::Higher,
                floors: &[Floor::OfLimit(0.6), Floor::OfRival(50.0)],
            },
            Row {
                key: "d",
                title: "first update of that burst",
                unit: Unit::Milliseconds,
                better: Better::Lower,
                floors: &[Floor::Below(1.0)],
            },
            Row {
                key: "e",
                title: "agent's peak memory in that burst",
                unit: Unit::Megabytes,
                better: Better::Lower,
                floors: &[Floor::Below(8.0)],
            },
        ],
        measure: updates,
    },
    Scenario {
        name: "a client that stops reading",
        rows: &[Row {
            key: "f",
            title: "agent's peak memory, 500 k updates, client stops reading for 5 s",
            unit: Unit::Megabytes,
            better: Better::Lower,
            floors: &[Floor::Below(16.0)],
        }],
        measure: stalled,
    },
    Scenario {
        name: "updates received",
        rows: &[Row {
            key: "g",
            title: "client: updates/s received, 100 k",
            unit: Unit::PerSecond,
            better: Better::Higher,
            floors: &[Floor::OfRival(6.0)],
        }],
        measure: received,
    },
];

/// Checks with a real parser that the agent behaves as all subjects must, before its speed means anything.
pub(crate) fn check(subject: &Subject) -> Result<()> {
    let (mut agent, session) = greet(subject)?;
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
    agent.finish()
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
    let (mut agent, session) = greet(subject)?;
    let session = json!(session);
    let params = format!(r#"{{"sessionId":{session},"prompt":[{{"type":"text","text":"hello"}}]}}"#);
    let template = Template::new("session/prompt", &params);
    match pump(&mut agent, &template, flow, pace.window) {
        Ok(rate) => agent.finish().map(|()| rate),
        Err(error) => Err(agent.explain(error)),
    }
}

fn updates(subject: &Subject, pace: &Pace) -> Result<Vec<Sample>> {
    let (mut agent, session) = greet(subject)?;
    let mut run = |count: u64| {
        burst(&mut agent, &prompt(&session, count, &format!("burst {count}")), count, Duration::ZERO)
    };
    let mut measure = || {
        run(1_000)?;
        (0..pace.bursts).map(|_| run(pace.burst)).collect::<Result<Vec<_>>>()
    };
    let bursts = match measure() {
        Ok(bursts) => bursts,
        Err(error) => return Err(agent.explain(error)),
    };
    let peak = agent.peak_memory()? / 1e6;
    agent.finish()?;
    let rate = median(bursts.iter().map(|burst| pace.burst as f64 / burst.all.as_secs_f64()));
    let first = median(bursts.iter().map(|burst| burst.first.as_secs_f64() * 1e3));
    Ok(vec![Some(rate), Some(first), Some(peak)])
}

fn stalled(subject: &Subject, pace: &Pace) -> Result<Vec<Sample>> {
    let (mut agent, session) = greet(subject)?;
    let count = 5 * pace.burst;
    if let Err(error) = burst(&mut agent, &prompt(&session, 2, &format!("burst {count}")), count, pace.stall)
    {
        return Err(agent.explain(error));
    }
    let peak = agent.peak_memory()? / 1e6;
    agent.finish()?;
    Ok(vec![Some(peak)])
}

/// Starts the agent and opens a session.
fn greet(subject: &Subject) -> Result<(Process, String)> {
    let mut agent = Process::start(&subject.service, &[])?;
    let mut open = || {
        let hello = json!({ "protocolVersion": 1, "clientCapabilities": {} });
        let hello = call(&mut agent, &request(0, "initialize", hello), drop)?;
        ensure!(hello["protocolVersion"] == 1, "the agent speaks version {}", hello["protocolVersion"]);
        let session = json!({ "cwd": "/", "mcpServers": [] });
        let session = call(&mut agent, &request(1, "session/new", session), drop)?;
        Ok(session["sessionId"].as_str().context("no sessionId")?.to_owned())
    };
    match open() {
        Ok(session) => Ok((agent, session)),
        Err(error) => Err(agent.explain(error)),
    }
}

fn prompt(session: &str, id: u64, text: &str) -> Value {
    request(
        id,
        "session/prompt",
        json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] }),
    )
}

/// Plays the agent to a client that asks for a burst, and takes the time until the client says that it saw it all.
fn received(subject: &Subject, pace: &Pace) -> Result<Vec<Sample>> {
    let launch = subject.client.as_ref().context("no client program")?;
    let mut client = Process::start_with_stderr(launch, &[pace.burst.to_string()])?;
    match play_agent(&mut client, pace.burst) {
        Ok(elapsed) => {
            client.finish()?;
            Ok(vec![Some(pace.burst as f64 / elapsed.as_secs_f64())])
        }
        Err(error) => Err(client.explain(error)),
    }
}

fn play_agent(client: &mut Process, updates: u64) -> Result<Duration> {
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
    // As many whole lines as fill a pipe, prepared before the clock runs.
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
    let mut said = String::new();
    BufReader::new(client.stderr.as_mut().context("stderr was asked for")?).read_line(&mut said)?;
    let elapsed = begun.elapsed();
    let seen = said.strip_prefix("updates ").and_then(|rest| rest.split_whitespace().next());
    ensure!(seen == Some(updates.to_string().as_str()), "sent {updates} updates, the client said {said:?}");
    Ok(elapsed)
}
