//! Mutants of the checks in `mcp_client/streamable_http/streams.rs`.

use crate::fault::Answer;
use crate::link::events::Event;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "HTP-31" => [
        "reads empty data as JSON" => faults::misreads({
            let mut broken = false;
            move |answer| {
                broken |= matches!(&answer, Answer::Event(event) if event.has_data && event.data.is_empty());
                Some(answer).filter(|answer| !broken || !matches!(answer, Answer::Event(_)))
            }
        }),
    ],
    "HTP-33" => [
        "ignores the retry field" => faults::misreads(|answer| Some(match answer {
            Answer::Event(event) => Answer::Event(Event { retry: event.retry.map(|_| "10".into()), ..event }),
            other => other,
        })),
        "takes the first retry field" => faults::misreads({
            let mut first = None;
            move |answer| Some(match answer {
                Answer::Event(event) => {
                    first = first.take().or_else(|| event.retry.clone());
                    Answer::Event(Event { retry: event.retry.and(first.clone()), ..event })
                }
                other => other,
            })
        }),
    ],
    "HTP-34" => [
        "connects again once" => {
            let mut resumed = 0;
            faults::loses_requests(move |request| {
                resumed += u32::from(request.header("last-event-id").is_some());
                resumed > 1
            })
        },
        "never connects again" => faults::loses_requests(|request| request.header("last-event-id").is_some()),
    ],
    "HTP-35b" => [
        "opens the GET stream once" => {
            let mut opened = 0;
            faults::loses_requests(move |request| {
                opened += u32::from(request.method == "GET");
                opened > 1
            })
        },
    ],
    "HTP-36" => [
        "posts the request again" => {
            let mut posted = None;
            faults::each_request(move |request| {
                if request.calls("tools/call") {
                    posted = Some(request.clone());
                }
                let is_resumed = request.header("last-event-id").is_some();
                vec![posted.clone().filter(|_| is_resumed).unwrap_or(request)]
            })
        },
    ],
    "HTP-37" => [
        "makes up an event id" => faults::adds_request(|request| {
            let mut get = request.clone();
            "GET".clone_into(&mut get.method);
            get.body.clear();
            get.set("last-event-id", "0");
            request.calls("tools/call").then_some(get)
        }),
    ],
];
