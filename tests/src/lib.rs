//! Tests of whole programs. They start programs and speak to them; nothing here links against what they are made of,
//! but for the README's own programs, which are compiled here.

mod recording;

pub use recording::Recording;

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
