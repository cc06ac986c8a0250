//! Lines from a program, found by their newlines alone.

use std::io::{self, Read};

use anyhow::Result;

/// The capacity of a pipe.
const CHUNK: usize = 64 * 1024;

/// Lines from a pipe.
pub(crate) struct Lines<R> {
    source: R,
    buffer: Vec<u8>,
    /// The beginning of the first unread line.
    start: usize,
    /// The end of the part that was searched for a newline.
    searched: usize,
    end: usize,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(source: R) -> Self {
        Self { source, buffer: vec![0; CHUNK], start: 0, searched: 0, end: 0 }
    }

    /// Reserves memory for a line of this many bytes before the measurement.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        self.buffer.resize(self.buffer.len().max(bytes), 0);
    }

    /// Waits for the next line and returns it without its newline.
    pub(crate) fn next(&mut self) -> io::Result<&[u8]> {
        loop {
            if let Some(found) = memchr::memchr(b'\n', &self.buffer[self.searched..self.end]) {
                let line = self.start..self.searched + found;
                self.start = line.end + 1;
                self.searched = self.start;
                return Ok(&self.buffer[line]);
            }
            self.fill()?;
        }
    }

    /// Waits for a line and passes the complete ones to `each`, at most `most`.
    pub(crate) fn batch(&mut self, most: usize, mut each: impl FnMut(&[u8])) -> io::Result<()> {
        loop {
            let begin = self.start;
            for newline in memchr::memchr_iter(b'\n', &self.buffer[begin..self.end]).take(most) {
                each(&self.buffer[self.start..begin + newline]);
                self.start = begin + newline + 1;
            }
            if self.start > begin {
                self.searched = self.start;
                return Ok(());
            }
            self.fill()?;
        }
    }

    /// Reads this many lines and returns the last of them.
    pub(crate) fn skip_to(&mut self, lines: u64) -> Result<&[u8]> {
        let mut seen = 0;
        loop {
            let fresh = &self.buffer[self.searched..self.end];
            let newlines = memchr::memchr_iter(b'\n', fresh).count() as u64;
            if seen + newlines >= lines {
                for _ in seen + 1..lines {
                    self.next()?;
                }
                return Ok(self.next()?);
            }
            seen += newlines;
            if let Some(last) = memchr::memrchr(b'\n', fresh) {
                self.start = self.searched + last + 1;
            }
            self.fill()?;
        }
    }

    /// Waits for some bytes without consuming them.
    pub(crate) fn wait(&mut self) -> io::Result<()> {
        if self.start == self.end { self.fill() } else { Ok(()) }
    }

    fn fill(&mut self) -> io::Result<()> {
        self.searched = self.end;
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.searched -= self.start;
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            self.buffer.resize(2 * self.end, 0);
        }
        match self.source.read(&mut self.buffer[self.end..])? {
            0 => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the program closed its output")),
            read => {
                self.end += read;
                Ok(())
            }
        }
    }
}
