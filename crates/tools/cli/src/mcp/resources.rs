//! `agentwire resources` and `agentwire read`: list resources, and read one.

use std::io;

use agentwire_jsonrpc::WithCauses;
use agentwire_mcp_client::CallError;
use anyhow::Result;
use serde::Serialize;

use super::arguments::{Read, ServerOnly};
use super::lists::{resource_line, template_line, templates};
use crate::connect::{Output, with_server};
use crate::content::Printer;
use crate::output::text;
use crate::output::{Member, print_json};

/// Prints the resources and then the templates, one a line. If one list fails, only warns of it, as long as the other can be read
/// and the connection is open.
pub(crate) async fn resources(arguments: ServerOnly, output: Output<'_>) -> Result<()> {
    let (json, notes) = (output.json, output.notes);
    with_server(arguments.connect, output, async |server| {
        let resources = print_list(server.resources().collect().await, resource_line, json)?;
        let templates = match &resources {
            Err(CallError::Closed(_)) => Ok(0),
            _ => print_list(templates(&server).await, template_line, json)?,
        };
        if let Some(error) = failure(resources, templates)? {
            notes.add(&format!("warning: {}", WithCauses::new(&error)));
        }
        Ok(())
    })
    .await
}

/// Prints a list, and returns its length.
fn print_list<T: Serialize>(
    items: Result<Vec<T>, CallError>,
    line: fn(&T) -> String,
    json: bool,
) -> io::Result<Result<usize, CallError>> {
    let items = match items {
        Ok(items) => items,
        Err(error) => return Ok(Err(error)),
    };
    for item in &items {
        if json { print_json(item) } else { text::print_line(&line(item)) }?;
    }
    Ok(Ok(items.len()))
}

/// Fails if there is nothing to show. Otherwise returns the error of the list that failed, if one did.
fn failure(
    resources: Result<usize, CallError>,
    templates: Result<usize, CallError>,
) -> Result<Option<CallError>, CallError> {
    match (resources, templates) {
        (Ok(_), Ok(_)) => Ok(None),
        (Err(error), Ok(1..)) | (Ok(_), Err(error)) if !matches!(error, CallError::Closed(_)) => {
            Ok(Some(error))
        }
        (Err(error), _) | (_, Err(error)) => Err(error),
    }
}

/// Prints or saves a resource.
pub(crate) async fn read(arguments: Read, output: Output<'_>) -> Result<()> {
    let json = output.json;
    let Read { connect, mut words, save, .. } = arguments;
    let uri = words.pop().unwrap_or_default();
    let mut printer = Printer::new(json, save)?;
    with_server(connect, output, async |server| {
        let result = server.read_resource(&*uri).await?;
        if json {
            print_json(&Member("result", &result))?;
        }
        result.contents.iter().try_for_each(|contents| printer.save_resource(contents))?;
        printer.finish()
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_list_does_not_hide_the_other() {
        let unreadable = || Err(CallError::unusable("m", "unreadable"));
        assert!(matches!(failure(Ok(2), Ok(0)), Ok(None)));
        assert!(matches!(failure(Ok(0), unreadable()), Ok(Some(_))));
        assert!(matches!(failure(unreadable(), Ok(1)), Ok(Some(_))));
        assert!(failure(unreadable(), Ok(0)).is_err(), "there is nothing to show");
        assert!(failure(unreadable(), unreadable()).is_err());
    }
}
