//! A list of which bad items are left out, and named.

use std::fmt;
use std::marker::PhantomData;

use agentwire_jsonrpc::{Members, RawJson, read};
use serde::de::{DeserializeOwned, Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::SkippedItem;

/// The items that can be read, and what is wrong with the others.
pub(crate) struct Items<T> {
    pub(crate) items: Vec<T>,
    pub(crate) skipped: Vec<SkippedItem>,
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Items<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ItemsVisitor(PhantomData))
    }
}

struct ItemsVisitor<T>(PhantomData<T>);

impl<'de, T: DeserializeOwned> Visitor<'de> for ItemsVisitor<T> {
    type Value = Items<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Items<T>, A::Error> {
        let (mut items, mut skipped) = (Vec::new(), Vec::new());
        while let Some(item) = seq.next_element::<RawJson>()? {
            match item.decode() {
                Ok(item) => items.push(item),
                Err(_) if skipped.len() == SkippedItem::LIMIT => {
                    let limit = SkippedItem::LIMIT;
                    return Err(A::Error::custom(format_args!("more than {limit} items cannot be read")));
                }
                Err(why) => skipped.push(SkippedItem {
                    index: items.len() + skipped.len(),
                    name: name_of(&item),
                    why: why.to_string(),
                }),
            }
        }
        Ok(Items { items, skipped })
    }
}

/// What an item is called by whoever asks for it.
#[cold]
fn name_of(item: &RawJson) -> Option<String> {
    let member = |wanted| {
        let (_, value) = Members::of(item.as_str()).find(|(name, _)| name == wanted)?;
        read::<String>(value).ok()
    };
    ["name", "uri", "uriTemplate"].into_iter().find_map(member)
}
