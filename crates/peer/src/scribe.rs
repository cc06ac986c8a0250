use agentwire_jsonrpc::{Encoder, RawJson};
use serde::Serialize;

/// How many values are written one by one before memory is taken for many.
const FEW: u32 = 32;

/// Writes values: the first few each into memory of its own, those of a busy connection into memory that they share.
///
/// Shared memory is what makes many small values fast, and what a connection that says one thing, or nothing for
/// hours, would hold in vain.
#[derive(Debug, Default)]
pub(crate) struct Scribe {
    written: u32,
    encoder: Option<Encoder>,
}

impl Scribe {
    /// Whether to write through [`encode`](Self::encode) by now.
    #[inline]
    pub(crate) fn is_busy(&mut self) -> bool {
        self.written = self.written.saturating_add(1);
        self.written > FEW
    }

    #[inline]
    pub(crate) fn encode<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<RawJson, serde_json::Error> {
        self.encoder.get_or_insert_default().encode(value)
    }

    /// Nobody says anything for now. What has been written keeps the memory that it is in.
    pub(crate) fn rest(&mut self) {
        *self = Self::default();
    }
}
