//! The names of a session's files.

use agentwire_acp_schema::v1::SessionId;

use crate::StoreError;

/// The beginning of each name. It also avoids the names of devices on Windows.
const PREFIX: &str = "session-";

/// Marks an id in hexadecimal. It occurs in no plain id.
const HEX_MARK: char = '=';

/// The longest id, in bytes. File systems limit names to 255 bytes.
const ID_LIMIT: usize = 100;

/// Returns the beginning of the names of a session's files. It is unique for each id, even on file systems that ignore case,
/// and never a path.
///
/// An id of lower-case letters, digits, `-` and `_` is used as it is; any other is encoded in hexadecimal.
///
/// # Errors
///
/// When the id is too long.
pub(super) fn stem(session_id: &SessionId) -> Result<String, StoreError> {
    let id = session_id.as_str();
    if id.len() > ID_LIMIT {
        return Err(StoreError::Id { session_id: session_id.clone(), reason: "it is longer than 100 bytes" });
    }
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    let mut stem = String::from(PREFIX);
    if !id.is_empty() && id.bytes().all(plain) {
        stem.push_str(id);
    } else {
        stem.push(HEX_MARK);
        for byte in id.bytes() {
            stem.push_str(&format!("{byte:02x}"));
        }
    }
    Ok(stem)
}

/// Returns the id whose [`stem`] this is, or `None` if it is not a stem.
pub(super) fn session_id(stem_of_id: &str) -> Option<SessionId> {
    let name = stem_of_id.strip_prefix(PREFIX)?;
    let id = match name.strip_prefix(HEX_MARK) {
        None => name.to_owned(),
        Some(digits) => {
            let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
            String::from_utf8(digits.as_bytes().chunks(2).map(byte).collect::<Option<_>>()?).ok()?
        }
    };
    let id = SessionId::from(id);
    stem(&id).is_ok_and(|stem| stem == stem_of_id).then_some(id)
}

/// The kinds of files of a session. Each has its own suffix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum FileKind {
    /// The header. A session exists exactly when its header does.
    Header,
    /// The journal.
    Journal,
    /// A new header, before it replaces the old one.
    NewHeader,
    /// The header of a session that is being deleted.
    Deleted,
    /// Exists while a store has the session locked.
    Lock,
    /// Damaged data, numbered from 1. Nothing reads it.
    Aside(u32),
}

impl FileKind {
    const NAMED: [Self; 5] = [Self::Header, Self::Journal, Self::NewHeader, Self::Deleted, Self::Lock];

    /// Returns the name of this file of the session with this stem.
    pub(super) fn of(self, stem: &str) -> String {
        match self {
            Self::Header => format!("{stem}.header"),
            Self::Journal => format!("{stem}.journal"),
            Self::NewHeader => format!("{stem}.new"),
            Self::Deleted => format!("{stem}.deleted"),
            Self::Lock => format!("{stem}.lock"),
            Self::Aside(number) => format!("{stem}.aside-{number}"),
        }
    }

    /// Returns the stem and the kind of a file, or `None` if it shows no session.
    pub(super) fn parse(name: &str) -> Option<(&str, Self)> {
        if !name.starts_with(PREFIX) {
            return None;
        }
        Self::NAMED.into_iter().find_map(|kind| Some((name.strip_suffix(&kind.of(""))?, kind)))
    }
}
