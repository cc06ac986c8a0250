//! Runs the fuzz target `template` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| agentwire_fuzz_targets::target("template")
    .expect("it is listed")
    .run(bytes));
