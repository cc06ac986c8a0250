//! One step of an MCP client on rmcp: `mcp_rival_client_steps TARGET STEP [ARGUMENTS]`. It prints the result as JSON.
//!
//! TARGET is a URL or a command line.

#![expect(deprecated, reason = "roots and sampling are part of the revisions with sessions")]

use std::error::Error;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientInfo, CreateMessageRequestParams, CreateMessageResult,
    ElicitRequestParams, ElicitResult, ElicitationAction, GetPromptRequestParams, Implementation,
    ListRootsResult, ReadResourceRequestParams, Root, SamplingMessage,
};
use rmcp::service::{RequestContext, RunningService};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ErrorData, RoleClient, ServiceExt};
use serde_json::{Value, from_str, to_value};

type Failure = Box<dyn Error + Send + Sync>;

struct User;

impl ClientHandler for User {
    fn get_info(&self) -> ClientInfo {
        let capabilities =
            ClientCapabilities::builder().enable_roots().enable_sampling().enable_elicitation().build();
        ClientInfo::new(capabilities, Implementation::new("conformance-steps", "1.0.0"))
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(ListRootsResult::new(vec![Root::new("file:///projects/here")]))
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Ok(CreateMessageResult::new(SamplingMessage::assistant_text("hello"), "none".into()))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(ElicitResult::new(ElicitationAction::Decline))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [target, step, given @ ..] = words.as_slice() else { return Err("TARGET STEP [ARGUMENTS]".into()) };
    let server = connect(target).await?;
    println!("{}", tokio::time::timeout(Duration::from_secs(20), take(&server, step, given)).await??);
    server.cancel().await?;
    Ok(())
}

async fn connect(target: &str) -> Result<RunningService<RoleClient, User>, Failure> {
    if target.starts_with("http") {
        return Ok(User.serve(StreamableHttpClientTransport::from_uri(target)).await?);
    }
    let words = shell_words::split(target)?;
    let (program, arguments) = words.split_first().ok_or("an empty command")?;
    let mut command = tokio::process::Command::new(program);
    command.args(arguments);
    Ok(User.serve(TokioChildProcess::new(command)?).await?)
}

async fn take(
    server: &RunningService<RoleClient, User>,
    step: &str,
    given: &[String],
) -> Result<Value, Failure> {
    Ok(match (step, given) {
        ("list_tools", _) => to_value(server.list_all_tools().await?)?,
        ("list_resources", _) => to_value(server.list_all_resources().await?)?,
        ("list_templates", _) => to_value(server.list_all_resource_templates().await?)?,
        ("list_prompts", _) => to_value(server.list_all_prompts().await?)?,
        ("call_tool", [name, arguments]) => {
            let call = CallToolRequestParams::new(name.clone()).with_arguments(from_str(arguments)?);
            to_value(server.call_tool(call).await?)?
        }
        ("read_resource", [uri]) => {
            to_value(server.read_resource(ReadResourceRequestParams::new(uri)).await?)?
        }
        ("get_prompt", [name]) => to_value(server.get_prompt(GetPromptRequestParams::new(name)).await?)?,
        _ => return Err(format!("there is no step {step} with {} arguments", given.len()).into()),
    })
}
