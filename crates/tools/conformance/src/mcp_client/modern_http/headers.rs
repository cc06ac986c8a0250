//! Checks of clients: headers that repeat names and arguments.

use std::collections::BTreeMap;

use base64::Engine as _;
use serde_json::{Value, json};

use crate::check::{Check, HTTP, check};
use crate::fault::ClientRequest;
use crate::link::played_http::{Exchange, HeaderCase, text};
use crate::mcp_client::McpClient;
use crate::mcp_client::host::{Host, start_call_of};
use crate::subject::driver::Driver;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_client) const CHECKS: &[Check<McpClient>] = &[
    check!(header_repeats_the_name, HTTP),
    check!(header_names_have_no_case, HTTP),
    check!(arguments_are_repeated_in_headers, HTTP),
    check!(look_alikes_are_encoded, HTTP),
    check!(unsafe_integers_are_not_copied, HTTP),
];

/// A value that looks as if it were encoded.
const LOOK_ALIKE: &str = "=?base64?abc?=";
/// 2^53 + 1, which readers that use doubles cannot tell from 2^53.
pub(crate) const UNSAFE_INTEGER: u64 = 9_007_199_254_740_993;

/// The value that a header stands for; none if it is encoded wrongly.
fn decoded(value: &str) -> Option<String> {
    let Some(inner) = value.strip_prefix("=?base64?").and_then(|value| value.strip_suffix("?=")) else {
        return Some(value.to_owned());
    };
    String::from_utf8(base64::engine::general_purpose::STANDARD.decode(inner).ok()?).ok()
}

async fn header_repeats_the_name(client: McpClient) -> Outcome {
    let tool = |name: &str| json!({"tool": name, "arguments": {}});
    let cases = [
        ("call_tool", tool("echo"), "tools/call", "echo"),
        ("get_prompt", json!({"name": "greet"}), "prompts/get", "greet"),
        ("read_resource", json!({"uri": "test://one"}), "resources/read", "test://one"),
        // A client may refuse a tool with such a name.
        ("call_tool", tool("\u{65e5}\u{672c}"), "tools/call", "\u{65e5}\u{672c}"),
    ];
    let (mut driver, mut host) = client.host().await?;
    let listed = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    let tools = json!({"tools": [listed("echo"), listed("\u{65e5}\u{672c}")]});
    host.script(client.script().on("tools/list", tools));
    let mut steps = 0;
    for (step, params, method, name) in cases {
        let step = match driver.start(step, params).await {
            Err(Stop::NotApplicable(_)) => continue,
            other => other?,
        };
        steps += 1;
        let call = host.call(method).await.map_err(Stop::while_preparing)?;
        ensure!(
            call.request.header("mcp-name").and_then(decoded).as_deref() == Some(name),
            format!("an Mcp-Name header of {method} that stands for {name}"),
            "{}",
            text(&call.request)
        );
        host.answer(call).await?;
        host.outcome(&mut driver, step).await.map_err(Stop::while_preparing)?;
    }
    if steps == 0 { Err(Stop::not_applicable("the profile has no step with a name")) } else { Ok(()) }
}

async fn header_names_have_no_case(client: McpClient) -> Outcome {
    let (mut driver, mut host) = client.host_with(HeaderCase::Title).await?;
    let step = driver.start("list_tools", json!({})).await?;
    host.ok(&mut driver, step).await.map(drop)
}

/// A tool whose arguments are repeated in headers.
fn marked_tool() -> Value {
    let property = |kind: &str, header: &str| json!({"type": kind, "x-mcp-header": header});
    json!({"name": "marked", "inputSchema": {"type": "object", "properties": {
        "region": property("string", "Region"),
        "priority": property("integer", "Priority"),
        "verbose": property("boolean", "Verbose"),
        "city": property("string", "City"),
        "padded": property("string", "Padded"),
        "empty": property("string", "Empty"),
        "absent": property("string", "Absent"),
        "nothing": property("boolean", "Nothing"),
        "place": {"type": "object", "properties": {"zone": property("string", "Zone")}},
        "plain": {"type": "string"},
    }}})
}

/// Makes the client call the tool that has marks, of which it knows.
async fn marked_call(
    client: &McpClient,
    driver: &mut Driver,
    host: &mut Host,
    arguments: Value,
) -> Outcome<Option<Exchange>> {
    host.script(client.script().on("tools/list", json!({"tools": [marked_tool()]})));
    if driver.takes_steps() {
        host.connect(driver).await?;
    }
    let step = start_call_of(driver, "marked", arguments).await?;
    let wait = client.setting.wait;
    let call = tokio::select! {
        biased;
        call = host.within(wait, |request| request.calls("tools/call")) => {
            Some(call?.ok_or_else(|| Stop::inconclusive("the client does not call the tool"))?)
        }
        outcome = driver.outcome(step, wait) => outcome.map(|_| None).map_err(Stop::while_preparing)?,
    };
    if !host.seen.iter().any(|request| request.calls("tools/list")) {
        return Err(Stop::not_applicable("the client calls tools without a list of them"));
    }
    Ok(call)
}

async fn called(client: &McpClient, arguments: Value) -> Outcome<ClientRequest> {
    let (mut driver, mut host) = client.host().await?;
    let call = marked_call(client, &mut driver, &mut host, arguments).await?;
    let call = call.ok_or_else(|| Stop::inconclusive("the client does not call the tool"))?;
    Ok(call.request.clone())
}

async fn arguments_are_repeated_in_headers(client: McpClient) -> Outcome {
    let arguments = json!({
        "region": "eu west", "priority": 42, "verbose": false, "city": "Z\u{fc}rich", "padded": " padded ",
        "empty": "", "nothing": null, "place": {"zone": "z1"}, "plain": "plain",
    });
    let request = called(&client, arguments).await?;
    let expected: BTreeMap<String, String> = [
        ("region", "eu west"),
        ("priority", "42"),
        ("verbose", "false"),
        ("city", "Z\u{fc}rich"),
        ("padded", " padded "),
        ("empty", ""),
        ("zone", "z1"),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .collect();
    let headers = request.headers.iter().filter_map(|(name, value)| {
        // No sentence forbids a header for an argument without a mark.
        let name = name.strip_prefix("mcp-param-").filter(|name| *name != "plain")?;
        Some((name.to_owned(), decoded(value).unwrap_or_else(|| format!("{value} (not decodable)"))))
    });
    let sent: BTreeMap<String, String> = headers.collect();
    ensure!(
        sent == expected,
        format!("the Mcp-Param headers {expected:?}"),
        "{sent:?} of {}",
        text(&request)
    );
    Ok(())
}

async fn look_alikes_are_encoded(client: McpClient) -> Outcome {
    let request = called(&client, json!({"region": LOOK_ALIKE})).await?;
    let header = request.header("mcp-param-region");
    let header = header.ok_or_else(|| Stop::inconclusive("the client sends no Mcp-Param-Region header"))?;
    ensure!(
        header != LOOK_ALIKE && decoded(header).as_deref() == Some(LOOK_ALIKE),
        format!("an Mcp-Param-Region header with {LOOK_ALIKE} in base64"),
        "{}",
        text(&request)
    );
    Ok(())
}

async fn unsafe_integers_are_not_copied(client: McpClient) -> Outcome {
    let (mut driver, mut host) = client.host().await?;
    let call = marked_call(&client, &mut driver, &mut host, json!({"priority": UNSAFE_INTEGER})).await?;
    // A client may also refuse the call.
    let Some(call) = call else {
        return Ok(());
    };
    ensure!(
        call.request.header("mcp-param-priority").is_none(),
        format!("no Mcp-Param header for {UNSAFE_INTEGER}"),
        "{}",
        text(&call.request)
    );
    Ok(())
}
