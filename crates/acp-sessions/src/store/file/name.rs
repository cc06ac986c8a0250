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

/// The id whose [`stem`] this is, if it is one.
pub(super) fn session_id(stem_of_id: &str) -> Option<SessionId> {
    let name = stem_of_id.strip_prefix(PREFIX)?;
    let id = match name.strip_prefix(SPELLED) {
        None => name.to_owned(),
        Some(spelled) => {
            let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
            String::from_utf8(spelled.as_bytes().chunks(2).map(byte).collect::<Option<_>>()?).ok()?
        }
    };
    let id = SessionId::from(id);
    stem(&id).is_ok_and(|stem| stem == stem_of_id).then_some(id)
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
    /// There while a store has the session locked.
    Lock,
    /// Something damaged that was moved out of the way, counted from 1. Nothing reads it.
    Aside(u32),
}

impl Kind {
    const NAMED: [Self; 5] = [Self::Header, Self::Journal, Self::NewHeader, Self::Deleted, Self::Lock];

    /// The name of this file of the session with this stem.
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

    /// The stem and the kind of a file, if it is one that tells of a session.
    pub(super) fn parse(name: &str) -> Option<(&str, Self)> {
        if !name.starts_with(PREFIX) {
            return None;
        }
        Self::NAMED.into_iter().find_map(|kind| Some((name.strip_suffix(&kind.of(""))?, kind)))
    }
}
