//! A failure as a sentence.

use agentwire_jsonrpc::Printable;

use crate::text::beginning;

/// How many bytes of an error's text are shown.
const TEXT_LIMIT: usize = 16 << 10;

/// A failure and its causes as a sentence. A cause whose text the sentence has already is left out.
pub(crate) fn sentence(error: &anyhow::Error) -> String {
    let mut sentence = beginning(error, TEXT_LIMIT);
    let escaped = |text: &str| Printable::new(text).to_string();
    for cause in error.chain().skip(1).map(|cause| beginning(cause, TEXT_LIMIT)) {
        // The error before it may have escaped its text.
        if !sentence.contains(&cause) && !escaped(&sentence).contains(&escaped(&cause)) {
            sentence = format!("{sentence}: {cause}");
        }
    }
    sentence
}

#[cfg(test)]
mod tests {
    use agentwire_jsonrpc::ErrorObject;
    use agentwire_peer::CallError;

    use super::super::errors::ErrorWithHint;
    use super::*;

    #[test]
    fn a_sentence_has_each_cause_once() {
        let refused = CallError::refused("m", ErrorObject::new(1, "\u{1b}[2Jno"));
        let error = anyhow::Error::new(ErrorWithHint::new(refused, "try again".into()));
        assert_eq!(sentence(&error), "m: the peer refused: ^[[2Jno (1); try again");
        let error = anyhow::Error::new(CallError::failed("m", "\u{1b}[2Jgone"));
        assert_eq!(sentence(&error), "m: ^[[2Jgone");
    }
}
