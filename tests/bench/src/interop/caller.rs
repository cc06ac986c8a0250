//! Runs `agentwire tools` and `agentwire call` and reads their output.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::scratch::{Outcome, Scratch};

/// Our MCP client and the server that it calls. Each call has a connection of its own.
pub(super) struct Caller<'a> {
    scratch: &'a Scratch<'a>,
    target: String,
    era: &'static str,
}

impl<'a> Caller<'a> {
    /// A client of a server's command line or URL, with `--era auto`.
    pub(super) fn new(scratch: &'a Scratch<'a>, target: impl Into<String>) -> Self {
        Self { scratch, target: target.into(), era: "auto" }
    }

    /// Sets `--era`: `legacy`, `modern` or `auto`.
    pub(super) fn era(mut self, era: &'static str) -> Self {
        self.era = era;
        self
    }

    /// Lists the tools of the server, which must include these.
    pub(super) fn expect_tools(&self, names: &[&str]) -> Result<()> {
        let outcome = self.scratch.run(&self.command("tools", &[]))?;
        outcome.expect_code(0)?;
        let tools = outcome.json()?;
        for tool in &tools {
            ensure!(
                tool["name"].is_string() && tool["inputSchema"]["type"] == "object",
                "not a tool: {tool}"
            );
        }
        for name in names {
            ensure!(tools.iter().any(|tool| tool["name"] == *name), "the tool {name} is missing");
        }
        Ok(())
    }

    /// Calls a tool, and returns the lines of progress and the result or error.
    pub(super) fn call(&self, tool: &str, arguments: Value) -> Result<(Vec<Value>, Value)> {
        read(&self.scratch.run(&self.command("call", &[tool, &arguments.to_string()]))?, TOOL_FAILED)
    }

    /// Calls a tool that must succeed, and returns its result.
    pub(super) fn result(&self, tool: &str, arguments: Value) -> Result<Value> {
        let (_, mut last) = self.call(tool, arguments)?;
        ensure!(last["result"].is_object() && last["result"]["isError"] != true, "{tool} failed: {last}");
        Ok(last["result"].take())
    }

    /// Calls a tool that must succeed, and returns its text.
    pub(super) fn text(&self, tool: &str, arguments: Value) -> Result<String> {
        let result = self.result(tool, arguments)?;
        let blocks = result["content"].as_array().into_iter().flatten();
        Ok(blocks.filter_map(|block| block["text"].as_str()).collect())
    }

    /// Calls a tool that must fail, by a result or by an error.
    pub(super) fn refused(&self, tool: &str, arguments: Value) -> Result<Value> {
        let (_, last) = self.call(tool, arguments)?;
        let refused = last["result"]["isError"] == true || last["error"].is_object();
        ensure!(refused, "{tool} should have failed: {last}");
        Ok(last)
    }

    /// Calls a tool that the server does not have. That is wrong usage, however the server refuses the name.
    pub(super) fn unknown(&self) -> Result<()> {
        let outcome = self.scratch.run(&self.command("call", &["no-such-tool", "{}"]))?;
        let (_, last) = read(&outcome, WRONG_USAGE)?;
        ensure!(outcome.code == Some(WRONG_USAGE), "an unknown tool should have failed: {last}");
        Ok(())
    }

    /// Calls a tool that reports `steps` steps of progress. Each must be shown once and in order.
    pub(super) fn steps(&self, tool: &str, arguments: Value, steps: u64) -> Result<()> {
        let (reports, last) = self.call(tool, arguments)?;
        ensure!(last["result"].is_object() && last["result"]["isError"] != true, "{tool} failed: {last}");
        let seen: Vec<_> =
            reports.iter().filter_map(|report| report["progress"]["progress"].as_f64()).collect();
        let expected: Vec<_> = (1..=steps).map(|step| step as f64).collect();
        ensure!(seen == expected, "progress went {seen:?} instead of 1 to {steps}");
        Ok(())
    }

    /// Calls a tool that would take a minute, and interrupts it at the first progress.
    pub(super) fn interrupt(&self, tool: &str, arguments: Value) -> Result<()> {
        // The log of a healthy server is shown with `--verbose` only.
        let command = self.command("call", &[tool, &arguments.to_string(), "--verbose"]);
        let outcome = self.scratch.interrupt_group_at("progress", &command)?;
        ensure!(outcome.code != Some(0), "an interrupted call is not a success");
        Ok(())
    }

    /// Checks the tools of `agentwire server`, which most servers of `tests/interop` have as well.
    pub(super) fn check_tools(&self) -> Result<()> {
        self.expect_tools(&["echo", "add", "fail", "slow", "cancelled-count", "burst"])?;
        let echo = self.text("echo", json!({ "message": "grüß dich 👋\n" }))?;
        ensure!(echo == "grüß dich 👋\n", "echo returned {echo:?}");
        let sum = self.result("add", json!({ "a": 2, "b": 40 }))?;
        ensure!(sum["structuredContent"]["sum"] == 42, "the sum is {sum}");
        self.refused("fail", json!({}))?;
        self.unknown()?;
        self.result("burst", json!({ "n": 3 }))?;
        self.steps("slow", json!({ "seconds": 0.4, "steps": 4 }), 4)
    }

    fn command(&self, verb: &str, words: &[&str]) -> Vec<String> {
        let mut all = vec![verb, "--json", "--era", self.era, &self.target];
        all.extend(words);
        self.scratch.peers().agentwire(&all)
    }
}

/// The exit code for a tool that reports a failure.
const TOOL_FAILED: i32 = 5;

/// The exit code for a wrong command line.
const WRONG_USAGE: i32 = 2;

/// The lines of progress, and the last line. `failed` is the exit code for a result that is an error.
fn read(outcome: &Outcome, failed: i32) -> Result<(Vec<Value>, Value)> {
    let mut lines = outcome.json()?;
    let last = lines.pop().context("nothing was printed")?;
    ensure!(lines.iter().all(|line| !line["progress"].is_null()), "only progress comes before the result");
    outcome.expect_code(exit_code(&last, failed)?)?;
    Ok((lines, last))
}

/// The exit code that the last line of `call` means.
fn exit_code(last: &Value, failed: i32) -> Result<i32> {
    if last["error"].is_object() {
        let code = last["exitCode"].as_i64().filter(|code| (1..=255).contains(code));
        let code = code.with_context(|| format!("the failure says no exit code: {last}"))?;
        return Ok(i32::try_from(code)?);
    }
    Ok(if last["result"]["isError"] == true { failed } else { 0 })
}
