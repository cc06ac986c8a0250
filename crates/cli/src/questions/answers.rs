//! `--answer NAME=VALUE`: answers to the forms for which a server asks, without a person.

use std::cell::Cell;

use agentwire_acp_sessions::{answer_to_mcp, form_from_mcp};
use agentwire_acp_toolkit::Form;
use agentwire_jsonrpc::ErrorObject;
use agentwire_mcp_client::schema::{ElicitFormRequest, ElicitResult};

use crate::failure::Usage;
use crate::text;
use crate::values::Answer;

/// The answers of the command line.
#[derive(Debug)]
pub(super) struct Answers(Vec<(Answer, Cell<bool>)>);

/// What the answers make of a form.
pub(super) enum Filled {
    /// None of the answers is for a field of it.
    Unknown,
    /// They fill it in. The text is for a note.
    Complete(ElicitResult, String),
    /// They do not, and why.
    Wrong(String),
}

impl Answers {
    /// # Errors
    ///
    /// [`Usage`] where two have the same name.
    pub(super) fn new(answers: Vec<Answer>) -> Result<Self, Usage> {
        for (at, Answer { name, .. }) in answers.iter().enumerate() {
            if answers[..at].iter().any(|before| before.name == *name) {
                return Err(Usage(format!("--answer {} is given twice", text::one_line(name))));
            }
        }
        Ok(Self(answers.into_iter().map(|answer| (answer, Cell::new(false))).collect()))
    }

    /// Fills in a form. Each value gets the type of its field, and has to be valid.
    pub(super) fn fill_in(&self, request: &ElicitFormRequest) -> Result<Filled, ErrorObject> {
        if self.0.is_empty() {
            return Ok(Filled::Unknown);
        }
        let mut form = Form::new(form_from_mcp(request.requested_schema.clone())?)?;
        let is_field = |answer: &&(Answer, Cell<bool>)| form.fields().any(|(name, _)| name == answer.0.name);
        let fitting: Vec<_> = self.0.iter().filter(is_field).collect();
        fitting.iter().for_each(|(_, is_used)| is_used.set(true));
        let mut names = Vec::new();
        for (Answer { name, value }, _) in fitting {
            if let Err(error) = form.enter(name, value) {
                return Ok(Filled::Wrong(format!("--answer {}: {}", text::one_line(name), error.fault)));
            }
            names.push(name.as_str());
        }
        if names.is_empty() {
            return Ok(Filled::Unknown);
        }
        match form.accept() {
            Ok(response) => {
                let question = text::one_line(&request.message);
                let note =
                    format!("answered with --answer: {question} ({})", text::one_line(&names.join(", ")));
                Ok(Filled::Complete(answer_to_mcp(response)?, note))
            }
            Err(faults) => {
                let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
                Ok(Filled::Wrong(format!("--answer: {}", faults.join("; "))))
            }
        }
    }

    /// The names for which no server has asked.
    pub(super) fn unused(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, is_used)| !is_used.get()).map(|(answer, _)| &*answer.name)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn form() -> ElicitFormRequest {
        serde_json::from_value(json!({ "message": "Sure?", "requestedSchema": { "type": "object",
            "properties": { "sure": { "type": "boolean" }, "cups": { "type": "integer", "maximum": 9, "default": 1 } },
            "required": ["sure", "cups"] } }))
        .unwrap()
    }

    fn filled(answers: &[&str]) -> (String, Vec<String>) {
        let answers = Answers::new(answers.iter().map(|answer| answer.parse().unwrap()).collect()).unwrap();
        let filled = match answers.fill_in(&form()).unwrap() {
            Filled::Unknown => "unknown".to_owned(),
            Filled::Complete(result, note) => {
                format!("{note}: {}", serde_json::to_string(&result.content).unwrap())
            }
            Filled::Wrong(why) => why,
        };
        (filled, answers.unused().map(str::to_owned).collect())
    }

    #[test]
    fn a_name_has_one_answer() {
        let answers = ["sure=true", "cups=1", "sure=false"].map(|answer| answer.parse().unwrap());
        let Usage(why) = Answers::new(answers.into()).unwrap_err();
        assert_eq!(why, "--answer sure is given twice");
        assert_eq!("sure".parse::<Answer>().unwrap_err(), "write NAME=VALUE, as in sure=true");
    }

    #[test]
    fn answers_are_typed_and_checked() {
        let complete = "answered with --answer: Sure? (sure): {\"cups\":1,\"sure\":true}";
        assert_eq!(filled(&["sure=true", "other=x"]), (complete.into(), vec!["other".into()]));
        assert_eq!(filled(&[]), ("unknown".into(), vec![]));
        assert_eq!(filled(&["other=x"]), ("unknown".into(), vec!["other".into()]));
        for wrong in [&["sure=perhaps"][..], &["sure=true", "cups=10"], &["cups=2"]] {
            let (why, unused) = filled(wrong);
            assert!(why.starts_with("--answer") && unused.is_empty(), "{wrong:?}: {why}");
        }
    }
}
