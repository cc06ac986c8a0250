use agentwire_jsonrpc::RawJson;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::core_tasks::TaskMetadata;
use crate::{ElicitSchema, HasMeta, JsonObject, Meta};

/// Asks the user something through the client. The server sends it. Since 2025-06-18.
///
/// See <https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation>.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum ElicitRequest {
    /// By a form.
    Form(ElicitFormRequest),
    /// By sending the user to a web page. Since 2025-11-25.
    Url(ElicitUrlRequest),
}

impl ElicitRequest {
    /// A form with these fields, and why it is shown.
    pub fn form(message: impl Into<String>, requested_schema: ElicitSchema) -> Self {
        Self::Form(ElicitFormRequest::new(message, requested_schema))
    }

    /// A web page, and why the user should go there.
    pub fn url(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self::Url(ElicitUrlRequest::new(message, url))
    }

    /// Why it is asked, for the user.
    pub fn message(&self) -> &str {
        match self {
            Self::Form(form) => &form.message,
            Self::Url(url) => &url.message,
        }
    }
}

/// Without `mode` it is a form. A mode that we do not know is refused: nobody could answer it.
///
/// The text is read twice rather than collected, because the order of a form's fields is their order in it.
impl<'de> Deserialize<'de> for ElicitRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Mode {
            mode: Option<String>,
        }

        let params = RawJson::deserialize(deserializer)?;
        let Mode { mode } = params.decode().map_err(D::Error::custom)?;
        match mode.as_deref() {
            None | Some("form") => params.decode().map(Self::Form).map_err(D::Error::custom),
            Some("url") => params.decode().map(Self::Url).map_err(D::Error::custom),
            Some(other) => Err(D::Error::unknown_variant(other, &["form", "url"])),
        }
    }
}

impl HasMeta for ElicitRequest {
    fn meta_ref(&self) -> Option<&Meta> {
        match self {
            Self::Form(form) => form.meta.as_ref(),
            Self::Url(url) => url.meta.as_ref(),
        }
    }

    fn meta_slot(&mut self) -> &mut Option<Meta> {
        match self {
            Self::Form(form) => &mut form.meta,
            Self::Url(url) => &mut url.meta,
        }
    }
}

object! {
    /// Asks the user to fill in a form.
    ///
    /// It is written without `mode`, which says the same in every revision.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "camelCase")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::add_form_mode))]
    #[non_exhaustive]
    pub struct ElicitFormRequest {
        /// Why it is asked, for the user.
        pub message: String,
        /// The form's fields.
        pub requested_schema: ElicitSchema,
        /// Asks to run it as a task. Only 2025-11-25.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub task: Option<TaskMetadata>,
        /// Attachments.
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        pub meta: Option<Meta>,
    }
}

impl ElicitFormRequest {
    /// A form with these fields.
    pub fn new(message: impl Into<String>, requested_schema: ElicitSchema) -> Self {
        Self { message: message.into(), requested_schema, task: None, meta: None }
    }
}

setters!(ElicitFormRequest {
    some task: TaskMetadata,
    some meta: Meta,
});

object! {
    /// Asks the user to go to a web page, for what the client must not see. Since 2025-11-25.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(tag = "mode", rename = "url", rename_all = "camelCase")]
    #[cfg_attr(
        feature = "schema",
        schemars(rename = "ElicitUrlRequest", transform = crate::schema::Tag("mode", "url"))
    )]
    #[non_exhaustive]
    pub struct ElicitUrlRequest {
        /// Why it is asked, for the user.
        pub message: String,
        /// The page. The client shows it in full and asks before it opens it.
        #[cfg_attr(feature = "schema", schemars(extend("format" = "uri")))]
        pub url: String,
        /// Names this one, unique in its server. Only 2025-11-25, which requires it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub elicitation_id: Option<String>,
        /// Asks to run it as a task. Only 2025-11-25.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub task: Option<TaskMetadata>,
        /// Attachments.
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        pub meta: Option<Meta>,
    }
}

impl ElicitUrlRequest {
    /// That page.
    pub fn new(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self { message: message.into(), url: url.into(), elicitation_id: None, task: None, meta: None }
    }
}

setters!(ElicitUrlRequest {
    some elicitation_id: String,
    some task: TaskMetadata,
    some meta: Meta,
});

object! {
    /// What the user did.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub struct ElicitResult {
        /// Whether the user agreed.
        pub action: ElicitAction,
        /// What the user filled in, if it was a form and was accepted: strings, numbers, booleans and, since
        /// 2025-11-25, arrays of strings.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(
            feature = "schema",
            schemars(with = "Option<std::collections::BTreeMap<String, crate::schema::FormValue>>")
        )]
        pub content: Option<JsonObject>,
        /// Attachments.
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        pub meta: Option<Meta>,
    }
}

impl ElicitResult {
    /// The user did that.
    pub fn new(action: ElicitAction) -> Self {
        Self { action, content: None, meta: None }
    }

    /// The user filled in the form.
    pub fn accept(content: JsonObject) -> Self {
        Self { content: Some(content), ..Self::new(ElicitAction::Accept) }
    }

    /// The user said no.
    pub fn decline() -> Self {
        Self::new(ElicitAction::Decline)
    }

    /// The user turned away.
    pub fn cancel() -> Self {
        Self::new(ElicitAction::Cancel)
    }
}

setters!(ElicitResult {
    some content: JsonObject,
    some meta: Meta,
});

open_enum! {
    /// What the user did when asked.
    pub enum ElicitAction {
        /// Filled in the form, or agreed to open the page.
        Accept = "accept",
        /// Said no.
        Decline = "decline",
        /// Turned away without an answer.
        Cancel = "cancel",
    }
}

object! {
    /// What the user went to a web page for is done. The server sends it. Only 2025-11-25.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "camelCase")]
    #[non_exhaustive]
    pub struct ElicitationCompleteNotification {
        /// Which one it was.
        pub elicitation_id: String,
        /// Attachments.
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        pub meta: Option<Meta>,
    }
}

impl ElicitationCompleteNotification {
    /// That one is done.
    pub fn new(elicitation_id: impl Into<String>) -> Self {
        Self { elicitation_id: elicitation_id.into(), meta: None }
    }
}

setters!(ElicitationCompleteNotification {
    some meta: Meta,
});

has_meta!(ElicitFormRequest, ElicitUrlRequest, ElicitResult, ElicitationCompleteNotification);
