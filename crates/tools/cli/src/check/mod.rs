//! `check`: judges programs that speak ACP or MCP.

mod arguments;
mod findings;
mod ours;
mod progress;
mod reports;

use std::fmt::Display;
use std::path::Path;
use std::{env, io};

use agentwire_conformance::{
    Baseline, CommandLine, Config, Coverage, Level, Profile, Registry, Report, ScriptFile, SubjectKind,
    Target, Transport, coverage, run_stand_in,
};
use agentwire_transport_http::client::{check_certificates, shown_url};
use anyhow::{Context as _, Result};
use http::Uri;

pub(crate) use self::arguments::Commands;
use self::arguments::{Check, StandIn};
use self::progress::TerminalProgress;
use crate::arguments::files::{ReadError, read_regular_text};
use crate::arguments::headers::Header;
use crate::descriptors::{self, NEEDED};
use crate::failure::{AlreadyPrinted, Usage};
use crate::output::print_json;
use crate::output::text;
use crate::signals::Signals;

/// The longest profile and the longest baseline: 1 MiB.
const FILE_LIMIT: u64 = 1 << 20;

/// The descriptors that a running check needs: the pipes and the handles of two programs.
const DESCRIPTORS_PER_JOB: usize = 8;

/// The error of a run in which at least one requirement is broken.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Broken(String);

/// Runs `check`, or its hidden `stand-in`.
pub(crate) async fn run(command: Commands, json: bool, verbose: bool) -> Result<()> {
    match command {
        Commands::Check(check) => check_programs(*check, json, verbose).await,
        Commands::StandIn(stand_in) => self::stand_in(stand_in).await,
    }
}

async fn check_programs(check: Check, json: bool, verbose: bool) -> Result<()> {
    if check.coverage {
        return print_coverage(json);
    }
    let configs = configs(&check)?;
    // With too few descriptors, checks end early, and some give a wrong verdict.
    descriptors::check(NEEDED.saturating_add(check.jobs.get().saturating_mul(DESCRIPTORS_PER_JOB)))?;
    let mut signals = Signals::listen()?;
    // The running programs lead process groups of their own, which are killed when the run is dropped.
    judge(&check, &configs, &mut signals, (json, verbose)).await
}

async fn judge(
    check: &Check,
    configs: &[Config],
    signals: &mut Signals,
    (json, verbose): (bool, bool),
) -> Result<()> {
    let baseline = baseline(check.baseline.as_deref())?;
    let previous = previous(check)?;
    reports::expect_writable(&check.reports, check.write_baseline.as_deref())?;
    let (mut reports, mut interrupted) = (Vec::new(), None);
    for config in configs {
        let progress = TerminalProgress::new(config, verbose, json);
        let stop = async { interrupted = Some(signals.interrupted().await) };
        let report = config.run_until(&progress, stop).await.map_err(|error| Usage(error.to_string()))?;
        progress.end();
        reports.push(report);
        if interrupted.is_some() {
            break;
        }
    }
    let stale = baseline.apply(&mut reports);
    reports::write(&check.reports, &reports)?;
    if !json {
        findings::print_findings(&reports, check.level.into(), verbose)?;
    }
    if let Some(interrupted) = interrupted {
        return Err(interrupted.into());
    }
    if let Some(path) = &check.write_baseline {
        let written = previous.updated(&reports);
        reports::write_file(path, &written)?;
        let stale = Baseline::parse(&written)?.apply(&mut reports);
        return verdict(&reports, &stale, check.level.into(), json);
    }
    verdict(&reports, &stale, check.level.into(), json)
}

/// The earlier entries of a written baseline: those of the file itself, and those of `--baseline`.
fn previous(check: &Check) -> Result<Baseline> {
    let Some(path) = &check.write_baseline else { return Ok(Baseline::default()) };
    if is_official(path) {
        let why = format!(
            "--write-baseline {}: it is written as TOML, and .yml is the official suite's",
            path.display()
        );
        return Err(Usage(why).into());
    }
    let written = baseline(Some(path.as_path()).filter(|path| path.exists()))?;
    let given = check.baseline.as_deref().filter(|given| given != path);
    Ok(written.and(baseline(given)?))
}

/// Whether a file is the baseline of MCP's official suite.
fn is_official(path: &Path) -> bool {
    path.extension().is_some_and(|name| name == "yml" || name == "yaml")
}

/// Runs the hidden `stand-in`, which a client under test starts as its server or agent.
async fn stand_in(stand_in: StandIn) -> Result<()> {
    let StandIn { address, token, added: _ } = stand_in;
    Ok(run_stand_in(&address, &token).await?)
}

/// The error of a run in which something failed.
fn verdict(reports: &[Report], stale: &[String], level: Level, json: bool) -> Result<()> {
    let failed: usize = reports.iter().map(|report| report.failures(level).count()).sum();
    // A program that does not start, or supports none of the revisions, fulfils no requirement. A revision whose
    // first messages are wrong is not judged.
    let unjudged = |report: &Report| {
        let nothing = format!("nothing of `{}`", report.target);
        Some(text::one_line(&report.unjudged(&nothing)?))
    };
    let mut parts: Vec<String> = reports.iter().filter_map(unjudged).collect();
    if reports.iter().all(|report| report.results.is_empty()) {
        parts.push("no check is for this transport and these revisions".into());
    }
    if failed > 0 {
        let s = if failed == 1 { "" } else { "s" };
        parts.push(format!("{failed} failure{s} of the level {level} or above"));
    }
    if !stale.is_empty() {
        let pass = if stale.len() == 1 { "passes" } else { "pass" };
        parts.push(format!("the baseline is stale: {} {pass} now", stale.join(", ")));
    }
    if parts.is_empty() {
        return Ok(());
    }
    let error = anyhow::Error::new(Broken(parts.join("; ")));
    Err(if json { AlreadyPrinted(error).into() } else { error })
}

/// The programs to run: that of the command line, or our own.
fn configs(check: &Check) -> Result<Vec<Config>> {
    let mut configs = match check.subject {
        Some(subject) => vec![given(check, subject.into())?],
        None if check.command.is_empty() && check.line.is_none() && check.url.is_none() => ours::configs()?,
        None => return Err(Usage("say what the program is, as in `check mcp-server -- CMD`".into()).into()),
    };
    for config in &mut configs {
        if !check.revisions.is_empty() {
            config.revisions.retain(|revision| check.revisions.contains(revision));
        }
        config.only.clone_from(&check.only);
        config.call_any = check.call_any;
        config.jobs = check.jobs;
        config.wait = check.timeout;
        config.seed = check.seed;
        config.stand_in = Some(stand_in_command()?);
    }
    Ok(configs)
}

/// The program of the command line.
fn given(check: &Check, kind: SubjectKind) -> Result<Config> {
    let words = match &check.line {
        Some(line) => shell_words::split(line).map_err(|error| Usage(format!("--command: {error}")))?,
        None => check.command.clone(),
    };
    let target = match (&check.url, CommandLine::new(words)) {
        (Some(url), _) => Target::Url(self::url(url)?),
        (None, Some(command)) => Target::Command(command),
        (None, None) => return Err(Usage(format!("say which {kind}, as in `check {kind} -- CMD`")).into()),
    };
    let mut config = Config::new(kind, target);
    config.transport = check.transport.into();
    if let (Some(url), Transport::Stdio) = (&check.url, config.transport) {
        let is_websocket = url.starts_with("ws:") || url.starts_with("wss:");
        config.transport = if is_websocket { Transport::Ws } else { Transport::Http };
    }
    for path in &check.scripts {
        config.scripts.extend(ScriptFile::read_all(path).map_err(|error| Usage(error.to_string()))?);
    }
    if let Some(profile) = &check.profile {
        config.profile = self::profile(profile)?;
    }
    let headers = check.headers.read()?;
    config.headers = headers.into_iter().map(|Header { name, value }| (name, value)).collect();
    Ok(config)
}

/// The URL of the command line, if it has a scheme of one of the transports and a host.
fn url(text: &str) -> Result<String> {
    let url: Option<Uri> = text.parse().ok();
    let is_known = |url: Uri| {
        let scheme = url.scheme_str().is_some_and(|scheme| ["http", "https", "ws", "wss"].contains(&scheme));
        scheme && url.host().is_some_and(|host| !host.is_empty())
    };
    if url.as_ref().and_then(Uri::authority).is_some_and(|authority| authority.as_str().contains('@')) {
        let why = "--url: a user and a password are not sent; write --header 'Authorization: Basic …'";
        return Err(Usage(why.into()).into());
    }
    let has_tls =
        url.as_ref().and_then(Uri::scheme_str).is_some_and(|scheme| ["https", "wss"].contains(&scheme));
    if url.is_some_and(is_known) {
        if has_tls {
            check_certificates()?;
        }
        return Ok(text.to_owned());
    }
    Err(Usage(format!("--url: `{}` is not a URL of http, https, ws or wss", shown_url(text))).into())
}

/// A profile by its name or from a file.
fn profile(name: &str) -> Result<Profile> {
    if let Some(profile) = Profile::built_in(name) {
        return Ok(profile.map_err(|error| Usage(error.to_string()))?);
    }
    let known = || {
        format!("{name}: no such file, and the profiles that are built in are {}", Profile::NAMES.join(", "))
    };
    let text = read_regular_text(Path::new(name), FILE_LIMIT).map_err(|error| match error {
        ReadError::Io(why) if why.kind() == io::ErrorKind::NotFound => Usage(known()),
        why => Usage(format!("{name}: {why}")),
    })?;
    Ok(Profile::parse(&text).map_err(|error| Usage(format!("{name}: {error}")))?)
}

fn baseline(path: Option<&Path>) -> Result<Baseline> {
    let Some(path) = path else {
        return Ok(Baseline::default());
    };
    let named = |why: &dyn Display| Usage(format!("{}: {why}", path.display()));
    let text = read_regular_text(path, FILE_LIMIT).map_err(|why| named(&why))?;
    let read = if is_official(path) { Baseline::parse_official(&text) } else { Baseline::parse(&text) };
    Ok(read.map_err(|why| named(&why))?)
}

/// This program as a stand-in.
fn stand_in_command() -> Result<CommandLine> {
    let program = env::current_exe().context("this program's own path")?;
    let words = [program.to_string_lossy().into_owned(), "stand-in".into()];
    CommandLine::new(words).context("this program has a path")
}

fn print_coverage(json: bool) -> Result<()> {
    for coverage in coverage(&Registry::load()?) {
        if json {
            print_json(&coverage)?;
            continue;
        }
        let Coverage { protocol, requirements, testable, covered, covered_partly, missing, .. } = &coverage;
        text::print_line(&format!(
            "{protocol}: {covered} of {testable} testable requirements have a check ({:.1} %); \
             {covered_partly} of those that show only partly have one; {requirements} in all",
            coverage.percent()
        ))?;
        for (requirement, role) in missing {
            text::print_line(&format!("  {requirement} lacks a check of the {role}"))?;
        }
    }
    Ok(())
}
