//! `agentwire resources` and `agentwire read`.

use anyhow::Result;

use super::arguments::{Read, ServerOnly};
use super::lists::{resource_line, template_line, templates};
use crate::connect::{Output, with_server};
use crate::content::Printer;
use crate::output::{Member, print_json};
use crate::text;

/// Prints the resources, and then the templates, one a line. Templates that the server refuses to list are a warning.
pub(crate) async fn resources(arguments: ServerOnly, output: Output<'_>) -> Result<()> {
    let (json, notes) = (output.json, output.notes);
    with_server(arguments.connect, output, async |server| {
        let resources = server.resources().collect().await?;
        let templates = match templates(&server).await {
            Err(error) if error.refusal().is_some() => {
                notes.add(&format!("warning: {error}"));
                Vec::new()
            }
            listed => listed?,
        };
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
