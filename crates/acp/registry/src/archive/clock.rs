//! When unpacking ends early.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The time until which an archive is unpacked, and whether anybody waits for that.
#[derive(Clone)]
pub(super) struct Clock {
    deadline: Instant,
    is_cancelled: Arc<AtomicBool>,
}

impl Clock {
    pub(super) fn new(deadline: Instant) -> Self {
        Self { deadline, is_cancelled: Arc::default() }
    }

    /// Cancels the work when it is dropped.
    pub(super) fn guard(&self) -> Guard {
        Guard(self.is_cancelled.clone())
    }

    /// Fails when the time is over.
    pub(super) fn check(&self) -> io::Result<()> {
        if self.is_cancelled.load(Ordering::Relaxed) {
            return Err(io::Error::other("it was interrupted"));
        }
        match Instant::now() < self.deadline {
            true => Ok(()),
            false => Err(io::Error::other("unpacking takes too long")),
        }
    }
}

/// Stops the thread that unpacks when no task waits for it.
pub(super) struct Guard(Arc<AtomicBool>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A reader that fails when the time is over. A compressed stream may be long and hold nothing.
pub(super) struct Timed<R> {
    pub(super) bytes: R,
    pub(super) clock: Clock,
}

impl<R: Read> Read for Timed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.clock.check()?;
        self.bytes.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_without_content_ends_in_time() {
        let clock = Clock::new(Instant::now());
        // Empty gzip members: the decoder skips them without returning a byte.
        let member = [31, 139, 8, 0, 0, 0, 0, 0, 0, 255, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let bytes = io::Cursor::new(member.repeat(1000));
        let mut stream = flate2::read::MultiGzDecoder::new(Timed { bytes, clock });
        let error = stream.read(&mut [0; 10]).unwrap_err();
        assert_eq!(error.to_string(), "unpacking takes too long");
    }

    #[test]
    fn work_that_nothing_waits_for_ends() {
        let clock = Clock::new(Instant::now() + std::time::Duration::from_secs(100));
        let guard = clock.guard();
        clock.check().unwrap();
        drop(guard);
        assert_eq!(clock.check().unwrap_err().to_string(), "it was interrupted");
    }
}
