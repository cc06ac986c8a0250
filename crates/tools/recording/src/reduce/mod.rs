//! Shrinks a recording by delta debugging to a smaller one whose replay has the same first difference.

use std::collections::HashSet;
use std::ops::ControlFlow;

use agentwire_jsonrpc::{RawJson, read};
use bytestring::ByteString;
use serde_json::Value;

use crate::event::{EventKind, Side};
use crate::json_text::{Step, pointer};
use crate::message::{MessageKind, messages};
use crate::reader::Recording;
use crate::replay::Difference;

/// A smaller recording with the same first difference.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reduction {
    /// The recording.
    pub recording: Recording,
    /// Its first difference.
    pub difference: Difference,
    /// The number of replays.
    pub runs: usize,
    /// Whether the limit of runs or `run` ended it early.
    pub is_limited: bool,
}

/// Shrinks a recording to fewer messages and members with the same first difference. `side` is the played side.
///
/// `run` replays a recording and returns the first difference, or `Break` to end early with the smallest recording so far. It is
/// called at most `limit` times.
///
/// Messages of the played side are removed first, with their answers; then members of the params of the remaining messages. Returns
/// `None` if the first run finds no difference or breaks.
pub async fn reduce(
    recording: &Recording,
    side: Side,
    limit: usize,
    run: impl AsyncFnMut(&Recording) -> ControlFlow<(), Option<Difference>>,
) -> Option<Reduction> {
    let mut reducer = Reducer { run, side, runs: 0, limit: limit.max(1), wanted: None };
    let messages = flat(recording);
    reducer.wanted = Some(reducer.first_difference(&messages).await?);
    let messages = reducer.without_messages(messages).await;
    let messages = reducer.without_members(messages).await;
    let is_limited = reducer.runs >= reducer.limit;
    Some(Reduction { recording: messages, difference: reducer.wanted?, runs: reducer.runs, is_limited })
}

struct Reducer<F> {
    run: F,
    side: Side,
    runs: usize,
    limit: usize,
    wanted: Option<Difference>,
}

impl<F: AsyncFnMut(&Recording) -> ControlFlow<(), Option<Difference>>> Reducer<F> {
    async fn first_difference(&mut self, recording: &Recording) -> Option<Difference> {
        self.runs += 1;
        match (self.run)(recording).await {
            ControlFlow::Continue(difference) => difference,
            ControlFlow::Break(()) => {
                self.limit = self.runs;
                None
            }
        }
    }

    /// Whether a candidate has the same difference. Always false once the limit is reached.
    async fn keeps_difference(&mut self, candidate: &Recording) -> bool {
        if self.runs >= self.limit {
            return false;
        }
        let found = self.first_difference(candidate).await;
        let keeps =
            found.as_ref().zip(self.wanted.as_ref()).is_some_and(|(found, wanted)| found.is_like(wanted));
        if keeps {
            // The smaller recording has the difference at another event.
            self.wanted = found;
        }
        keeps
    }

    /// Removes messages of the played side, in ever smaller groups.
    async fn without_messages(&mut self, recording: Recording) -> Recording {
        let all = played_messages(&recording, self.side);
        let mut kept = all.clone();
        let mut pieces = 2;
        while kept.len() > 1 && self.runs < self.limit {
            let size = kept.len().div_ceil(pieces);
            let mut has_shrunk = false;
            let mut start = 0;
            while start < kept.len() {
                let end = (start + size).min(kept.len());
                let candidate: Vec<usize> = [&kept[..start], &kept[end..]].concat();
                if !candidate.is_empty()
                    && self.keeps_difference(&with_only(&recording, self.side, &candidate)).await
                {
                    kept = candidate;
                    has_shrunk = true;
                } else {
                    start = end;
                }
            }
            if size == 1 && !has_shrunk {
                break;
            }
            pieces = if has_shrunk { 2 } else { (pieces * 2).min(kept.len()) };
        }
        if kept.len() == all.len() { recording } else { with_only(&recording, self.side, &kept) }
    }

    /// Removes members of the params of the played side's messages, outer ones first.
    async fn without_members(&mut self, mut recording: Recording) -> Recording {
        for index in played_messages(&recording, self.side) {
            let mut path = first_member(&recording, index);
            while let Some(member) = path {
                if self.runs >= self.limit {
                    return recording;
                }
                let candidate = without_member(&recording, index, &member);
                let is_removed = match &candidate {
                    Some(candidate) => self.keeps_difference(candidate).await,
                    None => false,
                };
                if let Some(candidate) = candidate.filter(|_| is_removed) {
                    recording = candidate;
                    path = member_after(&recording, index, &member, true);
                } else {
                    path = member_after(&recording, index, &member, false);
                }
            }
        }
        recording
    }
}

/// The same recording with its messages only, each in an event of its own.
fn flat(recording: &Recording) -> Recording {
    let mut flat = Recording { header: recording.header.clone(), events: Vec::new() };
    for event in &recording.events {
        if let EventKind::Message(frame) = &event.kind {
            let single = messages(frame).into_iter().map(|message| {
                let mut event = event.clone();
                event.kind = EventKind::Message(message);
                event
            });
            flat.events.extend(single);
        }
    }
    flat
}

fn message(recording: &Recording, index: usize) -> Option<&RawJson> {
    match &recording.events.get(index)?.kind {
        EventKind::Message(message) => Some(message),
        _ => None,
    }
}

/// The indices of the played side's requests and notifications. Its responses are removed with the requests that they answer.
fn played_messages(recording: &Recording, side: Side) -> Vec<usize> {
    let is_unit = |index: &usize| {
        recording.events[*index].from.is_client() == side.is_client()
            && message(recording, *index)
                .is_some_and(|message| !matches!(MessageKind::of(message), MessageKind::Response { .. }))
    };
    (0..recording.events.len()).filter(is_unit).collect()
}

/// The recording with only the `kept` messages of the played side and the live messages that belong to them: their responses, and
/// the requests and notifications that were sent while the newest open request was a kept one.
fn with_only(recording: &Recording, side: Side, kept: &[usize]) -> Recording {
    let kept: HashSet<usize> = kept.iter().copied().collect();
    let mut removed_requests = HashSet::new();
    let mut dropped_live_requests = HashSet::new();
    let mut open: Vec<(String, bool)> = Vec::new();
    let mut events = Vec::new();
    for (index, event) in recording.events.iter().enumerate() {
        let Some(message) = message(recording, index) else { continue };
        let is_played = event.from.is_client() == side.is_client();
        let stays = match MessageKind::of(message) {
            MessageKind::Request { id, .. } if is_played => {
                let stays = kept.contains(&index);
                if !stays {
                    removed_requests.insert(id.clone());
                }
                open.push((id, stays));
                stays
            }
            MessageKind::Notification { .. } if is_played => kept.contains(&index),
            MessageKind::Response { id } if is_played => !dropped_live_requests.contains(&id),
            MessageKind::Response { id } => {
                open.retain(|(other, _)| *other != id);
                !removed_requests.contains(&id)
            }
            MessageKind::Request { id, .. } => {
                let stays = open.last().is_none_or(|(_, stays)| *stays);
                if !stays {
                    dropped_live_requests.insert(id);
                }
                stays
            }
            MessageKind::Notification { .. } => open.last().is_none_or(|(_, stays)| *stays),
        };
        if stays {
            events.push(event.clone());
        }
    }
    Recording { header: recording.header.clone(), events }
}

/// The paths of all members within a message's params, outer ones first, in order.
fn members(recording: &Recording, index: usize) -> Vec<Vec<Step>> {
    let Some(value) = message(recording, index).and_then(|message| read::<Value>(message.as_str()).ok())
    else {
        return Vec::new();
    };
    let mut paths = Vec::new();
    if let Some(params) = value.get("params") {
        let mut path = vec![Step::Member("params".into())];
        paths.push(path.clone());
        collect(params, &mut path, &mut paths);
    }
    paths
}

fn collect(value: &Value, path: &mut Vec<Step>, paths: &mut Vec<Vec<Step>>) {
    let children: Vec<(Step, &Value)> = match value {
        Value::Object(members) => {
            members.iter().map(|(name, value)| (Step::Member(name.clone()), value)).collect()
        }
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, value)| (Step::Index(index), value)).collect()
        }
        _ => return,
    };
    for (step, value) in children {
        path.push(step);
        paths.push(path.clone());
        collect(value, path, paths);
        path.pop();
    }
}

fn first_member(recording: &Recording, index: usize) -> Option<Vec<Step>> {
    members(recording, index).into_iter().next()
}

/// The member after `member`. If `member` was removed from an array, the element that took its index is next.
fn member_after(recording: &Recording, index: usize, member: &[Step], is_removed: bool) -> Option<Vec<Step>> {
    let is_element = matches!(member.last(), Some(Step::Index(_)));
    let all = members(recording, index);
    let after = |other: &Vec<Step>| match compare(other, member) {
        std::cmp::Ordering::Greater => true,
        std::cmp::Ordering::Equal => is_removed && is_element,
        std::cmp::Ordering::Less => false,
    };
    all.into_iter().find(after)
}

/// The order of paths within a tree: a value before its parts.
fn compare(one: &[Step], other: &[Step]) -> std::cmp::Ordering {
    for (one, other) in one.iter().zip(other) {
        let order = match (one, other) {
            (Step::Member(one), Step::Member(other)) => one.cmp(other),
            (Step::Index(one), Step::Index(other)) => one.cmp(other),
            (Step::Member(_), Step::Index(_)) => std::cmp::Ordering::Less,
            (Step::Index(_), Step::Member(_)) => std::cmp::Ordering::Greater,
        };
        if order.is_ne() {
            return order;
        }
    }
    one.len().cmp(&other.len())
}

/// The recording without one member of a message.
fn without_member(recording: &Recording, index: usize, member: &[Step]) -> Option<Recording> {
    let mut value: Value = read(message(recording, index)?.as_str()).ok()?;
    let (last, parent) = member.split_last()?;
    match (value.pointer_mut(&pointer(parent))?, last) {
        (Value::Object(members), Step::Member(name)) => drop(members.remove(name)?),
        (Value::Array(items), Step::Index(index)) if *index < items.len() => drop(items.remove(*index)),
        _ => return None,
    }
    let mut recording = recording.clone();
    recording.events[index].kind =
        EventKind::Message(RawJson::parse(ByteString::from(value.to_string())).ok()?);
    Some(recording)
}

#[cfg(test)]
mod tests;
