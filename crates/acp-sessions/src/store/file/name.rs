//! What the files of a session are called.

use agentwire_acp_schema::v1::SessionId;

use crate::StoreError;

/// What a name begins with. It also keeps clear of the names that mean devices on Windows.
const PREFIX: &str = "session-";

/// Marks an id that is spelled in hexadecimal, as it does not occur in others.
const SPELLED: char = '=';

/// How long an id may be, in bytes, so that no name is longer than file systems take.
const LONGEST: usize = 100;

/// What the names of a session's files begin with: different for every id, also where upper and lower case are the
/// same, and never a path.
///
/// An id of lower-case letters, digits, `-` and `_` stands as it is; any other is spelled byte by byte in
/// hexadecimal.
///
/// # Errors
///
/// When the id is too long.
pub(super) fn stem(session_id: &SessionId) -> Result<String, StoreError> {
    let id = session_id.as_str();
    if id.len() > LONGEST {
        return Err(StoreError::Id { session_id: session_id.clone(), reason: "it is longer than 100 bytes" });
    }
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    let mut stem = String::from(PREFIX);
    if !id.is_empty() && id.bytes().all(plain) {
        stem.push_str(id);
    } else {
        stem.push(SPELLED);
        for byte in id.bytes() {
            stem.push_str(&format!("{byte:02x}"));
        }
    }
    Ok(stem)
}

/// The files of a session, by the ends of their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// Its header. A session is there when its header is.
    Header,
    /// Its records.
    Journal,
    /// A header on its way to becoming one.
    NewHeader,
    /// The header of a session that is being deleted.
    Deleted,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Header, Self::Journal, Self::NewHeader, Self::Deleted];

    fn ending(self) -> &'static str {
        match self {
            Self::Header => ".header",
            Self::Journal => ".journal",
            Self::NewHeader => ".new",
            Self::Deleted => ".deleted",
        }
    }

    /// The name of this file of the session with this stem.
    pub(super) fn of(self, stem: &str) -> String {
        format!("{stem}{}", self.ending())
    }

    /// The stem and the kind of a file, if it is one of ours.
    pub(super) fn parse(name: &str) -> Option<(&str, Self)> {
        if !name.starts_with(PREFIX) {
            return None;
        }
        Self::ALL.into_iter().find_map(|kind| Some((name.strip_suffix(kind.ending())?, kind)))
    }
}
