//! `agentwire chat`: a conversation with any ACP agent.

mod agent;
mod commands;
mod complete;
mod diagnostics;
mod draw;
mod editor;
mod form;
mod interactive;
mod keyboard;
mod opening;
mod prompt;
mod rendered;
mod screen;
mod servers;
mod session;
mod sessions;
mod throttle;
mod turn;
mod user;
mod v1;
mod v2;
mod view;

use std::cell::Cell;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agentwire_acp_client::{Agent, AnyAgent, AnyClient, BoxError, connect, connect_any};
use agentwire_acp_schema::v1::Implementation;
use agentwire_acp_toolkit::PermissionPolicy;
use agentwire_transport_stdio::{Child, Command, Stderr};
use anyhow::{Context as _, Result};
use tokio::sync::Notify;

use self::complete::Completions;
use self::prompt::{Prompt, PromptSupport};
use self::servers::NamedHeaders;
use self::throttle::Throttle;
pub(crate) use self::user::User;
pub(crate) use self::view::View;
use crate::arguments::{self, Protocol};
use crate::failure::AlreadyPrinted;
use crate::signals::Signals;
use crate::text::Notes;

/// How long to wait for the rest of the output after the person has given up a turn.
const LAST_OUTPUT_TIMEOUT: Duration = Duration::from_millis(200);

/// Talks to an agent, for one turn or until the person ends the conversation.
pub(crate) async fn run(arguments: arguments::Chat, json: bool, notes: &Notes) -> Result<()> {
    let command = agent_command(arguments.agent.as_deref())?;
    let headers = NamedHeaders::read(&arguments.headers, &arguments.header_files)?;
    let servers = servers::all(&arguments.mcp, &headers, arguments.agent.is_none(), notes)?;
    let protocol = arguments.protocol;
    let yes = arguments.yes;
    let plan = Plan::of(arguments)?;

    // Questions are asked where everything else is shown.
    let is_there = !json && io::stdin().is_terminal() && io::stdout().is_terminal();
    let policy = match (yes, is_there) {
        (true, _) => PermissionPolicy::AllowAll,
        (false, true) => PermissionPolicy::Ask,
        (false, false) => PermissionPolicy::RejectAll,
    };
    let mut chat = Chat::new(json, &plan, notes)?;
    let view = chat.view.clone();
    let user = is_there.then(|| chat.user.clone());
    let toolkit = v1::Client::toolkit(view.clone(), user.clone(), policy, chat.completions.clone());
    let command = command.stderr(Stderr::Lines(Arc::new(view.diagnostics().stderr_of("agent"))));
    let transport = Throttle::new(Child::spawn(command)?, view.output());

    let outcome = if protocol == Protocol::One {
        let talk = async |agent: Agent| {
            let agent = v1::Adapter { agent, toolkit: toolkit.clone() };
            session::run(&mut chat, agent, &plan, servers).await
        };
        connect(toolkit.clone(), transport, talk).await
    } else {
        let client = v2::Client::new(view.clone(), user, policy, chat.completions.clone());
        let any = AnyClient::new(our_info(), toolkit.clone(), client.clone())
            .v1_capabilities(toolkit.capabilities());
        let initialized = Cell::new(false);
        let talk = async |agent: AnyAgent| {
            initialized.set(true);
            match agent {
                AnyAgent::V1(_) if protocol == Protocol::Two => {
                    Err("the agent speaks version 1 of the protocol, and --protocol 2 wants version 2".into())
                }
                AnyAgent::V1(agent) => {
                    let agent = v1::Adapter { agent, toolkit: toolkit.clone() };
                    session::run(&mut chat, agent, &plan, servers).await
                }
                AnyAgent::V2(agent) => {
                    let agent = v2::Adapter { agent, client: client.clone() };
                    session::run(&mut chat, agent, &plan, servers).await
                }
                _ => Err("the agent speaks a version that this program does not know".into()),
            }
        };
        tokio::select! {
            outcome = connect_any(any, transport, talk) => outcome,
            why = initialize_failed(&initialized, plan.timeout) => Err(why),
        }
    };
    let outcome = outcome.map_err(crate::failure::unboxed);
    if let Err(error) = &outcome {
        // Where it cannot be shown, `written` reports that.
        let _reported_there = view.failure(error);
    }
    match outcome.and(chat.written().await.map_err(crate::failure::unboxed)) {
        // It is printed already, or cannot be printed.
        Err(error) if json => Err(AlreadyPrinted(error).into()),
        done => done,
    }
}

/// Completes when `initialize` is not answered in time, or the person interrupts it.
async fn initialize_failed(initialized: &Cell<bool>, limit: Duration) -> BoxError {
    let interrupted = async {
        match Signals::listen() {
            Ok(mut signals) => signals.next().await,
            Err(_) => std::future::pending().await,
        }
    };
    let why = tokio::select! {
        () = tokio::time::sleep(limit) => format!("initialize: no answer within {limit:?}"),
        () = interrupted => "interrupted".to_owned(),
    };
    if initialized.get() {
        std::future::pending::<()>().await;
    }
    why.into()
}

/// The command line, interpreted.
struct Plan {
    action: Action,
    /// The session's directory, absolute; and the same, only if the command line names it.
    cwd: PathBuf,
    named_cwd: Option<PathBuf>,
    mode: Option<String>,
    options: Vec<(String, String)>,
    prompt: Option<String>,
    interactive: bool,
    timeout: Duration,
}

enum Action {
    List,
    Delete(String),
    Talk(SessionChoice),
}

/// Which session to talk in.
enum SessionChoice {
    New,
    /// The newest one of the directory.
    Newest,
    Id(String),
}

impl Plan {
    fn of(arguments: arguments::Chat) -> Result<Self> {
        let named_cwd = arguments.cwd.map(std::path::absolute).transpose()?;
        let cwd = match &named_cwd {
            Some(cwd) => cwd.clone(),
            None => std::env::current_dir()?,
        };
        let action = match (arguments.list, arguments.delete, arguments.resume, arguments.session) {
            (true, ..) => Action::List,
            (_, Some(id), ..) => Action::Delete(id),
            (_, _, true, _) => Action::Talk(SessionChoice::Newest),
            (.., Some(id)) => Action::Talk(SessionChoice::Id(id)),
            _ => Action::Talk(SessionChoice::New),
        };
        Ok(Self {
            action,
            cwd,
            named_cwd,
            mode: arguments.mode,
            options: arguments.options.into_iter().map(|option| (option.id, option.value)).collect(),
            interactive: arguments.prompt.is_none() && io::stdin().is_terminal(),
            prompt: arguments.prompt,
            timeout: arguments.timeout,
        })
    }
}

/// Our side of a conversation.
struct Chat {
    view: Arc<View>,
    user: User,
    completions: Completions,
    /// ^C as a key, where the terminal makes no signal of it.
    interrupt: Arc<Notify>,
    signals: Signals,
    cwd: PathBuf,
    /// How long the agent may take to answer what is no turn.
    timeout: Duration,
    /// Whether the person has given up a turn.
    impatient: bool,
}

impl Chat {
    fn new(json: bool, plan: &Plan, notes: &Notes) -> Result<Self> {
        let view = Arc::new(View::new(json, notes.clone()));
        let interrupt = Arc::new(Notify::new());
        let completions = Completions::default();
        completions.known().folder = plan.cwd.clone();
        Ok(Self {
            user: User::new(view.clone(), interrupt.clone()),
            view,
            completions,
            interrupt,
            signals: Signals::listen()?.or_terminal_gone(),
            cwd: plan.cwd.clone(),
            timeout: plan.timeout,
            impatient: false,
        })
    }

    /// Makes a prompt, with the files that the text names if `support` is given.
    fn prompt(&self, text: String, support: Option<PromptSupport>) -> Result<Prompt, BoxError> {
        let Some(support) = support else { return Ok(Prompt::plain(text)) };
        let prompt = Prompt::read(&text, &self.cwd, support);
        for note in &prompt.notes {
            match self.view.is_json() {
                true => self.view.diagnostics().say(note),
                false => self.view.remark(note)?,
            }
        }
        Ok(prompt)
    }

    /// Waits until everything is shown, or the person interrupts that.
    async fn written(&mut self) -> Result<(), BoxError> {
        let impatient = self.impatient;
        let enough = async {
            if impatient {
                tokio::time::sleep(LAST_OUTPUT_TIMEOUT).await
            } else {
                std::future::pending().await
            }
        };
        tokio::select! {
            written = self.view.output().written() => Ok(written?),
            () = enough => Ok(()),
            () = self.signals.next() => Err("interrupted".into()),
        }
    }
}

/// The command that starts the agent: the given one, or our own agent.
fn agent_command(line: Option<&str>) -> Result<Command> {
    match line {
        Some(line) => Command::parse(line).context("--agent"),
        None => {
            let ourselves = std::env::current_exe().context("our own program cannot be found")?;
            Ok(Command::new(ourselves).arg("agent"))
        }
    }
}

/// The longest id of a session, in bytes. Each message of the session repeats it.
const ID_LIMIT: usize = 4 << 10;

/// Refuses the id of a session that is too long.
fn check_id(id: &str) -> Result<(), BoxError> {
    if id.len() <= ID_LIMIT {
        return Ok(());
    }
    Err(format!("the session's id has {} bytes, and the limit is {ID_LIMIT}", id.len()).into())
}

/// Whether two paths lead to the same directory. An agent may have followed the links in one.
fn is_same_directory(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    one == other || real(one).is_some_and(|one| Some(one) == real(other))
}

/// Our name and version for `initialize`.
fn our_info() -> Implementation {
    Implementation::new("agentwire", env!("CARGO_PKG_VERSION"))
}
