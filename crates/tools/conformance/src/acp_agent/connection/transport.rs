//! Checks of agents: lines on standard input and output.

use crate::acp_agent::{Agent, capabilities};
use crate::acp_messages::{self, Line};
use crate::check::{Check, STDIO, audit, check};
use crate::subject::CommandLine;
use crate::trace::Trace;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_agent) const CHECKS: &[Check<Agent>] = &[
    audit!(lines_are_utf8, STDIO),
    audit!(a_line_is_one_message, STDIO),
    audit!(stdout_carries_messages_only, STDIO),
    check!(works_without_stderr, STDIO),
    audit!(a_line_is_no_array, STDIO),
    check!(speaks_on_stdio, STDIO),
    check!(exits_when_stdin_closes, STDIO),
];

fn lines(trace: &Trace) -> Outcome<Vec<(Line, String)>> {
    let lines = acp_messages::lines(trace);
    if lines.is_empty() { Err(Stop::inconclusive("the agent wrote nothing")) } else { Ok(lines) }
}

fn lines_are_utf8(_: &Agent, trace: &Trace) -> Outcome {
    for (line, text) in lines(trace)? {
        ensure!(line != Line::Garbled, "every message is valid UTF-8", "`{text}`");
    }
    Ok(())
}

fn a_line_is_one_message(_: &Agent, trace: &Trace) -> Outcome {
    for (line, text) in lines(trace)? {
        ensure!(line != Line::Fragment, "each message is one line", "`{}`", text.escape_debug());
    }
    Ok(())
}

fn stdout_carries_messages_only(_: &Agent, trace: &Trace) -> Outcome {
    for (line, text) in lines(trace)? {
        ensure!(
            line != Line::Other,
            "standard output carries protocol messages and nothing else",
            "`{text}`"
        );
    }
    Ok(())
}

fn a_line_is_no_array(_: &Agent, trace: &Trace) -> Outcome {
    for (line, text) in lines(trace)? {
        let is_array = line == Line::Message && text.trim_start().starts_with('[');
        ensure!(!is_array, "one request, notification or response on each line", "`{text}`");
    }
    Ok(())
}

/// Nothing reads the log. A program that cannot write it goes on.
async fn works_without_stderr(agent: Agent) -> Outcome {
    let silent = agent.start_as(|command| {
        if !cfg!(unix) {
            return command;
        }
        let words = std::iter::once(&command.program).chain(&command.arguments).cloned();
        let shell = ["sh", "-c", "exec \"$@\" 2>/dev/null", "sh"].map(str::to_owned);
        let wrapped = CommandLine::new(shell.into_iter().chain(words));
        CommandLine { env: command.env.clone(), folder: command.folder.clone(), ..wrapped.unwrap_or(command) }
    });
    let mut conversation = silent.await?;
    let capabilities = capabilities(agent.revision());
    let answered = conversation.ok("initialize", agent.initialize(capabilities)).await;
    if answered.is_err() {
        // An agent that fails with a log as well has another problem.
        agent.open().await?;
    }
    answered.map(drop)
}

async fn speaks_on_stdio(agent: Agent) -> Outcome {
    let mut conversation = agent.start().await?;
    let capabilities = capabilities(agent.revision());
    conversation.request("initialize", agent.initialize(capabilities)).await?;
    Ok(())
}

async fn exits_when_stdin_closes(agent: Agent) -> Outcome {
    let (mut conversation, _) = agent.open().await?;
    conversation.close();
    let within = conversation.wait();
    conversation.serve(within).await?;
    let exit = conversation.link.wait(within).await;
    // What it started ends with it, and may have kept its standard output open.
    conversation.serve(within).await?;
    ensure!(
        exit.is_some() && conversation.is_closed(),
        "the agent process exits after its stdin was closed",
        "it runs"
    );
    Ok(())
}
