//! The results as they are printed.

use std::io::Write as _;
use std::time::Instant;

use anyhow::Result;

/// Prints the counts. Exits with 1 when something failed, so nothing follows that line.
pub(super) fn finish(passed: usize, failed: usize) -> Result<()> {
    println!("{passed} passed, {failed} failed");
    std::io::stdout().flush()?;
    if failed > 0 {
        std::process::exit(1);
    }
    Ok(())
}

/// Prints one result in one piece, with the log if it is a failure; true when it is none.
pub(super) fn print(name: &str, started: Instant, outcome: &Result<()>, log: &str) -> bool {
    let seconds = started.elapsed().as_secs_f32();
    match outcome {
        Ok(()) => println!("ok    {name} ({seconds:.1} s)"),
        Err(error) => {
            let log: String = log.lines().map(|line| format!("\n      | {line}")).collect();
            println!("FAIL  {name} ({seconds:.1} s)\n      {error:#}{log}");
        }
    }
    outcome.is_ok()
}
