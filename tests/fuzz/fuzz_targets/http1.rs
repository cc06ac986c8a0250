//! Runs the fuzz target `http1` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| agentwire_fuzz_targets::target("http1")
    .expect("it is listed")
    .run(bytes));
