//! Runs the connection to one server: connects, keeps the list of tools current, and reconnects after an expired session or a
//! crash.

use std::any::Any;
use std::error::Error;
use std::future::pending;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agentwire_mcp_client::{BoxError, CallError, Client, ConnectionError, RemoteServer};
use agentwire_mcp_schema::Tool;
use agentwire_peer::{Clock, TokioClock};
use futures_channel::mpsc;
use futures_util::{FutureExt, StreamExt, select_biased};

use crate::config::{Hook, HubConfig, ServerConfig};
use crate::connecting::connect_to;
use crate::state::Shared;
use crate::target::Target;
#[cfg(feature = "http")]
use crate::target::http_failure::is_expired;

/// Only over HTTP can a server end a session by itself.
#[cfg(not(feature = "http"))]
fn is_expired(_: &(dyn Error + 'static)) -> bool {
    false
}

#[derive(Debug, thiserror::Error)]
#[error("it did not tell its tools within {0:?}")]
struct TooSlow(Duration);

/// The longest wait for an answer to `server/discover` before `initialize` is sent.
const DISCOVER_LIMIT: Duration = Duration::from_secs(5);

/// A function of the host, such as that of a [`CustomTarget`](crate::CustomTarget), panicked. Its server loses its tools.
#[derive(Debug, thiserror::Error)]
#[error("a function of the host panicked: {0}")]
struct Panicked(String);

impl Panicked {
    fn of(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Self(text.unwrap_or_else(|| "without a message".to_owned()))
    }
}

/// Connects to a server and stays connected until the hub closes, the server fails for good or is removed, or a function of
/// the host panics.
pub(crate) async fn run(shared: Arc<Shared>, place: usize, config: HubConfig) {
    loop {
        let outcome = AssertUnwindSafe(run_once(&shared, place, &config)).catch_unwind().await;
        let outcome = outcome.unwrap_or_else(|panic| Err(Arc::new(Panicked::of(&*panic))));
        if !shared.ended(place, outcome) {
            return;
        }
    }
}

/// Connects to a server, and again after a crash or an expired session.
async fn run_once(
    shared: &Shared,
    place: usize,
    config: &HubConfig,
) -> Result<(), Arc<dyn Error + Send + Sync>> {
    let server = shared.config(place);
    while !shared.stops(place) {
        let (changes, changed) = mpsc::channel(0);
        let connection = Connection { shared, place, changed };
        let client = client(&server, config, changes);
        match connection.run(&server, config, client).await {
            Ok(()) => break,
            Err(error) if is_expired(&*error) && shared.reopen(place, TokioClock::default().now()) => {}
            Err(error) => {
                let reason = Arc::<dyn Error + Send + Sync>::from(error.into_boxed());
                if !restarts(shared, place, &server, config, &reason).await {
                    return Err(reason);
                }
            }
        }
    }
    Ok(())
}

/// Waits for the pause before a crashed server is started again. Returns false if it is not started again.
async fn restarts(
    shared: &Shared,
    place: usize,
    server: &ServerConfig,
    config: &HubConfig,
    reason: &Arc<dyn Error + Send + Sync>,
) -> bool {
    if !matches!(server.target, Target::Stdio(_)) {
        return false;
    }
    let clock = TokioClock::default();
    let Some(pause) = shared.restarts(place, clock.now(), config, reason) else { return false };
    select_biased! {
        () = pin!(shared.until_stopping(place).fuse()) => false,
        () = clock.sleep(pause).fuse() => true,
    }
}

/// One connection to a server.
struct Connection<'a> {
    shared: &'a Shared,
    place: usize,
    /// Receives an item when the server's list of tools has changed.
    changed: mpsc::Receiver<()>,
}

impl Connection<'_> {
    async fn run(self, server: &ServerConfig, config: &HubConfig, client: Client) -> Result<(), BoxError> {
        let Self { shared, place, .. } = self;
        let connection = connect_to(&server.target, &config.connect_options, client, async |server| {
            let tools = list(&server).await?;
            shared.connected(place, server.clone(), tools, TokioClock::default().now());
            self.stay(server, Relisting::new(config.relist_pause)).await
        });
        let mut connection = pin!(connection.fuse());
        // Neither connecting for long nor closing may wait for a server that sends nothing.
        select_biased! {
            outcome = connection => outcome.map_err(ConnectionError::into_inner),
            () = shared.until_abandoned(place).fuse() => Ok(()),
            () = too_slow(shared, place, config.connect_limit).fuse() => Err(TooSlow(config.connect_limit).into()),
        }
    }

    /// Keeps the list of tools up to date.
    async fn stay(mut self, server: RemoteServer, mut relisting: Relisting) -> Result<(), BoxError> {
        let Self { shared, place, .. } = self;
        let clock = TokioClock::default();
        loop {
            select_biased! {
                closed = pin!(server.closed().fuse()) => return Err(closed.into()),
                () = pin!(shared.until_stopping(place).fuse()) => return Ok(()),
                () = pin!(self.list_again(&mut relisting, &clock).fuse()) => {}
            }
            // If listing fails, the old list stays. If the connection has ended, the next round returns.
            select_biased! {
                tools = pin!(list(&server).fuse()) => if let Ok(tools) = tools {
                    shared.tools_changed(place, tools);
                },
                () = pin!(shared.until_stopping(place).fuse()) => {}
            }
            relisting.listed(clock.now());
        }
    }

    /// Completes when the tools have changed and it is time to list them.
    async fn list_again(&mut self, relisting: &mut Relisting, clock: &TokioClock) {
        if self.changed.next().await.is_none() {
            return pending().await;
        }
        clock.sleep_until(relisting.due(clock.now())).await;
        // The next listing includes all changes reported so far.
        while let Ok(()) = self.changed.try_recv() {}
    }
}

/// Schedules listings of the tools of a server that keeps reporting changes.
#[derive(Debug)]
struct Relisting {
    first: Duration,
    pause: Duration,
    /// The end of the pause after the last listing.
    until: Option<Instant>,
}

/// The longest pause between two listings.
const MAX_RELIST_PAUSE: Duration = Duration::from_secs(30);

impl Relisting {
    fn new(pause: Duration) -> Self {
        Self { first: pause, pause, until: None }
    }

    /// The time of the next listing, after a change that is reported now.
    fn due(&mut self, now: Instant) -> Instant {
        match self.until.filter(|until| now < *until) {
            Some(until) => {
                self.pause = MAX_RELIST_PAUSE.max(self.first).min(self.pause.saturating_mul(2));
                until
            }
            None => {
                self.pause = self.first;
                now
            }
        }
    }

    fn listed(&mut self, now: Instant) {
        self.until = Some(after(now, self.pause));
    }
}

/// The longest time added to the clock: 30 years.
const FAR: Duration = Duration::from_secs(30 * 365 * 86_400);

/// The instant `time` after `now`, or [`FAR`] after it if the sum cannot be represented.
fn after(now: Instant, time: Duration) -> Instant {
    now + time.min(FAR)
}

/// Completes when the limit has passed and the server is still not connected.
async fn too_slow(shared: &Shared, place: usize, limit: Duration) {
    TokioClock::default().sleep(limit).await;
    if shared.is_established(place) {
        pending::<()>().await;
    }
}

async fn list(server: &RemoteServer) -> Result<Vec<Tool>, CallError> {
    match server.capabilities().tools {
        Some(_) => server.tools().collect().await,
        None => Ok(Vec::new()),
    }
}

fn client(server: &ServerConfig, config: &HubConfig, mut changes: mpsc::Sender<()>) -> Client {
    let name = &*server.name;
    let client = Client::from_info(config.info.clone())
        .era(config.era)
        .discover_timeout(DISCOVER_LIMIT.min(config.connect_limit / 3))
        .handshake_timeout(None)
        .timeout(config.timeout)
        .on_tools_changed(move || {
            // If a change is already queued, the listing for it includes this change.
            let _full = changes.try_send(());
        });
    let client = config.questions.set_up(name, client);
    let client = match config.tasks.clone() {
        Some(tasks) => client.tasks(tasks),
        None => client,
    };
    let client = match config.log_level.clone() {
        Some(level) => client.log_level(level),
        None => client,
    };
    let client = match config.observer.as_ref().and_then(|observer| observer(server)) {
        Some(observer) => client.connection(|connection| connection.observer(observer)),
        None => client,
    };
    let client = match named(name, &config.on_log) {
        Some(hook) => client.on_log(hook),
        None => client,
    };
    match named(name, &config.on_warning) {
        Some(hook) => client.on_warning(hook),
        None => client,
    }
}

/// Makes a hook for one server from a hook that takes the server's name too.
fn named<T: 'static>(name: &str, hook: &Option<Hook<T>>) -> Option<impl Fn(T) + Send + use<T>> {
    let (name, hook) = (name.to_owned(), hook.clone()?);
    Some(move |what| hook(&name, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_tells_of_changes_without_pause_is_listed_less_and_less_often() {
        let begun = Instant::now();
        let (mut relisting, mut now) = (Relisting::new(Duration::from_secs(1)), begun);
        // How long after a listing the next change is reported.
        let told = [0, 0, 0, 0, 0, 0, 0, 0, 31, 1, 0];
        let listed: Vec<_> = told
            .map(|silence| {
                let changed = now + Duration::from_secs(silence);
                let due = relisting.due(changed);
                let waited = due - now;
                relisting.listed(due);
                now = due;
                waited.as_secs()
            })
            .into();
        assert_eq!(listed, [0, 1, 2, 4, 8, 16, 30, 30, 31, 1, 1]);
    }
}
