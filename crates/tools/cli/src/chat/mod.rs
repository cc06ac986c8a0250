//! `agentwire chat`: a conversation with any ACP agent.

mod adapter;
mod agent_login;
mod client;
mod draw;
mod input;
pub(crate) mod options;
mod permissions;
mod plan;
mod session;
mod settings;
mod time_limit;
mod v1;
mod v2;
mod view;

use std::cell::Cell;
use std::fs::File;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;
use std::time::Instant;

use agentwire_acp_client::{
    AgentHandle, AnyAgent, AnyClient, BoxError, CallError, connect_any_with, connect_with,
};
use agentwire_acp_schema::v1::{HttpHeader, McpServer};
use agentwire_acp_toolkit::Toolkit;
use agentwire_transport::{Transport, read_when};
use agentwire_transport_stdio::{Child, Command};
use anyhow::{Context as _, Result};

use self::adapter::TurnStopped;
use self::adapter::{AgentAdapter, client_info};
use self::agent_login::TerminalLogin;
use self::client::Client;
use self::input::PipedInput;
use self::permissions::PermissionChecker;
use self::plan::Plan;
use self::session::Session;
use self::time_limit::TimeLimit;
use crate::agents::FolderGuard;
use crate::arguments::{self, Protocol};
use crate::chat::input::interactive::{is_failure, run_interactive, run_once};
use crate::chat::view::console::{Console, PendingPrompt};
use crate::chat::view::display::Display;
use crate::chat::view::start::show_start;
use crate::command_line::{self, is_url, other_scheme};
use crate::config::Config;
use crate::connect::Output;
use crate::failure::{AlreadyPrinted, Exit, Failure, OtherSide, Role, Usage, exit_code, to_json};
use crate::login::authorization;
use crate::output::print_json;
use crate::output::text::Notes;
use crate::questions::PersonTime;
use crate::recording::{Recorder, recorded_transport};
use crate::signals;
use crate::target::program_stderr::ProgramStderr;
use crate::target::text_lines::TextLines;
use crate::telemetry::Telemetry;
use crate::terminal::{Format, TerminalModes, View};

/// Talks to an agent, for one turn or until the person ends the conversation.
pub(crate) async fn run(arguments: arguments::Chat, output: Output<'_>) -> Result<()> {
    let config = Config::load(&arguments.config)?;
    let has_default_format = !output.json && arguments.chat_options.format.is_none();
    let is_json_by_file = has_default_format && config.default_format() == Some(Format::Json);
    match run_chat(arguments, config, output).await {
        // The configuration file and not the command line chooses JSON, so the failure is printed here.
        Err(error) if is_json_by_file && !error.is::<AlreadyPrinted>() => {
            // If stdout is closed, stderr is all that is left.
            let _printed = print_json(&to_json(&error, exit_code(&error)));
            Err(AlreadyPrinted(error).into())
        }
        done => done,
    }
}

async fn run_chat(
    mut arguments: arguments::Chat,
    config: Config,
    Output { json, verbose, notes, recorder, telemetry }: Output<'_>,
) -> Result<()> {
    let is_default = arguments.agent.is_none();
    arguments.agent = arguments.agent.or_else(|| config.default_agent());
    let (command, _guard) = agent_command(arguments.agent.as_deref(), &config)?;
    if is_default {
        config.check_default_agent(&command)?;
    }
    let is_ours = arguments.agent.is_none();
    let servers = session::servers::all(&arguments, is_ours, &config, notes)?;
    let protocol = arguments.protocol;
    let plan = Plan::of(arguments)?;
    let rules = plan.rules()?;
    // Starts at once: the piped text may arrive before the agent has started.
    let piped = plan.prompt.as_ref().and_then(|_| PipedInput::beside_prompt());

    let format = plan.format(json, config.default_format())?;
    let json = format == Format::Json;
    // Questions need a terminal at both stdin and stdout.
    let is_there = !json && io::stdin().is_terminal() && io::stdout().is_terminal();
    let _modes = is_there.then(TerminalModes::keep);
    if is_there && is_ours {
        log_in(&servers, notes).await?;
    }
    let view = Arc::new(View::new(format, notes.clone()));
    let log = agent_stderr(&plan, &view, verbose, recorder.clone())?;
    let side = OtherSide::program(Role::Agent, &command);
    // Errors have the lines of stderr too if these go to a file.
    let side = if plan.agent_log.is_some() { side } else { side.stderr_is_shown() };
    let mut console = Console::new((view.clone(), log.clone()), is_there, &plan, side.clone())?;
    let set = command.environment().filter(|(_, value)| value.is_some());
    console.variables = set.map(|(name, _)| name.to_owned()).collect();
    let command = TextLines::new(&side, notes).watch(command);
    let user = is_there.then(|| console.user.clone());
    let permissions = Arc::new(PermissionChecker::new(rules, plan.grants_all, user.clone(), view.clone()));
    let display = Arc::new(Display::new(view.clone(), console.completions.clone(), plan.display()));
    let toolkit = Client::toolkit(view.clone(), user, permissions.clone(), display);
    let command = telemetry.pass_on(command.stderr(log.of_next()));
    let mut chat =
        Chat { console: &mut console, plan, permissions, servers, piped, protocol, toolkit, telemetry };
    let outcome = chat.run(&command, recorder).await;
    if outcome.as_ref().is_err_and(is_failure) {
        log.show_kept();
    }
    match console.finish(outcome).await {
        // It is printed already, or cannot be printed.
        Err(error) if json => Err(AlreadyPrinted(error).into()),
        done => done,
    }
}

/// A chat with an agent, over one connection or several in turn: a login in a terminal ends the connection.
struct Chat<'a> {
    console: &'a mut Console,
    plan: Plan,
    permissions: Arc<PermissionChecker>,
    servers: Vec<McpServer>,
    piped: Option<PipedInput>,
    protocol: Protocol,
    toolkit: Toolkit<Client>,
    telemetry: &'a Telemetry,
}

impl Chat<'_> {
    /// Connects until the conversation ends.
    async fn run(&mut self, command: &Command, recorder: Option<Recorder>) -> Result<(), BoxError> {
        loop {
            let child = recorded_transport(Child::spawn(command.clone())?, recorder.clone());
            let started = self.console.started.clone();
            let starting = show_start(self.console.view.clone(), command.clone(), started);
            let outcome = tokio::select! {
                outcome = self.connect(child) => outcome,
                never = starting => match never {},
            };
            let Err(error) = outcome else { return Ok(()) };
            let login = error.downcast::<TerminalLogin>()?;
            self.console.view.turn_ended(None)?;
            self.console.written().await?;
            let since = Instant::now();
            login.run(command, &mut self.console.signals).await?;
            self.console.limit.exclude(since);
            self.console.started.set(false);
        }
    }

    /// Talks over one connection.
    async fn connect(&mut self, transport: impl Transport) -> Result<(), BoxError> {
        let mut room = self.console.view.output().room_waiter();
        let transport = read_when(transport, move |cx| room.poll(cx));
        let toolkit = self.toolkit.clone();
        let (protocol, limit, started) = (self.protocol, self.console.limit, self.console.started.clone());
        let config = agentwire_acp_client::Config::new();
        let config = match self.telemetry.of_acp_client() {
            Some(observer) => config.observer(observer),
            None => config,
        };
        if protocol == Protocol::One {
            let served = toolkit.clone();
            let main = async |agent: AgentHandle| self.talk(v1::Adapter { agent, toolkit }).await;
            return Ok(connect_with(served, transport, config, main).await?);
        }
        let any = AnyClient::new(client_info(), toolkit.clone(), v2::Printing(toolkit.clone()))
            .v1_capabilities(v1::capabilities(&toolkit))
            .v2_capabilities(v2::capabilities(&toolkit));
        let main = async |agent: AnyAgent| {
            self.console.started.set(true);
            match agent {
                AnyAgent::V1(_) if protocol == Protocol::Two => {
                    Err("the agent speaks version 1 of the protocol, and --protocol 2 wants version 2".into())
                }
                AnyAgent::V1(agent) => self.talk(v1::Adapter { agent, toolkit }).await,
                AnyAgent::V2(agent) => self.talk(v2::Adapter { agent, toolkit }).await,
                _ => Err("the agent speaks a version that this program does not know".into()),
            }
        };
        tokio::select! {
            outcome = connect_any_with(any, transport, config, main) => Ok(outcome?),
            why = initialize_failed(&started, limit) => Err(why),
        }
    }

    /// Runs the plan with an agent.
    async fn talk(&mut self, agent: impl AgentAdapter) -> Result<(), BoxError> {
        let Self { console, plan, permissions, servers, piped, .. } = self;
        let (again, pending) = match console.pending.take() {
            Some(PendingPrompt { session, prompt }) => (Some(session), Some(prompt)),
            None => (None, None),
        };
        let mut session = Session::new(console, agent, servers.clone());
        if !session.open(plan, again).await? {
            return Ok(());
        }
        let outcome = match (pending, plan.interactive) {
            (pending, true) => run_interactive(&mut session, pending).await,
            (Some(prompt), false) => session.send_prompt(prompt).await,
            (None, false) => run_once(&mut session, plan.prompt.clone(), piped.take()).await,
        };
        session.close().await;
        let goes_on = outcome.as_ref().is_err_and(|error| error.downcast_ref::<TerminalLogin>().is_some());
        if !goes_on
            && !session.console.view.is_json()
            && io::stderr().is_terminal()
            && let Some(sentence) =
                session.to_continue().and_then(|id| plan.continuation.sentence(id, &session.console.cwd))
        {
            session.console.view.diagnostics().add(&sentence);
        }
        let refusal = permissions.take_refusal().filter(|_| !plan.interactive);
        match (outcome, refusal) {
            (Err(error), Some(_)) if !is_cancelled(&error) => Err(error),
            // Codex cancels the turn when a permission is refused.
            (_, Some(refusal)) => Err(Failure::new(Exit::NotPermitted, refusal.text()).into()),
            (outcome, None) => outcome,
        }
    }
}

/// The agent's stderr: kept until the agent fails, shown with `--verbose`, or appended to the file of `--agent-log`.
fn agent_stderr(
    plan: &Plan,
    view: &View,
    verbose: bool,
    recorder: Option<Recorder>,
) -> Result<ProgramStderr, Usage> {
    let Some(path) = &plan.agent_log else {
        return Ok(ProgramStderr::new(verbose, recorder, view.diagnostics().stderr_of("agent")));
    };
    match File::options().append(true).create(true).open(path) {
        Ok(file) => Ok(ProgramStderr::new(true, recorder, move |line| {
            // A log that cannot be written does not end the conversation.
            let _written = (&file).write_all(format!("{line}\n").as_bytes());
        })),
        Err(why) => Err(Usage(format!("--agent-log {}: {why}", path.display()))),
    }
}

/// Whether the agent cancelled the turn by itself.
fn is_cancelled(error: &BoxError) -> bool {
    error.downcast_ref::<TurnStopped>().is_some_and(|stopped| stopped.is_cancelled)
}

/// Logs in at the servers that require it. Only our own agent uses the tokens that this stores.
async fn log_in(servers: &[McpServer], notes: &Notes) -> Result<()> {
    let urls = servers.iter().filter_map(|server| match server {
        McpServer::Http(server) if !has_authorization(&server.headers) => Some(&server.url),
        _ => None,
    });
    let mut known = None;
    for url in urls {
        let authorization = match &known {
            Some(authorization) => authorization,
            None => match authorization(Some(&PersonTime::default()), notes) {
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

/// Completes when `initialize` is not answered in time, or a signal interrupts it. Never completes if it is answered.
async fn initialize_failed(initialized: &Cell<bool>, limit: TimeLimit) -> BoxError {
    let why = tokio::select! {
        () = tokio::time::sleep(limit.left()) => CallError::timed_out("initialize", limit.whole()).into(),
        interrupted = signals::interrupted() => interrupted.into(),
    };
    if initialized.get() {
        std::future::pending::<()>().await;
    }
    why
}

/// The command that starts the agent: that of the name in the configuration file, of an installed agent, of the given command
/// line, or of our own agent. The guard keeps the folder of an installed agent.
fn agent_command(line: Option<&str>, config: &Config) -> Result<(Command, Option<FolderGuard>)> {
    let Some(line) = line else {
        let ourselves = std::env::current_exe().context("our own program cannot be found")?;
        return Ok((Command::new(ourselves).arg("agent"), None));
    };
    if let Some(command) = config.agent(line)? {
        return Ok((command, None));
    }
    match crate::agents::find(line)? {
        Some((command, guard)) => Ok((command, Some(guard))),
        None => {
            if is_url(line.trim()) || other_scheme(line.trim()).is_some() {
                let why = "--agent: an agent is a program, not a URL; an MCP server at a URL is given to an agent by --mcp NAME=URL";
                return Err(Usage(why.into()).into());
            }
            let installed = crate::agents::names();
            config.check_agent(line, installed.iter().map(String::as_str))?;
            Ok((command_line::parse(line).context("--agent")?, None))
        }
    }
}
