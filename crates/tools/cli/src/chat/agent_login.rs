//! Logging in at an agent: its methods, the menu of them, and methods that run the agent's program in our terminal.

use std::borrow::Cow;
use std::ffi::OsString;
use std::process::ExitStatus;

use agentwire_acp_client::{BoxError, CallError};
use agentwire_acp_schema::v1::{self, Meta};
use agentwire_acp_schema::v2;
use agentwire_transport_stdio::Command;
use serde::Deserialize;

use crate::failure::{ErrorWithHint, Exit, Failure, Interrupted};
use crate::output::text::quoted;
use crate::signals::Signals;
use crate::terminal::{TypedInput, User, short};

/// The message for an agent that requires a login and offers no method.
const NO_METHOD: &str = "the code says that the agent wants authorization, but it names no way to log in";

/// The most methods that are listed.
const METHOD_LIMIT: usize = 20;

/// The most variables of a method that are named.
const VARIABLE_LIMIT: usize = 10;

/// A way to log in that the agent offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LoginMethod {
    pub(super) id: String,
    pub(super) name: String,
    description: Option<String>,
    /// `None` if the agent does it by itself.
    pub(super) terminal: Option<TerminalLogin>,
    /// The environment variables that hold the agent's secrets, if the method has the type `env_var`.
    variables: Vec<String>,
}

/// A login by running the agent's program in our terminal (AUTH-08). It is returned as an error, because the connection ends before
/// it and begins again after it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the method `{}` logs in in a terminal", short(.name))]
pub(super) struct TerminalLogin {
    name: String,
    /// Added to the agent's own arguments.
    args: Vec<String>,
    /// Added to the agent's own environment.
    env: Vec<(String, String)>,
}

impl LoginMethod {
    /// A method of version 1. `None` if it has no id.
    pub(super) fn v1(method: &v1::AuthMethod) -> Option<Self> {
        Some(match method {
            v1::AuthMethod::Agent(agent) => Self::agent(&agent.id, &agent.name, agent.description.as_ref()),
            v1::AuthMethod::Terminal(terminal) => {
                let env = terminal.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
                let login = TerminalLogin { name: terminal.name.clone(), args: terminal.args.clone(), env };
                let same = Self::agent(&terminal.id, &terminal.name, terminal.description.as_ref());
                Self { terminal: Some(login), ..same }
            }
            v1::AuthMethod::Unknown(object) => Self::unknown(object, "id")?,
            _ => return None,
        })
    }

    /// A method of version 2. `None` if it has no id.
    pub(super) fn v2(method: &v2::AuthMethod) -> Option<Self> {
        Some(match method {
            v2::AuthMethod::Agent(agent) => {
                Self::agent(&agent.method_id, &agent.name, agent.description.as_ref())
            }
            v2::AuthMethod::Terminal(terminal) => {
                let env = terminal.env.iter().map(|variable| (variable.name.clone(), variable.value.clone()));
                let (name, args) = (terminal.name.clone(), terminal.args.clone());
                let login = TerminalLogin { name, args, env: env.collect() };
                let same = Self::agent(&terminal.method_id, &terminal.name, terminal.description.as_ref());
                Self { terminal: Some(login), ..same }
            }
            v2::AuthMethod::Unknown(object) => Self::unknown(object, "methodId")?,
            _ => return None,
        })
    }

    fn agent(id: &str, name: &str, description: Option<&String>) -> Self {
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            description: description.cloned(),
            terminal: None,
            variables: Vec::new(),
        }
    }

    fn unknown(object: &Meta, id: &str) -> Option<Self> {
        let id = object.text(id)?;
        let name = object.text("name").unwrap_or_else(|| id.clone());
        let description = object.text("description").map(Cow::into_owned);
        let variables =
            if object.text("type").as_deref() == Some("env_var") { variables(object) } else { Vec::new() };
        Some(Self { variables, ..Self::agent(&id, &name, description.as_ref()) })
    }

    /// The advice to set the variables of the method, if one of them is neither in our environment nor `set` for the agent.
    pub(super) fn missing_variables(&self, set: &[OsString]) -> Option<String> {
        let is_set =
            |name: &String| std::env::var_os(name).is_some() || set.iter().any(|set| set == name.as_str());
        (!self.variables.iter().all(is_set)).then(|| {
            format!("the method {} needs {}: set it, and start again", quoted(&self.id), self.variable_list())
        })
    }

    /// The variables as a phrase: ``the variable `API_KEY` ``.
    fn variable_list(&self) -> String {
        let names: Vec<_> = self.variables.iter().map(|name| quoted(name)).collect();
        let noun = if names.len() == 1 { "the variable" } else { "the variables" };
        format!("{noun} {}", names.join(", "))
    }

    /// The method with this id, or else with this name.
    pub(super) fn find<'a>(methods: &'a [Self], word: &str) -> Option<&'a Self> {
        let by_id = methods.iter().find(|method| method.id == word);
        by_id.or_else(|| methods.iter().find(|method| method.name.eq_ignore_ascii_case(word)))
    }
}

/// The agent refuses a call until the person is logged in.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub(super) struct LoginNeeded {
    error: CallError,
    pub(super) methods: Vec<LoginMethod>,
}

impl LoginNeeded {
    /// The error for a refusal with the code of a missing login. If the agent offers methods, it is a [`LoginNeeded`].
    pub(super) fn explain(error: CallError, methods: Vec<LoginMethod>) -> BoxError {
        match methods.is_empty() {
            false => Self { error, methods }.into(),
            true => Failure::new(Exit::Unauthorized, ErrorWithHint::new(error, NO_METHOD.into())).into(),
        }
    }

    /// Converts a [`LoginNeeded`] into the failure where no person chooses a method. Other errors stay.
    pub(super) fn as_failure(error: BoxError) -> BoxError {
        match error.downcast::<Self>() {
            Ok(needed) => needed.into_failure().into(),
            Err(other) => other,
        }
    }

    /// The failure where no person chooses a method.
    pub(super) fn into_failure(self) -> Failure {
        let hint = format!("log in with --auth ID: {}", method_list(&self.methods));
        Failure::new(Exit::Unauthorized, ErrorWithHint::new(self.error, hint))
    }
}

/// The error for `--auth` with a word that is not a method.
pub(super) fn unknown_method(word: &str, methods: &[LoginMethod]) -> Failure {
    let text = match methods.is_empty() {
        true => format!("--auth {}: the agent offers no way to log in", short(word)),
        false => format!(
            "--auth {}: the agent offers no such way to log in; there are: {}",
            short(word),
            method_list(methods)
        ),
    };
    Failure::new(Exit::Unauthorized, text)
}

/// The methods' ids and names.
fn method_list(methods: &[LoginMethod]) -> String {
    let words = methods.iter().take(METHOD_LIMIT).map(|method| {
        let name = (method.name != method.id).then(|| short(&method.name));
        let needs = (!method.variables.is_empty()).then(|| format!("needs {}", method.variable_list()));
        match [name, needs].into_iter().flatten().collect::<Vec<_>>().join("; ") {
            about if about.is_empty() => format!("`{}`", short(&method.id)),
            about => format!("`{}` ({about})", short(&method.id)),
        }
    });
    let mut list: Vec<_> = words.collect();
    if methods.len() > METHOD_LIMIT {
        list.push(format!("{} more", methods.len() - METHOD_LIMIT));
    }
    list.join(", ")
}

/// Lets the person choose a method. `None` on Escape.
pub(super) async fn choose(user: &User, methods: &[LoginMethod]) -> Result<Option<LoginMethod>, BoxError> {
    let offered = &methods[..methods.len().min(METHOD_LIMIT)];
    let mut menu = "The agent asks for a login. The ways to log in:\n".to_owned();
    for (index, method) in offered.iter().enumerate() {
        let about = method.description.as_deref().map(|about| format!(": {}", short(about)));
        let needs = (!method.variables.is_empty()).then(|| format!(" (needs {})", method.variable_list()));
        let more = [needs, about].into_iter().flatten().collect::<String>();
        menu += &format!("  {}) {}{more}\n", index + 1, short(&method.name));
    }
    menu += "Type a number, then Enter. Escape gives up.\n";
    loop {
        let line = match user.choose(&menu).await? {
            TypedInput::Line(line) => line,
            TypedInput::Interrupt => return Err(Interrupted::BY_KEY.into()),
            _ => return Ok(None),
        };
        let line = line.trim();
        let by_number = line.parse::<usize>().ok().and_then(|number| offered.get(number.checked_sub(1)?));
        match by_number.or_else(|| LoginMethod::find(offered, line)) {
            Some(method) => return Ok(Some(method.clone())),
            None => user.remark(&format!("`{}` is not one of the ways.", short(line)))?,
        }
    }
}

/// The required variables of an `env_var` method: the `name` of each entry of `vars`, or `varName` of older agents.
fn variables(method: &Meta) -> Vec<String> {
    let listed = method.decode_member::<Vec<Variable>>("vars").ok().flatten().unwrap_or_default();
    let listed = listed.into_iter().filter(|variable| !variable.optional).map(|variable| variable.name);
    let single = method.text("varName").map(Cow::into_owned);
    listed.chain(single).filter(|name| !name.is_empty()).take(VARIABLE_LIMIT).collect()
}

#[derive(Deserialize)]
struct Variable {
    name: String,
    #[serde(default)]
    optional: bool,
}

impl TerminalLogin {
    /// Runs the agent's program in our terminal, with the method's arguments and variables, until it ends.
    ///
    /// # Errors
    ///
    /// When it cannot be started, does not end with exit code 0, or a signal interrupts it.
    pub(super) async fn run(&self, command: &Command, signals: &mut Signals) -> Result<(), BoxError> {
        let command = command.clone().args(self.args.iter().cloned()).envs(self.env.iter().cloned());
        let program = command.program().to_string_lossy().into_owned();
        let mut process = tokio::process::Command::from(command.at_terminal());
        process.kill_on_drop(true);
        let failed = |why: std::io::Error| {
            Failure::new(Exit::Unreachable, format!("`{}` cannot be started: {why}", short(&program)))
        };
        let mut child = process.spawn().map_err(failed)?;
        let mut interrupted = None;
        let status = loop {
            tokio::select! {
                status = child.wait() => break status?,
                // The first ^C also reaches the program, which may ask whether to stop. The second ends it.
                signal = signals.interrupted() => {
                    if signal != Interrupted::BY_KEY || interrupted.is_some() {
                        child.kill().await?;
                        return Err(signal.into());
                    }
                    interrupted = Some(signal);
                }
            }
        };
        match interrupted {
            _ if status.success() => Ok(()),
            Some(interrupted) => Err(interrupted.into()),
            None => Err(self.failure(status).into()),
        }
    }

    fn failure(&self, status: ExitStatus) -> Failure {
        Failure::new(Exit::Unauthorized, format!("the login by `{}` failed: {status}", short(&self.name)))
    }
}

#[cfg(test)]
mod tests {
    use agentwire_jsonrpc::ErrorObject;
    use serde_json::json;

    use super::*;
    use crate::failure::{OtherSide, RemoteError, Role, exit_code, sentence};

    #[test]
    fn a_method_is_found_by_id_before_name() {
        let methods = [LoginMethod::agent("a", "b", None), LoginMethod::agent("b", "Browser", None)];
        let find = |word| LoginMethod::find(&methods, word).map(|method| &*method.id);
        assert_eq!([find("b"), find("browser"), find("c")], [Some("b"), Some("b"), None]);
    }

    #[test]
    fn method_by_variables_names_them() {
        let read = |method: serde_json::Value| {
            LoginMethod::v1(&serde_json::from_value::<v1::AuthMethod>(method).unwrap()).unwrap()
        };
        let names = json!([{ "name": "AGENTWIRE_TEST_NO_KEY" }, { "name": "REGION", "optional": true }]);
        let method = read(json!({ "id": "key", "name": "API key", "type": "env_var", "vars": names }));
        let why = "the method `key` needs the variable `AGENTWIRE_TEST_NO_KEY`: set it, and start again";
        assert_eq!(method.missing_variables(&[]).as_deref(), Some(why));
        let set: Vec<OsString> = method.variables.iter().map(Into::into).collect();
        assert_eq!(method.missing_variables(&set), None, "the agent has them");
        assert_eq!(method_list(&[method]), "`key` (API key; needs the variable `AGENTWIRE_TEST_NO_KEY`)");
        let older = read(json!({ "id": "key", "name": "key", "type": "env_var", "varName": "PATH" }));
        assert_eq!(method_list(std::slice::from_ref(&older)), "`key` (needs the variable `PATH`)");
        assert_eq!(older.missing_variables(&[]), None, "it is set");
        let many: Vec<_> = (0..1000).map(|n| json!({ "name": format!("V{n}") })).collect();
        let method = read(json!({ "id": "k", "name": "k", "type": "env_var", "vars": many }));
        assert_eq!(method.variables.len(), VARIABLE_LIMIT);
    }

    #[test]
    fn the_error_lists_the_methods_within_a_bound() {
        let refused = || CallError::refused("session/new", ErrorObject::new(-32000, "Log in"));
        let one = vec![LoginMethod::agent("key", "API\u{1b}key", None)];
        let text = LoginNeeded::as_failure(LoginNeeded::explain(refused(), one)).to_string();
        assert!(text.ends_with("; log in with --auth ID: `key` (API^[key)"), "{text}");
        let many = vec![LoginMethod::agent("x", "x", None); 1000];
        let text = LoginNeeded::as_failure(LoginNeeded::explain(refused(), many)).to_string();
        assert!(text.ends_with("`x`, 980 more") && text.len() < 300, "{text}");
    }

    #[test]
    fn an_error_without_a_menu_names_the_agent() {
        let rows = [
            (vec![LoginMethod::agent("key", "key", None)], "log in with --auth ID: `key`"),
            (vec![], NO_METHOD),
        ];
        for (methods, hint) in rows {
            let refused = CallError::refused("session/list", ErrorObject::new(-32000, "Log in"));
            let error = LoginNeeded::as_failure(LoginNeeded::explain(refused, methods));
            let side = OtherSide::program(Role::Agent, &Command::new("it"));
            let error = RemoteError::name(&side, true, error);
            let text = format!("the agent refused session/list: Log in (-32000); {hint}");
            assert_eq!((sentence(&error), exit_code(&error)), (text, 3));
        }
    }
}
