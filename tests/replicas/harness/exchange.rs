//! One call, and the state of the work by its answer.

use std::time::Duration;

use serde_json::Value;

use crate::history::{Count, History, Outcome};

/// The answer to a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Answer {
    /// A result.
    Result(Value),
    /// A JSON-RPC error.
    Error(String),
    /// The stream is lost, and cannot be resumed. The work may be done.
    #[default]
    Lost,
    /// Refused for as long as the client tried. The work is not done.
    Refused,
    /// The session is unknown.
    Gone,
}

/// A call and its answer.
#[derive(Debug, Default)]
pub(crate) struct Exchange {
    pub(crate) answer: Answer,
    /// The values of the progress reports, in the order in which they came.
    pub(crate) steps: Vec<u64>,
    /// The event of the answer, which can be replayed.
    pub(crate) event: Option<LastEvent>,
}

/// The event of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LastEvent {
    /// The id of the event before it.
    pub(crate) before: String,
    pub(crate) id: String,
    pub(crate) data: String,
}

/// Where a client is on a stream.
#[derive(Debug)]
pub(crate) struct Position {
    pub(crate) last: Option<String>,
    pub(crate) retry: Duration,
}

impl Default for Position {
    fn default() -> Self {
        Self { last: None, retry: Duration::from_millis(200) }
    }
}

impl Position {
    /// Notes the id of an event. Ids of one stream increase.
    pub(crate) fn note(&mut self, id: &str, history: &History) {
        if let (Some((stream, place)), Some((old, before))) =
            (numbers(id), self.last.as_deref().and_then(numbers))
            && stream == old
            && place <= before
        {
            history.violation(format!("event {id} came after event {old}-{before}"));
        }
        self.last = Some(id.to_owned());
    }
}

fn numbers(id: &str) -> Option<(u64, u64)> {
    let (stream, place) = id.split_once('-')?;
    Some((stream.parse().ok()?, place.parse().ok()?))
}

impl Exchange {
    pub(crate) fn of(answer: Answer) -> Self {
        Self { answer, ..Self::default() }
    }

    /// Takes a message of the call's stream. Returns true for the answer.
    pub(crate) fn take(&mut self, message: &Value, id: i64) -> bool {
        if message["method"] == "notifications/progress" {
            self.steps.extend(message["params"]["progress"].as_f64().map(|step| step as u64));
        }
        if message["id"] != id || !message["method"].is_null() {
            return false;
        }
        self.answer = match message.get("error") {
            Some(error) => Answer::Error(error.to_string()),
            None => Answer::Result(message["result"].clone()),
        };
        true
    }

    /// The text of a result.
    pub(crate) fn text(&self) -> &str {
        match &self.answer {
            Answer::Result(result) => result["content"][0]["text"].as_str().unwrap_or_default(),
            _ => "",
        }
    }

    /// Records the outcome of the call with this key, which sends so many progress reports.
    pub(crate) fn judge(&self, history: &History, key: &str, steps: usize) {
        let in_order = self.steps.iter().zip(1..).all(|(step, expected)| *step == expected);
        let complete = self.steps.len() == steps || !matches!(self.answer, Answer::Result(_));
        if !in_order || !complete {
            history
                .violation(format!("{key}: of {steps} steps came {:?}, then {:?}", self.steps, self.answer));
        }
        let (outcome, why) = match &self.answer {
            Answer::Result(result) => {
                if !self.text().starts_with(&format!("done {key}")) {
                    history.violation(format!("{key}: the result is {result}"));
                }
                (Outcome::Acknowledged, "")
            }
            Answer::Error(error) => {
                history.count(Count::Interrupted);
                (Outcome::Unknown, error.as_str())
            }
            Answer::Lost => (Outcome::Unknown, "the stream is lost"),
            Answer::Refused => (Outcome::Refused, "refused"),
            Answer::Gone => {
                history.lost(format!("{key}: its session is unknown"));
                (Outcome::Refused, "the session is unknown")
            }
        };
        history.call(key, outcome, why);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn judged(steps: &[u64], answer: &Value) -> Vec<String> {
        let history = History::default();
        let mut exchange = Exchange { steps: steps.to_vec(), ..Exchange::default() };
        assert!(exchange.take(answer, 1));
        exchange.judge(&history, "k", 2);
        history.violations()
    }

    #[test]
    fn gaps_and_repetitions_are_violations() {
        let result = json!({ "id": 1, "result": { "content": [{ "text": "done k" }] } });
        assert_eq!(judged(&[1, 2], &result), [""; 0]);
        assert_eq!(judged(&[1], &result).len(), 1);
        assert_eq!(judged(&[2], &result).len(), 1);
        assert_eq!(judged(&[1, 1], &result).len(), 1);
        let error = json!({ "id": 1, "error": { "code": -32603 } });
        assert_eq!(judged(&[1], &error), [""; 0]);
        assert_eq!(judged(&[2], &error).len(), 1);
        let other = json!({ "id": 1, "result": { "content": [{ "text": "done j" }] } });
        assert_eq!(judged(&[1, 2], &other).len(), 1);
    }

    #[test]
    fn ids_of_a_stream_increase() {
        let history = History::default();
        let mut position = Position::default();
        for id in ["1-0", "1-2", "3-1"] {
            position.note(id, &history);
        }
        assert_eq!(history.violations(), [""; 0]);
        position.note("3-1", &history);
        assert_eq!(history.violations(), ["event 3-1 came after event 3-1"]);
    }
}
