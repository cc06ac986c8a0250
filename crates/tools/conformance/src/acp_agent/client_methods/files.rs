//! Checks of agents: the client's files.

use serde_json::{Value, json};

use crate::acp_agent::connection::initialization::plays_without;
use crate::acp_agent::messages::is_absolute;
use crate::acp_agent::{Agent, capabilities};
use crate::check::{ANY, Check, audit, check};
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_agent) const CHECKS: &[Check<Agent>] =
    &[check!(files_need_their_capability, ANY), audit!(paths_of_files_are_absolute, ANY)];

async fn files_need_their_capability(agent: Agent) -> Outcome {
    let all = capabilities(agent.revision());
    let set_to = |read, write| json!({"readTextFile": read, "writeTextFile": write});
    for fs in [json!({}), set_to(false, false), set_to(true, false), set_to(false, true)] {
        let (read, write) = (fs["readTextFile"] == true, fs["writeTextFile"] == true);
        let mut set = all.clone();
        set["fs"] = fs;
        plays_without(&agent, set, &["read", "write"], |message| {
            !read && message["method"] == "fs/read_text_file"
                || !write && message["method"] == "fs/write_text_file"
        })
        .await?;
    }
    Ok(())
}

fn paths_of_files_are_absolute(_: &Agent, trace: &Trace) -> Outcome {
    let messages = trace.messages(Sender::Subject).into_iter();
    let calls: Vec<Value> = messages
        .filter(|message| message["method"].as_str().is_some_and(|name| name.starts_with("fs/")))
        .collect();
    for call in &calls {
        let is_sound = call["params"]["path"].as_str().is_some_and(is_absolute);
        ensure!(is_sound, "absolute paths in the file system methods", "`{call}`");
    }
    if calls.is_empty() { Err(Stop::not_applicable("the agent asked for no file")) } else { Ok(()) }
}
