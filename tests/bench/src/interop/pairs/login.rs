//! Our client logs in at the authorization servers of other projects, and their MCP servers judge its tokens. The
//! person is a program, which `BROWSER` names.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::interop::caller::Caller;
use crate::interop::pair::{Pair, pair};
use crate::interop::peers::line;
use crate::interop::scratch::{Outcome, Scratch};
use crate::interop::service::Service;

pub(super) fn pairs() -> Vec<Pair> {
    vec![
        pair("our login, npm authorization server: renewal", 60, npm_renewal),
        pair("our login, npm authorization server: revocation", 30, npm_revocation),
        pair(
            "our login, npm authorization server: a tool with a scope of its own",
            30,
            npm_step_up_by_login_command,
        ),
        pair("our login, npm authorization server: the same in a terminal", 30, npm_step_up),
        pair("our login, npm authorization server: tokens bound to a key", 60, npm_dpop),
        pair("our login, npm authorization server: a registered client with a secret", 60, npm_registered),
        pair("our login, npm authorization server: over SSE", 60, npm_sse),
        pair("our login, PyPI authorization server: renewal after a refusal, revocation", 60, pypi),
    ]
}

/// The pairs of `--browser`: a fresh machine has no Chromium.
pub(in crate::interop) fn browser_pairs() -> Vec<Pair> {
    vec![pair("our login, npm authorization server: Chromium without a window", 60, npm_chromium)]
}

/// How many seconds an access token lasts where a pair waits for its end.
const LIFETIME: u64 = 4;

/// How many seconds it lasts where no pair does.
const LONG: u64 = 600;

/// An authorization server, an MCP server that takes its tokens, and our client.
pub(super) struct Login<'a> {
    scratch: &'a Scratch<'a>,
    servers: Service<'a>,
    /// The MCP server to log in at.
    pub(super) url: String,
    /// The program that is started with the URL of the login.
    person: PathBuf,
}

impl<'a> Login<'a> {
    /// `oidc-provider`, and a server on the npm SDK.
    pub(super) fn npm(scratch: &'a Scratch<'a>, tokens: &str, seconds: u64) -> Result<Self> {
        let command = scratch.peers().npm("auth_server.mjs", &[tokens, &seconds.to_string()]);
        Self::start(scratch, command, "/mcp")
    }

    fn start(scratch: &'a Scratch<'a>, command: Vec<String>, path: &str) -> Result<Self> {
        let servers = Service::start(scratch, command)?;
        let url = servers.url(path)?;
        let mut this = Self { scratch, servers, url, person: PathBuf::new() };
        this.set_person(&scratch.peers().npm("person.mjs", &[]))?;
        Ok(this)
    }

    /// Sets the program that takes the place of the browser.
    fn set_person(&mut self, program: &[String]) -> Result<()> {
        self.person = self.scratch.file("browser");
        let log = self.scratch.file("browser.log").display().to_string();
        let script = format!("#!/bin/sh\nexec {} \"$@\" >{} 2>&1\n", line(program), line(&[log]));
        fs::write(&self.person, script)?;
        Ok(fs::set_permissions(&self.person, fs::Permissions::from_mode(0o755))?)
    }

    /// The authorization server.
    pub(super) fn issuer(&self) -> Result<String> {
        let line = self.servers.expect("issuer ")?;
        Ok(line.trim_start_matches("issuer ").to_owned())
    }

    pub(super) fn agentwire(&self, arguments: &[&str]) -> Vec<String> {
        let mut all = vec!["env".to_owned(), format!("BROWSER={}", self.person.display())];
        all.extend(self.scratch.peers().agentwire(arguments));
        all
    }

    fn caller(&self) -> Caller<'a> {
        Caller::new(self.scratch, &*self.url)
    }

    /// Logs in, and uses the token.
    pub(super) fn log_in(&self, options: &[&str]) -> Result<()> {
        let outcome =
            self.scratch.run(&self.agentwire(&[&["login", "--json", &*self.url], options].concat()))?;
        let pages = fs::read_to_string(self.scratch.file("browser.log")).unwrap_or_default();
        self.expect_status(&outcome, "logged in").with_context(|| format!("the pages were:\n{pages}"))?;
        self.caller().expect_tools(&["echo"])?;
        self.echo()
    }

    fn echo(&self) -> Result<()> {
        let echo = self.caller().text("echo", json!({ "message": "grüß dich" }))?;
        ensure!(echo == "grüß dich", "echo returned {echo:?}");
        Ok(())
    }

    fn expect_status(&self, outcome: &Outcome, status: &str) -> Result<()> {
        let expected = json!({ "status": status, "url": self.url });
        ensure!(outcome.json()? == [expected], "{:?} instead of {status:?}", outcome.lines);
        outcome.expect_code(0)
    }

    /// Waits until the access token has expired.
    fn wait(&self) {
        thread::sleep(Duration::from_millis(1000 * LIFETIME + 100));
    }

    /// Lists the tools with two processes at once.
    fn tools_twice(&self) -> Result<()> {
        const BOTH: &str = r#""$@" & one=$!; "$@" && wait $one"#;
        let mut both = vec!["sh".to_owned(), "-c".to_owned(), BOTH.to_owned(), "sh".to_owned()];
        both.extend(self.agentwire(&["tools", "--json", &self.url]));
        let outcome = self.scratch.run(&both)?;
        outcome.expect_code(0)?;
        let echoes = outcome.json()?.iter().filter(|tool| tool["name"] == "echo").count();
        ensure!(echoes == 2, "{echoes} of two processes got the list of tools");
        Ok(())
    }

    /// The access token that is stored, of the only login.
    pub(super) fn access_token(&self) -> Result<String> {
        let records = records(&fs::read_to_string(self.credentials())?)?;
        let found = records.iter().find_map(|record| record["access_token"].as_str());
        Ok(found.context("no token is stored")?.to_owned())
    }

    /// The credentials as they are stored.
    fn credentials(&self) -> PathBuf {
        self.scratch.home().join(".config/agentwire/credentials.json")
    }

    /// A command must ask for a login.
    fn expect_refused(&self) -> Result<()> {
        let outcome = self.scratch.run(&self.agentwire(&["tools", "--json", &self.url]))?;
        outcome.expect_code(3)?;
        outcome.expect(&format!("run `agentwire login {}`", self.url))
    }

    /// Logs out. A token that somebody has kept must not be taken any more.
    fn log_out(&self) -> Result<()> {
        let kept = fs::read_to_string(self.credentials())?;
        for status in ["logged out", "not logged in"] {
            let outcome = self.scratch.run(&self.agentwire(&["logout", "--json", &self.url]))?;
            self.expect_status(&outcome, status)?;
        }
        self.expect_refused()?;
        fs::write(self.credentials(), kept)?;
        self.expect_refused()
    }

    /// There is a token for all tools now, of a registration for more scopes than the first.
    fn step_up_is_done(self) -> Result<()> {
        self.caller().result("add", json!({ "a": 2, "b": 40 }))?;
        self.echo()?;
        let notes = ["registered a client: native, none", "granted authorization_code"];
        self.finish(&[notes, notes].concat()).map(drop)
    }

    /// Stops both servers. `expected` is what they have noted; a login of it is a grant for the resource.
    pub(super) fn finish(self, expected: &[&str]) -> Result<Vec<String>> {
        for secret in secrets(&fs::read_to_string(self.credentials())?)? {
            self.scratch.expect_unseen(&secret)?;
        }
        let lines = self.servers.stop_and_read()?;
        let is_noted = |line: &&String| {
            ["registered", "granted", "revoked", "error"].iter().any(|word| line.starts_with(word))
        };
        let resource = format!(", resource {}", self.url);
        let noted: Vec<_> = lines.iter().filter(is_noted).map(|line| line.replace(&resource, "")).collect();
        ensure!(noted == expected, "the servers noted {noted:#?} instead of {expected:#?}");
        Ok(lines)
    }
}

/// Each refresh token must have been used once, but the last, which must not.
fn expect_rotation(lines: &[String]) -> Result<()> {
    let of = |end| -> Vec<_> {
        let names = lines.iter().filter_map(|line| line.strip_prefix("refresh token ")?.strip_suffix(end));
        names.collect()
    };
    let (issued, used) = (of(" issued"), of(" used"));
    let expected = issued.split_last().map(|(_, spent)| spent).unwrap_or_default();
    ensure!(used == expected, "of the refresh tokens {issued:?}, {used:?} were used");
    Ok(())
}

/// The records of a file of credentials.
fn records(credentials: &str) -> Result<Vec<Value>> {
    let file: Value = serde_json::from_str(credentials).context("the credentials are no JSON")?;
    let records = file["entries"].as_object().context("the credentials have no entries")?.values();
    Ok(records.filter_map(|record| serde_json::from_str(record.as_str()?).ok()).collect())
}

/// The secrets in a file of credentials.
fn secrets(credentials: &str) -> Result<Vec<String>> {
    let names = ["access_token", "refresh_token", "dpop_key", "client_secret"];
    let records = records(credentials)?;
    let found = records.iter().flat_map(|record| names.map(|name| record[name].as_str().map(str::to_owned)));
    let found: Vec<_> = found.flatten().collect();
    ensure!(!found.is_empty(), "no token is stored");
    Ok(found)
}

/// Signed tokens. The login is renewed twice: by two processes at once, and by one.
fn npm_renewal(scratch: &Scratch<'_>) -> Result<()> {
    let login = Login::npm(scratch, "jwt", LIFETIME)?;
    login.log_in(&[])?;
    login.wait();
    login.tools_twice()?;
    login.wait();
    login.echo()?;
    let lines = login.finish(&[
        "registered a client: native, none",
        "granted authorization_code",
        "granted refresh_token",
        "granted refresh_token",
    ])?;
    expect_rotation(&lines)
}

/// Tokens that the MCP server looks up at the authorization server.
fn npm_revocation(scratch: &Scratch<'_>) -> Result<()> {
    let login = Login::npm(scratch, "opaque", LONG)?;
    login.log_in(&[])?;
    login.log_out()?;
    login.finish(&[
        "registered a client: native, none",
        "granted authorization_code",
        "revoked a login",
        "error: grant: invalid_grant: refresh token not found",
    ])?;
    Ok(())
}

const ADD: &str = r#"{"a": 2, "b": 40}"#;

/// A tool that needs one more scope. Without a terminal the error names the command that asks for it.
fn npm_step_up_by_login_command(scratch: &Scratch<'_>) -> Result<()> {
    let login = Login::npm(scratch, "jwt", LONG)?;
    login.log_in(&[])?;
    let refused = login.caller().refused("add", json!({ "a": 2, "b": 40 }))?;
    ensure!(refused["exitCode"] == 3, "the exit code is not a refused login's: {refused}");
    let message = refused["error"]["message"].as_str().unwrap_or_default();
    let told = format!("for the scopes mcp:tools mcp:add; run `agentwire login {}`", login.url);
    ensure!(message.ends_with(&told), "the error is {message:?}, and does not end with {told:?}");
    login.log_in(&[])?;
    login.step_up_is_done()
}

/// The same in a terminal, where the person is asked in the middle of the call.
fn npm_step_up(scratch: &Scratch<'_>) -> Result<()> {
    let login = Login::npm(scratch, "jwt", LONG)?;
    login.log_in(&[])?;
    let call = login.agentwire(&["call", &login.url, "add", ADD]);
    let outcome = scratch.run(&scratch.peers().in_terminal(&call))?;
    outcome.expect_code(0)?;
    let printed = &outcome.lines;
    ensure!(printed.iter().any(|line| line.trim() == "42"), "the tool was not called: {printed:#?}");
    login.step_up_is_done()
}

/// Tokens that are bound to a key, with nonces of both servers.
fn npm_dpop(scratch: &Scratch<'_>) -> Result<()> {
    let login = Login::npm(scratch, "dpop", LIFETIME)?;
    login.log_in(&[])?;
    login.wait();
    login.tools_twice()?;
    let lines = login.finish(&[
        "registered a client: native, none",
        "error: grant: use_dpop_nonce: nonce is required in the DPoP proof",
        "granted authorization_code",
        "error: grant: use_dpop_nonce: nonce is required in the DPoP proof",
        "granted refresh_token",
    ])?;
    let refused = lines.iter().find(|line| line.starts_with("proof refused: invalid_dpop_proof"));
    ensure!(refused.is_none(), "a proof was sent twice");
    ensure!(lines.iter().any(|line| line == "proof accepted"), "no request had a proof");
    Ok(())
}

/// The transport of 2024-11-05, whose stream and posts need a token each.
fn npm_sse(scratch: &Scratch<'_>) -> Result<()> {
    let seconds = LIFETIME.to_string();
    let command = scratch.peers().npm("auth_server.mjs", &["jwt", &seconds, "sse"]);
    let login = Login::start(scratch, command, "/sse")?;
    login.log_in(&[])?;
    login.wait();
    login.tools_twice()?;
    login.finish(&[
        "registered a client: native, none",
        "granted authorization_code",
        "granted refresh_token",
    ])?;
    Ok(())
}

/// A client that the authorization server knows before. Its secret serves each later command.
fn npm_registered(scratch: &Scratch<'_>) -> Result<()> {
    let login = Login::npm(scratch, "jwt", LIFETIME)?;
    let secret = scratch.file("secret");
    fs::write(&secret, "secret: 100 % of+it\n")?;
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600))?;
    let secret = secret.display().to_string();
    login.log_in(&["--client-id", "editor", "--client-secret-file", &secret])?;
    login.wait();
    login.tools_twice()?;
    login.finish(&["granted authorization_code", "granted refresh_token"])?;
    Ok(())
}

/// The client gets no lifetime of a token, and authenticates by the secret of its registration.
fn pypi(scratch: &Scratch<'_>) -> Result<()> {
    let command = scratch.peers().pypi("auth_server.py", &[&LIFETIME.to_string()]);
    let login = Login::start(scratch, command, "/mcp")?;
    login.log_in(&[])?;
    login.wait();
    login.tools_twice()?;
    login.wait();
    login.echo()?;
    login.log_out()?;
    let lines = login.finish(&[
        "registered a client: client_secret_basic",
        "granted authorization_code",
        "granted refresh_token",
        "granted refresh_token",
        "revoked a login",
        "error: invalid_grant",
    ])?;
    // After the logout, the last one is tried in vain.
    let before = lines.split(|line| line == "revoked a login").next().unwrap_or_default();
    expect_rotation(before)
}

/// Chromium, which a person would drive.
fn npm_chromium(scratch: &Scratch<'_>) -> Result<()> {
    let mut login = Login::npm(scratch, "jwt", LONG)?;
    login.set_person(&scratch.peers().npm("browser.mjs", &[&chromium()?.display().to_string()]))?;
    login.log_in(&[])?;
    let pages = fs::read_to_string(scratch.file("browser.log"))?;
    ensure!(pages.contains("/interaction/"), "Chromium saw no page of a login:\n{pages}");
    login.finish(&["registered a client: native, none", "granted authorization_code"])?;
    Ok(())
}

/// The Chromium of this machine.
pub(in crate::interop) fn chromium() -> Result<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let mut found = std::env::split_paths(&folders).flat_map(|folder| names.map(|name| folder.join(name)));
    found
        .find(|program| program.is_file())
        .context("--browser needs Chromium: none of chromium, chromium-browser and google-chrome is in PATH")
}
