//! Encodes a connection's first 32 values separately, and later ones into a shared buffer. An idle connection releases the
//! buffer.

use agentwire_jsonrpc::{Encoder, RawJson};
use serde::Serialize;

/// How many values get their own memory before the shared buffer is used.
const FEW: u32 = 32;

/// Encodes the first few values each into its own memory, and later ones into a shared buffer.
///
/// The shared buffer makes many small values cheap, but a connection that sends few values does not need it.
#[derive(Debug, Default)]
pub(crate) struct EncodeBuffer {
    written: u32,
    encoder: Option<Encoder>,
}

impl EncodeBuffer {
    /// Counts a value, and returns whether it should go through [`encode`](Self::encode).
    #[inline]
    pub(crate) fn is_busy(&mut self) -> bool {
        self.written = self.written.saturating_add(1);
        self.written > FEW
    }

    #[inline]
    pub(crate) fn encode<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<RawJson, serde_json::Error> {
        self.encoder.get_or_insert_default().encode(value)
    }

    /// Releases the buffer while the connection is idle. Encoded values keep the memory that they are in.
    pub(crate) fn release(&mut self) {
        *self = Self::default();
    }
}
