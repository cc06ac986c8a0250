//! The params of a request, looked at once before anybody decodes them.

use std::borrow::Cow;

use agentwire_jsonrpc::{ErrorObject, Member, Members, RawJson, read};
use serde::de::DeserializeOwned;

/// The members that decide what becomes of a request, as text. The era looks at `_meta`; a call of a tool is found
/// by its name, and its arguments are decoded by the tool.
#[derive(Clone, Copy, Default)]
pub(crate) struct Params<'a> {
    whole: Option<&'a RawJson>,
    pub(crate) meta: Option<&'a str>,
    /// What the protocol itself says in there; none where it says something twice.
    pub(crate) said: Option<Said<'a>>,
    name: Option<&'a str>,
    arguments: Option<&'a str>,
    /// What the client answers to what it was asked, and what it was given with that.
    pub(crate) input_responses: Option<&'a str>,
    pub(crate) request_state: Option<&'a str>,
    /// How the client wants it to run as a task. Only 2025-11-25.
    pub(crate) task: Option<&'a str>,
}

/// The members of a `_meta` that mean something to the protocol.
#[derive(Clone, Copy, Default)]
pub(crate) struct Said<'a> {
    pub(crate) protocol_version: Option<&'a str>,
    pub(crate) client_capabilities: Option<&'a str>,
    pub(crate) client_info: Option<&'a str>,
    pub(crate) log_level: Option<&'a str>,
    pub(crate) progress_token: Option<&'a str>,
}

impl<'a> Params<'a> {
    /// Looks at params. Where they are no object, or one of these members stands twice, there is nothing to see, and
    /// whoever decodes them finds out why.
    pub(crate) fn peek(params: Option<&'a RawJson>) -> Self {
        let mut seen = Self::default();
        let mut said = Some(Said::default());
        for member in Members::of(params.map_or("", RawJson::as_str)).within("_meta") {
            if member.is_inner {
                said = said.and_then(|said| said.and(&member));
                continue;
            }
            let place = match &*member.name {
                "_meta" => &mut seen.meta,
                "name" => &mut seen.name,
                "arguments" => &mut seen.arguments,
                "inputResponses" => &mut seen.input_responses,
                "requestState" => &mut seen.request_state,
                "task" => &mut seen.task,
                _ => continue,
            };
            if place.replace(member.value).is_some() {
                return Self::default();
            }
        }
        let present = |value: Option<&'a str>| value.filter(|value| *value != "null");
        Self {
            whole: params,
            meta: present(seen.meta),
            said,
            name: present(seen.name),
            arguments: present(seen.arguments),
            input_responses: present(seen.input_responses),
            request_state: present(seen.request_state),
            task: present(seen.task),
        }
    }

    /// The name of what is asked for.
    pub(crate) fn name(&self) -> Result<Cow<'a, str>, ErrorObject> {
        let text = self.name.ok_or_else(|| ErrorObject::invalid_params("missing field `name`"))?;
        let plain = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        match plain.filter(|plain| !plain.contains('\\')) {
            Some(plain) => Ok(Cow::Borrowed(plain)),
            None => read(text).map(Cow::Owned).map_err(ErrorObject::invalid_params),
        }
    }

    /// The arguments, an object; absent ones count as an empty one.
    pub(crate) fn arguments(&self) -> Result<RawJson, ErrorObject> {
        match self.whole.zip(self.arguments) {
            None => Ok(RawJson::EMPTY_OBJECT),
            Some((whole, text)) if text.starts_with('{') => Ok(whole.part(text)),
            Some(_) => Err(ErrorObject::invalid_params("`arguments` must be an object")),
        }
    }

    /// The text of the attachments, an object.
    pub(crate) fn meta(&self) -> Result<Option<&'a str>, ErrorObject> {
        match self.meta {
            Some(text) if !text.starts_with('{') => {
                Err(ErrorObject::invalid_params("`_meta` must be an object"))
            }
            text => Ok(text),
        }
    }
}

impl<'a> Said<'a> {
    /// One member more; none if it is there already.
    fn and(mut self, member: &Member<'a>) -> Option<Self> {
        let place = match &*member.name {
            "io.modelcontextprotocol/protocolVersion" => &mut self.protocol_version,
            "io.modelcontextprotocol/clientCapabilities" => &mut self.client_capabilities,
            "io.modelcontextprotocol/clientInfo" => &mut self.client_info,
            "io.modelcontextprotocol/logLevel" => &mut self.log_level,
            "progressToken" => &mut self.progress_token,
            _ => return Some(self),
        };
        place.replace(member.value).is_none().then_some(self)
    }
}

/// Reads the params of a request; absent ones count as an empty object.
pub(crate) fn read_params<P: DeserializeOwned>(params: Option<&RawJson>) -> Result<P, ErrorObject> {
    params.unwrap_or(&RawJson::EMPTY_OBJECT).decode().map_err(ErrorObject::invalid_params)
}

/// The same for what serde would take from an array too.
pub(crate) fn read_object<P: DeserializeOwned>(params: Option<&RawJson>) -> Result<P, ErrorObject> {
    match params {
        Some(params) if !params.as_str().starts_with('{') => {
            Err(ErrorObject::invalid_params("params must be an object"))
        }
        params => read_params(params),
    }
}
