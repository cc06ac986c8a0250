//! Questions of an agent of version 2 to the person.

use agentwire_acp_client::Error;
use agentwire_acp_schema::v2::{
    CreateElicitationRequest, CreateElicitationResponse, ElicitationCapabilities,
    ElicitationFormCapabilities, ElicitationMode, ElicitationUrlCapabilities,
};
use agentwire_acp_toolkit::{Form, UrlConsent};
use agentwire_jsonrpc::RawJson;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::terminal::User;

/// The ways in which a person at a terminal can be asked.
pub(super) fn capabilities() -> ElicitationCapabilities {
    ElicitationCapabilities::new()
        .form(ElicitationFormCapabilities::new())
        .url(ElicitationUrlCapabilities::new())
}

/// Lets the person fill in a form, or asks whether they will visit a URL.
pub(super) async fn answer(
    user: &User,
    request: CreateElicitationRequest,
) -> Result<CreateElicitationResponse, Error> {
    let CreateElicitationRequest { message, mode, .. } = request;
    let response = match mode {
        ElicitationMode::Form(form) => {
            let form = Form::new(convert(&form.requested_schema)?)?;
            user.fill_in(&message, form, &[]).await?
        }
        ElicitationMode::Url(url) => user.visit(&message, UrlConsent::new(&url)?).await?,
        _ => return Err(Error::invalid_params("this client knows no such mode of elicitation")),
    };
    convert(&response)
}

/// Converts between the types of both versions, whose JSON is the same.
fn convert<T: DeserializeOwned>(value: &impl Serialize) -> Result<T, Error> {
    let value = RawJson::encode(value).map_err(Error::internal_error)?;
    value.decode().map_err(Error::invalid_params)
}
