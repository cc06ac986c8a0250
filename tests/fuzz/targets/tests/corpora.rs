//! Each target on its kept inputs, and on some mutations of them that are the same each time.
#![allow(clippy::print_stdout, reason = "it is shown where a test fails, and names the input")]

use agentwire_fuzz_targets::TARGETS;
use agentwire_fuzz_targets::mutate::{MOST, Mutator};

#[test]
fn every_kept_input_runs() {
    for target in TARGETS {
        let corpus = target.corpus().expect("each target has a corpus");
        assert!(corpus.len() >= 10, "{} has {} inputs", target.name, corpus.len());
        for (name, bytes) in &corpus {
            assert!(bytes.len() <= MOST, "{}/{name} is long", target.name);
            println!("{}/{name}", target.name);
            target.run(bytes);
        }
    }
}

#[test]
fn mutations_from_a_seed_run() {
    for target in TARGETS {
        let corpus = target.corpus().expect("each target has a corpus");
        let mut mutator = Mutator::new(12);
        for number in 0..200 {
            let input = mutator.next(&corpus, target.words);
            println!("{} {number}: {}", target.name, input.escape_ascii());
            target.run(&input);
        }
    }
}
