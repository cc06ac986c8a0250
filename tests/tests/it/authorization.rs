//! `agentwire login` and what sends its token, against `agentwire server` behind an authorization server.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use agentwire_mcp_auth_testkit::{AuthServer, Builder, Endpoint, Fault};
use agentwire_test_support::http;
use rustix::process::Signal;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::program::{CREDENTIALS, Ended, Program, SOON};

/// A server that takes the tokens of an authorization server, and a user with a file of credentials.
struct Setup {
    issuer: AuthServer,
    // The authorization server's requests are served by its threads.
    _runtime: Runtime,
    server: Program,
    origin: String,
    folder: TempDir,
    /// All that any program has printed.
    printed: String,
}

impl Setup {
    fn new() -> Self {
        Self::with(AuthServer::builder())
    }

    fn with(builder: Builder) -> Self {
        let runtime = Runtime::new().expect("threads can be started");
        let issuer = runtime.block_on(builder.start()).expect("it listens");
        let arguments =
            ["server", "--http", "127.0.0.1:0", "--issuer", &issuer.issuer(), "--scope", "tools:read"];
        let mut server = Program::start(&arguments);
        server.close_stdin();
        let origin = server.stderr.until("where it listens", |bytes| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            let url = text.lines().next()?.strip_prefix("listening on ")?.to_owned();
            text.contains('\n').then(|| url.trim_end_matches("/mcp").to_owned())
        });
        issuer.accept_resource(origin.clone());
        let folder = tempfile::tempdir().expect("there is room");
        Self { issuer, _runtime: runtime, server, origin, folder, printed: String::new() }
    }

    fn credentials(&self) -> std::path::PathBuf {
        self.folder.path().join("credentials.json")
    }

    /// Runs a command for the server's URL, with the person in place of a browser.
    fn run(&mut self, command: &[&str], rest: &[&str]) -> Ended {
        let url = format!("{}/mcp", self.origin);
        let mut program = self.start(&[command, &[&*url], rest].concat());
        program.close_stdin();
        let ended = program.end(SOON);
        self.printed += &format!("{}{}", ended.stdout, ended.stderr);
        ended
    }

    fn start(&self, arguments: &[&str]) -> Program {
        let credentials = self.credentials();
        let variables =
            [(CREDENTIALS, credentials.as_os_str()), ("BROWSER", OsStr::new(env!("CARGO_BIN_EXE_person")))];
        Program::start_with(&variables, arguments)
    }

    /// Ends the server. No program may have printed a secret, nor may a file beside the credentials have one.
    fn end(mut self) {
        self.server.signal(Signal::TERM);
        let ended = self.server.end(SOON);
        self.printed += &format!("{}{}", ended.stdout, ended.stderr);
        let secrets = self.issuer.secrets();
        assert!(secrets.len() > 3, "codes, tokens and verifiers");
        for secret in secrets {
            assert!(!self.printed.contains(&secret), "a secret was printed: {}", self.printed);
        }
    }
}

#[test]
fn a_login_serves_every_command_until_the_logout() {
    let mut setup = Setup::new();
    let url = format!("{}/mcp", setup.origin);
    // Without a person at a terminal, the error has the command to run.
    let needed = format!("a person has to log in for the scopes tools:read; run `agentwire login {url}`");
    setup.run(&["tools"], &[]).exits(3).reports(&needed);
    setup.run(&["call"], &["add", "{}"]).exits(3).reports(&needed);
    assert!(setup.issuer.log().to(Endpoint::Authorization).is_empty(), "nobody asked for a browser");

    setup.run(&["login"], &[]).exits(0).prints(&format!("logged in: {url}"));
    let mode = std::fs::metadata(setup.credentials()).expect("there is a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    setup.run(&["tools"], &[]).exits(0).prints("Add two numbers");
    let sum = setup.run(&["--json", "call"], &["add", r#"{"a":40,"b":2}"#]);
    assert_eq!(sum.exits(0).objects()[0]["result"]["structuredContent"]["sum"], 42);
    setup.run(&["tools", "--era", "legacy"], &[]).exits(0).prints("Add two numbers");

    // Our agent uses the same tokens.
    let mut program = setup.start(&[
        "chat",
        "--json",
        "--mcp",
        &format!("web={url}"),
        "/call web__add {\"a\": 2, \"b\": 40}",
    ]);
    program.close_stdin();
    program.end(SOON).exits(0).shows("42");

    // What is given by hand goes first.
    setup
        .run(&["tools", "--token", "hunter2"], &[])
        .exits(3)
        .reports(&format!("error: {url} refuses the Authorization header (HTTP status 401"));

    setup.run(&["logout"], &[]).exits(0).prints(&format!("logged out: {url}"));
    assert_eq!(setup.issuer.log().to(Endpoint::Revocation).len(), 1);
    setup.run(&["tools"], &[]).exits(3).reports(&needed);
    setup.run(&["logout"], &[]).exits(0).prints(&format!("not logged in: {url}"));
    assert!(!setup.printed.contains("hunter2"));
    setup.end();
}

#[test]
fn an_expired_token_is_renewed_by_the_next_command() {
    // Longer than a program runs on a busy machine: the second token must not end too.
    let lifetime = Duration::from_secs(5);
    let mut setup = Setup::with(AuthServer::builder().access_token_lifetime(lifetime));
    setup.run(&["login"], &[]).exits(0);
    std::thread::sleep(lifetime + Duration::from_millis(100));
    setup.run(&["tools"], &[]).exits(0);
    assert_eq!(setup.issuer.log().grants("refresh_token").len(), 1);
    assert_eq!(setup.issuer.log().to(Endpoint::Authorization).len(), 1);
    setup.end();
}

#[test]
fn errors_of_the_authorization_server_name_the_cause() {
    let mut setup = Setup::new();
    for (fault, why, option) in [
        // First, because a registration is kept.
        (Fault::RegistrationRefused, "the registration of the client was refused", "--client-id ID"),
        (Fault::MetadataIssuerTrailingSlash, "another issuer: expected `", "--issuer URL"),
        (Fault::IssWrong, "tell its operator", ""),
        (Fault::AccessDenied, "the login was refused: access_denied", ""),
        (Fault::PkceNotAdvertised, "does not support PKCE with S256", "--assume-pkce"),
        (Fault::ResourceParameterRefused, "was refused: invalid_target", "--resource ''"),
        (Fault::MetadataFails, "failed for now", ""),
    ] {
        setup.issuer.set(fault);
        // Another try may help only where a server fails.
        let code = if why == "failed for now" { 4 } else { 3 };
        let ended = setup.run(&["login"], &[]);
        ended.exits(code).reports("error: cannot log in at http://127.0.0.1:").reports(why).reports(option);
        setup.issuer.clear(fault);
    }
    setup.run(&["login"], &[]).exits(0);
    setup.end();
}

#[test]
fn another_resource_and_a_refused_token_have_advice_that_can_work() {
    let mut setup = Setup::new();
    let url = setup.issuer.resource_url();
    let run = |setup: &mut Setup, command: &str| {
        let mut program = setup.start(&[command, &url]);
        program.close_stdin();
        let ended = program.end(SOON);
        setup.printed += &format!("{}{}", ended.stdout, ended.stderr);
        ended
    };
    setup.issuer.set(Fault::ResourceOtherHost);
    let ended = run(&mut setup, "login");
    ended
        .exits(3)
        .reports("describes another resource: expected `")
        .reports("with --resource TEXT to name it");
    assert!(!ended.stderr.contains("--resource ''"), "it would fail in the same way: {ended}");
    setup.issuer.clear(Fault::ResourceOtherHost);
    run(&mut setup, "login").exits(0);
    setup.issuer.set(Fault::RefreshTokenNeverIssued);
    run(&mut setup, "login").exits(0);
    setup.issuer.set(Fault::AlwaysUnauthorized);
    let ended = run(&mut setup, "tools");
    ended.exits(3).reports(&format!("error: {url}: the server refuses the token of the login of 20"));
    ended
        .reports("--resource TEXT or --scope SCOPE for another token")
        .reports("by --header-file or --token");
    setup.end();
}

/// Where a URL redirects to, without going there: the browser is on another machine.
fn redirect_of(url: &str) -> String {
    let rest = url.strip_prefix("http://").expect("the issuer is on this machine");
    let (host, path) = rest.split_once('/').expect("there is a path");
    let response = http::exchange(host, &format!("GET /{path}"), "").expect("it answers");
    let location = response.header("location");
    assert!(!location.is_empty(), "no redirect: {response:?}");
    location.to_owned()
}

#[test]
fn a_redirect_of_another_machine_is_pasted() {
    let setup = Setup::new();
    let url = format!("{}/mcp", setup.origin);
    let (credentials, nothing) = (setup.credentials(), OsStr::new("/bin/true"));
    let variables = [(CREDENTIALS, credentials.as_os_str()), ("BROWSER", nothing)];
    let mut login = Program::start_with(&variables, &["login", &url]);
    let opened = login.stderr.until("the URL to open", |bytes| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let url = text.split_whitespace().find(|word| word.contains("/authorize?"))?.to_owned();
        text.contains("paste the address").then_some(url)
    });
    assert!(login.write(b"http://127.0.0.1:1/callback?code=c&state=wrong\n"));
    login.stderr.words("this is not the address at which the login ends");
    assert!(login.write(format!("{}\n", redirect_of(&opened)).as_bytes()));
    login.end(SOON).exits(0).prints(&format!("logged in: {url}"));
    setup.end();
}

#[test]
fn a_file_of_credentials_that_others_can_read_is_not_used() {
    let mut setup = Setup::new();
    setup.run(&["login"], &[]).exits(0);
    let open = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(setup.credentials(), open).expect("it is ours");
    setup.run(&["tools"], &[]).exits(3).reports("644");
    setup.end();
}
