//! Sends tokens to the introspection endpoint of an authorization server (RFC 7662), and remembers its responses for up to 60 s.

use agentwire_jsonrpc::WithCauses;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use agentwire_sync::Mutex;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use form_urlencoded::Serializer;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Request, Uri};
use ring::digest::{SHA256, digest};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::Secret;
use crate::fetch::Fetcher;
use crate::jose::{Claims, read_object};
use crate::server::rejection::Rejection;

/// The longest time that a response is remembered.
const LONGEST: Duration = Duration::from_secs(60);
/// The default number of concurrent requests.
const CONCURRENT: usize = 64;
/// The number of remembered responses. The oldest is dropped first.
const MAX_ENTRIES: usize = 10_000;
/// The size of all remembered responses together, in bytes of JSON.
const MAX_BYTES: usize = 16 << 20;

/// The introspection endpoint of an authorization server, and its remembered responses. A clone shares them.
#[derive(Clone)]
pub(crate) struct Introspection {
    endpoint: String,
    client_id: String,
    client_secret: Secret,
    pub(crate) remember: Duration,
    /// Any client can cause requests to the endpoint, so their number is bounded.
    pub(crate) asking: Arc<Semaphore>,
    answers: Arc<Mutex<Answers>>,
}

/// Responses about active tokens, by the hash of the token.
#[derive(Default)]
struct Answers {
    by_token: HashMap<[u8; 32], Answer>,
    /// The oldest is first.
    order: VecDeque<([u8; 32], Instant)>,
    bytes: usize,
}

struct Answer {
    claims: Claims,
    since: Instant,
    length: usize,
}

impl Introspection {
    pub(crate) fn new(endpoint: String, client_id: String, client_secret: Secret) -> Self {
        let asking = Arc::new(Semaphore::new(CONCURRENT));
        Self { endpoint, client_id, client_secret, remember: LONGEST, asking, answers: Arc::default() }
    }

    pub(crate) fn set_remember(&mut self, time: Duration) {
        self.remember = time.min(LONGEST);
    }

    /// Returns the content of a token. Fails if the token is not active.
    pub(crate) async fn ask(&self, token: &str, fetcher: &Fetcher) -> Result<Claims, Rejection> {
        let key = hash(token);
        let known = || self.answers.lock().get(&key, self.remember);
        if let Some(claims) = known() {
            return Ok(claims);
        }
        let unavailable = |why: String| Rejection::unavailable("the introspection endpoint", why);
        let asking = tokio::time::timeout(fetcher.timeout(), self.asking.acquire()).await;
        let _asking =
            asking.map_err(|_| unavailable("as many requests to it are unanswered as may be".to_owned()))?;
        // A concurrent request with the same token may have filled the cache.
        if let Some(claims) = known() {
            return Ok(claims);
        }
        let request = self.request(token).ok_or_else(|| unavailable("its URL is none".to_owned()))?;
        let fetched =
            fetcher.send(request).await.map_err(|error| unavailable(WithCauses::new(&error).to_string()))?;
        if !fetched.status.is_success() {
            return Err(unavailable(format!("it answers with HTTP status {}", fetched.status)));
        }
        let members = read_object(&fetched.body)
            .ok_or_else(|| unavailable("its answer is not a JSON object".to_owned()))?;
        if members.get("active") != Some(&Value::Bool(true)) {
            return Err(Rejection::Inactive);
        }
        let claims = Claims::new(members);
        let answer = Answer { claims: claims.clone(), since: Instant::now(), length: fetched.body.len() };
        self.answers.lock().insert(key, answer, self.remember);
        Ok(claims)
    }

    fn request(&self, token: &str) -> Option<Request<Bytes>> {
        let form = Serializer::new(String::new())
            .append_pair("token", token)
            .append_pair("token_type_hint", "access_token")
            .finish();
        // Each half is encoded as in a form (RFC 6749, section 2.3.1).
        let encode = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let basic = format!("{}:{}", encode(&self.client_id), encode(self.client_secret.expose()));
        let mut credentials = HeaderValue::try_from(format!("Basic {}", STANDARD.encode(basic))).ok()?;
        credentials.set_sensitive(true);
        Request::post(self.endpoint.parse::<Uri>().ok()?)
            .header(AUTHORIZATION, credentials)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(ACCEPT, "application/json")
            .body(form.into())
            .ok()
    }
}

impl Answers {
    fn get(&self, key: &[u8; 32], remember: Duration) -> Option<Claims> {
        let answer = self.by_token.get(key).filter(|answer| answer.since.elapsed() < remember)?;
        Some(answer.claims.clone())
    }

    fn insert(&mut self, key: [u8; 32], answer: Answer, remember: Duration) {
        self.bytes += answer.length;
        self.order.push_back((key, answer.since));
        if let Some(replaced) = self.by_token.insert(key, answer) {
            self.bytes -= replaced.length;
        }
        let is_over = |answers: &Self| answers.order.len() > MAX_ENTRIES || answers.bytes > MAX_BYTES;
        while let Some((oldest, since)) = self.order.front().copied()
            && (is_over(self) || since.elapsed() >= remember)
        {
            self.order.pop_front();
            // A newer response about the same token stays.
            if self.by_token.get(&oldest).is_some_and(|answer| answer.since == since)
                && let Some(dropped) = self.by_token.remove(&oldest)
            {
                self.bytes -= dropped.length;
            }
        }
    }
}

fn hash(token: &str) -> [u8; 32] {
    let mut key = [0; 32];
    key.copy_from_slice(digest(&SHA256, token.as_bytes()).as_ref());
    key
}

impl fmt::Debug for Introspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Introspection")
            .field("endpoint", &self.endpoint)
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;

    fn answer(length: usize) -> Answer {
        Answer { claims: Claims::new(Map::new()), since: Instant::now(), length }
    }

    #[tokio::test(start_paused = true)]
    async fn responses_are_dropped_by_age_number_and_size() {
        let mut answers = Answers::default();
        for number in 0..MAX_ENTRIES + 5 {
            answers.insert(hash(&number.to_string()), answer(1), LONGEST);
        }
        assert_eq!(
            (answers.by_token.len(), answers.order.len(), answers.bytes),
            (MAX_ENTRIES, MAX_ENTRIES, MAX_ENTRIES)
        );
        assert!(answers.get(&hash("4"), LONGEST).is_none() && answers.get(&hash("5"), LONGEST).is_some());
        tokio::time::advance(LONGEST).await;
        assert!(answers.get(&hash("5"), LONGEST).is_none());
        answers.insert(hash("x"), answer(MAX_BYTES), LONGEST);
        assert_eq!((answers.by_token.len(), answers.bytes), (1, MAX_BYTES));
        answers.insert(hash("x"), answer(1), LONGEST);
        answers.insert(hash("y"), answer(1), LONGEST);
        assert!(answers.get(&hash("x"), LONGEST).is_some(), "the newer answer is kept");
        assert_eq!(answers.bytes, 2);
    }
}
