//! How what is being typed might go on: an argument of a prompt, which knows the other one, and a variable of a template.

use agentwire_mcp_server::{Context, PartialArgument};

/// For the arguments of `test_prompt_with_arguments`. Nothing is proposed twice.
pub(crate) async fn words(typed: PartialArgument, _: Context) -> Vec<String> {
    let mut words = typed.among(["paris", "park", "party", "testValue1", "testValue2"]);
    words.retain(|word| !typed.others.values().any(|other| other == word));
    words
}

/// More than are sent at once.
pub(crate) async fn numbers(typed: PartialArgument, _: Context) -> Vec<String> {
    typed.among((0..1000).map(|number| number.to_string()))
}
