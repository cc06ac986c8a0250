//! Decodes the params of `session/prompt`, and removes malformed blocks.

use agentwire_acp_schema::v1;
#[cfg(feature = "v2")]
use agentwire_acp_schema::v2;
use agentwire_jsonrpc::{RawJson, RequestMethod, Skipped, collect_skipped};
use serde::de::DeserializeOwned;

use crate::Error;

/// The params of `session/prompt` in one version.
pub(crate) trait Prompt: DeserializeOwned + RequestMethod {
    fn is_empty(&self) -> bool;

    /// Gives each link without a name the last part of its URI.
    fn name_links(&mut self);
}

macro_rules! prompt {
    ($version:ident) => {
        impl Prompt for $version::PromptRequest {
            fn is_empty(&self) -> bool {
                self.prompt.is_empty()
            }

            fn name_links(&mut self) {
                for block in &mut self.prompt {
                    if let $version::ContentBlock::ResourceLink(link) = block
                        && link.name.is_empty()
                    {
                        link.name = name_of(&link.uri);
                    }
                }
            }
        }
    };
}

prompt! { v1 }
#[cfg(feature = "v2")]
prompt! { v2 }

/// Decodes a prompt, removes malformed parts and reports them. Fails if no block is left.
pub(crate) fn read<P: Prompt>(
    params: Option<RawJson>,
    report: impl FnOnce(&'static str, Skipped),
) -> Result<P, Error> {
    let params = params.unwrap_or(RawJson::EMPTY_OBJECT).into_object();
    let params = params.ok_or_else(|| Error::invalid_params("params must be an object"))?;
    let (read, skipped) = collect_skipped(|| params.decode_leniently::<P>());
    let mut prompt = read.map_err(Error::invalid_params)?;
    // A list that arrived empty is valid. A list whose blocks were all removed is not.
    if prompt.is_empty()
        && let Err(why) = params.decode::<P>()
    {
        let why =
            if skipped.is_empty() { Error::invalid_params(why) } else { Error::invalid_params(skipped) };
        return Err(why);
    }
    if !skipped.is_empty() {
        prompt.name_links();
        report(P::NAME, skipped);
    }
    Ok(prompt)
}

/// Returns the last part of a URI's path, or the URI if it has none.
fn name_of(uri: &str) -> String {
    let path = uri.split(['?', '#']).next().unwrap_or(uri);
    path.rsplit(['/', ':']).find(|part| !part.is_empty()).unwrap_or(uri).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<P: Prompt>(blocks: &str) -> Result<(P, Skipped), Error> {
        let params = format!(r#"{{"sessionId":"s","prompt":{blocks}}}"#);
        let mut skipped = Skipped::default();
        let params = RawJson::parse(params.into()).expect("it is JSON");
        read(Some(params), |_, parts| skipped = parts).map(|prompt| (prompt, skipped))
    }

    const GOOD: &str = r#"{"type":"text","text":"hello"}"#;

    #[test]
    fn malformed_block_is_left_out_and_reported() {
        let rows = [
            (r#"{"type":"text","text":null}"#, "prompt[0]: invalid type: null"),
            ("5", "prompt[0]: invalid type: integer"),
            (r#"{"type":"image","mimeType":"image/png"}"#, "prompt[0]: missing field `data`"),
            (r#"{"text":"no type"}"#, "prompt[0]: missing field `type`"),
        ];
        for (bad, reported) in rows {
            let (prompt, skipped) = of::<v1::PromptRequest>(&format!("[{bad},{GOOD}]")).unwrap();
            assert_eq!(prompt.prompt, [v1::ContentBlock::from("hello")], "{bad}");
            assert!(skipped.to_string().starts_with(reported), "{skipped} instead of {reported}");
            let why = of::<v1::PromptRequest>(&format!("[{bad},{bad}]")).expect_err("nothing is left");
            assert!(why.code == -32602 && why.message.contains(reported), "{why}");
        }
        let (_, skipped) = of::<v1::PromptRequest>(&format!("[{GOOD}]")).unwrap();
        assert!(skipped.is_empty(), "{skipped}");
        for wrong in ["5", "{}", "null", r#""hello""#] {
            assert!(of::<v1::PromptRequest>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn link_without_a_name_gets_that_of_its_uri() {
        let rows = [
            ("file:///src/main.rs", "main.rs"),
            ("a:b", "b"),
            ("https://example.com/x/?q=/y#z/", "x"),
            ("", ""),
        ];
        for (uri, name) in rows {
            let link = format!(r#"{{"type":"resource_link","uri":"{uri}"}}"#);
            let (prompt, skipped) = of::<v1::PromptRequest>(&format!("[{link},{GOOD}]")).unwrap();
            let v1::ContentBlock::ResourceLink(link) = &prompt.prompt[0] else { panic!("a link") };
            assert_eq!((&*link.uri, &*link.name), (uri, name));
            assert_eq!(skipped.parts[0].place, "prompt[0].name");
        }
    }
}
