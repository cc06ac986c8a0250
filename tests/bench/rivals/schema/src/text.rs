//! Filler text for messages: of a given length, the same in every run, with a realistic share of escaped characters.

const PROSE: &str = "The parser keeps a cursor into the line buffer, so a partial read no longer loses the tail. I moved \
    the check for \"content-length\" in front of the loop and added a test for it.\n\nNext I will look at the writer. ";

const SOURCE_CODE: &str = "    pub fn take_line(&mut self) -> Option<Bytes> {\n        let end = memchr(b'\\n', \
    &self.buffer[self.seen..])?;\n        // The separator is not part of the line.\n        let line = \
    self.buffer.split_to(self.seen + end);\n        self.seen = 0;\n        tracing::trace!(\"line of {} bytes\", \
    line.len());\n        Some(line.freeze())\n    }\n\n";

/// About this many bytes of English.
pub fn prose(length: usize) -> String {
    repeated(PROSE, length)
}

/// About this many bytes of source code.
pub fn source_code(length: usize) -> String {
    repeated(SOURCE_CODE, length)
}

fn repeated(text: &str, length: usize) -> String {
    text.chars().cycle().take(length).collect()
}
