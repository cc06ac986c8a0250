//! Derives how a wire type is read, written, built and described, and how settings are built.
//!
//! serde's derive cannot express the rules of these protocols for a member: a malformed member counts as missing, a malformed item of
//! a list is dropped, `null` clears. Therefore each member names one *rule* in its attribute, and everything else follows from that.
//!
//! ```text
//! #[derive(Clone, Debug, PartialEq, Wire, Build)]
//! pub struct ToolCall {
//!     #[wire(required)]
//!     pub tool_call_id: ToolCallId,        reading    ReadMembers, Deserialize: from an object; a repeated member is an error
//!     #[wire(lenient)]                     writing    WriteMembers, Serialize
//!     pub name: Option<String>,        ──▶ building   new(tool_call_id), a setter for each other member
//!     #[wire(items)]                       schema     JsonSchema, behind the feature `schema` of the crate with the type
//!     pub content: Vec<ToolCallContent>,
//!     #[wire(meta)]
//!     pub meta: Option<Meta>,
//! }
//! ```
//!
//! The generated code calls `agentwire_jsonrpc::wire`. It needs `serde`, and for schemas `schemars` and `serde_json`. It supports only
//! the types of this project's schema crates: enums, and structs with named fields and without parameters.
//!
//! # Objects
//!
//! A field's name on the wire is its Rust name in camel case, or `name = "…"`. The rule defines the rest:
//!
//! | rule | type | when the member is missing | when it is malformed |
//! |---|---|---|---|
//! | `required` | `T` | error | error |
//! | `expected` | `T` | error | error; a lenient decoding uses the default for both |
//! | `required_items` | `Vec<T>` | error | a malformed item is dropped; any other value is read as empty |
//! | `required_valid_items` | `Vec<T>` | error | a malformed item is dropped; any other value is an error |
//! | `required_list` | `Vec<T>` | empty, and always written | `null` is empty; any other value is an error |
//! | `optional` | `Option<T>` | `None` | `null` is `None`; any other value is an error |
//! | `strict` | `Option<T>` | `None` | as `optional`; an error also in a lenient decoding, because the member decides what is done |
//! | `capability` | `Option<T>` | `None` | as `optional`; a lenient decoding reads any value but `null` and `false` as `{}` |
//! | `number` | `Option<T>` | `None` | as `optional`; the setter takes a `T`, so that a literal needs no suffix |
//! | `nullable` | `Option<T>` | `None`, which is written as `null` | as `optional` |
//! | `optional_list` | `Option<Vec<T>>` | `None` | `null` is `None`; any other value is an error |
//! | `lenient` | `Option<T>` | `None` | `None` |
//! | `lenient_number` | `Option<T>` | `None` | `None`; with the setter of `number` |
//! | `lenient_list` | `Option<Vec<T>>` | `None` | `None` |
//! | `raw` | `Option<RawJson>` | `None` | never malformed: it is kept as text, and `null` is a value |
//! | `raw_object` | `Option<RawJson>` | `None` | `null` is `None`; any other value but an object is an error |
//! | `default` | `T` | the default, which is always written | the default |
//! | `or_default` | `T` | the default, which is always written | error |
//! | `default_list` | `Vec<T>`, `BTreeMap<K, V>` | empty, and always written | `null` is empty; any other value is an error |
//! | `flag` | `bool` | `false`, which is never written | `null` is `false`; any other value is an error |
//! | `list` | `Vec<T>`, `BTreeMap<K, V>` | empty, and not written | `null` is empty; any other value is an error |
//! | `plain_list` | as `list` | as `list` | as `list`, but the schema has no keyword for `null` |
//! | `items` | `Vec<T>` | empty, and not written | a malformed item is dropped; any other value is read as empty |
//! | `optional_items` | `Option<Vec<T>>` | `None` | a malformed item is dropped; any other value is `None` |
//! | `patch` | `Patch<T>` | kept | kept; `null` clears |
//! | `strict_patch` | `Patch<T>` | kept | error; `null` clears |
//! | `patch_items` | `Patch<Vec<T>>` | kept | a malformed item is dropped; any other value keeps; `null` clears |
//! | `meta` | `Option<Meta>` | `None` | `None`; it is the member `_meta` |
//! | `strict_meta` | `Option<Meta>` | `None` | error; it is the member `_meta` |
//! | `union` | a union, or an option of one | error | error; the union's members are inlined into the object, like serde's `flatten` |
//! | `extra` | `RawObject`, or a map of `Value` | empty | never malformed: it keeps all members that no field matches |
//!
//! An empty array is read as an empty object by types that derive `Wire`, by `RawObject`, and by fields of the types `BTreeMap`,
//! `Map` and `JsonObject`.
//!
//! A result or notification may be decoded leniently (`RawJson::decode_leniently`): if the strict decoding fails, the value is decoded
//! a second time. The second decoding leaves out malformed members that the object is usable without, and malformed items of lists.
//! The table of rules (`src/rule.rs`) defines how. `required` members stay errors, and so do the lists of ACP that decide what is
//! executed (`list`, `required_list`).
//!
//! A repeated member is an error under every rule. In addition to the rule, a field may have:
//!
//! - `with = module`, `read = function`, `write = function`: functions as for serde's `with`, `deserialize_with` and
//!   `serialize_with`, in place of the rule's own reading or writing. If a `None` is not written, `write` takes the value in the
//!   option. The `read` of a union takes a `RawObject`.
//! - `omit_if = function`: leaves the member out when the function returns true.
//! - `schema(…)`: additions to the schema, in the syntax of `#[schemars(…)]`.
//!
//! A struct may have `tag = "type", value = "text"`, a member that it writes first. As a variant of a union, the struct does not
//! write it, because the union does. `without_new` leaves `new` to be written by hand, and `without_schema` the schema. Unions have
//! `without_schema` too.
//!
//! # Unions
//!
//! An enum with `#[wire(tag = "type")]` is a union. Each variant has one of:
//!
//! - `"text"`: matches objects with this tag. The variant contains a type, or nothing if it has no members. With `from`, the type
//!   converts into the union.
//! - `"stdio", untagged`: also matches objects without a tag. The tag is read, but not written.
//! - `unknown`: keeps objects with any other tag, as a `RawObject`. `requires("name" = String)` names members that they must
//!   have. Without such a variant the union is closed, and any other tag is an error.
//! - `base`: contains another union, which reads every other object.
//!
//! A repeated tag is an error. Otherwise one reader could use the first and another the second, so that one reads a refusal and the
//! other a consent.
//!
//! # Strings
//!
//! An enum without a tag is a set of strings: `#[wire("pending")]` before each variant, and `#[wire(unknown)]` before the variant that
//! keeps any other string. Without that variant the set is closed. `any_string` on the enum is for strings that the protocol's schema
//! does not list.
//!
//! # Settings
//!
//! On a struct whose fields have no rules, such as a `Config`, `Build` derives setters. The doc of a field is the doc of its setter,
//! and a field without a doc has no setter. If the doc does not mention the default, the default is added.
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
//! | `into` | `T`, `Option<T>` | takes an `impl Into<T>` |
//! | `optional` | `Option<T>` | takes a `T` or an `Option<T>` |
//! | `list` | `Vec<T>`, `Option<Vec<T>>` | takes a collection of `impl Into<T>` |
//! | `push`, `push, into` | `Vec<T>` | adds a `T`, or an `impl Into<T>` |
//! | `dynamic` | `Arc<dyn T>`, `Box<dyn T>`, options of them | takes a type that implements the trait |
//! | `min = 1` | `T: Ord` | raises a lower value to this |
//! | `name = limit` | any | has this name |
//! | `skip` | any | does not exist |
//!
//! `default = VALUE` is the value of the field in `new` and `Default`. Otherwise it is the default of the field's type. `required` makes
//! the field an argument of `new`. On the struct, `new` derives `new`, and also `Default` if no field is required. `new = "…"` sets the
//! doc of `new`. `default` derives only `Default`. `of = Config, at = limits` adds the setters to `Config`, whose field `limits`
//! contains the struct.
//!
//! # What it does not do
//!
//! The generated code builds no tree of values except for an `extra` map of `Value`. A `union` member, and a union whose tag is not the
//! first member, are buffered as text and read from that.

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
