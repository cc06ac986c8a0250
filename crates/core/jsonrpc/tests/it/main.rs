//! The promises of the crate about ids, frames and lines, and hostile input.

mod frame;
mod frame_reader;
mod id;
mod line;
mod mutation;
mod nesting;
mod random;
mod raw;
mod round_trip;

use agentwire_jsonrpc::{Frame, Intent, Malformed, Message};

/// A frame in words, short enough to stand in a table.
fn describe(frame: &Frame) -> String {
    match frame {
        Frame::Single(message) => describe_message(message),
        Frame::Malformed(malformed) => describe_malformed(malformed),
        Frame::Batch(messages) => {
            let messages: Vec<_> = messages
                .iter()
                .map(|message| message.as_ref().map_or_else(describe_malformed, describe_message))
                .collect();
            format!("batch [{}]", messages.join(", "))
        }
    }
}

fn describe_message(message: &Message) -> String {
    let params = message.body().map(|body| format!(" {body}")).unwrap_or_default();
    match message {
        Message::Request(request) => format!("request {} {}{params}", request.id, request.method),
        Message::Notification(notification) => format!("notification {}{params}", notification.method),
        Message::Response(response) => match &response.outcome {
            Ok(result) => format!("result {} {result}", response.id),
            Err(error) => format!("error {} {}", response.id, error.code),
        },
    }
}

fn describe_malformed(malformed: &Malformed) -> String {
    let code = malformed.error.code;
    match &malformed.intent {
        Intent::Request(id) => format!("malformed {code}, answer {id}"),
        Intent::Response(id) => format!("malformed {code}, fails {id}"),
        Intent::Notification => format!("malformed {code}, silent"),
        Intent::ResponseOrRequest(id) => format!("malformed {code}, fails or answer {id}"),
        Intent::Several { responses, has_requests } => {
            let ids: Vec<_> = responses.iter().map(ToString::to_string).collect();
            let answer = if *has_requests { ", answer null" } else { "" };
            format!("malformed {code}, fails each of {}{answer}", ids.join(" "))
        }
        other => panic!("a new intent: {other:?}"),
    }
}

fn parse(text: &str) -> Frame {
    Frame::parse(text.into())
}

fn written(frame: &Frame) -> String {
    let mut out = Vec::new();
    frame.write(&mut out);
    String::from_utf8(out).unwrap()
}
