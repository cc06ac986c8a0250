//! `agentwire tools`: lists the tools of a server.

use std::fmt::{self, Display};

use agentwire_mcp_client::schema::Tool;
use agentwire_recording::Recorder;
use anyhow::Result;
use serde_json::{Map, Value};

use crate::arguments::Tools;
use crate::connect::{Output, with_server};
use crate::output::print_json;
use crate::text::{self, Notes};

/// The most bytes of a tool's name, of its arguments and of its description that are shown: 4 KiB each.
const PART_LIMIT: usize = 4 << 10;

/// Prints the tools, one a line.
pub(crate) async fn list(
    arguments: Tools,
    json: bool,
    notes: &Notes,
    recorder: Option<Recorder>,
) -> Result<()> {
    with_server(
        arguments.connect,
        Output { json, notes, recorder },
        |client| client,
        async |server| {
            // All at once: a list that changes between two pages is read from its start again.
            for tool in server.tools().collect().await? {
                if json {
                    print_json(&tool)?;
                } else {
                    text::print_line(&summary(&tool))?;
                }
            }
            Ok(())
        },
    )
    .await
}

/// The tool's name, its arguments, and the first line of its description.
fn summary(tool: &Tool) -> String {
    let schema = tool.input_schema.as_map();
    let names = schema.get("properties").and_then(|properties| properties.as_object());
    let names = Names(names);
    let about = tool.description.as_deref().and_then(|text| text.lines().next()).unwrap_or_default();
    let [name, names, about] =
        [&tool.name as &dyn Display, &names, &about].map(|part| text::beginning(part, PART_LIMIT));
    format!("{name} {{{names}}}  {about}")
}

/// The names of an object's members, with commas between them.
struct Names<'a>(Option<&'a Map<String, Value>>);

impl Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, name) in self.0.iter().flat_map(|names| names.keys()).enumerate() {
            f.write_str(if index > 0 { ", " } else { "" })?;
            f.write_str(name)?;
        }
        Ok(())
    }
}
