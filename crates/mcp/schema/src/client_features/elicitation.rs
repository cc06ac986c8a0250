//! The params and result of `elicitation/create` in form and URL mode, and the params of `notifications/elicitation/complete`.

use agentwire_jsonrpc::RawJson;
use agentwire_wire_derive::Wire;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::tasks::core::TaskMetadata;
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

    /// The reason for the question, for the user.
    pub fn message(&self) -> &str {
        match self {
            Self::Form(form) => &form.message,
            Self::Url(url) => &url.message,
        }
    }
}

/// Without `mode` it is a form. A mode that we do not know is refused: no client could answer it.
///
/// The text is read twice rather than collected, because the order of a form's fields is their order in it.
impl<'de> Deserialize<'de> for ElicitRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(expecting = "an object")]
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

/// Asks the user to fill in a form.
///
/// It is written without `mode`, which means the same in every revision.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(schema(transform = crate::schema::add_form_mode))]
#[non_exhaustive]
pub struct ElicitFormRequest {
    /// The reason for the question, for the user.
    #[wire(required)]
    pub message: String,
    /// The form's fields.
    #[wire(required)]
    pub requested_schema: ElicitSchema,
    /// Asks to run it as a task. Only 2025-11-25.
    #[wire(optional)]
    pub task: Option<TaskMetadata>,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
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

/// Asks the user to go to a web page, for what the client must not see. Since 2025-11-25.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[wire(tag = "mode", value = "url")]
#[non_exhaustive]
pub struct ElicitUrlRequest {
    /// The reason for the question, for the user.
    #[wire(required)]
    pub message: String,
    /// The page. The client shows it in full and asks before it opens it.
    #[wire(required, schema(extend("format" = "uri")))]
    pub url: String,
    /// Names this one, unique in its server. Only 2025-11-25, which requires it.
    #[wire(optional)]
    pub elicitation_id: Option<String>,
    /// Asks to run it as a task. Only 2025-11-25.
    #[wire(optional)]
    pub task: Option<TaskMetadata>,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl ElicitUrlRequest {
    /// A page at this URL.
    pub fn new(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self { message: message.into(), url: url.into(), elicitation_id: None, task: None, meta: None }
    }
}

setters!(ElicitUrlRequest {
    some elicitation_id: String,
    some task: TaskMetadata,
    some meta: Meta,
});

/// The user's response to an elicitation.
#[derive(Clone, Debug, PartialEq, Wire)]
#[non_exhaustive]
pub struct ElicitResult {
    /// The user's decision.
    #[wire(required)]
    pub action: ElicitAction,
    /// The values of the form, if it was accepted: strings, numbers, booleans and, since
    /// 2025-11-25, arrays of strings.
    #[wire(optional, schema(with = "Option<std::collections::BTreeMap<String, crate::schema::FormValue>>"))]
    pub content: Option<JsonObject>,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl ElicitResult {
    /// A result with this decision, without values.
    pub fn new(action: ElicitAction) -> Self {
        Self { action, content: None, meta: None }
    }

    /// The user filled in the form.
    pub fn accept(content: JsonObject) -> Self {
        Self { content: Some(content), ..Self::new(ElicitAction::Accept) }
    }

    /// The user declined.
    pub fn decline() -> Self {
        Self::new(ElicitAction::Decline)
    }

    /// The user dismissed the question without a decision.
    pub fn cancel() -> Self {
        Self::new(ElicitAction::Cancel)
    }
}

setters!(ElicitResult {
    some content: JsonObject,
    some meta: Meta,
});

/// The user's decision about an elicitation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[non_exhaustive]
pub enum ElicitAction {
    /// Filled in the form, or agreed to open the page.
    #[wire("accept")]
    Accept,
    /// Declined.
    #[wire("decline")]
    Decline,
    /// Dismissed the question without a decision.
    #[wire("cancel")]
    Cancel,
    /// A string that this version of the library does not know, unchanged.
    #[wire(unknown)]
    Unknown(Box<str>),
}

/// The user has finished on the web page of an elicitation. The server sends it. Only 2025-11-25.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct ElicitationCompleteNotification {
    /// The id of the elicitation.
    #[wire(required)]
    pub elicitation_id: String,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl ElicitationCompleteNotification {
    /// The elicitation with this id is done.
    pub fn new(elicitation_id: impl Into<String>) -> Self {
        Self { elicitation_id: elicitation_id.into(), meta: None }
    }
}

setters!(ElicitationCompleteNotification {
    some meta: Meta,
});

has_meta!(ElicitFormRequest, ElicitUrlRequest, ElicitResult, ElicitationCompleteNotification);
