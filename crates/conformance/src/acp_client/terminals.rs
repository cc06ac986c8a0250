//! Commands that a client runs for its agent. The checks use a shell.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::AcpClient;
use super::mutants;
use super::run::PromptTurn;
use crate::check::{ANY, Check, check};
use crate::faults;
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<AcpClient>] = &[
    check!("TERM-02", creates_at_once, ANY, [
        "waits for the command" => faults::loses_response_to("terminal/create"),
    ]),
    check!("TERM-03", cuts_output_at_its_start, ANY, [
        "cuts the end" => edits_output(|result| result["output"] = json!("ééé")),
        "cuts a character in half" => edits_output(|result| result["output"] = json!("\u{fffd}end")),
        "does not say that it cut" => edits_output(|result| result["truncated"] = json!(false)),
        "cuts nothing" => edits_output(|result| result["output"] = json!("éééééend")),
    ]),
    check!("TERM-05", reports_the_exit_after_it, ANY, [
        "reports both a code and a signal" => faults::each_response(|response| {
            for pointer in ["/result/exitStatus", "/result"] {
                if let Some(status) = response.pointer_mut(pointer).filter(|status| status["exitCode"].is_u64()) {
                    status["signal"] = json!("SIGTERM");
                }
            }
        }),
        "reports an exit of a running command" => edits_output(|result| result["exitStatus"] = json!({"exitCode": 0})),
    ]),
    check!("TERM-06", keeps_killed_terminals, ANY, [
        "forgets a terminal that was killed" => mutants::always_fails("terminal/output", -32602),
        "never ends the wait for it" => faults::loses_response_to("terminal/wait_for_exit"),
    ]),
    check!("TERM-07", forgets_released_terminals, ANY, [
        "still has the output" => mutants::always("terminal/output", || json!({"output": "", "truncated": false})),
        "still takes a kill" => mutants::always("terminal/kill", || json!({})),
    ]),
    check!("TERM-08", ends_released_commands, ANY, [
        "lets the command run" => mutants::only_claims("terminal/release"),
    ]),
    check!("TERM-11", refuses_malformed_params, ANY, [
        "takes them for left out" => mutants::always("terminal/create", || json!({"terminalId": "terminal-9"})),
        "answers with another code" => mutants::always_fails("terminal/create", -32603),
    ]),
    check!("TERM-12", serves_requests_together, ANY, [
        "does not kill while it waits" => faults::loses_response_to("terminal/kill"),
        "forgets the wait" => faults::loses_response_to("terminal/wait_for_exit"),
    ]),
];

fn edits_output(edit: fn(&mut Value)) -> Box<dyn crate::fault::Fault> {
    faults::result_of("terminal/output", edit)
}

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
    let created = turn.ok("terminal/create", params).await?;
    ensure!(created["terminalId"].is_string(), "the id of a terminal", "`{created}`");
    Ok(json!({"terminalId": created["terminalId"]}))
}

async fn release(turn: &mut PromptTurn, terminal: Value) -> Outcome {
    turn.ok("terminal/release", terminal).await.map(drop)
}

async fn creates_at_once(client: AcpClient) -> Outcome {
    let mut turn = shell(&client).await?;
    let begun = Instant::now();
    let terminal = create(&mut turn, "sleep 30", json!({})).await?;
    let time = begun.elapsed();
    ensure!(
        time < Duration::from_secs(25),
        "a response before the command ends",
        "one after {} ms",
        time.as_millis()
    );
    release(&mut turn, terminal).await
}

async fn cuts_output_at_its_start(client: AcpClient) -> Outcome {
    let mut turn = shell(&client).await?;
    // Ten bytes of two-byte characters, then three: a limit of six bytes falls into the middle of a character.
    let terminal = create(&mut turn, "printf 'éééééend'", json!({"outputByteLimit": 6})).await?;
    turn.ok("terminal/wait_for_exit", terminal.clone()).await?;
    let shown = turn.ok("terminal/output", terminal.clone()).await?;
    let output = shown["output"].as_str().unwrap_or_default();
    let is_end = "éééééend".ends_with(output) && output.ends_with("end") && output.len() <= 6;
    ensure!(is_end, "the end of the output, in at most 6 bytes and whole characters", "`{shown}`");
    ensure!(shown["truncated"] == true, "output that is marked as truncated", "`{shown}`");
    release(&mut turn, terminal).await
}

async fn reports_the_exit_after_it(client: AcpClient) -> Outcome {
    let mut turn = shell(&client).await?;
    let running = create(&mut turn, "sleep 30", json!({})).await?;
    let shown = turn.ok("terminal/output", running.clone()).await?;
    ensure!(shown["exitStatus"].is_null(), "no exit status of a command that runs", "`{shown}`");
    release(&mut turn, running).await?;
    for (script, code) in [("exit 3", Some(3)), ("kill -9 $$", None)] {
        let terminal = create(&mut turn, script, json!({})).await?;
        let exit = turn.ok("terminal/wait_for_exit", terminal.clone()).await?;
        let shown = turn.ok("terminal/output", terminal.clone()).await?;
        for status in [&exit, &shown["exitStatus"]] {
            let (has_code, has_signal) = (!status["exitCode"].is_null(), !status["signal"].is_null());
            ensure!(has_code != has_signal, "either an exit code or a signal", "`{status}`");
            if let Some(code) = code {
                ensure!(status["exitCode"] == code, format!("the exit code {code}"), "`{status}`");
            }
        }
        release(&mut turn, terminal).await?;
    }
    Ok(())
}

async fn keeps_killed_terminals(client: AcpClient) -> Outcome {
    let mut turn = shell(&client).await?;
    let terminal = create(&mut turn, "printf out; exec sleep 30", json!({})).await?;
    wait_for_output(&mut turn, &terminal, "out").await?;
    turn.ok("terminal/kill", terminal.clone()).await?;
    turn.ok("terminal/wait_for_exit", terminal.clone()).await?;
    let shown = turn.ok("terminal/output", terminal.clone()).await?;
    ensure!(shown["output"] == "out", "the output of the command that was killed", "`{shown}`");
    ensure!(shown["exitStatus"].is_object(), "the exit status of the command that was killed", "`{shown}`");
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
    for method in ["terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"] {
        turn.error(method, terminal.clone()).await?;
    }
    Ok(())
}

async fn ends_released_commands(client: AcpClient) -> Outcome {
    let mut turn = shell(&client).await?;
    let terminal = create(&mut turn, "sleep 30 & echo \"$$ $! end\"; wait", json!({})).await?;
    let output = wait_for_output(&mut turn, &terminal, "end").await?;
    let ids: Vec<i32> = output.split_whitespace().filter_map(|id| id.parse().ok()).collect();
    if ids.len() != 2 {
        return Err(Stop::inconclusive(format!("the shell printed {output:?}")));
    }
    release(&mut turn, terminal).await?;
    let until = Instant::now() + turn.run.client.setting.wait;
    while ids.iter().any(|id| is_running(*id)) {
        if Instant::now() > until {
            for id in &ids {
                end(*id);
            }
            return Err(Stop::failed(
                "the end of the command and of what it started",
                "a process still runs",
            ));
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
        // It may have ended meanwhile.
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
    for (name, value) in [("args", json!("-c")), ("env", json!({"NAME": "value"})), ("cwd", json!(7))] {
        turn.error_code("terminal/create", json!({"command": "/bin/sh", name: value}), -32602).await?;
    }
    Ok(())
}

async fn serves_requests_together(client: AcpClient) -> Outcome {
    let mut turn = shell(&client).await?;
    let terminal = create(&mut turn, "exec sleep 30", json!({})).await?;
    let first = turn.start("terminal/wait_for_exit", terminal.clone()).await?;
    let second = turn.start("terminal/wait_for_exit", terminal.clone()).await?;
    turn.ok("terminal/output", terminal.clone()).await?;
    turn.ok("terminal/kill", terminal.clone()).await?;
    for id in [first, second] {
        let response = turn.run.agent.response(&id).await?;
        ensure!(response.get("result").is_some(), "the exit of the command", "`{response}`");
    }
    release(&mut turn, terminal).await
}
