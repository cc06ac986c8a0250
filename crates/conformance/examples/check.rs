//! The smallest front end of the suite: judges one program and prints a line for each check.
//!
//! ```text
//! check KIND [--transport T] [--revision R]... [--profile FILE] [--only ID]... [--jobs N] [--mutants] (--url URL | -- CMD…)
//! ```
//!
//! `KIND` is acp-agent, acp-client, mcp-server or mcp-client.

use std::error::Error;
use std::num::NonZeroUsize;

use agentwire_conformance::{
    CheckResult, CommandLine, Config, Profile, Progress, SubjectKind, Target, Verdict, coverage, run_stand_in,
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let kind = arguments.next().ok_or("check KIND … -- CMD")?;
    if kind == "stand-in" {
        let [address, token] = [arguments.next(), arguments.next()].map(Option::unwrap_or_default);
        return Ok(run_stand_in(&address, &token).await?);
    }
    if kind == "coverage" {
        for coverage in coverage(&agentwire_conformance::Registry::load()?) {
            println!("{coverage:#?}\n{:.1} %", coverage.percent());
        }
        return Ok(());
    }
    let kind = SubjectKind::ALL.iter().copied().find(|known| known.as_str() == kind).ok_or("no such kind")?;
    let stand_in =
        CommandLine::new([std::env::current_exe()?.to_string_lossy().into_owned(), "stand-in".into()]);
    let mut config = Config::new(kind, Target::Url(String::new()));
    config.stand_in = stand_in;
    let (mut mutants, mut revisions) = (false, Vec::new());
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--transport" => config.transport = value()?.parse()?,
            "--revision" => revisions.push(value()?.parse()?),
            "--profile" => config.profile = Profile::parse(&std::fs::read_to_string(value()?)?)?,
            "--only" => config.only.push(value()?),
            "--jobs" => config.jobs = value()?.parse::<NonZeroUsize>()?,
            "--url" => config.target = Target::Url(value()?),
            "--mutants" => mutants = true,
            "--" => {
                config.target = Target::Command(CommandLine::new(arguments.by_ref()).ok_or("-- CMD")?);
            }
            other => return Err(format!("unknown argument {other}").into()),
        }
    }
    if !revisions.is_empty() {
        config.revisions = revisions;
    }
    if mutants {
        let results = config.run_mutants().await?;
        for result in &results {
            let word = if result.is_caught() { "caught" } else { "MISSED" };
            println!("{word} {} {} {}: {}", result.revision, result.requirement, result.check, result.mutant);
            if !result.is_caught() {
                println!("    {:?}", result.verdict);
            }
        }
        println!(
            "{} of {} caught",
            results.iter().filter(|result| result.is_caught()).count(),
            results.len()
        );
        return Ok(());
    }
    let report = config.run(&Lines).await?;
    let count =
        |word: &str| report.results.iter().filter(|result| self::word(&result.verdict) == word).count();
    println!(
        "{} passed, {} failed, {} not applicable, {} inconclusive",
        count("pass"),
        count("FAIL"),
        count("n/a"),
        count("?")
    );
    Ok(())
}

struct Lines;

impl Progress for Lines {
    fn finished(&self, result: &CheckResult) {
        let word = word(&result.verdict);
        println!(
            "{word:4} {} {} {} ({}, {} ms)",
            result.revision,
            result.requirement,
            result.check,
            result.level,
            result.time.as_millis()
        );
        match &result.verdict {
            Verdict::Pass => {}
            Verdict::Fail(failure) => {
                println!("    expected {}\n    seen {}", failure.expected, failure.seen);
                for event in &result.trace {
                    let text = String::from_utf8_lossy(&event.bytes);
                    println!("    {:?} {:?} {:?} {}", event.at, event.from, event.what, text.escape_debug());
                }
            }
            other => println!("    {other:?}"),
        }
    }
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Fail(_) => "FAIL",
        Verdict::NotApplicable { .. } => "n/a",
        _ => "?",
    }
}
