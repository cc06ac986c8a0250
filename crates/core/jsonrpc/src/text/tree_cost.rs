//! Estimates in one pass how much memory a JSON text takes once decoded into a tree of values.

use crate::text::scan::{skip_space, string_end, value_end};

/// The memory that a JSON text takes as a tree of values, such as a `serde_json::Value`. The estimate is rather too high. It
/// takes one pass over the text, and builds nothing.
///
/// A tree was measured to take up to 130 bytes of memory for each byte of text, so a peer's text is estimated before it is decoded.
/// The text of strings is not counted, because it takes the same memory in the tree.
///
/// ```
/// use agentwire_jsonrpc::TreeCost;
///
/// let text = format!("[{}]", vec![r#"{"":0}"#; 1000].join(","));
/// let cost = TreeCost::of(&text);
/// assert!(cost.bytes > 700_000 && cost.depth == 2);
/// assert!(TreeCost::is_over(&text, 500_000) && !TreeCost::is_over(&text, 1_000_000));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TreeCost {
    /// Bytes of memory, without the text of strings.
    pub bytes: usize,
    /// How deep its objects and arrays are nested: 0 for a number.
    pub depth: usize,
}

impl TreeCost {
    /// The highest estimate for a byte of text, in bytes.
    pub const MAX_PER_BYTE: usize = 168;

    /// An object that is not empty: a node of a B-tree, with room for 11 members.
    const OBJECT: usize = 656;
    /// A member of an object: its name, and what nodes that are half full leave empty.
    const MEMBER: usize = 144;
    /// An array that is not empty.
    const ARRAY: usize = 144;
    /// A further value of an array, including the array's growth by doubling.
    const NEXT: usize = 96;
    /// A string: the overhead of its allocation.
    const STRING: usize = 32;

    /// Estimates the cost of a text that is JSON. For any other text the figures mean nothing.
    pub fn of(text: &str) -> Self {
        Self::without(text, &[])
    }

    /// Estimates the cost without the values of members with these names at any depth, for members that are kept as text. Names that
    /// are written with escapes are not recognised.
    ///
    /// ```
    /// use agentwire_jsonrpc::TreeCost;
    ///
    /// let text = r#"[{"_meta":{"a":[1,2,3]},"b":0}]"#;
    /// assert_eq!(TreeCost::without(text, &["_meta"]), TreeCost::of(r#"[{"_meta":0,"b":0}]"#));
    /// ```
    pub fn without(text: &str, names: &[&str]) -> Self {
        let bytes = text.as_bytes();
        let (mut cost, mut depth, mut at) = (Self::default(), 0_usize, 0);
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    let Some(end) = string_end(bytes, at) else { break };
                    cost.bytes += Self::STRING;
                    let name = &bytes[at + 1..end.at - 1];
                    at = end.at;
                    if names.iter().any(|other| other.as_bytes() == name) {
                        let colon = skip_space(bytes, at);
                        if bytes.get(colon) == Some(&b':') {
                            cost.bytes += Self::MEMBER;
                            let Some(end) = value_end(bytes, skip_space(bytes, colon + 1)) else { break };
                            at = end;
                        }
                    }
                    continue;
                }
                b'{' | b'[' => {
                    depth += 1;
                    cost.depth = cost.depth.max(depth);
                    cost.bytes += match (byte, bytes.get(at + 1)) {
                        (b'{', Some(b'}')) | (b'[', Some(b']')) => 0,
                        (b'{', _) => Self::OBJECT,
                        _ => Self::ARRAY,
                    };
                }
                b'}' | b']' => depth = depth.saturating_sub(1),
                b':' => cost.bytes += Self::MEMBER,
                b',' => cost.bytes += Self::NEXT,
                _ => {}
            }
            at += 1;
        }
        cost
    }

    /// Whether a text costs more than `bytes`. Text that is too short for that is not scanned.
    #[inline]
    pub fn is_over(text: &str, bytes: usize) -> bool {
        text.len() > bytes / Self::MAX_PER_BYTE && Self::of(text).bytes > bytes
    }
}

#[cfg(test)]
mod tests {
    use super::TreeCost;

    #[test]
    fn no_text_costs_more_for_each_byte_than_is_said() {
        let deep = r#"{"":"#.repeat(100) + "0" + &"}".repeat(100) + ",";
        let parts = [
            r#"{"":0},"#,
            "[0],",
            "{},",
            "[],",
            r#""","#,
            "0,",
            "[[[]]],",
            r#"{"":{"":{}}},"#,
            r#"{"a":"","b":[0]},"#,
            &deep,
        ];
        for part in parts {
            let text = format!("[{}0]", part.repeat(1000));
            let cost = TreeCost::of(&text);
            assert!(cost.bytes <= text.len() * TreeCost::MAX_PER_BYTE, "{part}: {cost:?}");
            assert!(!TreeCost::is_over(&text, cost.bytes), "{part}");
            assert!(TreeCost::is_over(&text, cost.bytes - 1), "{part}");
        }
    }

    #[test]
    fn depth_is_that_of_the_brackets_outside_strings() {
        for (text, depth) in [("0", 0), ("[]", 1), (r#"{"a":[{"b":"[[[\"{{"}]}"#, 3), ("[[],[]]", 2)] {
            assert_eq!(TreeCost::of(text).depth, depth, "{text}");
        }
    }
}
