//! An authorization server whose tokens are taken.

pub(crate) mod discovery;
pub(crate) mod introspection;
pub(crate) mod key_set;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use agentwire_transport_http::client::HttpClient;
use agentwire_wire_derive::Build;
use tokio::sync::Semaphore;

use crate::Secret;
use crate::address::AddressPolicy;
use crate::fetch::{DEFAULT_LIMIT, Fetcher};
use crate::jose::{Algorithm, Jwt, JwtError};
use crate::server::access_token::AccessToken;
use crate::server::access_token::claims::{Expected, checked};
use crate::server::issuer::introspection::Introspection;
use crate::server::issuer::key_set::KeySet;
use crate::server::rejection::{Rejection, short};

/// How long an authorization server may take to answer by default.
const TIMEOUT: Duration = Duration::from_secs(10);

/// An authorization server whose tokens a [`ResourceServer`](crate::server::ResourceServer) takes, and how they are checked. A
/// clone shares what was fetched.
///
/// Requests to it follow no redirect and read at most 256 KiB, and its addresses are public by default. Settings of key sets and of
/// JWTs have no effect on introspection, and the other way round.
#[derive(Clone, Build)]
pub struct Issuer {
    url: String,
    check: Check,
    http: Arc<dyn HttpClient>,
    /// Sets which addresses may be asked (default: public ones, by `https`).
    addresses: AddressPolicy,
    /// Sets how long an answer of the issuer may take (default 10 s).
    timeout: Duration,
    /// Adds a name of this server that the issuer puts into `aud` (default: the public URL), such as `api://…`. The public URL
    /// stays one. May be called again.
    #[build(name = audience, push, into)]
    audiences: Vec<String>,
    needs_audience: bool,
    /// Sets by which algorithms a JWT may be signed (default: all of [`Algorithm`]).
    #[build(list)]
    algorithms: Vec<Algorithm>,
    needs_type: bool,
}

#[derive(Clone, Debug)]
enum Check {
    Keys(KeySet),
    Introspection(Introspection),
}

/// When a token is checked, and for which resource.
pub(crate) struct CheckContext<'a> {
    pub(crate) audience: &'a str,
    pub(crate) now: u64,
    pub(crate) leeway: u64,
}

impl Issuer {
    /// One whose tokens are JWTs, which its key set verifies. The issuer is a URL, exactly as it stands in `iss` and in its
    /// metadata, by which the key set is found.
    ///
    /// A token must be signed by one of the [`algorithms`](Self::algorithms), name the issuer, the audience and its end, and be
    /// no ID token. Keys that are not known cost one fetch in a [minute](Self::refresh_interval) at most; a
    /// token that is newer than the keys gets 503 until then. While the issuer
    /// cannot be reached, its last keys are [used on](Self::stale_key_time).
    pub fn jwks(issuer: impl Into<String>, http: impl HttpClient + 'static) -> Self {
        Self::new(issuer.into(), Check::Keys(KeySet::new()), http)
    }

    /// One that is asked about each token (RFC 7662), at that endpoint, as that client. Answers about active tokens are
    /// remembered for up to a [minute](Self::remember).
    ///
    /// The token must name its audience, unless the endpoint checks it ([`any_audience`](Self::any_audience)).
    pub fn introspection(
        issuer: impl Into<String>,
        endpoint: impl Into<String>,
        client_id: impl Into<String>,
        client_secret: impl Into<Secret>,
        http: impl HttpClient + 'static,
    ) -> Self {
        let introspection = Introspection::new(endpoint.into(), client_id.into(), client_secret.into());
        Self::new(issuer.into(), Check::Introspection(introspection), http)
    }

    fn new(url: String, check: Check, http: impl HttpClient + 'static) -> Self {
        Self {
            url,
            check,
            http: Arc::new(http),
            addresses: AddressPolicy::new(),
            timeout: TIMEOUT,
            audiences: Vec::new(),
            needs_audience: true,
            algorithms: Algorithm::ALL.to_vec(),
            needs_type: false,
        }
    }

    /// Names the key set (default: the issuer's metadata does).
    #[must_use]
    pub fn jwks_uri(self, uri: impl Into<String>) -> Self {
        self.with_keys(|keys| keys.uri = Some(uri.into()))
    }

    /// Takes answers of an introspection endpoint that name no audience (default: no). Only right where the endpoint itself
    /// knows tokens of this server alone. The audience of a JWT is always checked, and so is one that is named.
    #[must_use]
    pub fn any_audience(mut self) -> Self {
        self.needs_audience = matches!(self.check, Check::Keys(_));
        self
    }

    /// Takes only JWTs whose header marks them as access tokens: `typ` is `at+jwt`, by RFC 9068 (default: also those
    /// without a `typ`, and with `JWT`).
    #[must_use]
    pub fn require_type(mut self) -> Self {
        self.needs_type = true;
        self
    }

    /// Sets how often the key set is fetched for tokens whose key is not known: once in this time (default 60 s). After a
    /// failure it is 5 s, if that is less.
    #[must_use]
    pub fn refresh_interval(self, interval: Duration) -> Self {
        self.with_keys(|keys| keys.times.refresh = interval)
    }

    /// Sets after what time the key set is fetched again, so that a key which was withdrawn is used no longer (default 1 h). Requests
    /// wait for that a second at most, and go on with the keys from before.
    #[must_use]
    pub fn key_lifetime(self, lifetime: Duration) -> Self {
        self.with_keys(|keys| keys.times.lifetime = lifetime)
    }

    /// Sets how long keys are used while no others can be fetched (default 24 h). After that, tokens get 503.
    #[must_use]
    pub fn stale_key_time(self, time: Duration) -> Self {
        self.with_keys(|keys| keys.times.stale = time)
    }

    /// Sets how long an answer of the introspection endpoint is remembered (default and at most 60 s). So long does it take at
    /// most until a token that was revoked is refused.
    #[must_use]
    pub fn remember(mut self, time: Duration) -> Self {
        if let Check::Introspection(introspection) = &mut self.check {
            introspection.set_remember(time);
        }
        self
    }

    /// Sets how many tokens the introspection endpoint is asked about at once (default 64). More wait for up to the
    /// [timeout](Self::timeout), and get 503 then. Clones from before keep their own number.
    #[must_use]
    pub fn concurrent_introspections(mut self, requests: usize) -> Self {
        if let Check::Introspection(introspection) = &mut self.check {
            introspection.asking = Arc::new(Semaphore::new(requests.clamp(1, Semaphore::MAX_PERMITS)));
        }
        self
    }

    fn with_keys(mut self, change: impl FnOnce(&mut KeySet)) -> Self {
        if let Check::Keys(keys) = &mut self.check {
            change(keys);
        }
        self
    }

    /// The issuer's URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn is_introspection(&self) -> bool {
        matches!(self.check, Check::Introspection(_))
    }

    /// Checks a token of this issuer. `jwt` is the token where it can be read as one, or why not.
    pub(crate) async fn check(
        &self,
        token: &str,
        jwt: Result<&Jwt, &JwtError>,
        context: &CheckContext<'_>,
    ) -> Result<AccessToken, Rejection> {
        let fetcher = Fetcher::new(self.http.clone(), self.addresses.clone(), DEFAULT_LIMIT, self.timeout);
        let read = match &self.check {
            Check::Introspection(introspection) => introspection.ask(token, &fetcher).await?,
            Check::Keys(keys) => {
                let jwt = jwt.map_err(|error| error.clone())?;
                self.check_header(jwt)?;
                keys.verify(jwt, &self.url, &fetcher).await?
            }
        };
        let audiences: Vec<String> =
            self.audiences.iter().cloned().chain([context.audience.to_owned()]).collect();
        let expected = Expected {
            issuer: &self.url,
            audiences: &audiences,
            is_jwt: !self.is_introspection(),
            needs_audience: self.needs_audience,
            now: context.now,
            leeway: context.leeway,
        };
        checked(read, &expected)
    }

    fn check_header(&self, jwt: &Jwt) -> Result<(), Rejection> {
        if !self.algorithms.contains(&jwt.algorithm()) {
            return Err(Rejection::Algorithm { name: jwt.algorithm().to_string() });
        }
        // Media types are compared without the case of letters.
        let kind = jwt.header().get("typ").map(|kind| kind.as_str().unwrap_or_default().to_ascii_lowercase());
        let accepted = match kind.as_deref() {
            Some("at+jwt" | "application/at+jwt") => true,
            Some("jwt") | None => !self.needs_type,
            Some(_) => false,
        };
        if accepted { Ok(()) } else { Err(Rejection::Type { found: kind.as_deref().map(short) }) }
    }
}

impl fmt::Debug for Issuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Issuer").field("url", &self.url).field("check", &self.check).finish_non_exhaustive()
    }
}
