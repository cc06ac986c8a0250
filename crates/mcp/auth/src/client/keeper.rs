//! Keeps the token of one server: reads it from the store, renews it, and obtains a new one. Of all tasks and processes one does so
//! at a time, and the others take what it got.

pub(crate) mod obtain;
pub(crate) mod records;
pub(crate) mod renewal;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agentwire_sync::Mutex;
use agentwire_transport_http::client::HttpClient;
use http::Uri;
use tokio::sync::OnceCell;

use crate::Secret;
use crate::client::config::{AuthConfig, ResourceParameter};
use crate::client::discovery::challenge::Challenge;
use crate::client::discovery::{Discovered, discover};
use crate::client::dpop::DpopKey;
use crate::client::keeper::records::{Records, ServerRecord, TokenRecord};
use crate::client::{AuthError, AuthWarning};
use crate::clock::unix_now_millis;
use crate::fetch::Fetcher;

/// How long before its end a token is renewed at most, in milliseconds; of a shorter-lived one, the last tenth of its life.
const EARLY: u64 = 30_000;

/// How long a new token is not renewed before its use, in milliseconds. An authorization server whose tokens last for
/// no time at all must not be asked with each request.
const MIN_AGE: u64 = 1_000;

/// How long a token that still serves is not renewed after an attempt that failed.
const RETRY_PAUSE: Duration = Duration::from_secs(5);

/// A token in use.
#[derive(Debug)]
pub(crate) struct Token {
    pub(crate) record: TokenRecord,
    pub(crate) server: ServerRecord,
    pub(crate) dpop: Option<Arc<DpopKey>>,
    /// Whether the server has taken it once.
    accepted: AtomicBool,
    pub(crate) source: TokenSource,
}

/// The source of a token. One that is refused at its first use is judged by that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenSource {
    /// The store, so perhaps another process.
    Store,
    /// A refresh by this process.
    Refresh,
    /// An authorization by this process.
    Authorization,
}

impl Token {
    pub(crate) fn new(
        server: ServerRecord,
        record: TokenRecord,
        dpop: Option<Arc<DpopKey>>,
        source: TokenSource,
    ) -> Arc<Self> {
        let dpop = dpop.or_else(|| record.dpop_key.as_ref().and_then(DpopKey::from_stored).map(Arc::new));
        Arc::new(Self { record, server, dpop, accepted: AtomicBool::new(false), source })
    }

    pub(crate) fn access_token(&self) -> &Secret {
        &self.record.access_token
    }

    /// Whether it should be renewed before it is used.
    pub(crate) fn is_stale(&self) -> bool {
        let Some(expires_at) = self.record.expires_at else { return false };
        let (issued_at, now) = (self.record.issued_at, unix_now_millis());
        let lifetime = expires_at.saturating_sub(issued_at);
        // After the clock was set back, a token is not from the future for ever.
        let is_new = (issued_at..issued_at + MIN_AGE).contains(&now);
        !is_new && now + EARLY.min(lifetime / 10) >= expires_at
    }

    pub(crate) fn is_expired(&self) -> bool {
        self.record.expires_at.is_some_and(|expires_at| unix_now_millis() >= expires_at)
    }

    pub(crate) fn set_accepted(&self) {
        self.accepted.store(true, Ordering::Relaxed);
    }

    /// Whether the server refuses what this process has just got from this source.
    pub(crate) fn is_refused_new(&self, source: TokenSource) -> bool {
        self.source == source && !self.accepted.load(Ordering::Relaxed)
    }

    fn is(&self, other: &Self) -> bool {
        self.record.access_token == other.record.access_token
    }

    /// Whether it has these scopes, as far as that is known.
    pub(crate) fn covers(&self, scopes: &[String]) -> bool {
        scopes.iter().all(|scope| self.record.scopes.contains(scope))
    }
}

/// Why a token is wanted.
#[derive(Debug)]
pub(crate) enum Job {
    /// Before a request: what the store has, renewed if it is about to expire.
    Freshen { used: Option<Arc<Token>> },
    /// After a 401.
    Unauthorized { challenge: Option<Challenge>, used: Option<Arc<Token>> },
    /// After a 403 that asks for more scopes.
    StepUp { challenge: Challenge, used: Option<Arc<Token>> },
    /// The program asks for a login.
    Login { challenge: Option<Challenge> },
}

impl Job {
    pub(crate) fn used(&self) -> Option<&Arc<Token>> {
        match self {
            Self::Freshen { used } | Self::Unauthorized { used, .. } | Self::StepUp { used, .. } => {
                used.as_ref()
            }
            Self::Login { .. } => None,
        }
    }

    /// Whether a token that has come since does.
    fn is_served_by(&self, token: &Token) -> bool {
        let is_another = self.used().is_none_or(|used| !token.is(used));
        is_another
            && match self {
                Self::Freshen { .. } | Self::Unauthorized { .. } => !token.is_stale(),
                Self::StepUp { challenge, .. } => !token.is_stale() && token.covers(&challenge.scopes),
                Self::Login { .. } => false,
            }
    }

    /// Whether this job asks for what the other has asked for, so that its result holds for both.
    fn is_same(&self, other: &Self) -> bool {
        let is_same_token = match (self.used(), other.used()) {
            (Some(one), Some(other)) => one.is(other),
            (None, None) => true,
            _ => false,
        };
        is_same_token
            && match (self, other) {
                (Self::Freshen { .. }, Self::Freshen { .. }) => true,
                (Self::Unauthorized { .. }, Self::Unauthorized { .. }) => true,
                (Self::StepUp { challenge: one, .. }, Self::StepUp { challenge: other, .. }) => {
                    one.scopes == other.scopes
                }
                _ => false,
            }
    }
}

/// A job that is done, and its result.
struct Outcome {
    job: Job,
    result: Result<Option<Arc<Token>>, AuthError>,
}

/// The keeper of one server's token.
pub(crate) struct Keeper {
    pub(crate) config: Arc<AuthConfig>,
    /// The URL of the server.
    pub(crate) server: Uri,
    /// The same as the key of its records.
    pub(crate) name: String,
    pub(crate) records: Records,
    http: Arc<dyn HttpClient>,
    fetcher: OnceCell<Fetcher>,
    state: Mutex<State>,
    /// Held by the one task that works.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    token: Option<Arc<Token>>,
    /// Whether the store has been read.
    is_loaded: bool,
    /// How many jobs are done.
    done: u64,
    /// The last of them.
    last: Option<Outcome>,
    /// A token that is not in the store yet: the store failed.
    unsaved: Option<Arc<Token>>,
    /// Until then a token that still serves is not renewed.
    paused_until: Option<Instant>,
    /// A login failed or was declined, so none is offered until the program asks for one.
    is_declined: bool,
}

impl State {
    fn is_paused(&self) -> bool {
        self.paused_until.is_some_and(|until| Instant::now() < until)
    }
}

impl Keeper {
    pub(crate) fn new(config: Arc<AuthConfig>, server: Uri, http: Arc<dyn HttpClient>) -> Arc<Self> {
        let records = Records::new(config.store.clone());
        Arc::new(Self {
            name: server.to_string(),
            config,
            server,
            records,
            http,
            fetcher: OnceCell::new(),
            state: Mutex::default(),
            turn: tokio::sync::Mutex::new(()),
        })
    }

    /// The token for the next request; `None` if the server may not need one.
    pub(crate) async fn current(self: &Arc<Self>) -> Result<Option<Arc<Token>>, AuthError> {
        let used = {
            let state = self.state.lock();
            match &state.token {
                Some(token) if token.is_stale() && (token.is_expired() || !state.is_paused()) => {
                    Some(token.clone())
                }
                None if !state.is_loaded => None,
                token => return Ok(token.clone()),
            }
        };
        self.run(Job::Freshen { used }).await
    }

    /// Does a job, in a task of its own: a caller that goes away must not lose a token that the server has rotated.
    pub(crate) async fn run(self: &Arc<Self>, job: Job) -> Result<Option<Arc<Token>>, AuthError> {
        let seen = self.state.lock().done;
        let keeper = self.clone();
        let task = tokio::spawn(async move {
            let _turn = keeper.turn.lock().await;
            if let Some(result) = keeper.settled(&job, seen) {
                return result;
            }
            let result = keeper.perform(&job).await;
            let mut state = keeper.state.lock();
            state.done += 1;
            state.last = Some(Outcome { job, result: result.clone() });
            if let Ok(token) = &result {
                state.is_loaded = true;
                if token.is_some() {
                    state.token.clone_from(token);
                }
            }
            result
        });
        task.await.unwrap_or_else(|error| Err(AuthError::transient("the renewal of the token", error)))
    }

    /// The result for a job that others have done since: a token that does, or the result of the same job.
    fn settled(&self, job: &Job, seen: u64) -> Option<Result<Option<Arc<Token>>, AuthError>> {
        let state = self.state.lock();
        if let Some(token) = state.token.as_ref().filter(|token| job.is_served_by(token)) {
            return Some(Ok(Some(token.clone())));
        }
        let last = state.last.as_ref().filter(|last| state.done != seen && last.job.is_same(job));
        last.map(|last| last.result.clone())
    }

    /// The token that the store has for this server.
    pub(crate) async fn stored(&self) -> Result<Option<Arc<Token>>, AuthError> {
        let Some(server) = self.records.server(&self.name).await? else { return Ok(None) };
        let token = self.records.token(&server).await?;
        Ok(token.map(|record| Token::new(server, record, None, TokenSource::Store)))
    }

    /// The store's token where another process has got one in place of the one that was used.
    pub(crate) async fn adopted(&self, used: Option<&Token>) -> Result<Option<Arc<Token>>, AuthError> {
        let stored = self.stored().await?;
        Ok(stored.filter(|stored| !stored.is_stale() && !used.is_some_and(|used| used.is(stored))))
    }

    /// Holds a token in memory, from the moment that the authorization server knows no other.
    pub(crate) fn hold(&self, token: &Arc<Token>) {
        let mut state = self.state.lock();
        state.token = Some(token.clone());
        state.unsaved = Some(token.clone());
    }

    /// Stores a token that is held, before it is used. The caller has its lock.
    pub(crate) async fn save(&self, token: &Arc<Token>) -> Result<(), AuthError> {
        self.records.keep_token(&token.server, Some(&token.record)).await?;
        if self.records.server(&self.name).await?.as_ref() != Some(&token.server) {
            self.records.keep_server(&self.name, Some(&token.server)).await?;
        }
        self.state.lock().unsaved = None;
        Ok(())
    }

    /// Stores a token that is held. If the store fails, the token is used nevertheless, and stored later.
    pub(crate) async fn try_to_save(&self, token: &Arc<Token>) {
        if let Err(error) = self.save(token).await {
            self.warn(AuthWarning::NotStored { server: self.name.clone(), error });
        }
    }

    /// Reports a failing store to the program.
    pub(crate) fn warn(&self, warning: AuthWarning) {
        if let Some(tell) = &self.config.on_warning {
            tell(&warning);
        }
    }

    /// Reports a record that the store has not taken: the result of the request stays. Returns whether it is kept.
    pub(crate) fn warn_unless_kept(&self, record: &'static str, kept: Result<(), AuthError>) -> bool {
        let Err(error) = kept else { return true };
        self.warn(AuthWarning::RecordNotStored { server: self.name.clone(), record, error });
        false
    }

    /// Stores what could not be stored before: the refresh token in the store is spent, and its use would end them all.
    pub(crate) async fn save_unsaved(&self) -> Result<(), AuthError> {
        let Some(token) = self.state.lock().unsaved.clone() else { return Ok(()) };
        let _guard = self.records.lock_token(&token.server).await?;
        // Another process may have logged in or out since.
        let is_over = match self.records.token(&token.server).await? {
            Some(stored) => stored.issued_at > token.record.issued_at,
            None => token.source == TokenSource::Refresh,
        };
        if !is_over {
            return self.save(&token).await;
        }
        self.state.lock().unsaved = None;
        Ok(())
    }

    /// Does not renew a token that still serves for a while.
    pub(crate) fn pause_renewal(&self) {
        self.state.lock().paused_until = Some(Instant::now() + RETRY_PAUSE);
    }

    /// Forgets the token, in memory and in the store.
    pub(crate) async fn forget(&self) -> Result<Option<Arc<Token>>, AuthError> {
        let _turn = self.turn.lock().await;
        let mut stored = self.stored().await?;
        if let Some(token) = &stored {
            let _guard = self.records.lock_token(&token.server).await?;
            // Another process may have renewed it before it gave the lock up.
            let server = token.server.clone();
            let record = self.records.token(&server).await?;
            self.records.keep_token(&server, None).await?;
            self.records.keep_server(&self.name, None).await?;
            self.records.keep_demanded(&self.name, None).await?;
            stored = record.map(|record| Token::new(server, record, None, TokenSource::Store));
        }
        let mut state = self.state.lock();
        let (held, unsaved) = (state.token.take(), state.unsaved.take());
        Ok(unsaved.or(stored).or(held))
    }

    pub(crate) fn is_declined(&self) -> bool {
        self.state.lock().is_declined
    }

    pub(crate) fn set_declined(&self, declined: bool) {
        self.state.lock().is_declined = declined;
    }

    pub(crate) async fn fetcher(&self) -> &Fetcher {
        let make = || async {
            let policy = self.config.policy.clone().reaching(&self.server).await;
            Fetcher::new(self.http.clone(), policy, self.config.document_limit, self.config.timeout)
        };
        self.fetcher.get_or_init(make).await
    }

    /// Asks the server who issues its tokens.
    pub(crate) async fn discover(&self, challenge: Option<&Challenge>) -> Result<Discovered, AuthError> {
        // RFC 6750, section 5.3: a token that anybody on the way can read is not obtained.
        if !self.config.policy.allows_scheme(&self.server) {
            let problem =
                "the server's URL is of `http`, and tokens are sent by `https` only, or on this machine";
            return Err(AuthError::misconfigured(problem));
        }
        discover(self.fetcher().await, &self.server, challenge, &self.config).await
    }

    /// The parameter `resource` of each request for a code or a token.
    pub(crate) fn parameter(&self, resource: &str) -> Option<String> {
        (self.config.resource != ResourceParameter::Omit).then(|| resource.to_owned())
    }

    /// Returns the error that a person has to log in.
    pub(crate) fn needs_person(&self, scopes: &[String]) -> AuthError {
        let command = self.config.login_command.clone();
        let (server, scopes) = (self.name.clone(), scopes.to_vec());
        AuthError::NeedsPerson { server, scopes, command, has_authorization_server: true, refused: None }
    }
}
