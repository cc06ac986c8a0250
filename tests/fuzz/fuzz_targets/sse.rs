//! Runs the fuzz target `sse` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| agentwire_fuzz_targets::target("sse")
    .expect("it is listed")
    .run(bytes));
