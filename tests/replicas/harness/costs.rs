//! The cost of sharing: a call in a session against the embedded default, in one run, interleaved.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use futures_util::future::try_join_all;
use http::{HeaderValue, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::net::TcpStream;

use crate::engine::Engine;
use crate::nodes::{Nodes, Program};
use crate::options::Options;

/// How often each is measured.
const ROUNDS: usize = 15;
/// How long each measurement takes. What is compared is measured within a few seconds: the speed of a machine changes.
const TIME: Duration = Duration::from_secs(1);
/// Calls one after the other, of which the median is taken.
const CALLS: usize = 400;
/// Clock ticks of `/proc`, in a second. Linux fixes this number for programs.
const TICKS: f64 = 100.0;

/// The nodes of one kind.
struct Subject {
    nodes: Nodes,
    /// Sessions, each at a connection of its own.
    sessions: Vec<Client>,
}

/// The measurements.
#[derive(Default)]
struct Measured {
    /// Processor time of all nodes for a call, in microseconds.
    cpu: Vec<f64>,
    /// That of the engine.
    engine: Vec<f64>,
    /// Calls in a second.
    rate: Vec<f64>,
    /// The median time of a call, in microseconds.
    latency: Vec<f64>,
}

/// Measures, and prints a table.
pub(crate) async fn run(options: &Options) -> Result<()> {
    let folder = tempfile::tempdir()?;
    ensure!(options.clients >= 3, "three nodes have no less than 3 clients");
    let engine = Engine::start(&options.engine, folder.path(), &options.fsync).await?;
    let url = engine.url();
    let kinds = [
        ("memory, one node", None, 1),
        ("engine, one node", Some(&*url), 1),
        ("engine, three nodes", Some(&*url), 3),
    ];
    let mut subjects = Vec::new();
    for (name, redis, count) in kinds {
        let folder = folder.path().join(name.replace([' ', ','], "-"));
        subjects.push((name, start(&folder, redis, (count, options.clients)).await?, Measured::default()));
    }
    for _ in 0..ROUNDS {
        for (_, subject, measured) in &mut subjects {
            throughput(subject, engine.id(), measured).await?;
            measured.latency.push(latency(&mut subject.sessions[0]).await?);
        }
    }
    println!("{} clients call at the same time", options.clients);
    println!("{:<22}{:>14}{:>14}{:>12}{:>14}", "", "node µs/call", "engine µs/call", "calls/s", "median µs");
    for (name, _, measured) in &subjects {
        let [cpu, engine, rate, latency] =
            [&measured.cpu, &measured.engine, &measured.rate, &measured.latency]
                .map(|of| median(of.iter().copied()));
        println!("{name:<22}{cpu:>14.1}{engine:>14.1}{rate:>12.0}{latency:>14.1}");
    }
    let [(_, _, memory), (_, _, one), (_, _, three)] = &subjects[..] else {
        unreachable!("three kinds are measured")
    };
    println!(
        "processor time of a call with the engine: {:.2} times that without (at most 1.3)",
        median(pairs(&one.cpu, &memory.cpu).map(|(with, without)| with / without))
    );
    println!(
        "a durable result takes {:.3} ms more (at most 0.3)",
        median(pairs(&one.latency, &memory.latency).map(|(with, without)| with - without)) / 1000.0
    );
    println!(
        "three nodes: {:.2} times the calls of one; the engine has {:.0} % of the processor time of a call",
        median(pairs(&three.rate, &one.rate).map(|(three, one)| three / one)),
        median(pairs(&three.engine, &three.cpu).map(|(engine, nodes)| 100.0 * engine / (engine + nodes)))
    );
    Ok(())
}

/// The measurements of two in each round.
fn pairs(one: &[f64], other: &[f64]) -> impl Iterator<Item = (f64, f64)> {
    one.iter().copied().zip(other.iter().copied())
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

async fn start(folder: &Path, redis: Option<&str>, (count, clients): (usize, usize)) -> Result<Subject> {
    fs::create_dir_all(folder)?;
    let nodes = Nodes::start(count, Program::replica(folder, &[("--redis", redis)])?).await?;
    let addresses = nodes.addresses();
    let sessions = (0..clients).map(|client| Client::open(addresses[client % addresses.len()]));
    Ok(Subject { sessions: try_join_all(sessions).await?, nodes })
}

async fn throughput(subject: &mut Subject, engine: u32, measured: &mut Measured) -> Result<()> {
    let processes = subject.nodes.ids();
    let used = || processes.iter().map(|process| processor_time(*process)).sum::<Result<f64>>();
    let (nodes_before, engine_before, started) = (used()?, processor_time(engine)?, Instant::now());
    let calls = subject.sessions.iter_mut().map(async |session| {
        let mut calls = 0_u32;
        while started.elapsed() < TIME {
            session.call().await?;
            calls += 1;
        }
        anyhow::Ok(calls)
    });
    let calls = f64::from(try_join_all(calls).await?.into_iter().sum::<u32>());
    measured.rate.push(calls / started.elapsed().as_secs_f64());
    measured.cpu.push((used()? - nodes_before) * 1e6 / calls);
    measured.engine.push((processor_time(engine)? - engine_before) * 1e6 / calls);
    Ok(())
}

async fn latency(session: &mut Client) -> Result<f64> {
    let mut times = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        let started = Instant::now();
        session.call().await?;
        times.push(started.elapsed().as_secs_f64() * 1e6);
    }
    Ok(median(times.into_iter()))
}

/// The processor time of a process, in seconds.
fn processor_time(process: u32) -> Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    let (_, fields) = stat.rsplit_once(')').context("no name in /proc/PID/stat")?;
    let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
    Ok(ticks.sum::<Result<f64, _>>()? / TICKS)
}

/// A session on one connection.
struct Client {
    sender: SendRequest<Full<Bytes>>,
    host: HeaderValue,
    session: Option<HeaderValue>,
    next: u64,
}

impl Client {
    async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        let mut this = Self { sender, host: address.to_string().parse()?, session: None, next: 1 };
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "costs", "version": "1" } });
        this.post(
            &json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }).to_string(),
        )
        .await?;
        this.post(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await?;
        Ok(this)
    }

    async fn call(&mut self) -> Result<()> {
        self.next += 1;
        let id = self.next;
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"key":"thirty-two bytes of plain ascii."}}}}}}"#
        );
        let answer = self.post(&body).await?;
        ensure!(answer.windows(6).any(|part| part == b"thirty"), "{}", String::from_utf8_lossy(&answer));
        Ok(())
    }

    async fn post(&mut self, body: &str) -> Result<Bytes> {
        let mut request = Request::post("/mcp")
            .header("authorization", "Bearer token-of-costs")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("host", self.host.clone());
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session).header("mcp-protocol-version", "2025-11-25");
        }
        self.sender.ready().await?;
        let response = self.sender.send_request(request.body(Full::new(body.to_owned().into()))?).await?;
        if let Some(session) = response.headers().get("mcp-session-id") {
            self.session = Some(session.clone());
        }
        ensure!(response.status().is_success(), "{} to {body}", response.status());
        Ok(response.into_body().collect().await?.to_bytes())
    }
}
