//! Describes a failure as a sentence.

use agentwire_jsonrpc::Printable;
use agentwire_transport_http::client::CertificateError;

use super::auth::{advice, unsent};
use super::chain::TEXT_LIMIT;
use super::errors::AlreadyPrinted;
use super::remote::RemoteError;
use crate::descriptors::{files_text, is_too_many_files};
use crate::output::text::beginning;

/// A failure and its causes as a sentence. Leaves out a cause whose text the sentence already has.
pub(crate) fn sentence(error: &anyhow::Error) -> String {
    // A transparent error leaves its own error out of its sources.
    if let Some(AlreadyPrinted(error)) = error.downcast_ref() {
        return sentence(error);
    }
    // Its text is complete: the environment is wrong, so the failed request does not matter.
    if let Some(certificates) = error.chain().find_map(|cause| cause.downcast_ref::<CertificateError>()) {
        return beginning(certificates, TEXT_LIMIT);
    }
    let is_remote = error.chain().any(|cause| cause.is::<RemoteError>());
    let mut sentence = String::new();
    for cause in error.chain() {
        let phrase = unsent(cause);
        let is_whole = cause.is::<RemoteError>() || phrase.is_some();
        let text = phrase.unwrap_or_else(|| beginning(Printable::display(cause), TEXT_LIMIT));
        if sentence.is_empty() {
            sentence = text;
        } else if !sentence.contains(&text) {
            sentence = format!("{sentence}: {text}");
        }
        if is_whole {
            break;
        }
    }
    let of_login = if is_remote { String::new() } else { advice(error.as_ref()) };
    sentence + &of_login + &of_limit(error)
}

/// The limit of open files, if it has caused the failure.
fn of_limit(error: &anyhow::Error) -> String {
    match error.chain().any(is_too_many_files) {
        true => format!("; {}", files_text()),
        false => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use agentwire_jsonrpc::ErrorObject;
    use agentwire_peer::CallError;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn sentence_on_too_many_open_files_names_the_limit() {
        let error = anyhow::Error::new(std::io::Error::from_raw_os_error(24)).context("cannot start");
        let sentence = sentence(&error);
        assert!(sentence.contains("; the limit of open files is "), "{sentence}");
        assert!(sentence.ends_with("(`ulimit -n`)"), "{sentence}");
    }

    #[test]
    fn a_sentence_has_each_cause_once() {
        let error = anyhow::Error::new(ErrorObject::new(1, "\u{1b}[2Jno")).context("try again");
        assert_eq!(sentence(&error), "try again: ^[[2Jno (1)");
        let error = anyhow::Error::new(CallError::failed("m", "\u{1b}[2Jgone"));
        assert_eq!(sentence(&error), "m: failed: ^[[2Jgone");
    }
}
