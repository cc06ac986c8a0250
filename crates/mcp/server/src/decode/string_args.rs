//! Decodes string arguments (prompt arguments, URI-template variables) into a handler's argument type.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::de::value::{Error, MapDeserializer};

use crate::decode::faults;
use crate::decode::string_arg::StringArg;

/// Decodes a struct from its members, which are strings.
///
/// # Errors
///
/// The first fault.
pub(crate) fn decode_strings<T: DeserializeOwned>(args: &BTreeMap<String, String>) -> Result<T, Error> {
    let args = args.iter().map(|(name, text)| (name.as_str(), StringArg::new(text)));
    T::deserialize(MapDeserializer::<_, Error>::new(args))
}

/// Decodes a struct from its members, which are strings.
///
/// # Errors
///
/// All faults, in the order of the struct's members.
pub(crate) fn decode_string_args<T: DeserializeOwned>(args: &BTreeMap<String, String>) -> Result<T, String> {
    decode_strings(args).map_err(|error| faults::of_texts::<T>(args, &error))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "lowercase")]
    enum Tone {
        Kind,
        Stern,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Wanted {
        text: String,
        number: u32,
        ratio: Option<f64>,
        tone: Tone,
        left_out: Option<bool>,
    }

    fn read(args: &[(&str, &str)]) -> Result<Wanted, String> {
        let owned = |(name, word): &(&str, &str)| ((*name).to_owned(), (*word).to_owned());
        decode_string_args(&args.iter().map(owned).collect())
    }

    #[test]
    fn words_become_what_the_type_says() {
        let read =
            read(&[("number", "7"), ("ratio", "0.5"), ("text", "12"), ("tone", "stern"), ("more", "x")]);
        let wanted =
            Wanted { text: "12".into(), number: 7, ratio: Some(0.5), tone: Tone::Stern, left_out: None };
        assert_eq!(read, Ok(wanted));
    }

    #[test]
    fn all_words_that_are_none_of_these_are_named() {
        let fault = read(&[("number", "seven"), ("text", ""), ("tone", "kind")]).expect_err("no number");
        assert_eq!(fault, "`number`: expected u32, found the string \"seven\"");
        let fault = read(&[("number", "7"), ("tone", "mild"), ("left_out", "?")]).expect_err("three faults");
        let tone = "`tone`: expected `kind` or `stern`, found the string \"mild\"";
        let left_out = "`left_out`: expected a boolean, found the string \"?\"";
        assert_eq!(fault, format!("`text` is missing; {tone}; {left_out}"));
    }
}
