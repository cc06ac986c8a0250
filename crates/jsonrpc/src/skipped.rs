//! Records in a thread-local which parts a lenient decoding left out, and reads arrays without their unreadable items.

use std::any::type_name;
use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserializer;
use serde::de::{DeserializeOwned, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::Printable;
use crate::reader;

thread_local! {
    /// The parts that the current decoding of this thread has left out. None outside of [`noting`].
    static NOTES: RefCell<Option<Skipped>> = const { RefCell::new(None) };
}

/// The parts of a value that were left out when it was decoded, because they could not be read. See [`noting`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// The first [`MAX_PARTS`](Self::MAX_PARTS) of them.
    pub parts: Vec<SkippedPart>,
    /// How many there were beyond these.
    pub more: usize,
}

impl Skipped {
    /// How many parts are named: 16.
    pub const MAX_PARTS: usize = 16;

    /// Whether everything was read.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    fn add(&mut self, part: SkippedPart) {
        // A text may be decoded in two attempts, which meet the same faults.
        if self.parts.contains(&part) {
            return;
        }
        if self.parts.len() < Self::MAX_PARTS {
            self.parts.push(part);
        } else {
            self.more += 1;
        }
    }
}

/// A part of a value that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkippedPart {
    /// The name of the type that it should have been.
    pub kind: &'static str,
    /// Its place in the list that it was an item of, from 0. None where it was no item.
    pub index: Option<usize>,
    /// Why it could not be read: one printable line of up to 256 characters.
    pub why: String,
}

/// Shows it as `AvailableCommand[3]: missing field …`.
impl fmt::Display for SkippedPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind)?;
        if let Some(index) = self.index {
            write!(f, "[{index}]")?;
        }
        write!(f, ": {}", self.why)
    }
}

/// How many characters of a reason are kept.
const MAX_REASON: usize = 256;

/// Runs a decoding, and returns the parts that it left out beside its result.
///
/// Protocols ask for readers that go on without an item that they cannot read. A `Deserialize` has no room for a second
/// result, so it notes such a part for its thread, where it is kept only while this function runs. Where nothing is left out
/// this allocates nothing.
///
/// ```
/// use agentwire_jsonrpc::noting;
/// use agentwire_jsonrpc::runtime::read_items;
///
/// let (numbers, skipped) = noting(|| read_items::<u8>("[1, 2000, 3]").unwrap());
/// assert_eq!(numbers, [1, 3]);
/// assert_eq!((skipped.parts[0].kind, skipped.parts[0].index), ("u8", Some(1)));
/// ```
pub fn noting<R>(decode: impl FnOnce() -> R) -> (R, Skipped) {
    /// Puts back what an outer call has noted, also when the decoding panics.
    struct Outer(Option<Skipped>);

    impl Drop for Outer {
        fn drop(&mut self) {
            NOTES.set(self.0.take());
        }
    }

    let outer = Outer(NOTES.replace(Some(Skipped::default())));
    let decoded = decode();
    let skipped = NOTES.take().unwrap_or_default();
    drop(outer);
    (decoded, skipped)
}

/// Notes that a part of type `T` is left out, and which item of a list it was. Does nothing outside of [`noting`].
pub(crate) fn note_skipped<T>(index: Option<usize>, why: &serde_json::Error) {
    note_skipped_of(type_name::<T>(), index, why);
}

/// The same by the name of the type, so that it is compiled once for all types.
fn note_skipped_of(name: &'static str, index: Option<usize>, why: &serde_json::Error) {
    NOTES.with_borrow_mut(|notes| {
        let Some(skipped) = notes else { return };
        let why = Printable::one_line(&why.to_string()).to_string().chars().take(MAX_REASON).collect();
        skipped.add(SkippedPart { kind: kind_of(name), index, why });
    });
}

/// The last name in the name of a type: that of what an option or a box holds.
fn kind_of(name: &'static str) -> &'static str {
    let name = name.trim_end_matches('>');
    name.rsplit([':', '<']).next().unwrap_or(name)
}

/// Reads an array, and leaves out items that cannot be read, each of which is noted for [`noting`].
///
/// # Errors
///
/// When the text is not an array.
pub fn read_items<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, serde_json::Error> {
    struct Items<T>(PhantomData<T>);

    impl<'de, T: DeserializeOwned> Visitor<'de> for Items<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Vec<T>, A::Error> {
            let mut items = Vec::new();
            let mut index = 0;
            while let Some(item) = array.next_element::<&RawValue>()? {
                match reader::read(item.get()) {
                    Ok(item) => items.push(item),
                    Err(why) => note_skipped::<T>(Some(index), &why),
                }
                index += 1;
            }
            Ok(items)
        }
    }

    // Nearly every list is right, and is read in one go.
    if let Ok(items) = reader::read(text) {
        return Ok(items);
    }
    serde_json::Deserializer::from_str(text).deserialize_seq(Items(PhantomData))
}
