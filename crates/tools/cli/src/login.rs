//! `agentwire login` and `logout`, and the tokens that other commands send to servers at a URL.

use agentwire_jsonrpc::WithCauses;
use std::env;
use std::ffi::OsStr;
use std::io::{self, BufRead as _, IsTerminal as _, Read as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use agentwire_mcp_auth::client::{
    AuthConfig, Authorization, Browser, ClientIdentity, LoginError, RedirectListener, ResourceParameter,
    UserAgent,
};
use agentwire_mcp_auth::store::FileStore;
use agentwire_mcp_hub::{ConnectOptions, Target};
use agentwire_transport_http::client::{Hyper, shown_url};
use agentwire_transport_stdio::startable_program;
use anyhow::{Context as _, Result};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::Uri;

use crate::arguments::files::read_secret_text;
use crate::arguments::values::NamedValue;
use crate::arguments::{Login, Logout};
use crate::command_line::other_scheme;
use crate::config::{Config, ConfigArguments};
use crate::failure::{Usage, sentence};
use crate::output::print_json;
use crate::output::text;
use crate::output::text::{Notes, quoted};
use crate::questions::PersonTime;
use crate::recording::{Recorder, recorded_client};

/// The environment variable with the path of the file of credentials.
const CREDENTIALS: &str = "AGENTWIRE_CREDENTIALS";

/// The timeout of opening a connection to an authorization server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Logs in at a server, and stores its token.
pub(crate) async fn login(arguments: Login, json: bool, notes: &Notes) -> Result<()> {
    let url = http_url(&arguments.url, own_config)?;
    let browser = pasting(browser(notes, ELSEWHERE), notes);
    let browser = match arguments.port {
        Some(port) => browser.port(port),
        None => browser,
    };
    let mut config = config(notes)?.user_agent(browser).keep_client(true);
    if let Some(id) = arguments.client_id {
        let client = ClientIdentity::new(id);
        config = config.client(match arguments.client_secret_file {
            Some(path) => client.secret(read_secret(path).await?),
            None => client,
        });
    }
    if !arguments.scopes.is_empty() {
        config = config.scopes(arguments.scopes);
    }
    config = config.resource(match arguments.resource.as_deref() {
        None => ResourceParameter::Metadata,
        Some("") => ResourceParameter::Omit,
        Some(resource) => ResourceParameter::Replace(resource.to_owned()),
    });
    if let Some(issuer) = arguments.issuer {
        config = config.authorization_server(issuer);
    }
    for NamedValue { id, value } in arguments.parameters {
        config = config.parameter(id, value);
    }
    config = config.assume_pkce(arguments.assume_pkce);
    let login = Authorization::new(config, client()?).login(&url).await;
    login.with_context(|| format!("cannot log in at {}", shown_url(&url)))?;
    report("logged in", &url, json)
}

/// Deletes the stored token of a server.
pub(crate) async fn logout(arguments: Logout, json: bool, notes: &Notes) -> Result<()> {
    let url = http_url(&arguments.url, own_config)?;
    let was_in = Authorization::new(config(notes)?, client()?).logout(&url).await;
    let was_in = was_in.with_context(|| format!("cannot log out at {}", shown_url(&url)))?;
    report(if was_in { "logged out" } else { "not logged in" }, &url, json)
}

fn report(status: &str, url: &str, json: bool) -> Result<()> {
    match json {
        true => print_json(&status_json(status, url))?,
        false => text::print_line(&format!("{status}: {}", shown_url(url)))?,
    }
    Ok(())
}

fn status_json(status: &str, url: &str) -> serde_json::Value {
    serde_json::json!({ "status": status, "url": shown_url(url) })
}

/// The tokens of the file of credentials, for connections to servers at a URL. With a `person`, logs in at a server that requires
/// it, and counts the time of that. `None`, with a note, if the file cannot be used.
pub(crate) fn authorization(person: Option<&PersonTime>, notes: &Notes) -> Option<Authorization> {
    let open = || {
        let config = match person {
            Some(time) => {
                let browser = browser(notes, ELSEWHERE_LATER);
                config(notes)?.user_agent(TimedBrowser { browser, time: time.clone() })
            }
            None => config(notes)?,
        };
        anyhow::Ok(Authorization::new(config, client()?))
    };
    open().map_err(|error| notes.add(&format!("warning: no tokens are used: {}", sentence(&error)))).ok()
}

/// A browser whose logins count as time of the person.
#[derive(Debug)]
struct TimedBrowser {
    browser: Browser,
    time: PersonTime,
}

impl UserAgent for TimedBrowser {
    fn redirect_uris(&self) -> Vec<String> {
        self.browser.redirect_uris()
    }

    fn listen(&self) -> BoxFuture<'static, Result<Box<dyn RedirectListener>, LoginError>> {
        let (listen, time) = (self.browser.listen(), self.time.clone());
        let listen = async move { Ok(Box::new(TimedListener { listener: listen.await?, time }) as _) };
        listen.boxed()
    }
}

struct TimedListener {
    listener: Box<dyn RedirectListener>,
    time: PersonTime,
}

impl RedirectListener for TimedListener {
    fn redirect_uri(&self) -> String {
        self.listener.redirect_uri()
    }

    fn authorize(self: Box<Self>, url: Uri, state: String) -> BoxFuture<'static, Result<String, LoginError>> {
        let wait = self.time.begin();
        self.listener.authorize(url, state).inspect(move |_| drop(wait)).boxed()
    }
}

/// Adds tokens to the connections to servers at a URL.
pub(crate) fn with_tokens(
    options: ConnectOptions,
    authorization: Authorization,
    recorder: Option<Recorder>,
) -> ConnectOptions {
    options.wrap_http(move |target, client| {
        authorization.wrap(target.url(), recorded_client(client, recorder.clone()))
    })
}

/// Whether a person at a terminal can log in.
pub(crate) fn is_person_there(json: bool) -> bool {
    !json && io::stdin().is_terminal() && io::stderr().is_terminal()
}

fn config(notes: &Notes) -> Result<AuthConfig> {
    let path = credentials().context("there is no folder for credentials; set AGENTWIRE_CREDENTIALS")?;
    let store = FileStore::open(&path)?;
    let notes = notes.clone();
    let config = AuthConfig::new("agentwire").store(store).login_command("agentwire login");
    Ok(config.on_warning(move |warning| notes.add(&format!("warning: {}", WithCauses::new(warning)))))
}

fn client() -> Result<Hyper> {
    Ok(Hyper::new(CONNECT_TIMEOUT)?)
}

/// The advice for a browser on another machine if the redirect can be pasted.
const ELSEWHERE: &str = "if the browser is on another machine, paste the address at which it ends here";

/// The advice for a browser on another machine if the redirect cannot be pasted.
const ELSEWHERE_LATER: &str =
    "if the browser is on another machine, run `agentwire login` with the URL of the server";

/// The system's browser, or the program that `$BROWSER` names.
fn browser(notes: &Notes, advice: &'static str) -> Browser {
    let notes = notes.clone();
    let browser = Browser::new().on_url(move |url| {
        notes.add(&format!("opening the browser to log in; if none opens, go to\n{url}\n{advice}"));
    });
    match env::var_os("BROWSER").filter(|program| !program.is_empty()) {
        Some(program) => browser.opener(move |url| start(&program, url)),
        None => browser,
    }
}

/// Reads the redirect from stdin, unless stdin is a file: its lines may belong to a loop of the shell.
fn pasting(browser: Browser, notes: &Notes) -> Browser {
    let notes = notes.clone();
    browser.pasted(move |again| {
        if again {
            notes.add("this is not the address at which the login ends: http://127.0.0.1:…/callback?code=…");
        }
        async { tokio::task::spawn_blocking(pasted_line).await.ok().flatten() }
    })
}

/// The longest pasted line: 64 KiB.
const PASTE_LIMIT: u64 = 64 << 10;

/// The next line of stdin that is not empty.
fn pasted_line() -> Option<String> {
    if is_file(&io::stdin()) {
        return None;
    }
    let mut line = String::new();
    while line.trim().is_empty() {
        line.clear();
        if io::stdin().lock().take(PASTE_LIMIT).read_line(&mut line).ok()? == 0 {
            return None;
        }
    }
    Some(line)
}

#[cfg(unix)]
fn is_file(stdin: &io::Stdin) -> bool {
    use rustix::fs::{FileType, fstat};
    fstat(stdin).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
}

#[cfg(not(unix))]
fn is_file(stdin: &io::Stdin) -> bool {
    !stdin.is_terminal()
}

/// Starts a program without a shell, with the URL as its only argument, and waits for its end on a thread.
fn start(program: &OsStr, url: &str) -> io::Result<()> {
    let mut command = Command::new(startable_program(program, None, None));
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    std::thread::Builder::new().name("browser".into()).spawn(move || child.wait())?;
    Ok(())
}

/// `$AGENTWIRE_CREDENTIALS`, or the file in the user's folder for settings.
fn credentials() -> Option<PathBuf> {
    if let Some(path) = env::var_os(CREDENTIALS).filter(|path| !path.is_empty()) {
        return Some(path.into());
    }
    let folder = match env::var_os("XDG_CONFIG_HOME").or_else(|| env::var_os("APPDATA")) {
        Some(folder) if PathBuf::from(&folder).is_absolute() => PathBuf::from(folder),
        _ => env::home_dir()?.join(".config"),
    };
    Some(folder.join("agentwire").join("credentials.json"))
}

/// The URL of the command line, or the URL of the configured server with this name.
fn http_url(text: &str, config: impl FnOnce() -> Result<Config>) -> Result<String> {
    if let Ok(Target::Http(target)) = Target::parse(text) {
        return Ok(target.url().to_owned());
    }
    let config = config()?;
    match config.server(text)? {
        Some(Target::Http(target)) => return Ok(target.url().to_owned()),
        Some(_) => {
            let why = format!("the server {} is a program; only a server at a URL has a login", quoted(text));
            return Err(Usage(why).into());
        }
        None => {}
    }
    config.check_server(text)?;
    Err(Usage(
        other_scheme(text)
            .unwrap_or_else(|| format!("`{}` is not the URL of an MCP server", shown_url(text))),
    )
    .into())
}

fn own_config() -> Result<Config> {
    Ok(Config::load(&ConfigArguments { config: None })?)
}

/// The longest file of a secret: 64 KiB.
const SECRET_LIMIT: u64 = 64 << 10;

/// The file's text without the line break at its end. A pipe may wait for its writer, so a thread reads it.
async fn read_secret(path: PathBuf) -> Result<String> {
    let shown = path.display().to_string();
    let text = tokio::task::spawn_blocking(move || read_secret_text(&path, SECRET_LIMIT)).await?;
    let text = text.map_err(|why| Usage(format!("--client-secret-file {shown}: {why}")))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn server_of_the_configuration_is_known_by_its_name() {
        let text = "[servers.web]\nurl = 'https://a.example/mcp'\n[servers.files]\ncommand = 'x'\n";
        let config = || Ok(Config::parse(text));
        let url = |text: &str| http_url(text, config).map_err(|error| error.to_string());
        assert_eq!(url("https://b.example/mcp").unwrap(), "https://b.example/mcp");
        assert_eq!(url("web").unwrap(), "https://a.example/mcp");
        let rows = [
            ("files", "the server `files` is a program; only a server at a URL has a login"),
            ("fils", "there is no server `fils`, and no such command; did you mean `files`?"),
            ("https//a.example", "the URL has no colon; write https://a.example"),
            ("quite-other", "`quite-other` is not the URL of an MCP server"),
        ];
        for (text, expected) in rows {
            assert_eq!(url(text).unwrap_err(), expected, "{text}");
        }
    }

    #[tokio::test]
    #[cfg(unix)]
    async fn secret_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;

        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "hunter2\n").unwrap();
        assert_eq!(read_secret(file.path().into()).await.unwrap(), "hunter2");
        std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o644)).unwrap();
        let why = read_secret(file.path().into()).await.unwrap_err().to_string();
        assert!(why.contains("it has mode 0644") && !why.contains("hunter2"), "{why}");
    }

    #[test]
    fn json_has_no_query_of_the_url() {
        let expected = json!({ "status": "logged in", "url": "https://example.com/mcp" });
        assert_eq!(status_json("logged in", "https://example.com/mcp?key=secret"), expected);
    }
}
