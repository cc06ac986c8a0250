//! Runs a target on mutations of its corpus, on stable Rust: `fuzz TARGET [--seconds N] [--seed N]`. An input that makes
//! it panic is written to `target/fuzz` and named.
#![allow(clippy::print_stdout, reason = "a command's result is what it prints")]

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use agentwire_fuzz_targets::mutate::Mutator;
use agentwire_fuzz_targets::{TARGETS, Target, target};
use anyhow::{Context, Result, bail};
use lexopt::prelude::*;

fn main() -> Result<()> {
    let (mut name, mut seconds, mut seed) = (None, 5, 1);
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Value(value) if name.is_none() => name = Some(value.string()?),
            Long("seconds") => seconds = arguments.value()?.parse()?,
            Long("seed") => seed = arguments.value()?.parse()?,
            other => return Err(other.unexpected().into()),
        }
    }
    let one = name.as_deref().map(|name| {
        let names = || TARGETS.iter().map(|target| target.name).collect::<Vec<_>>().join(", ");
        target(name).with_context(|| format!("there is no target `{name}`; there are {}", names()))
    });
    match one {
        Some(target) => fuzz(target?, Duration::from_secs(seconds), seed),
        None => TARGETS.iter().try_for_each(|target| fuzz(target, Duration::from_secs(seconds), seed)),
    }
}

fn fuzz(target: &Target, time: Duration, seed: u64) -> Result<()> {
    let corpus = target.corpus().context("the corpus cannot be read")?;
    let mut mutator = Mutator::new(seed);
    let begun = Instant::now();
    let mut inputs = 0_u64;
    while begun.elapsed() < time {
        let input = mutator.next(&corpus, target.words);
        inputs += 1;
        if catch_unwind(AssertUnwindSafe(|| target.run(&input))).is_err() {
            let path = Path::new("target/fuzz").join(format!("{}-{seed}-{inputs}", target.name));
            fs::create_dir_all("target/fuzz")?;
            fs::write(&path, &input)?;
            bail!("`{}` panics on its input {inputs} from the seed {seed}: {}", target.name, path.display());
        }
    }
    let speed = inputs as f64 / begun.elapsed().as_secs_f64();
    println!("{:<10} {inputs} inputs, {speed:.0} a second", target.name);
    Ok(())
}
