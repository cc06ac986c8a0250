//! Routes malformed text to the channels whose calls it would have answered.

use agentwire_jsonrpc::{Intent, Malformed, RequestId};

use crate::split::Channel;

/// Returns the malformed text for each channel, with the ids of that channel.
#[cold]
pub(crate) fn malformed_by_channel(malformed: Malformed) -> Vec<(Channel, Malformed)> {
    let with = |intent| {
        let mut part = malformed.clone();
        part.intent = intent;
        part
    };
    match &malformed.intent {
        Intent::Response(id) => {
            let (channel, id) = incoming_id(id).unwrap_or((Channel::Plain, id.clone()));
            vec![(channel, with(Intent::Response(id)))]
        }
        // A request can be refused only under its own id.
        Intent::ResponseOrRequest(id) => vec![(Channel::Plain, with(Intent::Request(id.clone())))],
        Intent::Several { responses, has_requests } => {
            let ids = |channel| {
                let ids = responses.iter().filter_map(incoming_id).filter(|(of, _)| *of == channel);
                ids.map(|(_, id)| id).collect::<Vec<_>>()
            };
            let part = |channel, has_requests| {
                (channel, with(Intent::Several { responses: ids(channel), has_requests }))
            };
            let mut parts = vec![part(Channel::Plain, *has_requests)];
            if !ids(Channel::Successor).is_empty() {
                parts.push(part(Channel::Successor, false));
            }
            parts
        }
        _ => vec![(Channel::Plain, malformed)],
    }
}

/// Returns the channel, and the id there, of a request that left under this id.
pub(crate) fn incoming_id(id: &RequestId) -> Option<(Channel, RequestId)> {
    let number = id.as_u64()?;
    let channel = if number % 2 == 0 { Channel::Plain } else { Channel::Successor };
    Some((channel, RequestId::from(number / 2)))
}
