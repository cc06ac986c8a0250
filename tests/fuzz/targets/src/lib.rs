//! The fuzz targets. A [`Target`] is a function of bytes that must return for any input; its assertions are the
//! properties that hold for any bytes. Three things call it: libFuzzer (`tests/fuzz/fuzz_targets`), the program of this
//! package, which mutates the kept corpora on stable Rust, and the tests of this package, which run the kept corpora.
//!
//! ```
//! agentwire_fuzz_targets::target("sse").expect("there is such a target").run(b"data: {}\n\n");
//! ```

mod header;
mod journal;
mod json;
mod lines;
pub mod mutate;
mod pieces;
mod registry;
mod socket;
mod sse;
mod template;

use std::fs;
use std::path::{Path, PathBuf};

/// Something to fuzz.
#[derive(Debug)]
#[non_exhaustive]
pub struct Target {
    /// Its name, and that of its corpus.
    pub name: &'static str,
    run: fn(&[u8]),
    /// Words that mean something to it, for mutations.
    pub words: &'static [&'static [u8]],
}

/// All that is fuzzed.
pub const TARGETS: &[Target] = &[
    Target { name: "frame", run: json::frame, words: json::WORDS },
    Target { name: "members", run: json::members, words: json::WORDS },
    Target {
        name: "lines",
        run: lines::run,
        words: &[b"\n", b"\r\n", b"\xEF\xBB\xBF", b"{}", b"\xF0\x9F\xA6\x80"],
    },
    Target { name: "sse", run: sse::run, words: sse::WORDS },
    Target { name: "header", run: header::run, words: header::WORDS },
    Target { name: "template", run: template::run, words: template::WORDS },
    Target { name: "journal", run: journal::run, words: &[b"\n", b"00000002 ", b" {}\n", b"null"] },
    Target { name: "index", run: registry::index, words: registry::INDEX_WORDS },
    Target { name: "archive", run: registry::archive, words: registry::ARCHIVE_WORDS },
    Target { name: "http1", run: socket::http1, words: socket::WORDS },
    Target { name: "http2", run: socket::http2, words: socket::WORDS },
];

impl Target {
    /// Runs it on these bytes.
    ///
    /// # Panics
    ///
    /// When a property does not hold.
    pub fn run(&self, bytes: &[u8]) {
        (self.run)(bytes);
    }

    /// Where its kept inputs are.
    pub fn corpus_folder(&self) -> PathBuf {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../corpus")).join(self.name)
    }

    /// Its kept inputs with the names of their files, in the order of these.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    pub fn corpus(&self) -> std::io::Result<Vec<(String, Vec<u8>)>> {
        let mut inputs = Vec::new();
        for entry in fs::read_dir(self.corpus_folder())? {
            let entry = entry?;
            inputs.push((entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path())?));
        }
        inputs.sort();
        Ok(inputs)
    }
}

/// The target of this name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
