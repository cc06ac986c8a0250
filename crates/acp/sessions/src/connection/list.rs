//! `session/list`: pages, and the cursors between them.

use std::path::PathBuf;

use agentwire_acp_agent::Error;

use crate::error::unreadable;
use crate::random::hex;
use crate::store::{ListQuery, Position, SessionHeader, SessionStore};

/// Returns one page, and the cursor of the next page, if there is one.
pub(crate) async fn page(
    store: &dyn SessionStore,
    cwd: Option<PathBuf>,
    cursor: Option<&str>,
    size: usize,
) -> Result<(Vec<SessionHeader>, Option<String>), Error> {
    let after = cursor.map(read_cursor).transpose()?;
    // One session more than the page has shows whether there is another page.
    let query = ListQuery::new().cwd(cwd).after(after).limit(size.saturating_add(1));
    let mut headers = store.list(&query).await.map_err(unreadable)?;
    let more = headers.len() > size;
    headers.truncate(size);
    let last = if more { headers.last().map(SessionHeader::position) } else { None };
    let next = last.map(|last| write_cursor(&last)).transpose()?;
    Ok((headers, next))
}

/// Encodes the position after which the next page begins, as an opaque text with a checksum.
fn write_cursor(position: &Position) -> Result<String, Error> {
    let text = serde_json::to_vec(position).map_err(Error::internal_error)?;
    let sum = sum(&text).to_be_bytes();
    Ok(hex(&[&sum[..], &text].concat()))
}

/// # Errors
///
/// When [`write_cursor`] did not write it.
fn read_cursor(cursor: &str) -> Result<Position, Error> {
    let invalid = || Error::invalid_params("the cursor is none that this agent gave");
    let bytes = unhex(cursor).ok_or_else(invalid)?;
    let (checked, text) = bytes.split_first_chunk().ok_or_else(invalid)?;
    if sum(text).to_be_bytes() != *checked {
        return Err(invalid());
    }
    agentwire_jsonrpc::read_bytes(text).map_err(|_| invalid())
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let pair = |pair: &[u8]| {
        let [high, low] = pair else { return None };
        let digit = |digit: u8| char::from(digit).to_digit(16);
        u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()
    };
    text.as_bytes().chunks(2).map(pair).collect()
}

/// FNV-1a: enough to detect a text that is not a cursor. A cursor is not a secret and grants nothing.
fn sum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Timestamp;

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_nothing_else_is_one() {
        let position = Position::new(Timestamp::from_millis(1_785_229_500_250), "sess-é\"");
        let cursor = write_cursor(&position).unwrap();
        assert_eq!(read_cursor(&cursor).unwrap(), position);
        for at in 0..cursor.len() {
            let other = if &cursor[at..=at] == "0" { "1" } else { "0" };
            let spoiled = format!("{}{other}{}", &cursor[..at], &cursor[at + 1..]);
            assert_eq!(read_cursor(&spoiled).unwrap_err().code, -32602, "{spoiled}");
        }
        for none in ["", "x", "é", "0", "00000000", &cursor[..cursor.len() - 2]] {
            assert!(read_cursor(none).is_err(), "{none}");
        }
    }
}
