//! Records in a thread-local which parts a lenient decoding left out, and reads arrays without their unreadable items.

use std::any::type_name;
use std::cell::{Cell, RefCell};
use std::fmt::{self, Write as _};
use std::marker::PhantomData;

use serde::Deserializer;
use serde::de::{DeserializeOwned, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::reader;
use crate::{Printable, RawJson};

thread_local! {
    /// The parts that the current decoding of this thread has left out. `None` outside of [`collect_skipped`].
    static NOTES: RefCell<Option<Skipped>> = const { RefCell::new(None) };
    /// Whether the current decoding of this thread is the lenient, second attempt at a value.
    static IS_LENIENT: Cell<bool> = const { Cell::new(false) };
    /// The path from the value of a lenient attempt to the part that is being read.
    static PATH: RefCell<Vec<PathStep>> = const { RefCell::new(Vec::new()) };
}

/// A step from a value into it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PathStep {
    Member(&'static str),
    Item(usize),
}

/// The malformed parts of a value that decoding left out. See [`collect_skipped`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// The first [`MAX_PARTS`](Self::MAX_PARTS) of them.
    pub parts: Vec<SkippedPart>,
    /// How many further parts were left out.
    pub more: usize,
}

impl Skipped {
    /// How many parts are named: 16.
    pub const MAX_PARTS: usize = 16;

    /// Makes a record of one part that the caller itself left out.
    pub fn part(place: impl Into<String>, kind: &'static str, why: &dyn fmt::Display) -> Self {
        let part = SkippedPart { kind, index: None, place: place.into(), why: reason(why) };
        Self { parts: vec![part], more: 0 }
    }

    /// Whether everything was read.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    fn add(&mut self, part: SkippedPart) {
        // A text may be decoded in two attempts, which find the same faults.
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

/// Shows the parts, with a semicolon between two.
impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, part) in self.parts.iter().enumerate() {
            let between = if at == 0 { "" } else { "; " };
            write!(f, "{between}{part}")?;
        }
        if self.more == 0 { Ok(()) } else { write!(f, "; and {} more", self.more) }
    }
}

/// A part of a value that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkippedPart {
    /// The name of the expected type.
    pub kind: &'static str,
    /// Its index in its list. `None` if it was not an item of a list.
    pub index: Option<usize>,
    /// The path to it, such as `content[1].annotations`, if [`RawJson::decode_leniently`] left it out; otherwise empty.
    pub place: String,
    /// Why it could not be read: one printable line of up to 256 characters.
    pub why: String,
}

/// Shows it as `AvailableCommand[3]: missing field …`, or by its place if that is known.
impl fmt::Display for SkippedPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            return write!(f, "{}: {}", self.place, self.why);
        }
        f.write_str(self.kind)?;
        if let Some(index) = self.index {
            write!(f, "[{index}]")?;
        }
        write!(f, ": {}", self.why)
    }
}

/// How many characters of a reason are kept.
const MAX_REASON: usize = 256;

/// Runs a decoding, and returns its result and the parts that it left out.
///
/// The protocols require readers to skip items that they cannot read. A `Deserialize` implementation cannot return a second
/// result, so it records such a part in a thread-local, which exists only while this function runs. If no part is left out,
/// nothing is allocated.
///
/// ```
/// use agentwire_jsonrpc::collect_skipped;
/// use agentwire_jsonrpc::runtime::read_items;
///
/// let (numbers, skipped) = collect_skipped(|| read_items::<u8>("[1, 2000, 3]").unwrap());
/// assert_eq!(numbers, [1, 3]);
/// assert_eq!((skipped.parts[0].kind, skipped.parts[0].index), ("u8", Some(1)));
/// ```
pub fn collect_skipped<R>(decode: impl FnOnce() -> R) -> (R, Skipped) {
    /// Restores the notes of an outer call, also when the decoding panics.
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

/// Records that a part of type `T` is left out, with its index if it is an item of a list. Does nothing outside of
/// [`collect_skipped`].
pub(crate) fn note_skipped<T>(index: Option<usize>, why: &dyn fmt::Display) {
    note_skipped_of(type_name::<T>(), index, why);
}

/// The same by the name of the type, so that it is compiled once for all types.
fn note_skipped_of(name: &'static str, index: Option<usize>, why: &dyn fmt::Display) {
    NOTES.with_borrow_mut(|notes| {
        let Some(skipped) = notes else { return };
        // A long list may have nothing but bad items.
        if skipped.parts.len() == Skipped::MAX_PARTS {
            skipped.more += 1;
            return;
        }
        skipped.add(SkippedPart { kind: kind_of(name), index, place: current_path(), why: reason(why) });
    });
}

fn reason(why: &dyn fmt::Display) -> String {
    Printable::one_line(&why.to_string()).to_string().chars().take(MAX_REASON).collect()
}

/// Adds a step to the path of the current decoding, until the guard is dropped.
#[inline(never)]
pub(crate) fn push_step(step: PathStep) -> StepGuard {
    let is_entered = is_lenient();
    if is_entered {
        PATH.with_borrow_mut(|path| path.push(step));
    }
    StepGuard { is_entered }
}

/// Removes the step when it is dropped, also by a panic of the decoding.
#[must_use]
pub(crate) struct StepGuard {
    is_entered: bool,
}

impl Drop for StepGuard {
    #[inline(never)]
    fn drop(&mut self) {
        if self.is_entered {
            PATH.with_borrow_mut(Vec::pop);
        }
    }
}

/// The path to the part that is being read.
fn current_path() -> String {
    let mut path = String::new();
    PATH.with_borrow(|steps| {
        for step in steps {
            let written = match step {
                PathStep::Member(name) if path.is_empty() => write!(path, "{name}"),
                PathStep::Member(name) => write!(path, ".{name}"),
                PathStep::Item(index) => write!(path, "[{index}]"),
            };
            written.expect("a string takes what is written");
        }
    });
    path
}

/// Whether the current decoding may leave out members and items that cannot be read.
#[inline]
pub(crate) fn is_lenient() -> bool {
    IS_LENIENT.get()
}

impl RawJson {
    /// Decodes the value as [`decode`](Self::decode) does. If that fails, decodes it again without the malformed parts that
    /// the value is usable without: members that its protocol does not require, and items of lists. Each such part is reported
    /// to [`collect_skipped`] with its path. The strict first attempt may leave out parts too, if the schema of a member allows that;
    /// they are reported in the same way. `12.0` is read as `12`.
    ///
    /// Use it for results and notifications. In a request, a part that is left out would change the meaning. The rules of the
    /// derive `Wire` define which members may be left out; any other type is decoded strictly.
    ///
    /// # Errors
    ///
    /// When the value cannot be used without a part that cannot be read.
    pub fn decode_leniently<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        let noted = note_counts();
        match self.decode() {
            // The second attempt leaves out the same parts, and records their paths.
            Ok(first) if noted != note_counts() => {
                Ok(decode_again(self.as_str(), noted).and_then(Result::ok).unwrap_or(first))
            }
            Ok(first) => Ok(first),
            Err(first) => decode_again(self.as_str(), noted).unwrap_or(Err(first)),
        }
    }
}

/// The numbers of parts that the current decoding has recorded and has only counted. `None` outside of [`collect_skipped`].
fn note_counts() -> Option<(usize, usize)> {
    NOTES.with_borrow(|notes| notes.as_ref().map(|notes| (notes.parts.len(), notes.more)))
}

/// Makes the second, lenient attempt at a text. Its notes replace those of the first attempt. `None` if it fails without
/// leaving out anything: then it failed as the first attempt did.
#[cold]
fn decode_again<T: DeserializeOwned>(
    text: &str,
    noted: Option<(usize, usize)>,
) -> Option<Result<T, serde_json::Error>> {
    /// Restores the mode of an outer decoding, also when this one panics.
    struct Outer(bool);

    impl Drop for Outer {
        fn drop(&mut self) {
            IS_LENIENT.set(self.0);
        }
    }

    let (decoded, skipped) = collect_skipped(|| {
        let _outer = Outer(IS_LENIENT.replace(true));
        reader::decode(&reader::whole_pairs(text))
    });
    if decoded.is_err() && skipped.is_empty() {
        return None;
    }
    if decoded.is_ok() {
        NOTES.with_borrow_mut(|notes| {
            if let (Some(notes), Some((parts, more))) = (notes, noted) {
                notes.parts.truncate(parts);
                notes.more = more + skipped.more;
                skipped.parts.into_iter().for_each(|part| notes.add(part));
            }
        });
    }
    Some(decoded)
}

/// The last identifier in the name of a type. For an option or a box, it is that of the inner type.
fn kind_of(name: &'static str) -> &'static str {
    let name = name.trim_end_matches('>');
    name.rsplit([':', '<']).next().unwrap_or(name)
}

/// Reads an array without the items that cannot be read. Each of those is reported to [`collect_skipped`].
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
                let _entered = push_step(PathStep::Item(index));
                match reader::read(item.get()) {
                    Ok(item) => items.push(item),
                    Err(why) => note_skipped::<T>(Some(index), &why),
                }
                index += 1;
            }
            Ok(items)
        }
    }

    // Nearly every list is valid and is read in one pass. In a lenient attempt, it would be read twice at each level.
    if !is_lenient()
        && let Ok(items) = reader::read(text)
    {
        return Ok(items);
    }
    serde_json::Deserializer::from_str(text).deserialize_seq(Items(PhantomData))
}
