//! The params of a request, looked at once before anybody decodes them.

use std::borrow::Cow;

use agentwire_jsonrpc::{ErrorObject, Members, RawJson};
use serde::Deserialize;

/// The members that decide what becomes of a request, as text. The era looks at `_meta`; a call of a tool is found
/// by its name, and its arguments are decoded by the tool.
#[derive(Clone, Copy, Default)]
pub(crate) struct Params<'a> {
    pub(crate) meta: Option<&'a str>,
    name: Option<&'a str>,
    arguments: Option<&'a str>,
}

impl<'a> Params<'a> {
    /// Looks at params. Where they are no object, or one of these members stands twice, there is nothing to see, and
    /// whoever decodes them finds out why.
    pub(crate) fn peek(params: Option<&'a RawJson>) -> Self {
        let mut seen = Self::default();
        for (name, value) in Members::of(params.map_or("", RawJson::as_str)) {
            let place = match &*name {
                "_meta" => &mut seen.meta,
                "name" => &mut seen.name,
                "arguments" => &mut seen.arguments,
                _ => continue,
            };
            if place.replace(value).is_some() {
                return Self::default();
            }
        }
        let present = |value: Option<&'a str>| value.filter(|value| *value != "null");
        Self { meta: present(seen.meta), name: present(seen.name), arguments: present(seen.arguments) }
    }

    /// The name of what is asked for.
    pub(crate) fn name(&self) -> Result<Cow<'a, str>, ErrorObject> {
        let text = self.name.ok_or_else(|| ErrorObject::invalid_params("missing field `name`"))?;
        let plain = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        match plain.filter(|plain| !plain.contains('\\')) {
            Some(plain) => Ok(Cow::Borrowed(plain)),
            None => serde_json::from_str(text).map(Cow::Owned).map_err(ErrorObject::invalid_params),
        }
    }

    /// The text of the arguments, an object; absent ones count as an empty one.
    pub(crate) fn arguments(&self) -> Result<&'a str, ErrorObject> {
        let text = self.arguments.unwrap_or("{}");
        if text.starts_with('{') {
            Ok(text)
        } else {
            Err(ErrorObject::invalid_params("`arguments` must be an object"))
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

/// Reads the params of a request; absent ones count as an empty object.
pub(crate) fn read_params<'a, P: Deserialize<'a>>(params: Option<&'a RawJson>) -> Result<P, ErrorObject> {
    let text = params.map_or("{}", RawJson::as_str);
    serde_json::from_str(text).map_err(ErrorObject::invalid_params)
}
