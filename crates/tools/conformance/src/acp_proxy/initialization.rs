//! Checks of proxies: what they make of their successor's answer to `initialize`.

use serde_json::{Value, json};

use super::{Initialization, Proxy};
use crate::acp_messages::greeting;
use crate::check::{Check, STDIO, check};
use crate::requirements::revision::Revision;
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<Proxy>] = &[check!(answers_as_its_successor, STDIO)];

async fn answers_as_its_successor(proxy: Proxy) -> Outcome {
    keeps_the_version(&proxy, greeting(proxy.revision())).await?;
    if proxy.revision() == Revision::Acp2 {
        let older = greeting(Revision::Acp1);
        let Initialization { mut conversation, id, forwarded } = proxy.begin().await?;
        conversation.reply(&forwarded, older).await?;
        let response = conversation.response(&id).await.map_err(Stop::while_preparing)?;
        // A proxy may speak only this version.
        if response.get("error").is_none() {
            has_version(&response, &json!(1))?;
        }
    }
    Ok(())
}

/// Initializes a proxy whose successor answers with a result.
async fn keeps_the_version(proxy: &Proxy, result: Value) -> Outcome {
    let version = result["protocolVersion"].clone();
    let Initialization { mut conversation, id, forwarded } = proxy.begin().await?;
    conversation.reply(&forwarded, result).await?;
    let response = conversation.response(&id).await.map_err(Stop::while_preparing)?;
    if response.get("error").is_some() {
        return Err(Stop::inconclusive(format!("proxy/initialize: `{response}`")));
    }
    has_version(&response, &version)
}

fn has_version(response: &Value, version: &Value) -> Outcome {
    let answered = &response["result"]["protocolVersion"];
    // 1.0 is the same version as 1.
    let is_same =
        answered == version || answered.as_f64().is_some_and(|number| Some(number) == version.as_f64());
    ensure!(is_same, format!("the successor's `protocolVersion`, {version}"), "`{response}`");
    Ok(())
}
