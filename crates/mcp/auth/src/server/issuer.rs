//! An authorization server whose tokens are accepted, and the check of its tokens.

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
use crate::server::access_token::claims::{ExpectedClaims, check_claims};
use crate::server::issuer::introspection::Introspection;
use crate::server::issuer::key_set::KeySet;
use crate::server::rejection::{Rejection, short};

/// The default time limit for a response of an authorization server.
const TIMEOUT: Duration = Duration::from_secs(10);

/// An authorization server whose tokens a [`ResourceServer`](crate::server::ResourceServer) accepts, and how they are checked. A
/// clone shares the fetched keys and the remembered introspection responses.
///
/// Requests to it follow no redirect and read at most 256 KiB. Only public addresses are requested by default. Settings of key
/// sets and of JWTs have no effect on introspection, and settings of introspection have none on JWTs.
#[derive(Clone, Build)]
pub struct Issuer {
    url: String,
    check: Check,
    http: Arc<dyn HttpClient>,
    /// Sets the addresses that may be requested (default: public ones, by `https`).
    addresses: AddressPolicy,
    /// Sets how long a response of the issuer may take (default 10 s).
    timeout: Duration,
    /// Adds a name that the issuer uses for this server in `aud`, such as `api://…` (default: the public URL). The public URL
    /// stays accepted. May be called again.
    #[build(name = audience, push, into)]
    audiences: Vec<String>,
    needs_audience: bool,
    /// Sets the accepted algorithms of JWT signatures (default: all of [`Algorithm`]).
    #[build(list)]
    algorithms: Vec<Algorithm>,
    needs_type: bool,
}

#[derive(Clone, Debug)]
enum Check {
    Keys(KeySet),
    Introspection(Introspection),
}

/// The resource and the time of a check.
pub(crate) struct CheckContext<'a> {
    pub(crate) audience: &'a str,
    pub(crate) now: u64,
    pub(crate) leeway: u64,
}

impl Issuer {
    /// An issuer of JWTs, which its key set verifies. `issuer` is a URL, spelled exactly as in `iss` and in the issuer's metadata,
    /// which names the key set.
    ///
    /// A token must be signed with one of the [`algorithms`](Self::algorithms) and name the issuer, the audience and its expiry.
    /// An ID token is refused. Unknown keys cause at most one fetch per [minute](Self::refresh_interval); until then, a token
    /// that is newer than the keys gets 503. While the issuer cannot be reached, its last keys [stay in
    /// use](Self::stale_key_time).
    pub fn jwks(issuer: impl Into<String>, http: impl HttpClient + 'static) -> Self {
        Self::new(issuer.into(), Check::Keys(KeySet::new()), http)
    }

    /// An issuer whose introspection endpoint checks each token (RFC 7662), with the credentials of that client. Responses about
    /// active tokens are remembered for up to a [minute](Self::remember).
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

    /// Sets the URL of the key set (default: that in the issuer's metadata).
    #[must_use]
    pub fn jwks_uri(self, uri: impl Into<String>) -> Self {
        self.with_keys(|keys| keys.uri = Some(uri.into()))
    }

    /// Accepts introspection responses without an audience (default: no). Only safe if the endpoint reports only tokens of this
    /// server as active. The audience of a JWT is always checked, and so is one in a response.
    #[must_use]
    pub fn any_audience(mut self) -> Self {
        self.needs_audience = matches!(self.check, Check::Keys(_));
        self
    }

    /// Accepts only JWTs whose header has the `typ` of access tokens, `at+jwt` by RFC 9068 (default: also those without a
    /// `typ`, and with `JWT`).
    #[must_use]
    pub fn require_type(mut self) -> Self {
        self.needs_type = true;
        self
    }

    /// Sets the time between two fetches of the key set for tokens with an unknown key (default 60 s). After a failed fetch it
    /// is 5 s, if that is less.
    #[must_use]
    pub fn refresh_interval(self, interval: Duration) -> Self {
        self.with_keys(|keys| keys.times.refresh = interval)
    }

    /// Sets the age at which the key set is fetched again, so that a withdrawn key is no longer used (default 1 h). Requests wait
    /// at most 1 s for that fetch, and then use the old keys.
    #[must_use]
    pub fn key_lifetime(self, lifetime: Duration) -> Self {
        self.with_keys(|keys| keys.times.lifetime = lifetime)
    }

    /// Sets how long keys are used while the key set cannot be fetched (default 24 h). After that, requests get 503.
    #[must_use]
    pub fn stale_key_time(self, time: Duration) -> Self {
        self.with_keys(|keys| keys.times.stale = time)
    }

    /// Sets how long a response of the introspection endpoint is remembered (default and at most 60 s). A revoked token may be
    /// accepted for that long.
    #[must_use]
    pub fn remember(mut self, time: Duration) -> Self {
        if let Check::Introspection(introspection) = &mut self.check {
            introspection.set_remember(time);
        }
        self
    }

    /// Sets the number of concurrent requests to the introspection endpoint (default 64). Further ones wait for up to the
    /// [timeout](Self::timeout), and then get 503. Earlier clones keep their own number.
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

    /// Checks a token of this issuer. `jwt` is the parsed token, or the error of parsing it.
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
        let expected = ExpectedClaims {
            issuer: &self.url,
            audiences: &audiences,
            is_jwt: !self.is_introspection(),
            needs_audience: self.needs_audience,
            now: context.now,
            leeway: context.leeway,
        };
        check_claims(read, &expected)
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
