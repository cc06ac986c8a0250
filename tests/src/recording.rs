//! Records the lines that two programs of a test exchange, in a file that the test checks afterwards.

use std::env;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// The lines of a pipe between two programs, in a file, for the test to check when they have ended.
///
/// The file is called `PROTOCOL.OURS.PROCESS`; each of its lines is `client` or `server`, a space, and the line as it
/// was sent. A request precedes its answer.
#[derive(Debug)]
pub struct Recording(Option<File>);

impl Recording {
    /// The variable with the folder where recordings belong. Without it nothing is recorded.
    pub const FOLDER: &str = "AGENTWIRE_TEST_RECORDINGS";

    /// Begins a recording of the protocol `acp` or `mcp`, in which `client`, `server` or `both` are programs under test.
    pub fn begin(protocol: &str, ours: &str) -> Self {
        Self(env::var_os(Self::FOLDER).map(|folder| {
            let path = Path::new(&folder).join(format!("{protocol}.{ours}.{}", std::process::id()));
            File::options().create(true).append(true).open(path).expect("the test made the folder")
        }))
    }

    /// Adds a line of one side, without its line end. Must be called before the other side can answer.
    pub fn add(&self, from: &str, line: &[u8]) {
        if let Some(mut file) = self.0.as_ref() {
            // At once: two threads may do so, and we may be killed.
            let line = [from.as_bytes(), b" ", line, b"\n"].concat();
            file.write_all(&line).expect("there is room");
        }
    }
}
