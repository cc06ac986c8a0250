//! Formats the lines of lists of resources and prompts, and reads lists that a server may lack.

use agentwire_jsonrpc::code;
use agentwire_mcp_client::schema::{Prompt, Resource, ResourceTemplate};
use agentwire_mcp_client::{CallError, RemoteServer};

use crate::output::list_line::{row, with_description};
use crate::output::text;

/// The most bytes of a URI or a name, and the most arguments of a prompt, that are shown.
const PART_LIMIT: usize = 4 << 10;
const ARGUMENTS: usize = 32;

pub(super) fn resource_line(resource: &Resource) -> String {
    let Resource { uri, name, title, mime_type, size, description, .. } = resource;
    line(uri, title.as_deref().unwrap_or(name), mime_type.as_deref(), *size, description.as_deref())
}

pub(super) fn template_line(template: &ResourceTemplate) -> String {
    let ResourceTemplate { uri_template, name, title, mime_type, description, .. } = template;
    line(uri_template, title.as_deref().unwrap_or(name), mime_type.as_deref(), None, description.as_deref())
}

fn line(
    uri: &str,
    name: &str,
    mime_type: Option<&str>,
    size: Option<u64>,
    description: Option<&str>,
) -> String {
    let mut line = text::beginning(uri, PART_LIMIT);
    let size = size.map(|size| format!("{size} bytes"));
    let kind: Vec<_> = mime_type.map(str::to_owned).into_iter().chain(size).collect();
    if !kind.is_empty() {
        line = format!("{line} ({})", text::beginning(kind.join(", "), PART_LIMIT));
    }
    if !name.is_empty() && name != uri {
        line = format!("{line}  {}", text::beginning(name, PART_LIMIT));
    }
    match description {
        Some(description) if description != name => row(&line, ": ", Some(description)),
        _ => line,
    }
}

/// A prompt as a signature, and its description.
pub(super) fn prompt_line(prompt: &Prompt) -> String {
    with_description(&prompt_signature(prompt), prompt.description.as_deref().or(prompt.title.as_deref()))
}

/// A prompt as a signature: `greet(name, tone?)`.
pub(super) fn prompt_signature(prompt: &Prompt) -> String {
    let arguments = prompt.arguments.iter().take(ARGUMENTS).map(|argument| {
        let mark = if argument.required { "" } else { "?" };
        format!("{}{mark}", text::beginning(&argument.name, 128))
    });
    let mut arguments: Vec<_> = arguments.collect();
    if prompt.arguments.len() > ARGUMENTS {
        arguments.push("…".into());
    }
    format!("{}({})", text::beginning(&prompt.name, PART_LIMIT), arguments.join(", "))
}

/// The resource templates. Empty if the server lacks the method, which a server with resources may.
pub(super) async fn templates(server: &RemoteServer) -> Result<Vec<ResourceTemplate>, CallError> {
    match server.resource_templates().collect().await {
        Err(error) if error.refusal().is_some_and(|error| error.code == code::METHOD_NOT_FOUND) => {
            Ok(Vec::new())
        }
        listed => listed,
    }
}

#[cfg(test)]
mod tests {
    use agentwire_mcp_client::schema::PromptArgument;

    use super::*;

    #[test]
    fn resource_line_has_only_the_present_parts() {
        let mut resource = Resource::new("a://b", "b");
        assert_eq!(resource_line(&resource), "a://b  b");
        resource =
            resource.mime_type("text/plain").size(3_u64).title("The b").description("What b is.\nMore.");
        assert_eq!(resource_line(&resource), "a://b (text/plain, 3 bytes)  The b: What b is.");
        assert_eq!(template_line(&ResourceTemplate::new("a://{b}", "b").description("b")), "a://{b}  b");
    }

    #[test]
    fn a_prompt_is_a_signature() {
        let mut required = PromptArgument::new("name");
        required.required = true;
        let prompt = Prompt::new("greet").arguments(vec![required, PromptArgument::new("tone")]);
        assert_eq!(prompt_line(&prompt.description("Greets\nyou")), "greet(name, tone?)  Greets");
        let many = vec![PromptArgument::new("x".repeat(1000)); 1000];
        assert!(prompt_line(&Prompt::new("p").arguments(many)).len() < 8 << 10);
    }
}
