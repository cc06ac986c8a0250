//! The steps of a keeper that has the turn: adopt, refresh, obtain, log in.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use crate::client::discovery::challenge::Challenge;
use crate::client::discovery::{Discovered, server_metadata};
use crate::client::dpop::DpopKey;
use crate::client::error::SERVER;
use crate::client::identity::{ClientIdentity, ClientProof};
use crate::client::keeper::obtain::{MAX_SCOPES, Wish};
use crate::client::keeper::records::{ServerRecord, TokenRecord};
use crate::client::keeper::{Job, Keeper, Token, TokenSource};
use crate::client::token_endpoint::{Form, TokenEndpoint};
use crate::client::{AuthError, AuthWarning};
use crate::clock::unix_now_millis;

const REFRESH: &str = "the refresh of the token";

impl Keeper {
    pub(crate) async fn perform(&self, job: &Job) -> Result<Option<Arc<Token>>, AuthError> {
        match job {
            Job::Freshen { used } => match (self.freshen(used.as_ref()).await, used) {
                // The authorization server or the store fails, and the token still serves.
                (Err(_), Some(used)) if !used.is_expired() => {
                    self.pause_renewal();
                    Ok(Some(used.clone()))
                }
                (result, _) => result,
            },
            Job::Unauthorized { challenge, used } => {
                self.save_unsaved().await?;
                self.after_401(challenge.as_ref(), used.as_deref()).await.map(Some)
            }
            Job::StepUp { challenge, used } => {
                self.save_unsaved().await?;
                self.step_up(challenge, used.as_deref()).await
            }
            Job::Login { challenge } => {
                self.save_unsaved().await?;
                self.set_declined(false);
                let stored = self.stored().await?;
                let token = self.authorize(challenge.as_ref(), stored.as_deref(), Wish::Explicit).await?;
                // An explicit login fails if its token cannot be stored.
                self.save_unsaved().await?;
                Ok(Some(token))
            }
        }
    }

    async fn freshen(&self, used: Option<&Arc<Token>>) -> Result<Option<Arc<Token>>, AuthError> {
        self.save_unsaved().await?;
        let token = match (self.stored().await?, used) {
            (Some(token), _) => token,
            // A store that has lost it does not make the token worse.
            (None, Some(used)) => used.clone(),
            (None, None) => return Ok(None),
        };
        if !token.is_stale() || token.record.refresh_token.is_none() {
            return Ok(Some(token));
        }
        match self.refresh(&token, None).await {
            Ok(token) => Ok(Some(token)),
            // The request will tell: it gets 401, and what follows knows the challenge.
            Err(AuthError::Rejected { .. }) => Ok(Some(token)),
            Err(_) if !token.is_expired() => {
                self.pause_renewal();
                Ok(Some(token))
            }
            Err(error) => Err(error),
        }
    }

    async fn after_401(
        &self,
        challenge: Option<&Challenge>,
        used: Option<&Token>,
    ) -> Result<Arc<Token>, AuthError> {
        if let Some(token) = self.adopted(used).await? {
            return Ok(token);
        }
        let mut refused = None;
        if let Some(used) = used {
            if used.is_refused_new(TokenSource::Authorization) {
                let what = Some(
                    "the server refuses the token that its authorization server has just issued".to_owned(),
                );
                return Err(AuthError::rejected(SERVER, None, what));
            }
            // A token without a lifetime may have ended since.
            let is_useless = used.is_refused_new(TokenSource::Refresh)
                && used.record.expires_at.is_some()
                && !used.is_expired();
            if is_useless || used.record.refresh_token.is_none() && !used.is_expired() {
                refused = Some(UNIX_EPOCH + Duration::from_millis(used.record.issued_at));
            }
            let refreshable =
                self.stored().await?.filter(|stored| stored.record.refresh_token.is_some() && !is_useless);
            if let Some(stored) = refreshable {
                let found = match self.discover(challenge).await {
                    Ok(found) => Some(found),
                    // The issuer of the token is known, whatever the server sends now.
                    Err(AuthError::Misconfigured(_)) => None,
                    Err(error) => return Err(error),
                };
                if found.as_ref().is_none_or(|found| found.issuer == stored.server.issuer) {
                    match self.refresh(&stored, found.as_ref()).await {
                        Err(AuthError::Rejected { .. }) => {}
                        result => return result,
                    }
                }
            }
        }
        let result = self.authorize(challenge, used, Wish::Implied).await;
        result.map_err(|error| error.with_refused_token(refused))
    }

    /// A token with more scopes; `None` if asking again would change nothing.
    async fn step_up(
        &self,
        challenge: &Challenge,
        used: Option<&Token>,
    ) -> Result<Option<Arc<Token>>, AuthError> {
        let asked = self.records.server(&self.name).await?.map(|server| server.scopes).unwrap_or_default();
        // A server that asks for ever more must not open a browser with each request.
        if asked.len() >= MAX_SCOPES || challenge.scopes.iter().all(|scope| asked.contains(scope)) {
            return Ok(self.adopted(used).await?.filter(|token| token.covers(&challenge.scopes)));
        }
        let result = self.authorize(Some(challenge), used, Wish::Implied).await;
        if let Err(AuthError::NeedsPerson { .. }) = &result {
            // The server gets only the scopes that every request needs, because a login sends no token.
            let demanded = &challenge.scopes[..challenge.scopes.len().min(MAX_SCOPES)];
            let kept = self.records.keep_demanded(&self.name, Some(demanded)).await;
            self.warn_unless_kept("the scopes that a request needs", kept);
        }
        result.map(Some)
    }

    /// Renews a token by its refresh token: locks, reads again, adopts or refreshes, stores, and returns it.
    async fn refresh(&self, token: &Token, found: Option<&Discovered>) -> Result<Arc<Token>, AuthError> {
        let metadata = match found {
            Some(found) => found.server.clone(),
            None => server_metadata(self.fetcher().await, &token.server.issuer).await?,
        };
        let _guard = self.records.lock_token(&token.server).await?;
        let lost = |why: &str| Err(AuthError::rejected(REFRESH, None, Some(why.to_owned())));
        let Some(record) = self.records.token(&token.server).await? else {
            return lost("the token has been removed");
        };
        if record.access_token != *token.access_token() {
            let other = Token::new(token.server.clone(), record.clone(), None, TokenSource::Store);
            if !other.is_stale() {
                return Ok(other);
            }
        }
        let Some(refresh_token) = &record.refresh_token else {
            return lost("the refresh token has been removed");
        };
        let mut form: Form = vec![
            ("grant_type", "refresh_token".to_owned()),
            ("refresh_token", refresh_token.expose().to_owned()),
        ];
        form.extend(token.server.parameter.clone().map(|resource| ("resource", resource)));
        let dpop = record.dpop_key.as_ref().and_then(DpopKey::from_stored).map(Arc::new);
        let client = self.client_of(&token.server, &record);
        let endpoint = TokenEndpoint::of(self.fetcher().await, &metadata, &client, dpop.as_deref())?;
        let marked = TokenRecord { renewed_at: Some(unix_now_millis()), ..record.clone() };
        if let Err(error) = self.records.keep_token(&token.server, Some(&marked)).await {
            self.warn(AuthWarning::NotRenewed { server: self.name.clone(), error: error.clone() });
            return Err(error);
        }
        let answer = endpoint.request(REFRESH, form).await;
        if let Err(AuthError::Rejected { .. }) = answer {
            // No other process should try it.
            let spent = TokenRecord { refresh_token: None, ..record.clone() };
            let kept = self.records.keep_token(&token.server, Some(&spent)).await;
            self.warn_unless_kept("the end of the refresh token", kept);
        }
        let (scopes, is_bound) = (&record.scopes, record.dpop_key.is_some());
        let renewed =
            TokenRecord::issued(answer?, scopes, &client, Some(&record), dpop.as_deref(), is_bound)?;
        let renewed = Token::new(token.server.clone(), renewed, dpop, TokenSource::Refresh);
        self.hold(&renewed);
        self.try_to_save(&renewed).await;
        Ok(renewed)
    }

    /// Revokes a token where its authorization server supports that.
    pub(crate) async fn revoke(&self, token: &Token) {
        // It is forgotten here whatever the authorization server answers.
        let _ = self.try_revoke(token).await;
    }

    async fn try_revoke(&self, token: &Token) -> Result<(), AuthError> {
        let fetcher = self.fetcher().await;
        let metadata = server_metadata(fetcher, &token.server.issuer).await?;
        let Some(url) = metadata.revocation_endpoint.as_deref() else { return Ok(()) };
        let client = self.client_of(&token.server, &token.record);
        let endpoint = TokenEndpoint { url, ..TokenEndpoint::of(fetcher, &metadata, &client, None)? };
        let (secret, hint) = match &token.record.refresh_token {
            Some(refresh_token) => (refresh_token, "refresh_token"),
            None => (token.access_token(), "access_token"),
        };
        let form = vec![("token", secret.expose().to_owned()), ("token_type_hint", hint.to_owned())];
        endpoint.post("the revocation of the token", form).await.map(drop)
    }

    /// The client that a token was issued to.
    fn client_of(&self, server: &ServerRecord, record: &TokenRecord) -> ClientIdentity {
        let of_settings = self.config.client.as_ref();
        let is_same = |client: &&ClientIdentity| client.id == server.client_id;
        if let Some(client) = of_settings.filter(is_same)
            && self.config.bind(&server.issuer).is_ok()
        {
            return ClientIdentity { is_kept: self.config.keep_client, ..client.clone() };
        }
        let (id, method) = (server.client_id.clone(), record.client_method.clone());
        let proof = record.client_secret.clone().map_or(ClientProof::None, ClientProof::Secret);
        ClientIdentity { id, proof, issuer: Some(server.issuer.clone()), method, is_kept: true }
    }
}
