//! The lines of a trace: events with the time of day and the direction, as seen by the program that writes them.

use std::time::{SystemTime, UNIX_EPOCH};

use humantime::format_rfc3339_millis;

use crate::event::{Event, Side};

/// The beginning of the event's members in a line of a trace.
const EVENT: &str = "\"at\":";

/// The parts of a trace's lines beside their events.
pub(crate) struct Trace {
    /// The side of the program that writes the trace.
    pub(crate) us: Side,
    /// The time of day at the start.
    pub(crate) start: SystemTime,
}

impl Trace {
    /// The line of an event, whose line in a recording is `recorded`.
    pub(crate) fn line(&self, event: &Event, recorded: &str) -> String {
        let time = format_rfc3339_millis(self.start.max(UNIX_EPOCH) + event.at.unwrap_or_default());
        let is_ours = event.from.is_client() == self.us.is_client();
        let direction = if is_ours { "sent" } else { "received" };
        let members = recorded.strip_prefix('{').unwrap_or(recorded);
        format!("{{\"time\":\"{time}\",\"direction\":\"{direction}\",{members}")
    }
}

/// The line of an event, with the prefix of an older line of it.
pub(crate) fn with_prefix_of(older: &str, recorded: String) -> String {
    match (older.starts_with("{\"time\":"), older.find(EVENT)) {
        (true, Some(length)) => {
            format!("{}{}", &older[..length], recorded.strip_prefix('{').unwrap_or(&recorded))
        }
        _ => recorded,
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;
    use crate::event::{EventKind, Protocol};

    #[test]
    fn line_keeps_its_time_and_direction_when_it_is_masked_again() {
        let trace = Trace { us: Side::Client, start: UNIX_EPOCH };
        let event = Event::new(Duration::from_millis(1500), Side::Client, EventKind::Closed);
        let recorded = event.to_line(Some(Protocol::Mcp));
        let line = trace.line(&event, &recorded);
        let prefix = r#"{"time":"1970-01-01T00:00:01.500Z","direction":"sent","#;
        assert_eq!(line, format!(r#"{prefix}"at":1500.000,"from":"client","closed":true}}"#));
        assert_eq!(
            with_prefix_of(&line, r#"{"at":1500.000,"x":1}"#.into()),
            format!(r#"{prefix}"at":1500.000,"x":1}}"#)
        );
        assert_eq!(with_prefix_of(&recorded, "{}".into()), "{}");
        let theirs = Event { from: Side::Server, ..event };
        assert!(trace.line(&theirs, &recorded).contains(r#""direction":"received""#));
    }
}
