//! Compares a text with pieces of it, in order.

/// Whether a text begins with the first piece, ends with the last, and has the others between them, in order. One piece is the
/// whole text.
pub(crate) fn occur_in_order(pieces: &[&str], text: &str) -> bool {
    let [first, rest @ ..] = pieces else { return text.is_empty() };
    let [between @ .., last] = rest else { return text == *first };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    for piece in between {
        match text.find(piece) {
            Some(at) => text = &text[at + piece.len()..],
            None => return false,
        }
    }
    text.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::occur_in_order;

    #[test]
    fn pieces_occur_in_order_and_do_not_overlap() {
        assert!(
            occur_in_order(&["a"], "a") && occur_in_order(&["a", ""], "ab") && occur_in_order(&["", ""], "")
        );
        assert!(occur_in_order(&["", "b", "b", ""], "abcbd") && occur_in_order(&["a", "é", "z"], "a·é·z"));
        assert!(!occur_in_order(&["a"], "ab") && !occur_in_order(&["ab", "b"], "ab"));
        assert!(
            !occur_in_order(&["", "b", "b", ""], "abc") && !occur_in_order(&["a", "c", "b", "d"], "abcd")
        );
    }
}
