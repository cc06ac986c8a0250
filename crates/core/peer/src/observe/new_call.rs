//! Reports a new call to its observer, and adds the observer's members to the params.

use agentwire_connection::CallId;
use agentwire_jsonrpc::{RawJson, RawObject};

use super::{CallContext, NewCall, NewCallObserver};
use crate::panics::guarded;

/// Reports a new call to its observer, adds the returned members to the params, and keeps the returned value. `id` assigns the
/// call's id.
#[cold]
pub(crate) fn make_call(
    observer: &NewCallObserver,
    method: &str,
    params: &mut Option<RawJson>,
    revision: Option<&str>,
    id: impl FnOnce() -> CallId,
) {
    let mut context = None;
    let call = NewCall { method, params: params.as_ref(), revision };
    guarded(|| context = observer.observer().call_made(&call));
    let Some(CallContext { meta, value }) = context else { return };
    if !meta.is_empty()
        && let Some(with_meta) = with_meta(params.as_ref(), &meta)
    {
        *params = Some(with_meta);
    }
    observer.set_context(id(), value);
}

/// The params with more members in their `_meta`. `None` if the params or their `_meta` are not an object.
fn with_meta(params: Option<&RawJson>, added: &RawObject) -> Option<RawJson> {
    let mut params = match params {
        Some(params) => RawObject::try_from(params.clone()).ok()?,
        None => RawObject::new(),
    };
    let meta = match params.get("_meta") {
        Some(meta) => {
            let mut meta = RawObject::try_from(meta).ok()?;
            meta.merge(added);
            meta
        }
        None => added.clone(),
    };
    params.insert("_meta", meta);
    Some(params.into())
}

#[cfg(test)]
mod tests {
    use agentwire_jsonrpc::read;

    use super::*;

    fn merged(params: Option<&str>) -> Option<String> {
        let params = params.map(|text| RawJson::parse(text.into()).unwrap());
        let added: RawObject = read(r#"{"traceparent":"00-1"}"#).unwrap();
        with_meta(params.as_ref(), &added).map(|params| params.to_string())
    }

    #[test]
    fn members_are_added_to_the_params() {
        assert_eq!(merged(None).unwrap(), r#"{"_meta":{"traceparent":"00-1"}}"#);
        assert_eq!(merged(Some(r#"{"a":1}"#)).unwrap(), r#"{"a":1,"_meta":{"traceparent":"00-1"}}"#);
        let replaced = merged(Some(r#"{"_meta":{"traceparent":"00-0","b":2},"a":1}"#)).unwrap();
        let replaced: RawObject = read(&replaced).unwrap();
        let meta: RawObject = replaced.decode_member("_meta").unwrap().unwrap();
        assert_eq!(meta.text("traceparent").unwrap(), "00-1");
        assert_eq!(meta.get("b").unwrap().as_str(), "2");
        assert_eq!(replaced.get("a").unwrap().as_str(), "1");
    }

    #[test]
    fn params_without_an_object_for_meta_are_unchanged() {
        assert_eq!(merged(Some("[1]")), None);
        assert_eq!(merged(Some(r#"{"_meta":null}"#)), None);
    }
}
