use crate::Dialect;

/// What a [`Connection`](crate::Connection) is told at the start.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// How the protocol spells things.
    pub dialect: Dialect,
    /// How many requests of the peer's may wait for their answer (default 1024). One more is refused with an
    /// error that names the limit. An answer that waits in a batch for its siblings still counts.
    pub request_limit: usize,
    /// How many bytes may wait to be sent before whoever says more must wait (default 64 KiB).
    pub high_water: usize,
    /// How many bytes may wait to be sent before no more answers are [taken](crate::Connection::takes_answers), and
    /// before nothing more is read while as many requests as may be wait for their answer (default 1 MiB). Until then
    /// requests over the limit are refused: two peers that are both at their limits and both stopped reading would wait
    /// for each other for ever.
    pub backlog_limit: usize,
    /// How many bytes the answers may have that wait in batches for their siblings (default 16 MiB). An answer that would
    /// make it more becomes an error that names the limit: it cannot wait for room, since the others wait for it.
    pub batch_answers_limit: usize,
}

impl Config {
    /// The defaults for a dialect.
    pub fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            request_limit: 1024,
            high_water: 64 << 10,
            backlog_limit: 1 << 20,
            batch_answers_limit: 16 << 20,
        }
    }

    /// Lets so many requests of the peer's wait for their answer.
    #[must_use]
    pub fn request_limit(mut self, requests: usize) -> Self {
        self.request_limit = requests;
        self
    }

    /// Lets so many bytes wait to be sent.
    #[must_use]
    pub fn high_water(mut self, bytes: usize) -> Self {
        self.high_water = bytes;
        self
    }

    /// Lets so many bytes wait to be sent before no more answers are taken and nothing more is read.
    #[must_use]
    pub fn backlog_limit(mut self, bytes: usize) -> Self {
        self.backlog_limit = bytes;
        self
    }

    /// Lets so many bytes of answers wait in batches.
    #[must_use]
    pub fn batch_answers_limit(mut self, bytes: usize) -> Self {
        self.batch_answers_limit = bytes;
        self
    }
}
