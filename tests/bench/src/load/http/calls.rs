//! Calls of a server's tools, in each of the four forms.

use anyhow::{Result, ensure};
use memchr::memmem;

use super::form::{Call, Client, Form};
use super::load::pump;
use super::response::{Connection, Response};
use super::server::start;
use crate::load::pace::Pace;
use crate::load::process::{Cores, on_one_core, on_two_cores};
use crate::load::rows::{Floor, Row, Unit};
use crate::load::scenario::{Sample, Scenario};
use crate::load::stdio::wire::Rate;
use crate::load::subject::{Side, Subject};

/// The argument of a small call.
const TEXT: &str = "thirty-two bytes of plain ascii.";

/// Keep-alive connections, each with one call in flight.
const CONNECTIONS: usize = 64;

/// The same for bursts, which are larger.
const BURSTS: usize = 16;

/// Progress notifications in a burst.
const STEPS: usize = 100;

/// The length of the big result.
pub(super) const BIG: usize = 16 << 20;

/// Three times that, in the unit of the row.
pub(super) const MAX_MEMORY: f64 = 50.33;

const CALLS: Row = Row::rate("", "", &[Floor::OfLimit(0.65), Floor::OfRival(1.6)]);

const PROCESSOR_TIME: Row = Row::cost(
    "",
    "server's processor time for each of them",
    Unit::Microseconds,
    &[Floor::AtMostOfRival(0.5)],
);

const ONE_CONNECTION: Row = Row::rate("", "the same over one connection, both ends on one core", &[]);

const EVENTS: Row = Row::rate("", "", &[Floor::OfRival(3.0)]);

const MEMORY: Row = Row::cost("", "", Unit::Megabytes, &[Floor::AtMost(MAX_MEMORY)]);

pub(crate) const SCENARIOS: [Scenario; 8] = [
    Scenario {
        name: "calls in a session, JSON",
        rows: &[
            Row { key: "a1", title: "echo calls/s in a session, JSON, 64 connections", ..CALLS },
            Row { key: "a1-cpu", ..PROCESSOR_TIME },
            Row { key: "a1-one", ..ONE_CONNECTION },
        ],
        measure: |subject, pace| echoes(subject, pace, Form::SessionJson),
    },
    Scenario {
        name: "calls in a session, events",
        rows: &[
            Row { key: "a2", title: "echo calls/s in a session, SSE, 64 connections", ..CALLS },
            Row { key: "a2-cpu", ..PROCESSOR_TIME },
            Row { key: "a2-one", ..ONE_CONNECTION },
        ],
        measure: |subject, pace| echoes(subject, pace, Form::SessionEvents),
    },
    Scenario {
        name: "stateless calls, JSON",
        rows: &[
            Row { key: "a3", title: "echo calls/s stateless (2026-07-28), JSON, 64 connections", ..CALLS },
            Row { key: "a3-cpu", ..PROCESSOR_TIME },
            Row { key: "a3-one", ..ONE_CONNECTION },
        ],
        measure: |subject, pace| echoes(subject, pace, Form::StatelessJson),
    },
    Scenario {
        name: "stateless calls, events",
        rows: &[
            Row { key: "a4", title: "echo calls/s stateless (2026-07-28), SSE, 64 connections", ..CALLS },
            Row { key: "a4-cpu", ..PROCESSOR_TIME },
            Row { key: "a4-one", ..ONE_CONNECTION },
        ],
        measure: |subject, pace| echoes(subject, pace, Form::StatelessEvents),
    },
    Scenario {
        name: "progress in a session",
        rows: &[Row { key: "c1", title: "progress/s, 100 for each call in a session", ..EVENTS }],
        measure: |subject, pace| bursts(subject, pace, Form::SessionEvents),
    },
    Scenario {
        name: "stateless progress",
        rows: &[Row { key: "c2", title: "progress/s, 100 for each stateless call", ..EVENTS }],
        measure: |subject, pace| bursts(subject, pace, Form::StatelessEvents),
    },
    Scenario {
        name: "a 16 MiB result, JSON",
        rows: &[Row { key: "e1", title: "server's peak memory, 16 MiB result, stateless, JSON", ..MEMORY }],
        measure: |subject, _| big(subject, Form::StatelessJson),
    },
    Scenario {
        name: "a 16 MiB result, events",
        rows: &[Row { key: "e2", title: "server's peak memory, 16 MiB result, in a session, SSE", ..MEMORY }],
        measure: |subject, _| big(subject, Form::SessionEvents),
    },
];

/// Checks with a JSON parser that the server behaves as every subject must.
pub(crate) fn check(subject: &Subject) -> Result<()> {
    for form in Form::ALL {
        let (server, address) = start(&subject.service, form, None)?;
        let checked = (|| {
            let mut connection = Connection::open(address)?;
            let mut client = Client::new(address, form);
            client.open_session(&mut connection)?;
            let response = connection.exchange(echo(&client).next())?;
            ensure!(client.has_form(response), "{}: {:?}", form.name(), response.header("content-type"));
            let messages = client.messages(response)?;
            let text = &messages[0]["result"]["content"][0]["text"];
            ensure!(messages.len() == 1 && text == TEXT, "echo was answered by {messages:?}");
            let messages = client.messages(connection.exchange(burst(&client, 3).next())?)?;
            let steps: Vec<_> =
                messages.iter().filter_map(|message| message["params"]["progress"].as_f64()).collect();
            ensure!(steps == [1.0, 2.0, 3.0] && messages.len() == 4, "burst was answered by {messages:?}");
            let messages = client.messages(connection.exchange(large(&client, 100).next())?)?;
            let length = messages[0]["result"]["content"][0]["text"].as_str().map(str::len);
            ensure!(length == Some(100), "big was answered by {messages:?}");
            Ok(())
        })();
        server.finish(checked)?;
    }
    Ok(())
}

/// Checks that the limit's responses are those of our server, byte for byte. Only then can their speeds be compared.
pub(crate) fn check_limit(subjects: &[Subject]) -> Result<()> {
    let of = |side| subjects.iter().find(|subject| subject.side == side);
    let (Some(ours), Some(limit)) = (of(Side::Ours), of(Side::Limit)) else { return Ok(()) };
    for form in Form::ALL {
        for (ours, limit) in responses(ours, form)?.iter().zip(&responses(limit, form)?) {
            let form = form.name();
            ensure!(ours == limit, "{form}: our server answered\n{ours}\nand the limit answered\n{limit}");
        }
    }
    Ok(())
}

/// The responses of a server to a client that opens a session, if the form has one, and makes each call.
fn responses(subject: &Subject, form: Form) -> Result<Vec<String>> {
    let (server, address) = start(&subject.service, form, None)?;
    let seen = (|| {
        let mut seen = Vec::new();
        let mut connection = Connection::open(address)?;
        let mut client = Client::new(address, form);
        if form.in_session() {
            let opened = connection.exchange(&client.initialize())?;
            client.keep_session(opened)?;
            seen.push(opened.text());
            seen.push(connection.exchange(&client.initialized())?.text());
        }
        for mut call in [echo(&client), burst(&client, STEPS), large(&client, 100), echo(&client)] {
            seen.push(connection.exchange(call.next())?.text());
        }
        if form.in_session() {
            seen.push(connection.exchange(&client.delete())?.text());
        }
        Ok(seen)
    })();
    server.finish(seen)
}

fn echoes(subject: &Subject, pace: &Pace, form: Form) -> Result<Vec<Sample>> {
    let rate = |cores: Option<&Cores>, connections| -> Result<Rate> {
        let (server, address) = start(&subject.service, form, cores)?;
        let rate = pump(&server, address, connections, form, pace.window, echo, |_| Ok(()));
        server.finish(rate)
    };
    let many = on_two_cores(|cores| rate(Some(cores), CONNECTIONS))?;
    let one = on_one_core(|| rate(None, 1))?;
    Ok(vec![Some(many.per_second), Some(many.microseconds), Some(one.per_second)])
}

fn bursts(subject: &Subject, pace: &Pace, form: Form) -> Result<Vec<Sample>> {
    let name = memmem::Finder::new(r#""method":"notifications/progress""#);
    let whole = |response: &Response| {
        let events = name.find_iter(&response.body).count();
        ensure!(events == STEPS, "{events} events instead of {STEPS}");
        Ok(())
    };
    let rate = on_two_cores(|cores| {
        let (server, address) = start(&subject.service, form, Some(cores))?;
        let call = |client: &Client| burst(client, STEPS);
        let rate = pump(&server, address, BURSTS, form, pace.window, call, whole);
        server.finish(rate)
    })?;
    Ok(vec![Some(rate.per_second * STEPS as f64)])
}

fn big(subject: &Subject, form: Form) -> Result<Vec<Sample>> {
    let (server, address) = start(&subject.service, form, None)?;
    let peak = (|| {
        let mut connection = Connection::open(address)?;
        connection.reserve(2 * BIG);
        let mut client = Client::new(address, form);
        client.open_session(&mut connection)?;
        let mut call = large(&client, BIG);
        let response = connection.exchange(call.next())?;
        ensure!(client.has_form(response) && response.body.len() > BIG, "{}", response.status);
        server.peak_memory()
    })();
    Ok(vec![Some(server.finish(peak)? / 1e6)])
}

fn echo(client: &Client) -> Call {
    client.call("echo", &format!(r#"{{"text":"{TEXT}"}}"#), false)
}

fn burst(client: &Client, steps: usize) -> Call {
    client.call("burst", &format!(r#"{{"n":{steps}}}"#), true)
}

fn large(client: &Client, bytes: usize) -> Call {
    client.call("big", &format!(r#"{{"n":{bytes}}}"#), false)
}
