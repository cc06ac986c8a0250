//! The clients: each does one thing after the other until the kills are over, and then checks what it was promised.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::exchange::LastEvent;
use crate::history::Count;
use crate::jobs;
use crate::listener::{Listener, WATCHED};
use crate::modern::Modern;
use crate::random::Random;
use crate::session::Session;
use crate::wire::Wire;

/// How long a listener may take to open its stream again, and to hear of the last change.
const LISTEN_TIME: Duration = Duration::from_secs(40);
/// The answers of a session that are replayed at the end.
const REPLAYED: usize = 20;
/// The revisions of the clients, in turn. None is 2026-07-28. 2024-11-05 has another transport, which a node alone can serve because
/// each session is a stream; but its messages come over Streamable HTTP as well.
pub(crate) const REVISIONS: [Option<&str>; 6] = [
    Some("2025-11-25"),
    None,
    Some("2025-06-18"),
    Some("2025-11-25"),
    Some("2025-03-26"),
    Some("2024-11-05"),
];

/// Whether a server asks the client of a revision for input.
pub(crate) fn has_questions(revision: &str) -> bool {
    revision >= "2025-06-18"
}

/// The part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Clients call, and nodes are killed.
    Load,
    /// No more kills. Clients check what they have, and listen.
    Quiet,
    /// The resource has changed for the last time.
    Changed,
}

/// The state that all clients share.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) phase: watch::Receiver<Phase>,
    /// The principal and the id of each open session, for the prober.
    pub(crate) sessions: Arc<Mutex<Vec<(String, String)>>>,
    /// How many clients are ready for the last change.
    pub(crate) ready: Arc<AtomicUsize>,
}

impl Shared {
    pub(crate) fn is_load(&self) -> bool {
        *self.phase.borrow() == Phase::Load
    }

    /// The client is ready for the last change.
    pub(crate) fn set_ready(&self) {
        self.ready.fetch_add(1, Ordering::SeqCst);
    }

    fn publish(&self, wire: &Wire, session: &str) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.push((wire.principal.clone(), session.to_owned()));
    }

    fn withdraw(&self, session: &str) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|(_, id)| id != session);
    }
}

/// Runs the client of this number to its end, in one of the [`REVISIONS`].
pub(crate) async fn run(
    number: usize,
    revision: Option<&'static str>,
    wire: Wire,
    shared: Shared,
    random: Random,
) {
    match revision {
        Some(revision) => in_sessions(number, wire, revision, shared, random).await,
        None => modern(number, wire, shared, random).await,
    }
}

async fn in_sessions(
    number: usize,
    wire: Wire,
    revision: &'static str,
    mut shared: Shared,
    mut random: Random,
) {
    let (mut call, mut last_session) = (0, false);
    while !last_session {
        let Some(mut session) = Session::open(&wire, revision, random.fork()).await else {
            wire.history.violation(format!("client {number} cannot open a session"));
            break;
        };
        shared.publish(&wire, &session.id);
        let listener = subscribe(&mut session, number).await;
        let mut answers = Vec::new();
        while shared.is_load() {
            call += 1;
            let key = format!("c{number}-{call}");
            match random.below(100) {
                0..35 => {
                    let exchange = session.tool("count", json!({ "key": key }), true).await;
                    exchange.judge(&wire.history, &key, 0);
                    answers.extend(exchange.event);
                }
                35..65 => {
                    let arguments = json!({ "key": key, "steps": 5, "pause": random.below(80) });
                    let exchange = session.tool("slow", arguments, true).await;
                    exchange.judge(&wire.history, &key, 5);
                    answers.extend(exchange.event);
                }
                65..80 if has_questions(revision) => {
                    let exchange = session.tool("ask", json!({ "key": key }), true).await;
                    exchange.judge(&wire.history, &key, 0);
                    answers.extend(exchange.event);
                }
                80..88 if revision == "2025-11-25" => {
                    jobs::run(jobs::Client::Session(&mut session), &key, &mut random).await;
                }
                88..94 => drop(session.tool("change", json!({}), false).await),
                94 => break,
                _ => drop(session.call("ping", json!({}), false).await),
            }
        }
        last_session = !shared.is_load();
        if last_session {
            replay(&session, &answers).await;
            last_change(number, &wire, listener.as_ref(), &mut shared).await;
        }
        shared.withdraw(&session.id);
        drop(listener);
        session.close().await;
    }
}

/// Subscribes every second client.
async fn subscribe(session: &mut Session, number: usize) -> Option<Listener> {
    if number % 2 == 1 {
        return None;
    }
    let begun = Instant::now();
    while begun.elapsed() < LISTEN_TIME {
        let exchange = session.call("resources/subscribe", json!({ "uri": WATCHED }), false).await;
        if matches!(exchange.answer, crate::exchange::Answer::Result(_)) {
            session.wire.history.count(Count::Subscriptions);
            return Some(Listener::of_session(session));
        }
        // While the engine is away a subscription is refused.
        sleep(Duration::from_millis(100)).await;
    }
    session.wire.history.violation(format!("session {} cannot subscribe", session.id));
    None
}

async fn replay(session: &Session, answers: &[LastEvent]) {
    for event in answers.iter().rev().take(REPLAYED) {
        session.replay(event).await;
    }
}

/// Waits until something holds. Returns false where it does not within [`LISTEN_TIME`].
async fn holds(condition: impl Fn() -> bool) -> bool {
    let started = Instant::now();
    while !condition() {
        if started.elapsed() > LISTEN_TIME {
            return false;
        }
        sleep(Duration::from_millis(20)).await;
    }
    true
}

/// Waits for the last change, which a listener must hear of.
async fn last_change(number: usize, wire: &Wire, listener: Option<&Listener>, shared: &mut Shared) {
    let Some(received) = listener.map(|listener| listener.received.clone()) else {
        shared.set_ready();
        return;
    };
    if !holds(|| received.is_open.load(Ordering::SeqCst)).await {
        wire.history.violation(format!("client {number} cannot listen again within {LISTEN_TIME:?}"));
    }
    let before = received.changes.load(Ordering::SeqCst);
    shared.set_ready();
    if shared.phase.wait_for(|phase| *phase == Phase::Changed).await.is_err() {
        return;
    }
    if !holds(|| received.changes.load(Ordering::SeqCst) > before).await {
        wire.history.violation(format!("client {number} does not hear of the last change"));
    }
}

async fn modern(number: usize, wire: Wire, mut shared: Shared, mut random: Random) {
    let client = Modern::new(&wire);
    let listener = number.is_multiple_of(2).then(|| {
        wire.history.count(Count::Subscriptions);
        Listener::modern(&client)
    });
    let mut call = 0;
    while shared.is_load() {
        call += 1;
        let key = format!("c{number}-{call}");
        let named = json!({ "key": key });
        match random.below(100) {
            0..40 => client.tool("count", named).await.judge(&wire.history, &key, 0),
            40..60 => {
                let arguments = json!({ "key": key, "steps": 5, "pause": random.below(80) });
                client.tool("slow", arguments).await.judge(&wire.history, &key, 5);
            }
            60..80 => client.ask("ask", &named, random.percent(30)).await.judge(&wire.history, &key, 0),
            80..92 => jobs::run(jobs::Client::Modern(&client), &key, &mut random).await,
            _ => drop(client.tool("change", json!({})).await),
        }
    }
    last_change(number, &wire, listener.as_ref(), &mut shared).await;
}
