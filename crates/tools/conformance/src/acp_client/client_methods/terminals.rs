//! Commands that a client runs for its agent. The checks use a shell.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::acp_client::AcpClient;
use crate::acp_client::run::{PromptTurn, QUIET};
use crate::check::{ANY, Check, check};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_client) const CHECKS: &[Check<AcpClient>] = &[
    check!(creates_at_once, ANY),
    check!(cuts_output_between_characters, ANY),
    check!(cuts_output_at_its_start, ANY),
    check!(reports_the_exit_after_it, ANY),
    check!(keeps_killed_terminals, ANY),
    check!(forgets_released_terminals, ANY),
    check!(ends_released_commands, ANY),
    check!(refuses_malformed_params, ANY),
    check!(serves_requests_together, ANY),
];

async fn shell(client: &AcpClient) -> Outcome<PromptTurn> {
    if cfg!(not(unix)) {
        return Err(Stop::not_applicable("these checks need a POSIX shell"));
    }
    let turn = client.prompted(client.script()).await?;
    turn.run.needs("/terminal")?;
    Ok(turn)
}

/// Runs a script of the shell: the params that name its terminal.
async fn create(turn: &mut PromptTurn, script: &str, more: Value) -> Outcome<Value> {
    let mut params = json!({"command": "/bin/sh", "args": ["-c", script]});
    for (name, value) in more.as_object().into_iter().flatten() {
        params[name] = value.clone();
    }
    let created = turn.ok("terminal/create", params).await.map_err(Stop::while_preparing)?;
    Ok(json!({"terminalId": created["terminalId"]}))
}

/// Waits for the exit of a command and releases its terminal.
async fn ends(turn: &mut PromptTurn, terminal: Value) -> Outcome<Value> {
    let exit = turn.ok("terminal/wait_for_exit", terminal.clone()).await.map_err(Stop::while_preparing)?;
    release(turn, terminal).await?;
    Ok(exit)
}

async fn release(turn: &mut PromptTurn, terminal: Value) -> Outcome {
    turn.ok("terminal/release", terminal).await.map(drop).map_err(Stop::while_preparing)
}

async fn creates_at_once(client: AcpClient) -> Outcome {
    let mut turn = shell(&client).await?;
    let ended = create(&mut turn, "exit 0", json!({})).await?;
    release(&mut turn, ended).await?;
    let begun = Instant::now();
    let params = json!({"command": "/bin/sh", "args": ["-c", "sleep 30"]});
    let created = turn.ok("terminal/create", params).await?;
    let time = begun.elapsed();
    let what = "a response before the command ends";
    ensure!(time < Duration::from_secs(25), what, "one after {} ms", time.as_millis());
    release(&mut turn, json!({"terminalId": created["terminalId"]})).await
}

/// The output of ten bytes of two-byte characters and three more: a limit of six bytes falls into the middle of a character.
async fn cut_output(client: &AcpClient) -> Outcome<Value> {
    let mut turn = shell(client).await?;
    let terminal = create(&mut turn, "printf 'éééééend'", json!({"outputByteLimit": 6})).await?;
    turn.ok("terminal/wait_for_exit", terminal.clone()).await.map_err(Stop::while_preparing)?;
    // Its last bytes may not have been read when it has ended.
    turn.run.agent.serve(QUIET).await?;
    let shown = turn.ok("terminal/output", terminal.clone()).await.map_err(Stop::while_preparing)?;
    release(&mut turn, terminal).await?;
    Ok(shown)
}

async fn cuts_output_between_characters(client: AcpClient) -> Outcome {
    let shown = cut_output(&client).await?;
    let output = shown["output"].as_str().unwrap_or_default();
    if output.is_empty() || output == "éééééend" {
        return Err(Stop::inconclusive(format!("the output was not cut: `{shown}`")));
    }
    ensure!(!output.contains('\u{fffd}'), "output that is cut at a character boundary", "`{shown}`");
    Ok(())
}

async fn cuts_output_at_its_start(client: AcpClient) -> Outcome {
    let shown = cut_output(&client).await?;
    let output = shown["output"].as_str().unwrap_or_default();
    let is_end = output.ends_with("end") && output.len() <= 6;
    ensure!(is_end, "the end of the output, in at most 6 bytes", "`{shown}`");
    ensure!(shown["truncated"] == true, "output that is marked as truncated", "`{shown}`");
    Ok(())
}

async fn reports_the_exit_after_it(client: AcpClient) -> Outcome {
    let mut turn = shell(&client).await?;
    let running = create(&mut turn, "sleep 30", json!({})).await?;
    let shown = turn.ok("terminal/output", running.clone()).await.map_err(Stop::while_preparing)?;
    ensure!(shown["exitStatus"].is_null(), "no exit status of a command that runs", "`{shown}`");
    release(&mut turn, running).await?;
    let terminal = create(&mut turn, "exit 3", json!({})).await?;
    let exit = ends(&mut turn, terminal).await?;
    ensure!(exit["exitCode"] == 3, "the exit code 3", "`{exit}`");
    Ok(())
}

async fn keeps_killed_terminals(client: AcpClient) -> Outcome {
    let mut turn = shell(&client).await?;
    let ended = create(&mut turn, "exit 0", json!({})).await?;
    ends(&mut turn, ended).await?;
    let terminal = create(&mut turn, "printf out; exec sleep 30", json!({})).await?;
    wait_for_output(&mut turn, &terminal, "out").await.map_err(Stop::while_preparing)?;
    turn.ok("terminal/kill", terminal.clone()).await.map_err(Stop::while_preparing)?;
    turn.ok("terminal/wait_for_exit", terminal.clone()).await?;
    let shown = turn.ok("terminal/output", terminal.clone()).await?;
    let is_kept = shown["output"].as_str().is_some_and(|output| output.contains("out"));
    ensure!(is_kept, "the output of the command that was killed", "`{shown}`");
    release(&mut turn, terminal).await
}

/// Asks for the output until it contains a text.
async fn wait_for_output(turn: &mut PromptTurn, terminal: &Value, text: &str) -> Outcome<String> {
    let until = Instant::now() + turn.run.client.setting.wait;
    loop {
        let shown = turn.ok("terminal/output", terminal.clone()).await?;
        let output = shown["output"].as_str().unwrap_or_default();
        if output.contains(text) {
            return Ok(output.to_owned());
        }
        if Instant::now() > until {
            return Err(Stop::failed(format!("the output {text:?} of the command"), format!("`{shown}`")));
        }
        turn.run.agent.serve(Duration::from_millis(20)).await?;
    }
}

async fn forgets_released_terminals(client: AcpClient) -> Outcome {
    let mut turn = shell(&client).await?;
    let terminal = create(&mut turn, "exit 0", json!({})).await?;
    release(&mut turn, terminal.clone()).await?;
    for method in ["terminal/output", "terminal/wait_for_exit", "terminal/kill"] {
        turn.error(method, terminal.clone()).await?;
    }
    Ok(())
}

async fn ends_released_commands(client: AcpClient) -> Outcome {
    let mut turn = shell(&client).await?;
    let terminal = create(&mut turn, "echo \"$$ end\"; exec sleep 30", json!({})).await?;
    let output = wait_for_output(&mut turn, &terminal, "end").await.map_err(Stop::while_preparing)?;
    let Some(id) = output.split_whitespace().find_map(|id| id.parse::<i32>().ok()) else {
        return Err(Stop::inconclusive(format!("the shell printed {output:?}")));
    };
    release(&mut turn, terminal).await?;
    let until = Instant::now() + turn.run.client.setting.wait;
    while is_running(id) {
        if Instant::now() > until {
            end(id);
            return Err(Stop::failed("the end of the command after `terminal/release`", "it still runs"));
        }
        turn.run.agent.serve(Duration::from_millis(20)).await?;
    }
    Ok(())
}

/// Whether a process runs. One that has ended and whose parent has not asked for its exit does not.
#[cfg(unix)]
fn is_running(id: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let is_dead = stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with(['Z', 'X']));
    let exists =
        rustix::process::Pid::from_raw(id).is_some_and(|id| rustix::process::test_kill_process(id).is_ok());
    exists && !is_dead
}

#[cfg(unix)]
fn end(id: i32) {
    if let Some(id) = rustix::process::Pid::from_raw(id) {
        // It may have ended since.
        let _ended = rustix::process::kill_process(id, rustix::process::Signal::KILL);
    }
}

#[cfg(not(unix))]
fn is_running(_: i32) -> bool {
    false
}

#[cfg(not(unix))]
fn end(_: i32) {}

async fn refuses_malformed_params(client: AcpClient) -> Outcome {
    let mut turn = shell(&client).await?;
    let ended = create(&mut turn, "exit 0", json!({})).await?;
    release(&mut turn, ended).await?;
    for (name, value) in [("args", json!("-c")), ("env", json!({"NAME": "value"})), ("cwd", json!(7))] {
        turn.error_code("terminal/create", json!({"command": "/bin/sh", name: value}), -32602).await?;
    }
    Ok(())
}

async fn serves_requests_together(client: AcpClient) -> Outcome {
    let mut turn = shell(&client).await?;
    let ended = create(&mut turn, "exit 0", json!({})).await?;
    ends(&mut turn, ended).await?;
    let terminal = create(&mut turn, "exec sleep 30", json!({})).await?;
    let wait = turn.start("terminal/wait_for_exit", terminal.clone()).await?;
    turn.ok("terminal/output", terminal.clone()).await?;
    turn.ok("terminal/kill", terminal.clone()).await?;
    let response = turn.run.agent.response(&wait).await?;
    ensure!(response.get("result").is_some(), "the exit of the command", "`{response}`");
    release(&mut turn, terminal).await
}
