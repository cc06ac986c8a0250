//! A failure as a sentence.

use agentwire_jsonrpc::Printable;

use super::chain::TEXT_LIMIT;
use super::errors::AlreadyPrinted;
use super::remote::RemoteError;
use crate::text::beginning;

/// A failure and its causes as a sentence. A cause whose text the sentence has already is left out.
pub(crate) fn sentence(error: &anyhow::Error) -> String {
    // A transparent error leaves its own error out of its sources.
    if let Some(AlreadyPrinted(error)) = error.downcast_ref() {
        return sentence(error);
    }
    let mut sentence = beginning(error, TEXT_LIMIT);
    let mut is_whole = error.is::<RemoteError>();
    let escaped = |text: &str| Printable::new(text).to_string();
    for cause in error.chain().skip(1) {
        if is_whole {
            break;
        }
        is_whole = cause.is::<RemoteError>();
        let cause = beginning(cause, TEXT_LIMIT);
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

    use super::*;

    #[test]
    fn a_sentence_has_each_cause_once() {
        let error = anyhow::Error::new(ErrorObject::new(1, "\u{1b}[2Jno")).context("try again");
        assert_eq!(sentence(&error), "try again: ^[[2Jno (1)");
        let error = anyhow::Error::new(CallError::failed("m", "\u{1b}[2Jgone"));
        assert_eq!(sentence(&error), "m: ^[[2Jgone");
    }
}
