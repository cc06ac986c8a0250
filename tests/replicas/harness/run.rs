//! One run: start everything, kill while clients call, and compare.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::balancer::Balancer;
use crate::clients::{self, Phase, REVISIONS, Shared};
use crate::engine::Engine;
use crate::history::{History, Promises};
use crate::modern::Modern;
use crate::nodes::{Nodes, Program};
use crate::options::Options;
use crate::peers::Peer;
use crate::random::Random;
use crate::wire::Wire;
use crate::{kills, own, prober, summary};

/// How many principals the clients have.
const PRINCIPALS: usize = 4;
/// How many try the sessions of others.
const PROBERS: usize = 2;
/// The longest that the clients may take to finish after the kills.
const FINISH_TIME: Duration = Duration::from_secs(120);

/// A folder that no disk holds up, where the system has one. What a program has written survives its death there too.
fn in_memory() -> io::Result<TempDir> {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }
}

/// Runs once. Returns whether every promise was kept.
pub(crate) async fn run(options: &Options) -> Result<bool> {
    println!("seed {}", options.seed);
    let folder = in_memory()?;
    let (node_fault, fsync) = match options.fault.as_deref() {
        Some("lose-data") => (None, "never"),
        fault => (fault.filter(|fault| *fault != "repeat"), options.fsync.as_str()),
    };
    let mut engine = Engine::start(&options.engine, folder.path(), fsync).await?;
    // Without kills no node is dead, however slow the machine is.
    let no_kills = options.deploy || options.kills + options.engine_kills == 0;
    let (url, lease) = (engine.url(), no_kills.then_some("60"));
    let words = [("--redis", Some(&*url)), ("--lease", lease), ("--fault", node_fault)];
    let mut nodes = Nodes::start(options.nodes, Program::replica(folder.path(), &words)?).await?;
    let balancer = Balancer::start(&nodes.addresses(), options.fault.as_deref() == Some("repeat")).await?;
    let promises = Promises { engine_loses: options.fsync == "everysec", no_failure: no_kills };
    let history = Arc::new(History::new(promises));
    history.start();
    let started = Instant::now();
    let mut random = Random::new(options.seed);
    let kill_random = random.fork();

    let (phase, receiver) = watch::channel(Phase::Load);
    let shared = Shared {
        phase: receiver,
        sessions: Arc::new(Mutex::default()),
        ready: Arc::new(AtomicUsize::new(0)),
    };
    let wire = |principal: String| Wire { address: balancer.address, principal, history: history.clone() };
    let (mut callers, mut probers) = (JoinSet::new(), JoinSet::new());
    for number in 0..options.clients {
        let wire = wire(format!("p{}", number % PRINCIPALS));
        // Each fourth is a client on the library, the others know what the library hides.
        if number % 4 == 3 && options.revision.is_none() {
            callers.spawn(own::run(number / 4, wire, shared.clone(), random.fork()));
            continue;
        }
        let revision = match options.revision.as_deref() {
            None => REVISIONS[number % REVISIONS.len()],
            Some(wanted) => REVISIONS.into_iter().flatten().find(|revision| *revision == wanted),
        };
        callers.spawn(clients::run(number, revision, wire, shared.clone(), random.fork()));
    }
    let url = format!("http://{}/mcp", balancer.address);
    let start = |(words, number): (&String, _)| Peer::start(words, number, &url, folder.path(), &history);
    let peers = options.peers.iter().zip(0..).map(start);
    let peers: Vec<Peer> = peers.collect::<Result<_>>()?;
    for _ in 0..PROBERS {
        probers.spawn(prober::run(wire("stranger".into()), shared.clone(), random.fork()));
    }
    if options.deploy {
        kills::deploy(&mut nodes, &balancer, &history).await?;
    } else {
        kills::kill(options, &mut nodes, &mut engine, &history, kill_random).await?;
    }
    sleep(options.time.saturating_sub(started.elapsed())).await;
    phase.send_replace(Phase::Quiet);
    for peer in peers {
        peer.finish().await.unwrap_or_else(|error| history.violation(format!("{error:#}")));
    }
    finish(&history, callers, &shared, &phase, &wire("p0".into())).await;
    drop(probers);

    history.compare(&nodes.done()?);
    history.check_kinds(options.revision.as_deref());
    summary::print(&history, &balancer, started.elapsed());
    let violations = history.violations();
    if !violations.is_empty() {
        let kept = folder.keep();
        println!("the logs are in {}", kept.display());
    }
    Ok(violations.is_empty())
}

/// Lets the clients finish, with a last change of the resource once all of them listen.
async fn finish(
    history: &History,
    mut callers: JoinSet<()>,
    shared: &Shared,
    phase: &watch::Sender<Phase>,
    wire: &Wire,
) {
    let finished = timeout(FINISH_TIME, async {
        let (count, client) = (callers.len(), Modern::new(wire));
        let waiting = Instant::now();
        while shared.ready.load(Ordering::SeqCst) < count && waiting.elapsed() < FINISH_TIME / 2 {
            sleep(Duration::from_millis(20)).await;
        }
        client.tool("change", json!({})).await;
        phase.send_replace(Phase::Changed);
        while let Some(ended) = callers.join_next().await {
            if let Err(error) = ended {
                history.violation(format!("a client failed: {error}"));
            }
        }
    });
    if finished.await.is_err() {
        history.violation(format!("the clients do not finish within {FINISH_TIME:?}"));
    }
}
