//! Tests of recordings in files.

#[cfg(feature = "http")]
mod proxy;
mod recorder;
