//! `agentwire chat`: a conversation with any ACP agent.

mod asides;
mod commands;
mod complete;
mod converse;
mod draw;
mod editor;
mod form;
mod keyboard;
mod opening;
mod pace;
mod person;
mod prompt;
mod screen;
mod servers;
mod shown;
mod turn;
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

use self::complete::Words;
use self::pace::Paced;
pub(crate) use self::person::Person;
use self::prompt::{Prompt, Takes};
use self::servers::NamedHeaders;
pub(crate) use self::view::View;
use crate::Told;
use crate::arguments::{self, Protocol};
use crate::signals::Signals;
use crate::text::Notes;

/// How long a person who has given up a turn still waits for what is shown.
const A_MOMENT: Duration = Duration::from_millis(200);

/// Talks to an agent, for one turn or for as long as the person wants.
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
    let person = is_there.then(|| chat.person.clone());
    let hands = v1::Hands::new(view.clone(), person.clone(), policy, chat.words.clone());
    let command = command.stderr(Stderr::Lines(Arc::new(view.asides().stderr_of("agent"))));
    let agent = Paced::new(Child::spawn(command)?, view.outlet().clone());

    let talked = if protocol == Protocol::One {
        let talk = async |agent: Agent| v1::talk(&mut chat, hands.clone(), agent, &plan, servers).await;
        connect(hands.clone(), agent, talk).await
    } else {
        let other = v2::Hands::new(view.clone(), person, policy, chat.words.clone());
        let client =
            AnyClient::new(our_info(), hands.clone(), other.clone()).v1_capabilities(hands.capabilities());
        let greeted = Cell::new(false);
        let talk = async |agent: AnyAgent| {
            greeted.set(true);
            match agent {
                AnyAgent::V1(_) if protocol == Protocol::Two => {
                    Err("the agent speaks version 1 of the protocol, and --protocol 2 wants version 2".into())
                }
                AnyAgent::V1(agent) => v1::talk(&mut chat, hands.clone(), agent, &plan, servers).await,
                AnyAgent::V2(agent) => v2::talk(&mut chat, other.clone(), agent, &plan, servers).await,
                _ => Err("the agent speaks a version that this program does not know".into()),
            }
        };
        tokio::select! {
            talked = connect_any(client, agent, talk) => talked,
            why = given_up(&greeted, plan.timeout) => Err(why),
        }
    };
    let talked = talked.map_err(crate::failure::unboxed);
    if let Err(error) = &talked {
        // Where it cannot be shown, `written` says so.
        let _told_there = view.failure(error);
    }
    match talked.and(chat.written().await.map_err(crate::failure::unboxed)) {
        // It stands there already, or cannot be written there.
        Err(error) if json => Err(Told(error).into()),
        done => done,
    }
}

/// Completes when an agent has not said in time which version it speaks, or the person does not wait for that.
async fn given_up(greeted: &Cell<bool>, limit: Duration) -> BoxError {
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
    if greeted.get() {
        std::future::pending::<()>().await;
    }
    why.into()
}

/// What the command line wants.
struct Plan {
    wish: Wish,
    /// The session's directory, absolute, and the same only if it was named.
    cwd: PathBuf,
    named_cwd: Option<PathBuf>,
    mode: Option<String>,
    options: Vec<(String, String)>,
    prompt: Option<String>,
    interactive: bool,
    timeout: Duration,
}

enum Wish {
    List,
    Delete(String),
    Talk(Which),
}

/// Which session is talked in.
enum Which {
    New,
    /// The newest one of the directory.
    Newest,
    Session(String),
}

impl Plan {
    fn of(arguments: arguments::Chat) -> Result<Self> {
        let named_cwd = arguments.cwd.map(std::path::absolute).transpose()?;
        let cwd = match &named_cwd {
            Some(cwd) => cwd.clone(),
            None => std::env::current_dir()?,
        };
        let wish = match (arguments.list, arguments.delete, arguments.resume, arguments.session) {
            (true, ..) => Wish::List,
            (_, Some(id), ..) => Wish::Delete(id),
            (_, _, true, _) => Wish::Talk(Which::Newest),
            (.., Some(id)) => Wish::Talk(Which::Session(id)),
            _ => Wish::Talk(Which::New),
        };
        Ok(Self {
            wish,
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

/// Our side of a conversation, in whichever version.
struct Chat {
    view: Arc<View>,
    person: Person,
    words: Words,
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
        let words = Words::default();
        words.known().folder = plan.cwd.clone();
        Ok(Self {
            person: Person::new(view.clone(), interrupt.clone()),
            view,
            words,
            interrupt,
            signals: Signals::listen()?.or_terminal_gone(),
            cwd: plan.cwd.clone(),
            timeout: plan.timeout,
            impatient: false,
        })
    }

    /// A prompt, with the files that it names where the agent's capabilities are given.
    fn prompt(&self, text: String, takes: Option<Takes>) -> Result<Prompt, BoxError> {
        let Some(takes) = takes else { return Ok(Prompt::plain(text)) };
        let prompt = Prompt::read(&text, &self.cwd, takes);
        for note in &prompt.notes {
            match self.view.is_json() {
                true => self.view.asides().say(note),
                false => self.view.remark(note)?,
            }
        }
        Ok(prompt)
    }

    /// Waits until all is shown, or the person has enough of waiting.
    async fn written(&mut self) -> Result<(), BoxError> {
        let impatient = self.impatient;
        let enough = async {
            if impatient { tokio::time::sleep(A_MOMENT).await } else { std::future::pending().await }
        };
        tokio::select! {
            written = self.view.outlet().written() => Ok(written?),
            () = enough => Ok(()),
            () = self.signals.next() => Err("interrupted".into()),
        }
    }
}

/// How the agent is started: as it was said, or as ourselves.
fn agent_command(line: Option<&str>) -> Result<Command> {
    match line {
        Some(line) => Command::parse(line).context("--agent"),
        None => {
            let ourselves = std::env::current_exe().context("our own program cannot be found")?;
            Ok(Command::new(ourselves).arg("agent"))
        }
    }
}

/// The longest id of a session, in bytes. It goes with everything that is said in it.
const ID_LIMIT: usize = 4 << 10;

/// Refuses the id of a session that is too long.
fn check_id(id: &str) -> Result<(), BoxError> {
    if id.len() <= ID_LIMIT {
        return Ok(());
    }
    Err(format!("the session's id has {} bytes, and the limit is {ID_LIMIT}", id.len()).into())
}

/// Whether two paths lead to the same directory. An agent may have followed the links in one.
fn is_same_place(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    one == other || real(one).is_some_and(|one| Some(one) == real(other))
}

/// What we are.
fn our_info() -> Implementation {
    Implementation::new("agentwire", env!("CARGO_PKG_VERSION"))
}
