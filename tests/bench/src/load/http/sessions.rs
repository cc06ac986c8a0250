//! Many idle sessions: how fast they open, their memory, and whether it is freed.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::form::{Client, Form};
use super::load::Connections;
use super::server::start;
use crate::load::pace::{Pace, median};
use crate::load::process::{Process, on_two_cores};
use crate::load::rows::{Floor, Row, Unit};
use crate::load::scenario::{Sample, Scenario};
use crate::load::subject::{Side, Subject};

/// Connections over which all sessions are opened, so that connections do not count.
const CONNECTIONS: usize = 16;

/// How often all sessions are opened and deleted.
const ROUNDS: usize = 4;

/// How long a server may take to free the memory of deleted sessions.
const FREE_TIMEOUT: Duration = Duration::from_secs(1);

pub(crate) const SCENARIOS: [Scenario; 1] = [Scenario {
    name: "idle sessions",
    rows: &[
        Row::rate("d", "sessions opened/s, 10 000 of them (--quick: 2 000)", &[Floor::OfRival(3.0)]),
        Row::cost("d-memory", "memory for each of them", Unit::Kibibytes, &[Floor::AtMost(6.0)]),
        Row::cost(
            "d-back",
            "memory after all were deleted, four times, as a share of before",
            Unit::Share,
            &[Floor::AtMost(1.2)],
        ),
    ],
    measure,
}];

fn measure(subject: &Subject, pace: &Pace) -> Result<Vec<Sample>> {
    on_two_cores(|cores| {
        let (server, address) = start(&subject.service, Form::SessionEvents, Some(cores))?;
        let samples = rounds(&server, address, pace.sessions);
        let samples = server.finish(samples)?;
        // The limit has no sessions, so its memory is not compared.
        let count = if subject.side == Side::Limit { 1 } else { samples.len() };
        Ok(samples.into_iter().take(count).map(Some).collect())
    })
}

fn rounds(server: &Process, address: SocketAddr, count: usize) -> Result<Vec<f64>> {
    let mut connections = Connections::open(address, CONNECTIONS)?;
    // Memory that a server needs once does not count.
    let few = open(&mut connections, address, CONNECTIONS)?;
    delete(&mut connections, &few)?;
    let before = server.memory()?;
    let (mut opened, mut each, mut after) = (Vec::new(), 0.0, before);
    for round in 0..ROUNDS {
        let begun = Instant::now();
        let clients = open(&mut connections, address, count)?;
        opened.push(count as f64 / begun.elapsed().as_secs_f64());
        if round == 0 {
            each = (server.memory()? - before) / count as f64 / 1024.0;
        }
        delete(&mut connections, &clients)?;
        after = freed(server, before)?;
    }
    Ok(vec![median(opened.into_iter()), each, after / before])
}

/// Opens this many sessions, each with both messages of the handshake.
fn open(connections: &mut Connections, address: SocketAddr, count: usize) -> Result<Vec<Client>> {
    let client = Client::new(address, Form::SessionEvents);
    let initialize = client.initialize();
    let mut begun = 0;
    let mut opened_clients = Vec::with_capacity(count);
    let mut opening: Vec<Option<Client>> = vec![None; CONNECTIONS];
    connections.drive(|index, response, request| {
        match (response, opening[index].take()) {
            (Some(response), None) => {
                let mut client = client.clone();
                client.keep_session(response)?;
                request.extend_from_slice(&client.initialized());
                opening[index] = Some(client);
                return Ok(true);
            }
            (Some(response), Some(client)) => {
                ensure!(response.status == 202, "a notification got {}", response.status);
                opened_clients.push(client);
            }
            (None, _) => {}
        }
        let more = begun < count;
        begun += usize::from(more);
        request.extend_from_slice(&initialize);
        Ok(more)
    })?;
    ensure!(opened_clients.len() == count, "{} sessions of {count}", opened_clients.len());
    Ok(opened_clients)
}

fn delete(connections: &mut Connections, clients: &[Client]) -> Result<()> {
    let mut left = clients.iter();
    connections.drive(|_, response, request| {
        if let Some(response) = response {
            ensure!((200..300).contains(&response.status), "DELETE got {}", response.status);
        }
        let Some(client) = left.next() else { return Ok(false) };
        request.extend_from_slice(&client.delete());
        Ok(true)
    })
}

/// The memory once it is not more than before, or after the timeout.
fn freed(server: &Process, before: f64) -> Result<f64> {
    let begun = Instant::now();
    loop {
        let memory = server.memory()?;
        if memory <= before || begun.elapsed() >= FREE_TIMEOUT {
            return Ok(memory);
        }
        thread::sleep(Duration::from_millis(50));
    }
}
