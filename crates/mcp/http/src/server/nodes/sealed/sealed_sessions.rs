//! Seals the state of a session into its id and opens it again, so that nodes continue sessions with shared keys and no store.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agentwire_jsonrpc::RawJson;
use agentwire_seal::SealingKeys;
use agentwire_store::{MemoryOnceStore, OnceStore, SessionId, StoreError};
use agentwire_wire_derive::Build;
use bytestring::ByteString;
use http::HeaderValue;

/// Settings for sealed ids of sessions. [`EndpointConfig::sealed_sessions`](crate::server::EndpointConfig::sealed_sessions) takes
/// it.
///
/// ```
/// use std::time::Duration;
///
/// use agentwire_transport_http::server::{EndpointConfig, SealedSessions, SealingKeys};
///
/// // All nodes have the same key.
/// let keys = SealingKeys::parse("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f")?;
/// let sealed = SealedSessions::new(keys).lifetime(Duration::from_secs(8 * 3600));
/// let config = EndpointConfig::new().sealed_sessions(sealed);
/// # let _ = config;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Build)]
#[build(
    new = "Seals with these keys, which all nodes have. A key that is replaced opens ids for as long as it is the second one."
)]
pub struct SealedSessions {
    #[build(required)]
    keys: SealingKeys,
    /// Sets how long a session may be used after it was opened (default [`LIFETIME`](Self::LIFETIME)). It must be the same at all
    /// nodes. After that, requests of the session get 404. A node with an unanswered request of the session continues until that
    /// is answered. The clocks of the nodes may differ by 5 minutes.
    /// [`EndpointConfig::idle`](crate::server::EndpointConfig::idle) frees the memory of a node sooner and ends no session.
    #[build(default = Self::LIFETIME)]
    lifetime: Duration,
    /// The ended sessions that this node knows of.
    #[build(skip)]
    ended: Arc<MemoryOnceStore>,
    /// Sets the store in which all nodes remember the sessions that clients have deleted, for the rest of their lifetime. A node
    /// that has such a session open ends it within a tenth of [`EndpointConfig::idle`](crate::server::EndpointConfig::idle).
    /// While the store is unreachable or full, a DELETE gets 503, and ends the session at its node only. While it is unreachable,
    /// requests for sessions that are not open here get 503 too. If the store loses its last writes, the session stays ended at
    /// each node that knows of its end. Such a node writes the end to the store again when it gets a request for the session.
    ///
    /// The default is a [`MemoryOnceStore`] of this node, of which one caller gets a quarter. With it, a client that knows the id
    /// of a deleted session, and is its principal, can still use the session at every other node. At this node it can do so after
    /// a restart, or if the store was full.
    #[build(name = ended_sessions)]
    shared: Option<Arc<dyn OnceStore>>,
    /// Sets the clock (default: that of the system), for tests.
    #[build(name = clock, dynamic, default = Arc::new(SystemTime::now))]
    now: Arc<dyn Fn() -> SystemTime + Send + Sync>,
}

/// The content of a session's id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SealedContent {
    /// The digest of the name of the principal that opened the session.
    pub(crate) principal: Option<[u8; 32]>,
    /// The params of its `initialize`.
    pub(crate) params: Option<RawJson>,
    /// The time at which the session expires, since 1970.
    pub(crate) expires: Duration,
}

/// The longest id of a session, in bytes: proxies and clients may not take longer ones.
const MAX_ID: usize = 1024;

/// The length of a [`SessionId`] as text.
const DIGITS: usize = 32;

/// Separates the [`SessionId`] from the seal.
const SEPARATOR: u8 = b'.';

/// The version of the sealed content, so that another one can follow.
const FORM: u8 = 1;

/// The time limit for writing a known end to the shared store again.
const REPAIR_TIME: Duration = Duration::from_secs(1);

/// The allowed difference between the clocks of nodes: 5 min.
const SKEW: Duration = Duration::from_secs(5 * 60);

impl SealedSessions {
    /// The default of [`lifetime`](Self::lifetime): 24 h.
    pub const LIFETIME: Duration = Duration::from_secs(24 * 3600);

    /// Reads the [`SessionId`] from the id of a session.
    pub(crate) fn parse(value: &[u8]) -> Option<SessionId> {
        let (digits, rest) = value.split_at_checked(DIGITS).filter(|_| value.len() <= MAX_ID)?;
        let is_form = rest.is_empty() || rest[0] == SEPARATOR;
        is_form.then(|| SessionId::parse(digits)).flatten()
    }

    /// Seals the id of a session that a client opens. Returns also when it expires. `None` if it would be too long.
    pub(crate) fn seal(
        &self,
        id: SessionId,
        principal: Option<[u8; 32]>,
        params: Option<&RawJson>,
    ) -> Option<(HeaderValue, Duration)> {
        let created = Duration::from_secs(self.now().as_secs());
        let mut text = vec![FORM, u8::from(principal.is_some())];
        text.extend_from_slice(&created.as_secs().to_be_bytes());
        principal.iter().for_each(|digest| text.extend_from_slice(digest));
        let params = params.map_or("", RawJson::as_str);
        if text.len() + params.len() > MAX_ID {
            return None;
        }
        text.extend_from_slice(params.as_bytes());
        let digits = id.to_string();
        let sealed = self.keys.seal(additional_data(&digits).as_bytes(), text).ok()?;
        let value = format!("{digits}{}{sealed}", char::from(SEPARATOR));
        let value = HeaderValue::try_from(value).ok().filter(|value| value.len() <= MAX_ID)?;
        Some((value, created.saturating_add(self.lifetime)))
    }

    /// Opens the sealed id of a session. `None` if none of the keys has sealed it, if the seal belongs to another session, or if
    /// it has expired.
    pub(crate) fn open(&self, id: SessionId, value: &[u8]) -> Option<SealedContent> {
        let (digits, rest) = value.split_at_checked(DIGITS).filter(|_| value.len() <= MAX_ID)?;
        let (separator, sealed) = rest.split_first()?;
        let digits = std::str::from_utf8(digits).ok()?;
        if *separator != SEPARATOR || SessionId::parse(digits.as_bytes()) != Some(id) {
            return None;
        }
        let text = self.keys.open(additional_data(digits).as_bytes(), std::str::from_utf8(sealed).ok()?)?;
        let ([FORM, has_principal], text) = text.split_first_chunk::<2>()? else { return None };
        let (created, text) = text.split_first_chunk::<8>()?;
        let (principal, params) = match has_principal {
            0 => (None, text),
            _ => text.split_first_chunk::<32>().map(|(digest, params)| (Some(*digest), params))?,
        };
        let params = ByteString::try_from(params).ok()?;
        let params = if params.is_empty() { None } else { Some(RawJson::parse(params).ok()?) };
        let (created, now) = (Duration::from_secs(u64::from_be_bytes(*created)), self.now());
        let expires = created.saturating_add(self.lifetime);
        let is_valid = now < expires && created <= now.saturating_add(SKEW);
        is_valid.then_some(SealedContent { principal, params, expires })
    }

    /// Whether the time `expires` has passed.
    pub(crate) fn has_expired(&self, expires: Duration) -> bool {
        self.now() >= expires
    }

    /// Whether nodes share the ends of sessions.
    pub(crate) fn shares_ended(&self) -> bool {
        self.shared.is_some()
    }

    /// Remembers that a client has ended a session. Returns false if that was known.
    pub(crate) async fn end(
        &self,
        id: SessionId,
        owner: Option<&str>,
        expires: Duration,
    ) -> Result<bool, StoreError> {
        let (name, rest) = (ended_name(id), self.remembered(expires));
        let here = self.ended.insert(&name, owner, rest).await;
        match &self.shared {
            Some(shared) => shared.insert(&name, owner, rest).await,
            None => here,
        }
    }

    /// Whether a client has ended a session that expires at that time. If this node knows that and a shared store has lost it,
    /// the store gets it again.
    pub(crate) async fn has_ended(
        &self,
        id: SessionId,
        owner: Option<&str>,
        expires: Duration,
    ) -> Result<bool, StoreError> {
        let (name, rest) = (ended_name(id), self.remembered(expires));
        let is_known = self.ended.contains(&name).await?;
        let Some(shared) = &self.shared else { return Ok(is_known) };
        if is_known {
            // The session has ended, whether or not this write succeeds.
            let _again = tokio::time::timeout(REPAIR_TIME, shared.insert(&name, owner, rest)).await;
            return Ok(true);
        }
        let has_ended = shared.contains(&name).await?;
        if has_ended {
            let _full = self.ended.insert(&name, owner, rest).await;
        }
        Ok(has_ended)
    }

    /// The time for which the end of a session is remembered: a node with a slow clock opens the id for longer.
    fn remembered(&self, expires: Duration) -> Duration {
        expires.saturating_sub(self.now()).saturating_add(SKEW)
    }

    /// The time since 1970.
    fn now(&self) -> Duration {
        (self.now)().duration_since(UNIX_EPOCH).unwrap_or_default()
    }
}

/// Shows no key.
impl fmt::Debug for SealedSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealedSessions").field("lifetime", &self.lifetime).finish_non_exhaustive()
    }
}

/// The additional data of the seal: the digits of the id.
fn additional_data(digits: &str) -> String {
    format!("agentwire session {digits}")
}

/// The name in the store for the end of a session.
fn ended_name(id: SessionId) -> String {
    format!("session-ended:{id}")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    const HOUR: u64 = 3600;

    fn sealed(key: u8, clock: &Arc<AtomicU64>) -> SealedSessions {
        let clock = clock.clone();
        SealedSessions::new(SealingKeys::new([key; 32]))
            .clock(move || UNIX_EPOCH + Duration::from_secs(clock.load(Ordering::Relaxed)))
    }

    fn clock() -> Arc<AtomicU64> {
        Arc::new(AtomicU64::new(1_800_000_000))
    }

    fn params(length: usize) -> RawJson {
        RawJson::parse(format!(r#"{{"x":"{}"}}"#, "x".repeat(length - 8)).into()).unwrap()
    }

    #[test]
    fn any_node_with_the_key_opens_a_sealed_id() {
        let (clock, id) = (clock(), SessionId::random().unwrap());
        let [one, two] = [sealed(1, &clock), sealed(1, &clock)];
        for (principal, params) in [(None, None), (Some([7; 32]), Some(params(100)))] {
            let (value, expires) = one.seal(id, principal, params.as_ref()).unwrap();
            assert!(value.as_bytes().iter().all(|byte| (0x21..=0x7e).contains(byte)), "{value:?}");
            assert_eq!(SealedSessions::parse(value.as_bytes()), Some(id));
            let content = SealedContent { principal, params, expires };
            assert_eq!(two.open(id, value.as_bytes()), Some(content));
        }
    }

    #[test]
    fn altered_and_foreign_ids_are_not_opened() {
        let (clock, id) = (clock(), SessionId::random().unwrap());
        let sealed_1 = sealed(1, &clock);
        let value = sealed_1.seal(id, Some([7; 32]), Some(&params(100))).unwrap().0;
        let value = value.to_str().unwrap();
        for at in DIGITS..value.len() {
            let mut altered = value.as_bytes().to_vec();
            altered[at] = if altered[at] == b'A' { b'B' } else { b'A' };
            assert_eq!(sealed_1.open(id, &altered), None, "altered at {at}");
            assert_eq!(sealed_1.open(id, &value.as_bytes()[..at]), None, "cut at {at}");
        }
        let other = SessionId::random().unwrap();
        let swapped = format!("{other}{}", &value[DIGITS..]);
        assert_eq!(sealed_1.open(other, swapped.as_bytes()), None, "the seal of another session");
        assert_eq!(sealed_1.open(other, value.as_bytes()), None);
        assert_eq!(sealed(2, &clock).open(id, value.as_bytes()), None, "another key");
        assert_eq!(sealed_1.open(id, format!("{value}A").as_bytes()), None);
        for no_id in [&value[1..], &value.replace('.', ":"), &format!("{value}{}", "A".repeat(MAX_ID))] {
            assert_eq!(SealedSessions::parse(no_id.as_bytes()), None, "{no_id}");
        }
    }

    #[test]
    fn an_id_has_up_to_1024_bytes() {
        let (clock, id) = (clock(), SessionId::random().unwrap());
        let sealed = sealed(1, &clock);
        let fits = |length| sealed.seal(id, None, Some(&params(length))).map(|(value, _)| value.len());
        // 33 of the id, and four for each three bytes of the seal's 45, the 10 before the params, and those.
        assert_eq!((fits(688), fits(689)), (Some(1024), None));
        assert_eq!(fits(1 << 20), None);
    }

    #[test]
    fn an_id_is_opened_until_it_expires_by_clocks_that_differ_a_little() {
        let (clock, id) = (clock(), SessionId::random().unwrap());
        let sealed = sealed(1, &clock);
        let (value, expires) = sealed.seal(id, None, None).unwrap();
        let opens = |by: i64| {
            let now = clock.load(Ordering::Relaxed);
            clock.store(now.checked_add_signed(by).unwrap(), Ordering::Relaxed);
            let opens = sealed.open(id, value.as_bytes()).is_some();
            assert_eq!(sealed.has_expired(expires), by >= 24 * HOUR.cast_signed());
            clock.store(now, Ordering::Relaxed);
            opens
        };
        let day = 24 * HOUR.cast_signed();
        assert_eq!([0, day - 1, day, -300, -301].map(opens), [true, true, false, true, false]);
    }
}
