//! Finds the intended name, for errors about unknown names.

use crate::Printable;

/// The longest names that are compared, in characters.
const LENGTH_LIMIT: usize = 64;

/// The most names that are compared.
const COUNT_LIMIT: usize = 1000;

/// Returns the name that is nearest to a mistaken one. They may differ by one edit for every three characters. It
/// compares up to 1,000 names of up to 64 characters.
pub fn nearest<'a>(mistaken: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let characters =
        |name: &str| name.chars().flat_map(char::to_lowercase).take(LENGTH_LIMIT + 1).collect::<Vec<_>>();
    let mistaken = characters(mistaken);
    if mistaken.is_empty() || mistaken.len() > LENGTH_LIMIT {
        return None;
    }
    let limit = (mistaken.len() / 3).max(1);
    let distances = names.into_iter().take(COUNT_LIMIT).filter_map(|name| {
        let characters = characters(name);
        let distance = match characters.len() {
            0 => return None,
            length if length > LENGTH_LIMIT => return None,
            _ if characters == mistaken => 0,
            // A name that contains the other counts as one edit away.
            _ if is_part(&mistaken, &characters) || is_part(&characters, &mistaken) => 1,
            length if length.abs_diff(mistaken.len()) > limit => return None,
            _ => distance(&mistaken, &characters),
        };
        // A name of one letter would be replaced as a whole.
        (distance <= limit && distance < mistaken.len()).then_some((distance, name))
    });
    distances.min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// Returns the question that follows an error about an unknown name. It is empty if no name is near.
///
/// ```
/// use agentwire_jsonrpc::did_you_mean;
///
/// assert_eq!(did_you_mean("ecko", ["echo", "add"]), "; did you mean `echo`?");
/// assert_eq!(did_you_mean("multiply", ["echo", "add"]), "");
/// ```
pub fn did_you_mean<'a>(mistaken: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let question = |name| format!("; did you mean `{}`?", Printable::one_line(name));
    nearest(mistaken, names).map(question).unwrap_or_default()
}

/// Whether `part`, of at least three characters, occurs in `whole`.
fn is_part(part: &[char], whole: &[char]) -> bool {
    part.len() >= 3 && whole.windows(part.len()).any(|window| window == part)
}

/// How many characters have to be inserted, removed, replaced or swapped with their neighbour.
fn distance(left: &[char], right: &[char]) -> usize {
    // The last two rows of the table of distances between beginnings.
    let (mut before, mut last) = (Vec::new(), (0..=right.len()).collect::<Vec<_>>());
    for (i, l) in left.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, r) in right.iter().enumerate() {
            let mut best = (last[j] + usize::from(l != r)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && l == &right[j - 1] && r == &left[i - 1] {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        (before, last) = (last, row);
    }
    last[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_near_name_is_meant() {
        let names = ["add", "y", "echo", "cancelled-count", "read_file", "read_text_file", ""];
        let rows = [
            ("ad", Some("add")),
            ("ecoh", Some("echo")),
            ("ADD", Some("add")),
            ("canceled-count", Some("cancelled-count")),
            ("file", Some("read_file")),
            ("readfile", Some("read_file")),
            ("multiply", None),
            ("x", None),
            ("", None),
        ];
        for (mistaken, name) in rows {
            assert_eq!(nearest(mistaken, names), name, "{mistaken}");
        }
        assert_eq!(did_you_mean("ad\u{1b}d", ["ad\u{1b}"]), "; did you mean `ad^[`?");
        let long = "a".repeat(1 << 20);
        assert_eq!(nearest(&long, [&*long]), None);
    }
}
