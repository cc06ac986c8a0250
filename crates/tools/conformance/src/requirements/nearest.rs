//! The known name that a mistyped one is nearest to.

/// The known name with the fewest letters to insert, remove or replace.
pub(crate) fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    known.into_iter().min_by_key(|known| distance(name, known))
}

/// How many letters have to be inserted, removed or replaced (Levenshtein).
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.chars().enumerate() {
        let mut corner = row[0];
        row[0] = line + 1;
        for (at, known) in other.iter().enumerate() {
            let replaced = corner + usize::from(letter != *known);
            corner = row[at + 1];
            row[at + 1] = replaced.min(row[at] + 1).min(corner + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_differs_in_the_fewest_letters() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(nearest("permision", ["say", "permission", "progress"]), Some("permission"));
        assert_eq!(nearest("mcp/RPC-6", ["acp/RPC-06", "mcp/RPC-06", "mcp/PAG-04"]), Some("mcp/RPC-06"));
        assert_eq!(nearest("a", []), None);
    }
}
