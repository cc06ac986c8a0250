//! `agentwire resources` and `agentwire read`.

use agentwire_mcp_client::schema::ReadResourceResult;
use anyhow::Result;

use super::arguments::{Read, ServerOnly};
use super::lists::{resource_line, template_line, templates};
use crate::capabilities::as_in_call;
use crate::connect::{Output, with_server};
use crate::content::Printer;
use crate::output::{Member, print_json};
use crate::text;

/// Prints the resources, and then the templates, one a line.
pub(crate) async fn resources(arguments: ServerOnly, output: Output<'_>) -> Result<()> {
    let json = output.json;
    with_server(arguments.connect, output, as_in_call, async |server| {
        let (resources, templates) = (server.resources().collect().await?, templates(&server).await?);
        for resource in &resources {
            if json { print_json(resource) } else { text::print_line(&resource_line(resource)) }?;
        }
        for template in &templates {
            if json { print_json(template) } else { text::print_line(&template_line(template)) }?;
        }
        Ok(())
    })
    .await
}

/// Prints or saves a resource.
pub(crate) async fn read(arguments: Read, output: Output<'_>) -> Result<()> {
    let json = output.json;
    let Read { connect, mut words, save, .. } = arguments;
    let uri = words.pop().unwrap_or_default();
    let mut printer = Printer::new(json, save)?;
    let result: ReadResourceResult =
        with_server(connect, output, |client| client, async |server| Ok(server.read_resource(uri).await?))
            .await?;
    if json {
        print_json(&Member("result", &result))?;
    }
    result.contents.iter().try_for_each(|contents| printer.save_resource(contents))?;
    printer.finish()
}
