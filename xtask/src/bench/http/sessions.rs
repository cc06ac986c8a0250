//! Many sessions that nobody uses: how fast they are opened, what they cost, and whether it is given back.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::super::pace::{Pace, median};
use super::super::process::{Process, on_two_cores};
use super::super::rows::{Better, Floor, Row, Unit};
use super::super::scenario::{Sample, Scenario};
use super::super::subject::{Side, Subject};
use super::form::{Client, Form};
use super::load::Crowd;
use super::{end, start};

/// Connections over which the sessions are opened, so that these do not count.
const CONNECTIONS: usize = 16;

/// How many times they are all opened and deleted.
const ROUNDS: usize = 4;

/// How long a server may take to give back what deleted sessions held.
const SETTLED: Duration = Duration::from_secs(1);

pub(crate) const SCENARIOS: [Scenario; 1] = [Scenario {
    name: "idle sessions",
    rows: &[
        Row {
            key: "d",
            title: "sessions opened/s, 10 000 of them (--quick: 2 000)",
            unit: Unit::PerSecond,
            better: Better::Higher,
            floors: &[Floor::OfRival(3.0)],
        },
        Row {
            key: "d-memory",
            title: "memory for each of them",
            unit: Unit::Kibibytes,
            better: Better::Lower,
            floors: &[Floor::AtMost(6.0)],
        },
        Row {
            key: "d-back",
            title: "memory after all were deleted, four times, as a share of before",
            unit: Unit::Share,
            better: Better::Lower,
            floors: &[Floor::AtMost(1.2)],
        },
    ],
    measure,
}];

fn measure(subject: &Subject, pace: &Pace) -> Result<Vec<Sample>> {
    on_two_cores(|cores| {
        let (server, address) = start(&subject.service, Form::SessionEvents, Some(cores))?;
        let samples = rounds(&server, address, pace.sessions);
        let samples = end(server, samples)?;
        // The limit keeps nothing, so its memory says nothing.
        let count = if subject.side == Side::Limit { 1 } else { samples.len() };
        Ok(samples.into_iter().take(count).map(Some).collect())
    })
}

fn rounds(server: &Process, address: SocketAddr, count: usize) -> Result<Vec<f64>> {
    let mut crowd = Crowd::open(address, CONNECTIONS)?;
    // What a server needs once does not count.
    let few = open(&mut crowd, address, CONNECTIONS)?;
    delete(&mut crowd, &few)?;
    let before = server.memory()?;
    let (mut opened, mut each, mut after) = (Vec::new(), 0.0, before);
    for round in 0..ROUNDS {
        let begun = Instant::now();
        let clients = open(&mut crowd, address, count)?;
        opened.push(count as f64 / begun.elapsed().as_secs_f64());
        if round == 0 {
            each = (server.memory()? - before) / count as f64 / 1024.0;
        }
        delete(&mut crowd, &clients)?;
        after = settled(server, before)?;
    }
    Ok(vec![median(opened.into_iter()), each, after / before])
}

/// Opens so many sessions, each with both messages of the handshake.
fn open(crowd: &mut Crowd, address: SocketAddr, count: usize) -> Result<Vec<Client>> {
    let client = Client::new(address, Form::SessionEvents);
    let initialize = client.initialize();
    let mut begun = 0;
    let mut greeted = Vec::with_capacity(count);
    let mut greeting: Vec<Option<Client>> = vec![None; CONNECTIONS];
    crowd.drive(|index, response, request| {
        match (response, greeting[index].take()) {
            (Some(response), None) => {
                let mut client = client.clone();
                client.keep_session(response)?;
                request.extend_from_slice(&client.initialized());
                greeting[index] = Some(client);
                return Ok(true);
            }
            (Some(response), Some(client)) => {
                ensure!(response.status == 202, "a notification got {}", response.status);
                greeted.push(client);
            }
            (None, _) => {}
        }
        let more = begun < count;
        begun += usize::from(more);
        request.extend_from_slice(&initialize);
        Ok(more)
    })?;
    ensure!(greeted.len() == count, "{} sessions of {count}", greeted.len());
    Ok(greeted)
}

fn delete(crowd: &mut Crowd, clients: &[Client]) -> Result<()> {
    let mut left = clients.iter();
    crowd.drive(|_, response, request| {
        if let Some(response) = response {
            ensure!((200..300).contains(&response.status), "DELETE got {}", response.status);
        }
        let Some(client) = left.next() else { return Ok(false) };
        request.extend_from_slice(&client.delete());
        Ok(true)
    })
}

/// The memory once it is as small as before, or after some time.
fn settled(server: &Process, before: f64) -> Result<f64> {
    let begun = Instant::now();
    loop {
        let memory = server.memory()?;
        if memory <= before || begun.elapsed() >= SETTLED {
            return Ok(memory);
        }
        thread::sleep(Duration::from_millis(50));
    }
}
