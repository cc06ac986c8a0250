//! The parameters that a client repeats in HTTP headers.

use agentwire_mcp_client::BoxError;
use agentwire_mcp_client::schema::GetPromptRequest;
use serde_json::{Value, json};

use crate::Case;

/// Lists everything and asks for everything that is listed.
pub(crate) async fn standard(case: Case) -> Result<(), BoxError> {
    let client = case.client();
    case.run(client, async |server| {
        for tool in server.tools().collect().await? {
            server.call_tool(tool.name, json!({})).await?;
        }
        for resource in server.resources().collect().await? {
            server.read_resource(resource.uri).await?;
        }
        for prompt in server.prompts().collect().await? {
            server.get_prompt(GetPromptRequest::new(prompt.name)).await?;
        }
        Ok(())
    })
    .await?;
    Ok(())
}

/// Makes the calls that the scenario wants made.
pub(crate) async fn custom(case: Case) -> Result<(), BoxError> {
    let client = case.client();
    let context = case.context()?;
    let calls = context["toolCalls"].as_array().ok_or("the context has no calls")?;
    case.run(client, async |server| {
        server.tools().collect().await?;
        for call in calls {
            let name = call["name"].as_str().ok_or("a call without a name")?;
            server.call_tool(name, &call["arguments"]).await?;
        }
        Ok(())
    })
    .await?;
    Ok(())
}

/// Calls every tool that is still there after those have been left out that ask for headers in a wrong way.
pub(crate) async fn invalid(case: Case) -> Result<(), BoxError> {
    let client = case.client();
    case.run(client, async |server| {
        for tool in server.tools().collect().await? {
            server.call_tool(&tool.name, some_arguments(&tool.input_schema.as_map()["properties"])).await?;
        }
        Ok(())
    })
    .await?;
    Ok(())
}

/// A value for each property.
fn some_arguments(properties: &Value) -> Value {
    let value = |schema: &Value| match schema["type"].as_str() {
        Some("number" | "integer") => json!(1),
        Some("boolean") => json!(true),
        _ => json!("value"),
    };
    let properties = properties.as_object().into_iter().flatten();
    properties.map(|(name, schema)| (name.clone(), value(schema))).collect()
}
