//! Lists all faults of a function's arguments at once, so that a model mends them in one go.
//!
//! Decoding ends at the first fault. So the arguments are decoded again, with a placeholder for each member whose fault is
//! known, until nothing new is found. This costs a decoding for each fault, and happens only after one has failed.

mod fault;
mod placeholder;
mod reader;

use std::collections::BTreeMap;

use agentwire_jsonrpc::read;
use agentwire_jsonrpc::runtime::readable;
use serde::de::DeserializeOwned;

use fault::shown;
use reader::{Node, Reader};

pub(crate) use fault::Fault;
pub(crate) use placeholder::{Members, Placeholder, declared_members};

/// How many faults are named; the rest are counted.
const MAX_NAMED: usize = 16;

/// The most faults that are searched, and the greatest length of the arguments in bytes. In longer arguments only the first
/// fault is reported.
const MAX_FOUND: usize = 64;
const LONG_ARGUMENTS: usize = 16 << 10;

/// Lists the faults of a tool's arguments, or gives the reason that decoding them failed.
#[cold]
pub(crate) fn of_json<A: DeserializeOwned>(json: &str, error: &serde_json::Error) -> String {
    let reason = || shown(&error.to_string());
    // More members or digits than a tree of values keeps may be the reason.
    readable(json).and_then(|json| read(&json)).map_or_else(
        |_| reason(),
        |value| list(find::<A>(Node::Json(&value), json.len())).unwrap_or_else(reason),
    )
}

/// Lists the faults of a prompt's arguments.
#[cold]
pub(crate) fn of_texts<A: DeserializeOwned>(
    texts: &BTreeMap<String, String>,
    error: &serde::de::value::Error,
) -> String {
    let length = texts.iter().map(|(name, text)| name.len() + text.len()).sum();
    list(find::<A>(Node::Texts(texts), length)).unwrap_or_else(|| shown(&error.to_string()))
}

fn find<A: DeserializeOwned>(node: Node<'_>, length: usize) -> Vec<Fault> {
    let most = if length > LONG_ARGUMENTS { 1 } else { MAX_FOUND };
    let mut found: Vec<Fault> = Vec::new();
    while found.len() < most {
        let Err(fault) = A::deserialize(Reader::new(node, &found)) else { break };
        // The type refuses the placeholder.
        if found.iter().any(|known| known.path().eq(fault.path())) {
            break;
        }
        found.push(fault);
    }
    // A type that refuses the placeholder of a part, by a check of its own, reports a fault that is not in the arguments.
    let is_caused = |fault: &Fault| found.iter().any(|other| other.is_beneath(fault));
    let caused: Vec<_> = found.iter().map(is_caused).collect();
    let mut caused = caused.into_iter();
    found.retain(|_| !caused.next().unwrap_or_default());
    found
}

fn list(mut faults: Vec<Fault>) -> Option<String> {
    faults.sort_by_cached_key(Fault::order);
    let more = faults.len().saturating_sub(MAX_NAMED);
    let mut named: Vec<_> = faults.iter().take(MAX_NAMED).map(ToString::to_string).collect();
    if more > 0 {
        let at_least = if faults.len() == MAX_FOUND { "at least " } else { "" };
        named.push(format!("and {at_least}{more} more"));
    }
    (!named.is_empty()).then(|| named.join("; "))
}

#[cfg(test)]
mod tests;
