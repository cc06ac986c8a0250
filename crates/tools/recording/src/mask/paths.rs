//! Finds the names of the user and of the machine in paths.

use std::ops::Range;

use super::spans::{Mask, Span};

/// The home folders, users and hosts that are masked in paths.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// Paths that become `«home»`.
    pub(super) homes: Vec<String>,
    /// Names that become `«user»`.
    pub(super) users: Vec<String>,
    /// Names that become `«host»`.
    pub(super) hosts: Vec<String>,
}

/// The shortest name that is masked, in bytes.
const SHORTEST_NAME: usize = 3;

impl Names {
    /// Adds a home folder, unless it is `/`.
    pub(super) fn add_home(&mut self, path: &str) {
        let path = path.trim_end_matches(['/', '\\']);
        if path.len() >= SHORTEST_NAME {
            self.homes.push(path.to_owned());
        }
    }

    /// Adds a name to a list.
    pub(super) fn add(list: &mut Vec<String>, name: &str) {
        if name.len() >= SHORTEST_NAME && !matches!(name, "root" | "localhost") {
            list.push(name.to_owned());
        }
    }

    /// The places of the names in a text.
    pub(super) fn spans(&self, text: &str) -> Vec<Span> {
        let homes = self.homes.iter().map(|home| (home, "«home»", true));
        let users = self.users.iter().map(|user| (user, "«user»", false));
        let hosts = self.hosts.iter().map(|host| (host, "«host»", false));
        let names = homes.chain(users).chain(hosts);
        let spans = names.flat_map(|(name, mask, is_home)| {
            let places = text.match_indices(name.as_str()).map(|(at, _)| at..at + name.len());
            places
                .filter(move |range| is_whole(text, range, is_home))
                .map(move |range| Span { range, mask: Mask::Text(mask.to_owned()) })
        });
        spans.collect()
    }
}

/// Whether a name is a whole part of a path. A home folder may begin anywhere; another name begins after `/`, `\` or `@`.
fn is_whole(text: &str, range: &Range<usize>, is_home: bool) -> bool {
    let before = text[..range.start].chars().next_back();
    let after = text[range.end..].chars().next();
    let begins = match before {
        None => is_home,
        Some(before) if is_home => !(before.is_alphanumeric() || matches!(before, '_' | '-' | '.')),
        Some(before) => matches!(before, '/' | '\\' | '@'),
    };
    begins && after.is_none_or(|after| !(after.is_alphanumeric() || matches!(after, '_' | '-')))
}
