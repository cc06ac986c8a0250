//! Runs the fuzz target `http2` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| agentwire_fuzz_targets::target("http2")
    .expect("it is listed")
    .run(bytes));
