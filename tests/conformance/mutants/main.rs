//! The suite before wrong programs: each check has to catch the mutants of its requirement, which are made of a conformant program.
//!
//! `suite-mutants SUBJECT TRANSPORT AGENTWIRE PROGRAM [ARGUMENT]...`, where `AGENTWIRE` is the command, which stands in for parties. The
//! variable `AGENTWIRE_MUTANTS` limits the run to requirements, as in `mcp/RPC-06,mcp/RPC-07`.

use std::num::NonZeroUsize;
use std::time::Instant;

use agentwire_conformance::{CommandLine, Config, Profile, SubjectKind, SuiteError, Target};
use anyhow::{Context as _, Result, ensure};

/// How many checks run at a time. They mostly wait.
const JOBS: NonZeroUsize = NonZeroUsize::new(8).expect("not zero");

#[tokio::main(flavor = "current_thread")]
#[allow(clippy::print_stdout, reason = "the results are what it is for")]
async fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let mut next = |what: &str| words.next().with_context(|| format!("the {what} is missing"));
    let (subject, transport, agentwire) = (next("subject")?, next("transport")?, next("command")?);
    let kind = SubjectKind::ALL.iter().find(|kind| kind.as_str() == subject).context("unknown subject")?;
    let program = CommandLine::new(words).context("the program is missing")?;
    let mut config = Config::new(*kind, Target::Command(program));
    config.transport = transport.parse()?;
    config.profile = Profile::built_in("everything").context("unknown profile")??;
    config.call_any = true;
    config.jobs = JOBS;
    config.stand_in = CommandLine::new([agentwire, "stand-in".into()]);
    if let Ok(only) = std::env::var("AGENTWIRE_MUTANTS") {
        config.only = only.split(',').map(str::to_owned).collect();
    }
    let begun = Instant::now();
    let results = match config.run_mutants().await {
        // A requirement of another party, or of another transport.
        Err(why @ SuiteError::NoCheck { .. }) => {
            println!("nothing was run: {why}");
            return Ok(());
        }
        results => results?,
    };
    ensure!(!results.is_empty(), "there are no mutants");
    let missed: Vec<_> = results.iter().filter(|result| !result.is_caught()).collect();
    for result in &missed {
        println!(
            "missed by {}: {} {}: {}: {:?}",
            result.check, result.requirement, result.revision, result.mutant, result.verdict
        );
    }
    let caught = results.len() - missed.len();
    println!("{caught} of {} were caught in {:.1} s", results.len(), begun.elapsed().as_secs_f64());
    ensure!(missed.is_empty(), "{} mutants were missed", missed.len());
    Ok(())
}
