//! `agentwire request`: sends any request, even one that the protocol does not have.

use agentwire_jsonrpc::RawObject;
use anyhow::Result;

use super::arguments::Request;
use crate::arguments::values::json_object;
use crate::arguments::words::{read_file, read_stdin};
use crate::connect::{Output, with_server};
use crate::failure::Usage;
use crate::output::pretty::pretty;
use crate::output::text;
use crate::output::{Member, print_json};

/// Sends a request and prints its result.
pub(crate) async fn request(arguments: Request, output: Output<'_>) -> Result<()> {
    let json = output.json;
    let Request { connect, words, .. } = arguments;
    let (method, words) = words.split_first().ok_or_else(|| Usage("METHOD is missing".into()))?;
    let params = params(words.first().map(String::as_str))?;
    with_server(connect, output, async |server| {
        let answer = server.call_raw(method.as_str(), params.clone()).await?;
        if json {
            return Ok(print_json(&Member("result", answer.result()))?);
        }
        Ok(text::print(&pretty(answer.result().as_str()))?)
    })
    .await
}

/// The parameters: JSON, the text of a file, or stdin.
fn params(word: Option<&str>) -> Result<RawObject, Usage> {
    let text = match word {
        None => return Ok(RawObject::new()),
        Some("-") => read_stdin(std::io::stdin()).map_err(|why| Usage(format!("stdin: {why}")))?,
        Some(word) => match word.strip_prefix('@') {
            Some(path) => read_file(path)?,
            None => word.to_owned(),
        },
    };
    let object = json_object(&text).map_err(|why| Usage(format!("the parameters are {why}")))?;
    RawObject::try_from(object).map_err(|why| Usage(why.to_string()))
}
