//! The output of released terminals, which views can still show.

use std::collections::VecDeque;

use agentwire_acp_schema::v1::{TerminalId, TerminalOutputResponse};

use super::output::last_bytes;

/// The output of released terminals. The oldest is dropped over the limit.
#[derive(Debug)]
pub(super) struct ReleasedOutputs {
    kept: VecDeque<ReleasedOutput>,
    limit: usize,
}

#[derive(Debug)]
struct ReleasedOutput {
    id: TerminalId,
    output: TerminalOutputResponse,
    /// The position of its end.
    end: u64,
}

/// The memory of an entry beside its text, in bytes.
const ENTRY_OVERHEAD: usize = 256;

impl ReleasedOutputs {
    pub(super) fn new(limit: usize) -> Self {
        Self { kept: VecDeque::new(), limit }
    }

    /// Keeps the last part of a terminal's output with the position of its end. Replaces earlier output of the terminal.
    pub(super) fn keep(&mut self, id: &TerminalId, (mut output, end): (TerminalOutputResponse, u64)) {
        self.kept.retain(|released| released.id != *id);
        let limit = self.limit.saturating_sub(ENTRY_OVERHEAD);
        let start = output.output.len() - last_bytes(&output.output, limit).len();
        if start > 0 {
            output.output.drain(..start);
            output.truncated = true;
        }
        output.output.shrink_to_fit();
        self.kept.push_back(ReleasedOutput { id: id.clone(), output, end });
        let mut size: usize =
            self.kept.iter().map(|released| released.output.output.len() + ENTRY_OVERHEAD).sum();
        while size > self.limit
            && let Some(oldest) = self.kept.pop_front()
        {
            size -= oldest.output.output.len() + ENTRY_OVERHEAD;
        }
    }

    /// Returns the output of a terminal, and the position of its end.
    pub(super) fn output(&self, id: &TerminalId) -> Option<(&TerminalOutputResponse, u64)> {
        let released = self.kept.iter().find(|released| released.id == *id)?;
        Some((&released.output, released.end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oldest_output_is_dropped_and_large_output_is_cut_at_the_front() {
        let mut released = ReleasedOutputs::new(2 * ENTRY_OVERHEAD + 10);
        let keep = |released: &mut ReleasedOutputs, id: &str, text: &str| {
            released.keep(&id.into(), (TerminalOutputResponse::new(text), text.len() as u64));
        };
        let kept = |released: &ReleasedOutputs, id: &str| {
            released.output(&id.into()).map(|(output, _)| (output.output.clone(), output.truncated))
        };
        keep(&mut released, "1", "before");
        keep(&mut released, "1", "12345");
        keep(&mut released, "2", "67890");
        assert_eq!(kept(&released, "1"), Some(("12345".into(), false)));
        keep(&mut released, "3", "x");
        assert_eq!((kept(&released, "1"), kept(&released, "2").is_some()), (None, true));
        keep(&mut released, "4", &"ä".repeat(ENTRY_OVERHEAD));
        let length = (ENTRY_OVERHEAD + 10) / 2;
        assert_eq!(kept(&released, "4"), Some(("ä".repeat(length), true)));
        assert_eq!(released.kept.len(), 1);
    }
}
