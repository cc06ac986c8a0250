//! Names of the user and of the machine in paths.

/// Who and where we are, as paths show it.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// Paths that become `«home»`.
    pub(super) homes: Vec<String>,
    /// Names that become `«user»`.
    pub(super) users: Vec<String>,
    /// Names that become `«host»`.
    pub(super) hosts: Vec<String>,
}

/// The shortest name that is looked for, in bytes.
const SHORTEST_NAME: usize = 3;

impl Names {
    /// Adds the home folder. `/` is none.
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

    /// The text with masks in the places of these. None if it has none.
    pub(super) fn replace(&self, text: &str) -> Option<String> {
        let mut replaced: Option<String> = None;
        let homes = self.homes.iter().map(|home| (home, "«home»", true));
        let users = self.users.iter().map(|user| (user, "«user»", false));
        let hosts = self.hosts.iter().map(|host| (host, "«host»", false));
        for (name, mask, is_home) in homes.chain(users).chain(hosts) {
            let current = replaced.as_deref().unwrap_or(text);
            if let Some(new) = replace_whole(current, name, mask, is_home) {
                replaced = Some(new);
            }
        }
        replaced
    }
}

/// Replaces a name where it is a whole part of a path. A home folder may begin anywhere; another name begins after `/`, `\` or `@`.
fn replace_whole(text: &str, name: &str, mask: &str, is_home: bool) -> Option<String> {
    let mut out = String::new();
    let mut start = 0;
    for (at, _) in text.match_indices(name) {
        if at < start {
            continue;
        }
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        let begins = match before {
            None => is_home,
            Some(before) if is_home => !(before.is_alphanumeric() || matches!(before, '_' | '-' | '.')),
            Some(before) => matches!(before, '/' | '\\' | '@'),
        };
        let ends = after.is_none_or(|after| !(after.is_alphanumeric() || matches!(after, '_' | '-')));
        if begins && ends {
            out.push_str(&text[start..at]);
            out.push_str(mask);
            start = at + name.len();
        }
    }
    (start > 0).then(|| out + &text[start..])
}
