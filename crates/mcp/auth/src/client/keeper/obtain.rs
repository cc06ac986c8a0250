//! Obtains a first token, or one with more scopes: by a person who logs in, or by what the client holds.

use std::sync::Arc;
use std::time::Duration;

use crate::client::code_flow::{CodeFlow, LoginRequest};
use crate::client::config::DpopMode;
use crate::client::discovery::Discovered;
use crate::client::discovery::challenge;
use crate::client::discovery::challenge::Challenge;
use crate::client::dpop::DpopKey;
use crate::client::grant::{Assertion, Grant, IdentityProvider};
use crate::client::identity::ClientIdentity;
use crate::client::keeper::records::{LoginRecord, Registration, ServerRecord, TokenRecord};
use crate::client::keeper::{Keeper, Token, TokenSource};
use crate::client::registration;
use crate::client::token_endpoint::{Form, TokenEndpoint};
use crate::client::{AuthError, AuthWarning};
use crate::clock::unix_now_millis;

/// How many scopes are asked for at most: a server that asks for ever more gets no more.
pub(crate) const MAX_SCOPES: usize = 64;

/// The longest search for an authorization server whose result only completes an error.
const LOOK_LIMIT: Duration = Duration::from_secs(5);

const TOKEN: &str = "the request for a token";
const EXCHANGE: &str = "the exchange of the ID token";
const ASSERTION: &str = "the assertion for a token";

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

/// Who wants a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// The program asks for a login.
    Explicit,
    /// A request needs it.
    Implied,
}

impl Keeper {
    /// A new token. Of all processes one asks at a time, and the others take its token. `used` is the one that did not do.
    pub(crate) async fn authorize(
        &self,
        challenge: Option<&Challenge>,
        used: Option<&Token>,
        wish: Wish,
    ) -> Result<Arc<Token>, AuthError> {
        let by_person = matches!(self.config.grant, Grant::AuthorizationCode);
        let is_implied = wish == Wish::Implied;
        let mut wanted = challenge.map(|challenge| challenge.scopes.clone()).unwrap_or_default();
        if by_person && !self.may_ask(is_implied) {
            return Err(self.without_person(challenge, &wanted).await);
        }
        if !is_implied {
            wanted.extend(self.config.scopes.iter().flatten().cloned());
        }
        let waiting_since = unix_now_millis();
        let _guard = self.records.lock_login(&self.name).await?;
        if let Some(token) = self.adopted(used).await?
            && token.covers(&wanted)
        {
            return Ok(token);
        }
        let failed = self.records.login(&self.name).await?;
        // A clock that was ahead may have written a time that is still to come.
        let meanwhile = waiting_since..=unix_now_millis();
        let has_failed = failed.as_ref().is_some_and(|login| meanwhile.contains(&login.failed_at));
        if by_person && is_implied && has_failed {
            self.set_declined(true);
            return Err(self.needs_person(&wanted));
        }
        if by_person {
            // A person is not asked for a token that cannot be kept, and no client is registered for it: with each request, and in
            // each process, that would happen again.
            let trial = failed.as_ref().map_or(0, |login| login.trial.wrapping_add(1));
            let login = LoginRecord { failed_at: 0, trial };
            self.records.keep_login(&self.name, Some(&login)).await?;
        }
        let result = self.obtain(challenge).await;
        if result.is_ok() {
            self.set_declined(false);
            if failed.is_some() || by_person {
                // A record that cannot be removed does no harm.
                let _ = self.records.keep_login(&self.name, None).await;
            }
        } else if self.is_declined() {
            // The person was asked. Other processes that wait need not ask again; if they cannot be notified, the error stays the same.
            let failed = LoginRecord { failed_at: unix_now_millis(), trial: 0 };
            let _ = self.records.keep_login(&self.name, Some(&failed)).await;
        } else if by_person {
            let _ = self.records.keep_login(&self.name, failed.as_ref()).await;
        }
        result
    }

    /// Returns the error if no person can be asked. A server whose challenge names no metadata may have no authorization
    /// server, so this looks for one.
    pub(crate) async fn without_person(&self, challenge: Option<&Challenge>, scopes: &[String]) -> AuthError {
        let mut error = self.needs_person(scopes);
        let is_named = challenge.is_some_and(|challenge| challenge.resource_metadata.is_some());
        let was_found = matches!(self.records.server(&self.name).await, Ok(Some(_)));
        if !is_named
            && !was_found
            && let Ok(Ok(found)) = tokio::time::timeout(LOOK_LIMIT, self.discover(challenge)).await
            && let AuthError::NeedsPerson { has_authorization_server, .. } = &mut error
        {
            *has_authorization_server = !found.is_assumed;
        }
        error
    }

    /// Whether a person may be asked to log in.
    fn may_ask(&self, is_implied: bool) -> bool {
        let is_offered = self.config.automatic_login && !self.is_declined();
        self.config.user_agent.is_some() && (is_offered || !is_implied)
    }

    async fn obtain(&self, challenge: Option<&Challenge>) -> Result<Arc<Token>, AuthError> {
        let found = self.discover(challenge).await?;
        if let Grant::WorkloadIdentity(_) = self.config.grant {
            self.config.bind(&found.issuer)?;
        }
        let before = self.records.server(&self.name).await?;
        let demanded = self.records.demanded(&self.name).await?;
        let scopes = self.scopes(challenge, &demanded, &found, before.as_ref());
        let mut is_registered_anew = false;
        loop {
            let client = self.client(&found, before.as_ref(), &scopes).await?;
            let dpop = self.dpop_key(challenge, &found)?;
            let server = ServerRecord {
                issuer: found.issuer.clone(),
                resource: found.resource.clone(),
                parameter: self.parameter(&found.resource),
                client_id: client.id.clone(),
                scopes: scopes.clone(),
            };
            let result = self.ask(&found, &server, &client, dpop).await;
            if let (Ok(_), Some(before)) = (&result, &before)
                && !before.has_token_of(&server)
            {
                self.forget_token(before).await;
            }
            if is_registered_anew || !is_unknown_client(&result) || self.config.client.is_some() {
                return result;
            }
            // It was registered once, and the authorization server has forgotten it.
            is_registered_anew = true;
            let redirect_uris = self.config.redirect_uris();
            let kept = self.records.registration(&found.issuer, &redirect_uris).await;
            if kept.map_or(true, |kept| kept.is_some_and(|kept| kept.is_given())) {
                return result;
            }
            let forgotten = self.records.keep_registration(&found.issuer, &redirect_uris, None).await;
            if !self.warn_unless_kept("the end of the client's registration", forgotten) {
                return result;
            }
        }
    }

    /// Asks for a token by the grant of the settings, and keeps it.
    async fn ask(
        &self,
        found: &Discovered,
        server: &ServerRecord,
        client: &ClientIdentity,
        dpop: Option<Arc<DpopKey>>,
    ) -> Result<Arc<Token>, AuthError> {
        let mut form = match &self.config.grant {
            Grant::AuthorizationCode => self.code(found, server, client).await?,
            Grant::ClientCredentials => vec![("grant_type", "client_credentials".to_owned())],
            Grant::WorkloadIdentity(assertion) => {
                vec![("grant_type", JWT_BEARER.to_owned()), ("assertion", obtained(assertion).await?)]
            }
            Grant::EnterpriseManaged(provider) => vec![
                ("grant_type", JWT_BEARER.to_owned()),
                ("assertion", self.id_jag(provider, server).await?),
            ],
        };
        if !matches!(self.config.grant, Grant::AuthorizationCode) && !server.scopes.is_empty() {
            form.push(("scope", server.scopes.join(" ")));
        }
        form.extend(server.parameter.clone().map(|resource| ("resource", resource)));
        let fetcher = self.fetcher().await;
        let endpoint = TokenEndpoint::of(fetcher, &found.server, client, dpop.as_deref())?;
        let answer = endpoint.request(TOKEN, form).await?;
        let must_be_bound = self.config.dpop == DpopMode::Always;
        let record =
            TokenRecord::issued(answer, &server.scopes, client, None, dpop.as_deref(), must_be_bound)?;
        let dpop = dpop.filter(|_| record.dpop_key.is_some());
        let token = Token::new(server.clone(), record, dpop, TokenSource::Authorization);
        self.hold(&token);
        match self.records.lock_token(server).await {
            Ok(_guard) => self.try_to_save(&token).await,
            Err(error) => self.warn(AuthWarning::NotStored { server: self.name.clone(), error }),
        }
        // A client that was registered here is kept already, with what it was registered for.
        if self.config.keep_client
            && self.config.client.is_some()
            && let Some(registration) = Registration::of(client, self.config.redirect_uris())
        {
            let redirect_uris = &registration.redirect_uris;
            let kept =
                self.records.keep_registration(&server.issuer, redirect_uris, Some(&registration)).await;
            self.warn_unless_kept("the client's registration", kept);
        }
        Ok(token)
    }

    /// Sends a person to the authorization server, once: what fails after that is not offered again by itself.
    async fn code(
        &self,
        found: &Discovered,
        server: &ServerRecord,
        client: &ClientIdentity,
    ) -> Result<Form, AuthError> {
        let Some(agent) = &self.config.user_agent else { return Err(self.needs_person(&server.scopes)) };
        let policy = self.config.policy.clone().reaching(&self.server).await;
        let resource = server.parameter.as_deref();
        let (scopes, config) = (&*server.scopes, &*self.config);
        let request = LoginRequest { found, client, scopes, resource, policy: &policy, config };
        let flow = CodeFlow::begin(&request, agent).await?;
        // Until there is a token, however this ends.
        self.set_declined(true);
        flow.finish().await
    }

    /// Removes the token of an authorization server or a client that this server has no more, so that a server that changes them
    /// all the time does not fill the store. One that stays does no harm.
    async fn forget_token(&self, before: &ServerRecord) {
        if let Ok(_guard) = self.records.lock_token(before).await {
            let _ = self.records.keep_token(before, None).await;
        }
    }

    /// Exchanges the person's ID token at the enterprise's identity provider for a grant that the authorization server takes.
    async fn id_jag(&self, provider: &IdentityProvider, server: &ServerRecord) -> Result<String, AuthError> {
        let mut form: Form = vec![
            ("grant_type", TOKEN_EXCHANGE.to_owned()),
            ("requested_token_type", ID_JAG.to_owned()),
            ("audience", server.issuer.clone()),
            ("resource", server.resource.clone()),
            ("subject_token", obtained(&provider.id_token).await?),
            ("subject_token_type", ID_TOKEN.to_owned()),
        ];
        if !server.scopes.is_empty() {
            form.push(("scope", server.scopes.join(" ")));
        }
        let endpoint = TokenEndpoint {
            fetcher: self.fetcher().await,
            url: &provider.token_endpoint,
            issuer: &provider.issuer,
            methods: None,
            client: &provider.client,
            dpop: None,
        };
        Ok(endpoint.request(EXCHANGE, form).await?.access_token.expose().to_owned())
    }

    /// The scopes to ask for: those of the settings or the challenge, or all that the server lists; those asked for before, and
    /// those that a request was refused without.
    fn scopes(
        &self,
        challenge: Option<&Challenge>,
        demanded: &[String],
        found: &Discovered,
        before: Option<&ServerRecord>,
    ) -> Vec<String> {
        let challenged = challenge.map(|challenge| challenge.scopes.clone()).unwrap_or_default();
        let before = before.filter(|before| before.issuer == found.issuer);
        let mut scopes = before.map(|before| before.scopes.clone()).unwrap_or_default();
        let first = match (&self.config.scopes, challenged.is_empty()) {
            (Some(configured), _) => configured.clone(),
            (None, false) => Vec::new(),
            (None, true) => {
                let supported = found.scopes_supported.iter().flatten();
                supported.filter(|scope| challenge::is_scope(scope)).cloned().collect()
            }
        };
        let offline = found.server.scopes_supported.iter().filter(|scope| *scope == "offline_access");
        let is_wanted = self.config.offline_access && matches!(self.config.grant, Grant::AuthorizationCode);
        let offline = offline.take(usize::from(is_wanted)).cloned();
        for scope in first.into_iter().chain(challenged).chain(demanded.iter().cloned()).chain(offline) {
            if !scopes.contains(&scope) && scopes.len() < MAX_SCOPES {
                scopes.push(scope);
            }
        }
        scopes
    }

    async fn client(
        &self,
        found: &Discovered,
        before: Option<&ServerRecord>,
        scopes: &[String],
    ) -> Result<ClientIdentity, AuthError> {
        let client = registration::identity(self, found, scopes).await?;
        // A client without an issuer belongs to the one that it was used with first.
        let moved = before.filter(|before| before.client_id == client.id && before.issuer != found.issuer);
        match (moved, &self.config.client) {
            (Some(before), Some(_)) => {
                let problem =
                    "the server has another authorization server now than the client was registered at";
                Err(AuthError::differs(problem, before.issuer.clone(), found.issuer.clone()))
            }
            _ => Ok(client),
        }
    }

    fn dpop_key(
        &self,
        challenge: Option<&Challenge>,
        found: &Discovered,
    ) -> Result<Option<Arc<DpopKey>>, AuthError> {
        let supported = found.server.dpop_signing_alg_values_supported.iter().any(|alg| alg == "ES256");
        let demanded = found.dpop_required || challenge.is_some_and(|challenge| challenge.dpop);
        let wanted = match self.config.dpop {
            DpopMode::Auto => demanded && supported,
            DpopMode::Always => supported,
            DpopMode::Never => false,
        };
        let failed = |error| AuthError::transient("the key for proofs of possession", error);
        wanted.then(|| DpopKey::generate().map(Arc::new)).transpose().map_err(failed)
    }
}

async fn obtained(assertion: &Assertion) -> Result<String, AuthError> {
    let assertion = assertion.obtain().await.map_err(|error| AuthError::transient(ASSERTION, error))?;
    Ok(assertion.expose().trim().to_owned())
}

/// Whether an authorization server does not know the client.
fn is_unknown_client(result: &Result<Arc<Token>, AuthError>) -> bool {
    matches!(result, Err(AuthError::Rejected { code: Some(code), .. }) if code == "invalid_client")
}
