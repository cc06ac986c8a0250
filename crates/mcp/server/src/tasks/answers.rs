//! Answers to a task's questions, on their way to the node that runs it.

use std::collections::BTreeMap;

use agentwire_jsonrpc::{ErrorObject, RawJson, WithCauses};
use agentwire_peer::CallError;
use serde::{Deserialize, Serialize};

/// An answer, as another node reads it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Result(RawJson),
    Error(ErrorObject),
}

/// Answers by the keys of their questions, or the error in place of an answer.
pub(crate) type Answers = BTreeMap<String, Result<RawJson, CallError>>;

pub(crate) fn encode(answers: &Answers) -> Result<RawJson, ErrorObject> {
    let answers: BTreeMap<_, _> = answers
        .iter()
        .map(|(key, answer)| {
            let answer = match answer {
                Ok(result) => Answer::Result(result.clone()),
                Err(CallError::Refused { error, .. }) => Answer::Error(error.clone()),
                Err(error) => Answer::Error(ErrorObject::internal_error(WithCauses::new(error))),
            };
            (key, answer)
        })
        .collect();
    RawJson::encode(&answers).map_err(ErrorObject::internal_error)
}

/// Reads what another node has sent. `None` if a later version of this crate has sent it.
pub(crate) fn decode(text: &RawJson) -> Option<Answers> {
    let answers: BTreeMap<String, Answer> = text.decode().ok()?;
    let answers = answers.into_iter().map(|(key, answer)| match answer {
        Answer::Result(result) => (key, Ok(result)),
        Answer::Error(error) => (key, Err(CallError::refused("tasks/result", error))),
    });
    Some(answers.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_arrive_as_they_were_sent() {
        let refused = CallError::refused("elicitation/create", ErrorObject::new(-1, "no".to_owned()));
        let answers = [("a".to_owned(), Ok(RawJson::EMPTY_OBJECT)), ("b".to_owned(), Err(refused))];
        let text = encode(&answers.into()).expect("JSON");
        assert_eq!(text.as_str(), r#"{"a":{"result":{}},"b":{"error":{"code":-1,"message":"no"}}}"#);
        let read = decode(&text).expect("answers");
        assert!(matches!(&read["a"], Ok(result) if result.as_str() == "{}"));
        assert!(matches!(&read["b"], Err(CallError::Refused { error, .. }) if error.code == -1));
        assert!(decode(&RawJson::EMPTY_OBJECT).is_some_and(|none| none.is_empty()));
        assert!(decode(&RawJson::parse("[]".into()).expect("JSON")).is_none());
    }
}
