//! The params and result of `completion/complete`. `Completion::new` cuts the list at 100 values and records the total.

use std::collections::BTreeMap;

use agentwire_wire_derive::Wire;

use crate::Meta;

/// Asks for completions of the text that the user has typed.
///
/// See <https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/completion>.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct CompleteRequest {
    /// The prompt or template whose argument is completed, `ref` on the wire.
    #[wire(required, name = "ref")]
    pub reference: CompletionReference,
    /// The argument that is being typed.
    #[wire(required)]
    pub argument: CompletionArgument,
    /// The arguments that have values already. Since 2025-06-18.
    #[wire(optional)]
    pub context: Option<CompletionContext>,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl CompleteRequest {
    /// Asks for completions of this argument of this prompt or template.
    pub fn new(reference: impl Into<CompletionReference>, argument: CompletionArgument) -> Self {
        Self { reference: reference.into(), argument, context: None, meta: None }
    }
}

setters!(CompleteRequest {
    some context: CompletionContext,
    some meta: Meta,
});

/// The subject of a completion. Reading any other kind fails: there would be nothing to complete.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[wire(tag = "type", without_schema)]
#[non_exhaustive]
pub enum CompletionReference {
    /// A prompt's arguments.
    #[wire("ref/prompt", from)]
    Prompt(PromptReference),
    /// The variables of a resource template.
    #[wire("ref/resource", from)]
    Resource(ResourceTemplateReference),
}

/// Identifies a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[wire(tag = "type", value = "ref/prompt")]
#[non_exhaustive]
pub struct PromptReference {
    /// The prompt's name.
    #[wire(required)]
    pub name: String,
    /// The prompt's name for people. Since 2025-06-18.
    #[wire(optional)]
    pub title: Option<String>,
}

impl PromptReference {
    /// The prompt of that name.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), title: None }
    }
}

setters!(PromptReference {
    some title: String,
});

/// Identifies a resource template, or one resource. Before 2025-06-18 it was called a resource reference.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[wire(tag = "type", value = "ref/resource")]
#[non_exhaustive]
pub struct ResourceTemplateReference {
    /// The URI, or its template.
    #[wire(required, schema(extend("format" = "uri-template")))]
    pub uri: String,
}

impl ResourceTemplateReference {
    /// The template, or the resource, of that URI.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into() }
    }
}

/// The argument that is being typed.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct CompletionArgument {
    /// Its name.
    #[wire(required)]
    pub name: String,
    /// The value so far.
    #[wire(required)]
    pub value: String,
}

impl CompletionArgument {
    /// The argument `name` with its value so far.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into() }
    }
}

/// The arguments that have values already. Since 2025-06-18.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct CompletionContext {
    /// The values of the other arguments, by their names.
    #[wire(plain_list)]
    pub arguments: BTreeMap<String, String>,
}

empty!(CompletionContext);
setters!(CompletionContext {
    set arguments: BTreeMap<String, String>,
});

/// The answer to a request for completions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct CompleteResult {
    /// The proposals.
    #[wire(required)]
    pub completion: Completion,
    /// The kind of this result; absent means complete. Since 2026-07-28.
    #[wire(optional)]
    pub result_type: Option<crate::ResultType>,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl CompleteResult {
    /// These proposals.
    pub fn new(completion: Completion) -> Self {
        Self { completion, result_type: None, meta: None }
    }
}

setters!(CompleteResult {
    some result_type: crate::ResultType,
    some meta: Meta,
});

/// Proposals for the value of an argument.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct Completion {
    /// The values, best first, 100 at most.
    #[wire(required, schema(length(max = 100)))]
    pub values: Vec<String>,
    /// How many there are in all.
    #[wire(optional)]
    pub total: Option<u64>,
    /// Whether there are more than these.
    #[wire(flag)]
    pub has_more: bool,
}

impl Completion {
    /// How many values may travel at once.
    pub const MAX_VALUES: usize = 100;

    /// These values. Those beyond [`MAX_VALUES`](Self::MAX_VALUES) are cut off, and `total` and `has_more` are set.
    pub fn new(mut values: Vec<String>) -> Self {
        let all = values.len();
        values.truncate(Self::MAX_VALUES);
        let cut = values.len() < all;
        Self { values, total: cut.then_some(all as u64), has_more: cut }
    }
}

setters!(Completion {
    some total: u64,
    set has_more: bool,
});

has_meta!(CompleteRequest, CompleteResult);
