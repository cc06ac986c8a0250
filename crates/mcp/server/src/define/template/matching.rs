//! Runs the steps of a template over a URI.
//!
//! The first pass goes from the last step to the first. It finds, for each step, the places in the URI from which the
//! remaining steps reach the end. The second pass goes forwards, and takes the longest value that leads to the end. It never goes
//! back, also not where a variable occurs twice: its first value stays. Both take time linear in the length of the URI.

use std::collections::BTreeMap;

use super::program::{Characters, Program, Step};

pub(super) fn run(program: &Program, uri: &str) -> Option<BTreeMap<String, String>> {
    let steps = program.steps();
    if let Some(Step::Text(first)) = steps.first()
        && !uri.starts_with(&**first)
    {
        return None;
    }
    let uri = uri.as_bytes();
    let ends = ends(steps, uri);
    if !ends[0].has(0) {
        return None;
    }
    let mut values = BTreeMap::new();
    let (mut at, mut place) = (0, 0);
    while let Some(step) = steps.get(at) {
        let next = at + 1;
        let mut is = |variable: usize, value: String| {
            let name = program.variables()[variable].to_string();
            // A variable that occurs twice was filled in with the same value twice.
            values.entry(name).or_insert_with(|| value.clone()) == &value
        };
        match step {
            Step::Text(text) => place += text.len(),
            Step::Empty { variable } => {
                if !is(*variable, String::new()) {
                    return None;
                }
            }
            Step::Value { variable, may_be_empty, may_have } => {
                let end = longest(uri, place, *may_have, *may_be_empty, &ends[next])?;
                if !is(*variable, decode(&uri[place..end])?) {
                    return None;
                }
                place = end;
            }
            Step::OrElse(_) if ends[next].has(place) => {}
            Step::OrElse(other) | Step::Jump(other) => {
                at = *other;
                continue;
            }
        }
        at = next;
    }
    Some(values)
}

/// For each step, the places in the URI from which it and the later steps reach the end.
fn ends(steps: &[Step], uri: &[u8]) -> Vec<Places> {
    let mut ends = vec![Places::none(uri.len()); steps.len() + 1];
    ends[steps.len()].add(uri.len());
    for (at, step) in steps.iter().enumerate().rev() {
        let (before, after) = ends.split_at_mut(at + 1);
        let (here, next) = (&mut before[at], &after[0]);
        match step {
            Step::Text(text) => {
                let fits = |place: &usize| uri[*place..].starts_with(text.as_bytes());
                let last = uri.len().checked_sub(text.len());
                let places = last.into_iter().flat_map(|last| 0..=last);
                places
                    .filter(|place| next.has(place + text.len()))
                    .filter(fits)
                    .for_each(|place| here.add(place));
            }
            Step::Value { may_be_empty, may_have, .. } => {
                // `some` has the places from which one or more characters of the value lead to `next`.
                let mut some = Places::none(uri.len());
                for place in (0..=uri.len()).rev() {
                    let after = character(uri, place, *may_have);
                    let is_followed = after.is_some_and(|after| some.has(after) || next.has(after));
                    if is_followed {
                        some.add(place);
                    }
                    if is_followed || (*may_be_empty && next.has(place)) {
                        here.add(place);
                    }
                }
            }
            Step::Empty { .. } => here.clone_from(next),
            Step::OrElse(other) => {
                here.clone_from(next);
                here.add_all(&after[other - at - 1]);
            }
            Step::Jump(other) => here.clone_from(&after[other - at - 1]),
        }
    }
    ends
}

/// The last place where a value that begins at this place can end.
fn longest(
    uri: &[u8],
    begin: usize,
    may_have: Characters,
    may_be_empty: bool,
    next: &Places,
) -> Option<usize> {
    let mut found = (may_be_empty && next.has(begin)).then_some(begin);
    let mut place = begin;
    while let Some(after) = character(uri, place, may_have) {
        place = after;
        if next.has(place) {
            found = Some(place);
        }
    }
    found
}

/// The end of a character that a value may have. A character beyond ASCII should be percent-encoded, but is unambiguous.
fn character(uri: &[u8], place: usize, may_have: Characters) -> Option<usize> {
    let is_hex = |place: usize| uri.get(place).is_some_and(u8::is_ascii_hexdigit);
    match *uri.get(place)? {
        byte if may_have.but == Some(byte) => None,
        b'%' => (is_hex(place + 1) && is_hex(place + 2)).then_some(place + 3),
        b'-' | b'.' | b'_' | b'~' | 0x80.. => Some(place + 1),
        byte if byte.is_ascii_alphanumeric() => Some(place + 1),
        byte => (may_have.reserved && b":/?#[]@!$&'()*+,;=".contains(&byte)).then_some(place + 1),
    }
}

/// Decodes percent-encoding. `None` if the result is not UTF-8, or contains NUL, at which many interfaces end a name.
fn decode(value: &[u8]) -> Option<String> {
    let hex = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some((&byte, after)) = rest.split_first() {
        if let (b'%', [high, low, after @ ..]) = (byte, after) {
            bytes.push(hex(*high)? << 4 | hex(*low)?);
            rest = after;
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// Places in a URI, a bit each.
#[derive(Clone)]
struct Places(Vec<u64>);

impl Places {
    fn none(length: usize) -> Self {
        Self(vec![0; length / 64 + 1])
    }

    fn add(&mut self, place: usize) {
        self.0[place / 64] |= 1 << (place % 64);
    }

    fn add_all(&mut self, others: &Self) {
        self.0.iter_mut().zip(&others.0).for_each(|(bits, others)| *bits |= others);
    }

    fn has(&self, place: usize) -> bool {
        self.0[place / 64] & 1 << (place % 64) != 0
    }
}
