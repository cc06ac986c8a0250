//! The user: allows everything, fills in every form, and visits every URL.

use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};

use agentwire_acp_client::Error;
use agentwire_acp_schema::v1::{
    CreateElicitationResponse, ElicitationContentValue, ElicitationPropertySchema, RequestPermissionRequest,
    RequestPermissionResponse, SessionId,
};
use agentwire_acp_toolkit::{Applied, Conversation, Form, UrlConsent, UserInterface};

/// A user who decides at once, or not at all.
#[derive(Debug, Default)]
pub(crate) struct User {
    is_away: AtomicBool,
}

impl User {
    /// Leaves questions open from now on.
    pub(crate) fn set_away(&self, is_away: bool) {
        self.is_away.store(is_away, Ordering::Relaxed);
    }

    async fn is_there(&self) {
        if self.is_away.load(Ordering::Relaxed) {
            pending().await
        }
    }
}

impl UserInterface for User {
    async fn choose_permission(
        &self,
        request: &RequestPermissionRequest,
    ) -> Result<RequestPermissionResponse, Error> {
        self.is_there().await;
        Ok(request.allow())
    }

    fn show(&self, _: &SessionId, _: &Conversation, _: &Applied) {}

    async fn fill_form(&self, _: &str, mut form: Form) -> Result<CreateElicitationResponse, Error> {
        self.is_there().await;
        let empty: Vec<String> = form.faults().into_iter().map(|fault| fault.field).collect();
        for field in empty {
            let choice =
                form.choices(&field).and_then(|choices| choices.first().map(|choice| choice.0.to_owned()));
            let schema = form.schema().field(&field);
            let values: Vec<ElicitationContentValue> = match (choice, schema) {
                (Some(choice), Some(ElicitationPropertySchema::Array(_))) => vec![vec![choice].into()],
                (Some(choice), _) => vec![choice.into()],
                (None, Some(ElicitationPropertySchema::Boolean(_))) => vec![true.into()],
                (None, Some(ElicitationPropertySchema::Integer(schema))) => {
                    vec![schema.minimum.unwrap_or(1).into()]
                }
                (None, Some(ElicitationPropertySchema::Number(schema))) => {
                    vec![schema.minimum.unwrap_or(1.0).into()]
                }
                _ => ["text", "a longer text", "2026-01-01", "user@example.com"]
                    .map(|text| text.to_owned().into())
                    .into(),
            };
            // The first value that the schema allows.
            let _filled = values.into_iter().find(|value| form.set(&field, value.clone()).is_ok());
        }
        Ok(form.accept().unwrap_or_else(|_| CreateElicitationResponse::decline()))
    }

    async fn open_url(&self, _: &str, consent: UrlConsent) -> Result<CreateElicitationResponse, Error> {
        self.is_there().await;
        Ok(consent.accept())
    }
}
