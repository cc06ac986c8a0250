//! Runs the fuzz target `members` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| agentwire_fuzz_targets::target("members")
    .expect("it is listed")
    .run(bytes));
