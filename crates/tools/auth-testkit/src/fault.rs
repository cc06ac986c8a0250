//! The ways in which the server can misbehave, and which of them are on.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};

macro_rules! faults {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
        /// One way to misbehave. Each has a name in kebab case ([`Fault::name`]), and its documentation names the rule that it breaks.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Fault {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Fault {
            /// All faults, in the order of this documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name, in kebab case.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }
    };
}

faults! {
    // The protected resource's answers.
    /// The 401 has no `WWW-Authenticate` (RFC 9110, 15.5.2).
    ChallengeMissing = "challenge-missing",
    /// The 401 has a challenge of three schemes in one header, with commas in quoted strings. That is allowed (RFC 9110, 11.6.1).
    ChallengeSeveralSchemes = "challenge-several-schemes",
    /// The challenge names metadata at a link-local address, as that of a cloud's metadata service.
    ChallengeMetadataLinkLocal = "challenge-metadata-link-local",
    /// The challenge names metadata on another origin, whose document names that origin as the resource (RFC 9728, 3.3).
    ChallengeMetadataOtherHost = "challenge-metadata-other-host",
    /// Each request is refused with 401, whatever its token is.
    AlwaysUnauthorized = "always-unauthorized",
    /// Each request with a token is refused with 403 and a scope that it has already.
    AlwaysForbidden = "always-forbidden",
    /// The resource redirects to another origin, which receives the token of a client that follows with it (RFC 6750, 5.2).
    ResourceRedirects = "resource-redirects",
    /// The resource's metadata has a `resource` of another host (RFC 9728, 3.3).
    ResourceOtherHost = "resource-other-host",
    /// The resource's metadata has a `resource` with a slash added.
    ResourceTrailingSlash = "resource-trailing-slash",
    /// The resource's metadata has no `resource` (RFC 9728, 2).
    ResourceMissing = "resource-missing",
    /// The resource's metadata has no `authorization_servers`, which MCP requires.
    AuthorizationServersMissing = "authorization-servers-missing",
    /// The resource's metadata has an empty list of `authorization_servers`.
    AuthorizationServersEmpty = "authorization-servers-empty",
    /// The resource's metadata names a second authorization server, on another host. That is allowed; a client keeps their
    /// credentials apart.
    AuthorizationServersTwo = "authorization-servers-two",
    /// The resource's metadata names an authorization server at a link-local address.
    AuthorizationServersLinkLocal = "authorization-servers-link-local",
    /// The resource's metadata is not JSON.
    ResourceMetadataNotJson = "resource-metadata-not-json",
    /// The resource's metadata is answered with 500.
    ResourceMetadataFails = "resource-metadata-fails",

    // The authorization server's metadata.
    /// `issuer` has another path than the URL that the metadata is derived from (RFC 8414, 3.3).
    MetadataIssuerDiffers = "metadata-issuer-differs",
    /// `issuer` has a slash added.
    MetadataIssuerTrailingSlash = "metadata-issuer-trailing-slash",
    /// `issuer` is of another host, as in a mix-up attack.
    MetadataIssuerOtherHost = "metadata-issuer-other-host",
    /// There is no `issuer` (RFC 8414, 2).
    MetadataIssuerMissing = "metadata-issuer-missing",
    /// The metadata is not JSON.
    MetadataNotJson = "metadata-not-json",
    /// The metadata has the content type `text/html` (RFC 8414, 3.2).
    MetadataContentType = "metadata-content-type",
    /// The metadata is a string of 100 MiB.
    MetadataEndless = "metadata-endless",
    /// The metadata comes byte by byte, one each 100 ms, for five minutes.
    MetadataDrips = "metadata-drips",
    /// The metadata redirects to itself.
    MetadataRedirectLoop = "metadata-redirect-loop",
    /// The metadata redirects to another origin, which serves it.
    MetadataRedirects = "metadata-redirects",
    /// The metadata is answered with 503.
    MetadataFails = "metadata-fails",
    /// There is no `code_challenge_methods_supported`: a client must refuse (MCP, authorization code protection).
    PkceNotAdvertised = "pkce-not-advertised",
    /// `code_challenge_methods_supported` has only `plain` (OAuth 2.1, 7.5.1).
    PkcePlainOnly = "pkce-plain-only",
    /// `token_endpoint` has the scheme `ftp`.
    TokenEndpointScheme = "token-endpoint-scheme",
    /// `token_endpoint` is at a link-local address.
    TokenEndpointLinkLocal = "token-endpoint-link-local",
    /// `jwks_uri` is at a link-local address.
    JwksUriLinkLocal = "jwks-uri-link-local",
    /// `authorization_endpoint` is a URL of `javascript:`.
    AuthorizationEndpointJavascript = "authorization-endpoint-javascript",
    /// `authorization_endpoint` is a URL of `file:`.
    AuthorizationEndpointFile = "authorization-endpoint-file",
    /// `authorization_endpoint` has characters that mean something to a shell.
    AuthorizationEndpointShell = "authorization-endpoint-shell",

    // The registration.
    /// Each registration is refused.
    RegistrationRefused = "registration-refused",
    /// Each registration is answered with 503.
    RegistrationFails = "registration-fails",
    /// The registration drops the `scope` that was asked for: the answer has none, and the client may ask for none but `openid`.
    RegistrationDropsScopes = "registration-drops-scopes",
    /// The registration returns a secret that expires one second later (RFC 7591, 3.2.1).
    RegistrationSecretExpires = "registration-secret-expires",
    /// The registration's answer has no `client_id` (RFC 7591, 3.2.1).
    RegistrationWithoutClientId = "registration-without-client-id",

    // The authorization response.
    /// `iss` is missing, although the metadata promises it (RFC 9207, 2.4).
    IssMissing = "iss-missing",
    /// `iss` is of another server, as in a mix-up attack.
    IssWrong = "iss-wrong",
    /// `iss` is there and right, although the metadata does not promise it.
    IssUnexpected = "iss-unexpected",
    /// `iss` is there and wrong, and the metadata does not promise it.
    IssUnexpectedWrong = "iss-unexpected-wrong",
    /// `iss` equals the issuer only after normalization: it has a slash added (RFC 9207, 2.4 compares simple strings).
    IssNormalized = "iss-normalized",
    /// `state` is another one than that of the request (RFC 6749, 10.12).
    StateChanged = "state-changed",
    /// `state` is missing.
    StateMissing = "state-missing",
    /// The response has neither a code nor an error.
    CodeMissing = "code-missing",
    /// The person refuses: `error=access_denied`.
    AccessDenied = "access-denied",

    // The token endpoint.
    /// Each code is refused: `invalid_grant`.
    CodeRefused = "code-refused",
    /// A code is accepted again (RFC 6749, 4.1.2).
    CodeReplayAccepted = "code-replay-accepted",
    /// The verifier of PKCE is not checked (RFC 7636, 4.6).
    VerifierUnchecked = "verifier-unchecked",
    /// A `resource` parameter is refused with `invalid_target`, as some products do.
    ResourceParameterRefused = "resource-parameter-refused",
    /// Each registered client is unknown: `invalid_client`, with 401.
    ClientForgotten = "client-forgotten",
    /// The answer is not JSON.
    TokenNotJson = "token-not-json",
    /// The answer is a string of 100 MiB.
    TokenEndless = "token-endless",
    /// The endpoint redirects to another origin with 307, which keeps the body.
    TokenRedirects = "token-redirects",
    /// Errors have the status 200 (RFC 6749, 5.2 has 400), as some products answer.
    TokenErrorsWith200 = "token-errors-with-200",
    /// Errors have an `error_description` with escape sequences for terminals, line ends and marks that turn the direction of
    /// text (RFC 6749, 5.2 excludes them).
    ErrorTextHostile = "error-text-hostile",
    /// The answer has no `access_token`.
    AccessTokenMissing = "access-token-missing",
    /// The answer has no `token_type` (RFC 6749, 5.1).
    TokenTypeMissing = "token-type-missing",
    /// The answer has the `token_type` `mac` (RFC 6749, 7.1).
    TokenTypeUnknown = "token-type-unknown",
    /// `expires_in` is a string.
    ExpiresInString = "expires-in-string",
    /// `expires_in` is negative.
    ExpiresInNegative = "expires-in-negative",
    /// `expires_in` is missing. That is allowed.
    ExpiresInMissing = "expires-in-missing",
    /// `expires_in` is greater than 64 bits hold.
    ExpiresInHuge = "expires-in-huge",
    /// Only the first of the scopes that were asked for is granted. That is allowed.
    ScopeNarrowed = "scope-narrowed",
    /// There is no refresh token. That is allowed.
    RefreshTokenNeverIssued = "refresh-token-never-issued",

    // Refreshing.
    /// The refresh token stays the same, and the answer repeats it (OAuth 2.1, 4.3.1 asks public clients' servers to rotate).
    RefreshNotRotated = "refresh-not-rotated",
    /// The answer has no refresh token, and the old one stays valid. That is allowed.
    RefreshTokenOmitted = "refresh-token-omitted",
    /// A refresh token that was replaced is accepted again (OAuth 2.1, 4.3.1).
    RefreshReuseAccepted = "refresh-reuse-accepted",
    /// Each refresh token is refused: `invalid_grant`.
    RefreshRefused = "refresh-refused",
    /// Each refresh is answered with 500.
    RefreshFails = "refresh-fails",
    /// Each refresh is answered with 503 and `Retry-After: 1`.
    RefreshUnavailable = "refresh-unavailable",
    /// The connection is closed before the request has any effect.
    RefreshConnectionClosed = "refresh-connection-closed",
    /// The connection is closed after the refresh token was replaced: the client never learns the new one.
    RefreshAnswerLost = "refresh-answer-lost",

    // Keys.
    /// The key set lacks the key that signs (RFC 9068, 4).
    JwksWithoutKey = "jwks-without-key",
    /// The key set begins with a key of an unknown type (RFC 7517, 5: ignored by a client).
    JwksOddKey = "jwks-odd-key",
    /// The key set is answered with 503.
    JwksFails = "jwks-fails",
    /// The key set is not JSON.
    JwksNotJson = "jwks-not-json",
    /// The key set is a string of 100 MiB.
    JwksEndless = "jwks-endless",
    /// The key set redirects to another origin, which serves it.
    JwksRedirects = "jwks-redirects",

    // Access tokens. They are JWTs then, whatever the format of tokens is.
    /// Tokens have `alg: none` and no signature (RFC 8725, 3.1).
    TokenAlgNone = "token-alg-none",
    /// Tokens are signed by HS256 with the public key's PEM as the secret (RFC 8725, 2.1).
    TokenHmacWithPublicKey = "token-hmac-with-public-key",
    /// Tokens have a signature of another key.
    TokenSignatureWrong = "token-signature-wrong",
    /// Tokens carry the public key that verifies them in their header `jwk` (RFC 8725, 3.10).
    TokenEmbeddedKey = "token-embedded-key",
    /// Tokens have a `kid` that is a path.
    TokenKeyIdPath = "token-key-id-path",
    /// Tokens are for another resource (RFC 9068, 4).
    TokenAudienceWrong = "token-audience-wrong",
    /// Tokens have no `aud`.
    TokenAudienceMissing = "token-audience-missing",
    /// Tokens have another `iss`.
    TokenIssuerWrong = "token-issuer-wrong",
    /// Tokens have expired one hour ago.
    TokenExpired = "token-expired",
    /// Tokens have no `exp`.
    TokenExpiryMissing = "token-expiry-missing",
    /// Tokens are valid in one hour (`nbf`).
    TokenNotYetValid = "token-not-yet-valid",
    /// Tokens have the `typ` of an ID token, `JWT` (RFC 9068, 4).
    TokenTypOfIdToken = "token-typ-of-id-token",

    // Proofs of possession.
    /// Each proof is refused with `use_dpop_nonce` and another nonce (RFC 9449, 8).
    DpopNonceAlways = "dpop-nonce-always",
    /// The token endpoint ignores a proof: the `token_type` is `Bearer` (RFC 9449, 5).
    DpopIgnored = "dpop-ignored",

    // Introspection and revocation.
    /// Introspection takes five seconds longer.
    IntrospectionSlow = "introspection-slow",
    /// Introspection is answered with 503.
    IntrospectionFails = "introspection-fails",
    /// Introspection answers for each token that it is active.
    IntrospectionAlwaysActive = "introspection-always-active",
    /// Revocation is answered with 503 and `Retry-After: 1` (RFC 7009, 2.2.1).
    RevocationFails = "revocation-fails",
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is none of a [`Fault`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no fault has the name {0:?}")]
#[non_exhaustive]
pub struct UnknownFault(pub String);

impl FromStr for Fault {
    type Err = UnknownFault;

    fn from_str(name: &str) -> Result<Self, UnknownFault> {
        let found = Self::ALL.iter().find(|fault| fault.name() == name);
        found.copied().ok_or_else(|| UnknownFault(name.to_owned()))
    }
}

/// The faults that are on, and how often each was met.
#[derive(Debug, Default)]
pub(crate) struct FaultSet {
    faults: Mutex<HashMap<Fault, Activity>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Activity {
    /// How often the fault still occurs.
    left: u64,
    /// How often it has occurred.
    hits: u64,
}

impl FaultSet {
    pub(crate) fn set(&self, fault: Fault, times: u64) {
        self.lock().entry(fault).or_default().left = times;
    }

    pub(crate) fn clear(&self) {
        self.lock().values_mut().for_each(|activity| activity.left = 0);
    }

    pub(crate) fn hits(&self, fault: Fault) -> u64 {
        self.lock().get(&fault).map_or(0, |activity| activity.hits)
    }

    /// Whether the fault occurs now. This counts.
    pub(crate) fn occurs(&self, fault: Fault) -> bool {
        match self.lock().get_mut(&fault) {
            Some(activity) if activity.left > 0 => {
                activity.left -= u64::from(activity.left != u64::MAX);
                activity.hits += 1;
                true
            }
            _ => false,
        }
    }

    /// The first of these faults that occurs.
    pub(crate) fn first(&self, faults: &[Fault]) -> Option<Fault> {
        faults.iter().copied().find(|fault| self.occurs(*fault))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Fault, Activity>> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kebab_case_and_lead_back() {
        let count = format!("{} named ways", Fault::ALL.len());
        assert!(include_str!("../README.md").contains(&count), "the README does not say: {count}");
        for fault in Fault::ALL {
            assert_eq!(fault.name().parse(), Ok(*fault));
            let mut kebab = String::new();
            for letter in format!("{fault:?}").replace("200", "-200").chars() {
                if letter.is_uppercase() && !kebab.is_empty() {
                    kebab.push('-');
                }
                kebab.extend(letter.to_lowercase());
            }
            assert_eq!(fault.to_string(), kebab);
        }
        assert!("no-such".parse::<Fault>().is_err());
    }

    #[test]
    fn a_fault_occurs_as_often_as_set() {
        let faults = FaultSet::default();
        assert!(!faults.occurs(Fault::CodeRefused));
        faults.set(Fault::CodeRefused, 1);
        assert!(faults.occurs(Fault::CodeRefused));
        assert!(!faults.occurs(Fault::CodeRefused));
        faults.set(Fault::CodeRefused, u64::MAX);
        assert!((0..3).all(|_| faults.occurs(Fault::CodeRefused)));
        faults.clear();
        assert!(!faults.occurs(Fault::CodeRefused));
        assert_eq!(faults.hits(Fault::CodeRefused), 4);
    }
}
