//! Derives how a wire type is read, written, built and described, for every protocol alike, and how settings are built.
//!
//! serde's derive cannot say what these protocols say of a member: that a malformed one counts as missing, that a bad item of
//! a list is dropped, that `null` clears. Each member therefore has one word for the rules of its protocol, and everything
//! else follows from the word.
//!
//! ```text
//! #[derive(Clone, Debug, PartialEq, Wire, Build)]
//! pub struct ToolCall {
//!     #[wire(required)]
//!     pub tool_call_id: ToolCallId,        reading    Names, Deserialize: from an object only, a repeated member is an error
//!     #[wire(lenient)]                     writing    WriteMembers, Serialize
//!     pub name: Option<String>,        ──▶ building   new(tool_call_id), a setter for each other member
//!     #[wire(items)]                       schema     JsonSchema, behind the feature `schema` of the crate with the type
//!     pub content: Vec<ToolCallContent>,
//!     #[wire(meta)]
//!     pub meta: Option<Meta>,
//! }
//! ```
//!
//! The generated code calls `agentwire_jsonrpc::wire`, and needs `serde`, and `schemars` and `serde_json` for schemas. It is
//! written for the schema crates of this project and supports what they use: structs with named fields and without
//! parameters, and enums.
//!
//! # Objects
//!
//! A field's name on the wire is its own in camel case, or `name = "…"`. A word defines the rest:
//!
//! | word | type | when the member is missing | when it is malformed |
//! |---|---|---|---|
//! | `required` | `T` | error | error |
//! | `expected` | `T` | error | error; a lenient decoding takes the default for both |
//! | `required_items` | `Vec<T>` | error | a bad item is dropped, anything else is empty |
//! | `required_valid_items` | `Vec<T>` | error | a bad item is dropped, anything else is an error |
//! | `required_list` | `Vec<T>` | empty, and always written | `null` is empty, anything else an error |
//! | `optional` | `Option<T>` | none | `null` is none, anything else an error |
//! | `strict` | `Option<T>` | none | the same; an error also in a lenient decoding, because it decides what is done |
//! | `capability` | `Option<T>` | none | the same; a lenient decoding takes `{}` for anything but `null` and `false` |
//! | `number` | `Option<T>` | none | the same; the setter takes a `T`, so that a literal needs no suffix |
//! | `nullable` | `Option<T>` | none, which is written as `null` | the same as `optional` |
//! | `optional_list` | `Option<Vec<T>>` | none | `null` is none, anything else an error |
//! | `lenient` | `Option<T>` | none | none |
//! | `lenient_number` | `Option<T>` | none | none; with the setter of `number` |
//! | `lenient_list` | `Option<Vec<T>>` | none | none |
//! | `raw` | `Option<RawJson>` | none | never: it is kept as text, and `null` is a value |
//! | `raw_object` | `Option<RawJson>` | none | `null` is none, anything but an object an error |
//! | `default` | `T` | the default, which is always written | the same |
//! | `or_default` | `T` | the default, which is always written | error |
//! | `default_list` | `Vec<T>`, `BTreeMap<K, V>` | empty, and written | `null` is empty, anything else an error |
//! | `flag` | `bool` | `false`, which is never written | `null` is `false`, anything else an error |
//! | `list` | `Vec<T>`, `BTreeMap<K, V>` | empty, and not written | `null` is empty, anything else an error |
//! | `plain_list` | the same | the same, but the schema does not say that `null` is empty | the same |
//! | `items` | `Vec<T>` | empty, and not written | a bad item is dropped, anything else is empty |
//! | `optional_items` | `Option<Vec<T>>` | none | a bad item is dropped, anything else is none |
//! | `patch` | `Patch<T>` | kept | kept; `null` clears |
//! | `strict_patch` | `Patch<T>` | kept | error; `null` clears |
//! | `patch_items` | `Patch<Vec<T>>` | kept | a bad item is dropped, anything else is kept; `null` clears |
//! | `meta` | `Option<Meta>` | none | none; it is the member `_meta` |
//! | `strict_meta` | `Option<Meta>` | none | error; it is the member `_meta` |
//! | `union` | a union, or an option of one | error | error: its members are the object's own, and no field reads them |
//! | `extra` | `RawObject`, or a map of `Value` | empty | never: it keeps the members that no field matches |
//!
//! An empty array is read as an empty object, by types that derive `Wire`, by `RawObject`, and by fields of the
//! types `BTreeMap`, `Map` and `JsonObject`.
//!
//! A value that a peer answers with may be decoded leniently (`RawJson::decode_leniently`): if it cannot be read, it is read again.
//! Then a malformed member is left out where the object can be used without it, and so is a bad item of a list. The table of
//! words (`src/word.rs`) defines how: `required` members stay errors, and so do the lists of ACP that decide what is
//! executed (`list`, `required_list`).
//!
//! A member that stands twice is an error in each of them. Beside the word there may be:
//!
//! - `with = module`, `read = function`, `write = function`: functions as serde's attributes of similar names take them, in
//!   place of the word's own reading or writing. `write` gets what is in an option. The `read` of a union takes a `RawObject`.
//! - `omit_if = function`: leaves the member out when the function returns true.
//! - `schema(…)`: additions to the schema, in the syntax of `#[schemars(…)]`.
//!
//! A struct may have `tag = "type", value = "text"`: a member that it writes first where it stands alone. In a union the union
//! writes it. `without_new` leaves `new` to be written by hand, `without_schema` the schema; unions have the latter too.
//!
//! # Unions
//!
//! An enum with `#[wire(tag = "type")]` is a union, whose variants have one of:
//!
//! - `"text"`: objects with this tag. The variant holds a type, or nothing where no member belongs to it. With `from`, the type
//!   converts into the union.
//! - `"stdio", untagged`: objects without a tag, too. The tag is read and not written.
//! - `unknown`: keeps objects with any other tag, as a `RawObject`. `requires("name" = String)` names members that they must
//!   have. Without such a variant the union is closed, and any other tag is an error.
//! - `base`: holds another union, which takes every other object.
//!
//! A second tag is an error: readers differ in which of two they believe, and what one takes for a refusal must not be
//! another's consent.
//!
//! # Strings
//!
//! An enum without a tag is a set of strings: `#[wire("pending")]` before each, and `#[wire(unknown)]` before the variant that
//! keeps any other. Without that the set is closed. `any_string` on the enum is for strings that the protocol's schema does not
//! list.
//!
//! # Settings
//!
//! On a struct without words, such as a `Config`, `Build` makes setters of the fields: the doc of a field is the doc of its
//! setter, and a field without a doc has no setter. A default is added to the doc if that does not mention one.
//!
//! ```
//! use std::sync::Arc;
//!
//! use agentwire_wire_derive::Build;
//!
//! #[derive(Build)]
//! #[build(new)]
//! pub struct Config {
//!     /// Sets how many requests may be unanswered.
//!     #[build(min = 1, default = Self::REQUEST_LIMIT)]
//!     request_limit: usize,
//!     /// Sets how many seconds a request may take; `None` for ever (default 60).
//!     #[build(optional, default = Some(60))]
//!     timeout: Option<u64>,
//!     /// Adds a scope.
//!     #[build(name = scope, push, into)]
//!     scopes: Vec<String>,
//!     /// Calls the function with each warning (default: none).
//!     #[build(dynamic)]
//!     on_warning: Option<Arc<dyn Fn(&str) + Send + Sync>>,
//!     limits: Limits,
//! }
//!
//! #[derive(Default, Build)]
//! #[build(of = Config, at = limits)]
//! struct Limits {
//!     /// Sets how many sessions may be open (default 0).
//!     #[build(name = session_limit)]
//!     sessions: usize,
//! }
//!
//! impl Config {
//!     /// The default of [`request_limit`](Self::request_limit).
//!     pub const REQUEST_LIMIT: usize = 64;
//! }
//!
//! let config = Config::new();
//! assert_eq!((config.request_limit, config.timeout), (Config::REQUEST_LIMIT, Some(60)));
//! let config = config.request_limit(0).timeout(None).scope("read").session_limit(5).on_warning(|_| {});
//! assert_eq!((config.request_limit, config.timeout, config.limits.sessions), (1, None, 5));
//! assert_eq!(config.scopes, ["read"]);
//! assert!(config.on_warning.is_some());
//! ```
//!
//! | option of a field | type | the setter |
//! |---|---|---|
//! | none | `T`, `Option<T>` | takes a `T` |
//! | `into` | `T`, `Option<T>` | takes what converts into a `T` |
//! | `optional` | `Option<T>` | takes a `T` or an `Option<T>` |
//! | `list` | `Vec<T>`, `Option<Vec<T>>` | takes a collection of what converts into a `T` |
//! | `push`, `push, into` | `Vec<T>` | adds a `T`, or what converts into it |
//! | `dynamic` | `Arc<dyn T>`, `Box<dyn T>`, options of them | takes a type that implements the trait |
//! | `min = 1` | `T: Ord` | raises a lower value to this |
//! | `name = limit` | any | has this name |
//! | `skip` | any | does not exist |
//!
//! `default = VALUE` is the value of the field in `new` and `Default`; otherwise it is that of the field's type. `required` makes
//! the field an argument of `new`. On the struct, `new` derives `new`, and `Default` if no field is required; `new = "…"` has this
//! doc; `default` derives `Default` alone. `of = Config, at = limits` makes the setters of the fields those of a `Config`, which holds
//! the struct in its field `limits`.
//!
//! # What it does not do
//!
//! It changes no item that it is put on. It builds no tree of values except for an `extra` map of `Value`: a `union` member, and
//! a union whose tag is not first, are buffered as text and read from that.

mod attribute;
mod build;
mod field;
mod object;
mod rule;
mod schema;
mod settings;
mod string_enum;
mod tagged;

#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DataEnum, DataStruct, DeriveInput, Error, Field, Fields, FieldsNamed, Result};

use attribute::Options;
use object::Object;
use string_enum::StringEnum;
use tagged::Union;

/// Derives how a type is read, written and described. See the [crate docs](crate).
#[proc_macro_derive(Wire, attributes(wire))]
pub fn derive_wire(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expand(input, wire)
}

/// Derives `new` and setters of a wire type or of settings. See the [crate docs](crate).
#[proc_macro_derive(Build, attributes(wire, build))]
pub fn derive_build(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expand(input, build)
}

fn expand(
    input: proc_macro::TokenStream,
    derive: fn(&DeriveInput) -> Result<TokenStream>,
) -> proc_macro::TokenStream {
    let expanded = syn::parse(input).and_then(|input| derive(&input));
    expanded.unwrap_or_else(Error::into_compile_error).into()
}

fn wire(input: &DeriveInput) -> Result<TokenStream> {
    refuse_parameters(input)?;
    match &input.data {
        Data::Struct(_) => {
            let object = Object::new(input, named_fields(input)?)?;
            let schema = object.has_schema.then(|| schema::of_object(&object));
            let code = object.expand();
            Ok(quote! { #code #schema })
        }
        Data::Enum(data) => wire_enum(input, data),
        Data::Union(_) => Err(Error::new(input.ident.span(), "a wire type is a struct or an enum")),
    }
}

fn wire_enum(input: &DeriveInput, data: &DataEnum) -> Result<TokenStream> {
    let options = Options::of(&input.attrs)?;
    let (code, schema) = match options.tag.clone() {
        Some(tag) => {
            let union = Union::new(input, data, options, tag)?;
            (union.expand(), union.has_schema.then(|| schema::of_union(&union)))
        }
        None => {
            let strings = StringEnum::new(input, data, options)?;
            (strings.expand(), Some(schema::of_strings(&strings)))
        }
    };
    Ok(quote! { #code #schema })
}

fn build(input: &DeriveInput) -> Result<TokenStream> {
    let fields = named_fields(input)?;
    let has_word = |field: &Field| field.attrs.iter().any(|attribute| attribute.path().is_ident("wire"));
    if !fields.named.is_empty() && !fields.named.iter().any(has_word) {
        return settings::expand(input, fields);
    }
    refuse_parameters(input)?;
    build::expand(input, fields)
}

fn named_fields(input: &DeriveInput) -> Result<&FieldsNamed> {
    match &input.data {
        Data::Struct(DataStruct { fields: Fields::Named(fields), .. }) => Ok(fields),
        _ => Err(Error::new(input.ident.span(), "an object is a struct with named fields")),
    }
}

fn refuse_parameters(input: &DeriveInput) -> Result<()> {
    match input.generics.params.first() {
        Some(parameter) => Err(Error::new_spanned(parameter, "a wire type has no parameters")),
        None => Ok(()),
    }
}
