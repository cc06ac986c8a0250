//! Tests of recordings in files.

mod recorder;
