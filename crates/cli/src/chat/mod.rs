//! `agentwire chat`: a conversation with any ACP agent.

mod adapter;
mod commands;
mod complete;
mod console;
mod editor;
mod interactive;
pub(crate) mod options;
mod permission_rules;
mod permissions;
mod plan;
mod prompt;
mod servers;
mod session;
mod session_server;
mod sessions;
mod settings;
mod setup;
mod throttle;
mod v1;
mod v2;

use std::cell::Cell;
use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::time::Duration;

use agentwire_acp_client::{AgentHandle, AnyAgent, AnyClient, BoxError, CallError, connect, connect_any};
use agentwire_acp_schema::v1::{HttpHeader, McpServer};
use agentwire_recording::{Recorder, Side, record_transport};
use agentwire_transport_stdio::{Child, Command, Stderr};
use anyhow::{Context as _, Result};

use self::adapter::{AgentAdapter, client_info};
use self::console::Console;
use self::interactive::{run_interactive, run_once};
use self::permissions::PermissionChecker;
use self::plan::Plan;
use self::session::Session;
use self::throttle::Throttle;
use crate::arguments::{self, Protocol};
use crate::config::Config;
use crate::failure::{AlreadyPrinted, Exit, Failure, to_anyhow};
use crate::login::authorization;
use crate::recording::record_stderr;
use crate::signals::Signals;
use crate::text::Notes;

/// Talks to an agent, for one turn or until the person ends the conversation.
pub(crate) async fn run(
    mut arguments: arguments::Chat,
    json: bool,
    notes: &Notes,
    recorder: Option<Recorder>,
) -> Result<()> {
    let config = Config::load(&arguments.config)?;
    arguments.agent = arguments.agent.or_else(|| config.default_agent());
    let command = agent_command(arguments.agent.as_deref(), &config)?;
    let is_ours = arguments.agent.is_none();
    let servers = servers::all(&arguments, is_ours, &config, notes)?;
    let protocol = arguments.protocol;
    let plan = Plan::of(arguments)?;

    // Questions are asked where everything else is shown.
    let is_there = !json && io::stdin().is_terminal() && io::stdout().is_terminal();
    if is_there && is_ours {
        log_in(&servers, notes).await?;
    }
    let mut console = Console::new(json, plan.cwd.clone(), plan.timeout, notes)?;
    let view = console.view.clone();
    let user = is_there.then(|| console.user.clone());
    let permissions =
        Arc::new(PermissionChecker::new(plan.rules()?, plan.grants_all, user.clone(), view.clone()));
    let toolkit =
        v1::Client::toolkit(view.clone(), user.clone(), permissions.clone(), console.completions.clone());
    let show_stderr = view.diagnostics().stderr_of("agent");
    let stderr_recorder = recorder.clone();
    let command = command.stderr(Stderr::Lines(Arc::new(move |line| {
        record_stderr(stderr_recorder.as_ref(), line);
        show_stderr(line);
    })));
    let child = record_transport(Child::spawn(command)?, recorder, Side::Client);
    let transport = Throttle::new(child, view.output());

    let outcome = if protocol == Protocol::One {
        let main = async |agent: AgentHandle| {
            let agent = v1::Adapter { agent, toolkit: toolkit.clone() };
            talk(&mut console, agent, &permissions, &plan, servers).await
        };
        connect(toolkit.clone(), transport, main).await
    } else {
        let client = v2::Client::new(view.clone(), user, permissions.clone(), console.completions.clone());
        let any = AnyClient::new(client_info(), toolkit.clone(), client.clone())
            .v1_capabilities(toolkit.capabilities())
            .v2_capabilities(client.capabilities());
        let initialized = Cell::new(false);
        let main = async |agent: AnyAgent| {
            initialized.set(true);
            match agent {
                AnyAgent::V1(_) if protocol == Protocol::Two => {
                    Err("the agent speaks version 1 of the protocol, and --protocol 2 wants version 2".into())
                }
                AnyAgent::V1(agent) => {
                    let agent = v1::Adapter { agent, toolkit: toolkit.clone() };
                    talk(&mut console, agent, &permissions, &plan, servers).await
                }
                AnyAgent::V2(agent) => {
                    let agent = v2::Adapter { agent, client: client.clone() };
                    talk(&mut console, agent, &permissions, &plan, servers).await
                }
                _ => Err("the agent speaks a version that this program does not know".into()),
            }
        };
        tokio::select! {
            outcome = connect_any(any, transport, main) => outcome,
            why = initialize_failed(&initialized, plan.timeout) => Err(why),
        }
    };
    let outcome = outcome.map_err(to_anyhow);
    if let Err(error) = &outcome {
        // If stdout is closed, `written` fails below.
        let _reported_below = view.failure(error);
    }
    match outcome.and(console.written().await.map_err(to_anyhow)) {
        // It is printed already, or cannot be printed.
        Err(error) if json => Err(AlreadyPrinted(error).into()),
        done => done,
    }
}

/// Logs in at the servers that ask for it. Our agent uses the tokens that are kept then; another one has its own.
async fn log_in(servers: &[McpServer], notes: &Notes) -> Result<()> {
    let urls = servers.iter().filter_map(|server| match server {
        McpServer::Http(server) if !has_authorization(&server.headers) => Some(&server.url),
        _ => None,
    });
    let mut known = None;
    for url in urls {
        let authorization = match &known {
            Some(authorization) => authorization,
            None => match authorization(true, notes) {
                Some(authorization) => known.insert(authorization),
                None => return Ok(()),
            },
        };
        authorization.ensure(url).await?;
    }
    Ok(())
}

fn has_authorization(headers: &[HttpHeader]) -> bool {
    headers.iter().any(|header| header.name.eq_ignore_ascii_case("authorization"))
}

/// Runs the plan with an agent.
async fn talk(
    console: &mut Console,
    agent: impl AgentAdapter,
    permissions: &PermissionChecker,
    plan: &Plan,
    servers: Vec<McpServer>,
) -> Result<(), BoxError> {
    let mut session = Session::new(console, agent);
    if !session.open(plan, servers).await? {
        return Ok(());
    }
    let outcome = if plan.interactive {
        run_interactive(&mut session).await
    } else {
        run_once(&mut session, plan.prompt.clone()).await
    };
    session.close().await;
    outcome?;
    match permissions.take_refusal() {
        Some(refusal) if !plan.interactive => Err(Failure::new(Exit::NotPermitted, refusal.text()).into()),
        _ => Ok(()),
    }
}

/// Completes when `initialize` is not answered in time, or a signal interrupts it.
async fn initialize_failed(initialized: &Cell<bool>, limit: Duration) -> BoxError {
    let interrupted = async {
        match Signals::listen() {
            Ok(mut signals) => signals.interrupted().await,
            Err(_) => std::future::pending().await,
        }
    };
    let why = tokio::select! {
        () = tokio::time::sleep(limit) => CallError::timed_out("initialize", limit).into(),
        interrupted = interrupted => interrupted.into(),
    };
    if initialized.get() {
        std::future::pending::<()>().await;
    }
    why
}

/// The command that starts the agent: the one that the configuration file has for the name, the given one, or our own agent.
fn agent_command(line: Option<&str>, config: &Config) -> Result<Command> {
    match line {
        Some(line) => match config.agent(line)? {
            Some(command) => Ok(command),
            None => Command::parse(line).context("--agent"),
        },
        None => {
            let ourselves = std::env::current_exe().context("our own program cannot be found")?;
            Ok(Command::new(ourselves).arg("agent"))
        }
    }
}
