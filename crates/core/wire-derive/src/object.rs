//! `#[derive(Wire)]` on a struct: an object.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{DeriveInput, LitStr, Result, Type};

use crate::attribute::Options;
use crate::field::{Field, Kind, argument, last_name};
use crate::rule::{LenientRule, MissingRule, Rule, WriteRule};

/// The names of the map types.
const MAPS: [&str; 3] = ["BTreeMap", "JsonObject", "Map"];

/// A struct with its parsed attributes.
pub(crate) struct Object<'a> {
    pub(crate) input: &'a DeriveInput,
    pub(crate) fields: Vec<Field<'a>>,
    /// The name and value of the tag that `Serialize` writes first. Within a union, the union writes its own tag instead.
    pub(crate) tag: Option<(LitStr, LitStr)>,
    pub(crate) has_schema: bool,
    pub(crate) options: Options,
}

impl<'a> Object<'a> {
    pub(crate) fn new(input: &'a DeriveInput, fields: &'a syn::FieldsNamed) -> Result<Self> {
        let mut options = Options::of(&input.attrs)?;
        options.take("without_new");
        let has_schema = !options.take("without_schema");
        options.finish("a struct", &["tag", "value", "schema"])?;
        let tag = match (&options.tag, &options.value) {
            (Some(tag), Some(value)) => Some((tag.clone(), value.clone())),
            (None, None) => None,
            (Some(one), None) | (None, Some(one)) => {
                return Err(syn::Error::new(
                    one.span(),
                    "a struct has both a `tag` and its `value`, or neither",
                ));
            }
        };
        Ok(Self { input, fields: Field::all(fields)?, tag, has_schema, options })
    }

    pub(crate) fn expand(&self) -> TokenStream {
        let (read, write) = (self.read(), self.write());
        quote! { #read #write }
    }

    fn members(&self) -> impl Iterator<Item = (usize, &Field<'a>, &'static Rule, &LitStr)> {
        self.fields.iter().enumerate().filter_map(|(at, field)| match &field.kind {
            Kind::Member { rule, name } => Some((at, field, *rule, name)),
            Kind::Union | Kind::Extra => None,
        })
    }

    fn rest(&self) -> Option<(usize, &Field<'a>)> {
        self.fields.iter().enumerate().find(|(_, field)| !matches!(field.kind, Kind::Member { .. }))
    }

    fn read(&self) -> TokenStream {
        let name = &self.input.ident;
        let (places, names): (Vec<_>, Vec<_>) = self.members().map(|(at, .., name)| (at, name)).unzip();
        let declared = self.members().map(|(at, field, ..)| {
            let (place, kind) = (place(at), &field.source.ty);
            quote! { let mut #place: ::core::option::Option<#kind> = ::core::option::Option::None; }
        });
        let readers = self.members().filter_map(|(at, field, ..)| own_reader(at, field));
        let (begin, loops, end) = self.loops();
        let values = self.fields.iter().enumerate().map(|(at, field)| {
            let (ident, value) = (field.ident, finished(at, field));
            quote! { #ident: #value }
        });
        // Inlined, the code would be copied for each deserializer, which makes programs larger.
        quote! {
            #[automatically_derived]
            impl<'de> ::agentwire_jsonrpc::wire::ReadMembers<'de> for #name {
                const NAME: &'static str = ::core::stringify!(#name);

                #[inline]
                fn position(name: &str) -> ::core::option::Option<usize> {
                    match name {
                        #(#names => ::core::option::Option::Some(#places),)*
                        _ => ::core::option::Option::None,
                    }
                }

                fn read<A: ::serde::de::MapAccess<'de>>(mut members: A) -> ::core::result::Result<Self, A::Error> {
                    #(#readers)*
                    #(#declared)*
                    #begin
                    #loops
                    #end
                    ::core::result::Result::Ok(Self { #(#values),* })
                }
            }

            #[automatically_derived]
            impl<'de> ::serde::Deserialize<'de> for #name {
                #[inline(never)]
                fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> ::core::result::Result<Self, D::Error> {
                    ::agentwire_jsonrpc::wire::read_members(deserializer)
                }
            }
        }
    }

    /// The code in front of the loop over the members, the loop, and the code behind it.
    fn loops(&self) -> (TokenStream, TokenStream, TokenStream) {
        let ignore = quote! { { members.next_value::<::serde::de::IgnoredAny>()?; } };
        let arms: Vec<_> = self
            .members()
            .map(|(at, field, rule, name)| {
                let (place, reader) = (place(at), reader(at, field, rule));
                let lenient = lenient_reader(field, rule, &reader);
                let take = quote_spanned! { field.span()=>
                    ::agentwire_jsonrpc::wire::take::<#reader, #lenient, _, A>(&mut #place, #name, &mut members)?
                };
                (at, take)
            })
            .collect();
        let Some((at, rest)) = self.rest() else {
            let arms = arms.iter().map(|(at, arm)| quote! { ::core::option::Option::Some(#at) => #arm, });
            let each = if self.fields.is_empty() {
                quote! { let _: ::core::option::Option<usize> = position; #ignore }
            } else {
                quote! { match position { #(#arms)* _ => #ignore } }
            };
            let next = quote! { ::agentwire_jsonrpc::wire::Key::own::<Self, A>(&mut members)? };
            let loops = quote! { while let ::core::option::Option::Some(position) = #next { #each } };
            return (TokenStream::new(), loops, TokenStream::new());
        };
        let arms = arms.iter().map(|(at, arm)| quote! { ::agentwire_jsonrpc::wire::Key::Own(#at) => #arm, });
        let next = quote! { ::agentwire_jsonrpc::wire::Key::any::<Self, A>(&mut members)? };
        let loops = quote! {
            while let ::core::option::Option::Some(key) = #next {
                match key {
                    #(#arms)*
                    ::agentwire_jsonrpc::wire::Key::Own(_) => #ignore
                    ::agentwire_jsonrpc::wire::Key::Other(name) => others.take_value(name.as_str(), &mut members)?,
                }
            }
        };
        let begin = quote! { let mut others = ::agentwire_jsonrpc::wire::RawObjectBuilder::new(); };
        let (place, kind) = (place(at), &rest.source.ty);
        let value = match (&rest.kind, &rest.options.read) {
            (Kind::Extra, _) => quote! {
                <#kind as ::agentwire_jsonrpc::wire::ExtraMembers>::from_members(others.build())
                    .map_err(<A::Error as ::serde::de::Error>::custom)?
            },
            (_, Some(read)) => {
                quote! { #read(others.build()).map_err(<A::Error as ::serde::de::Error>::custom)? }
            }
            (_, None) => {
                quote! { others.build().decode::<#kind>().map_err(<A::Error as ::serde::de::Error>::custom)? }
            }
        };
        (begin, loops, quote! { let #place = #value; })
    }

    fn write(&self) -> TokenStream {
        let name = &self.input.ident;
        let members = self.fields.iter().map(written);
        let tag = self.tag.as_ref().map(|(tag, value)| {
            quote! { ::serde::ser::SerializeMap::serialize_entry(&mut members, #tag, #value)?; }
        });
        let serialize = match tag {
            None => quote! { ::agentwire_jsonrpc::wire::write_members(self, serializer) },
            Some(tag) => quote! {
                let mut members = ::serde::Serializer::serialize_map(serializer, ::core::option::Option::None)?;
                #tag
                ::agentwire_jsonrpc::wire::WriteMembers::write_members(self, &mut members)?;
                ::serde::ser::SerializeMap::end(members)
            },
        };
        let members_used = if self.fields.is_empty() {
            quote! { _members }
        } else {
            quote! { members }
        };
        quote! {
            #[automatically_derived]
            impl ::agentwire_jsonrpc::wire::WriteMembers for #name {
                fn write_members<M: ::serde::ser::SerializeMap>(
                    &self,
                    #members_used: &mut M,
                ) -> ::core::result::Result<(), M::Error> {
                    #(#members)*
                    ::core::result::Result::Ok(())
                }
            }

            #[automatically_derived]
            impl ::serde::Serialize for #name {
                fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> ::core::result::Result<S::Ok, S::Error> {
                    #serialize
                }
            }
        }
    }
}

fn place(at: usize) -> Ident {
    format_ident!("member_{at}")
}

/// The type that reads a member in a strict decoding.
fn reader(at: usize, field: &Field<'_>, rule: &Rule) -> TokenStream {
    if field.options.with.is_some() || field.options.read.is_some() {
        let own = format_ident!("Reader{at}");
        return quote! { #own };
    }
    let reader = format_ident!("{}", rule.reader);
    let reader = quote! { ::agentwire_jsonrpc::wire::#reader };
    let kind = &field.source.ty;
    match last_name(argument(kind, "Option").unwrap_or(kind)) {
        Some(name) if MAPS.iter().any(|map| name == map) => {
            quote! { ::agentwire_jsonrpc::wire::MapAs<#reader> }
        }
        _ => reader,
    }
}

/// The type that reads a member in a lenient decoding.
fn lenient_reader(field: &Field<'_>, rule: &Rule, reader: &TokenStream) -> TokenStream {
    let kind = &field.source.ty;
    let has_own_reader = field.options.with.is_some() || field.options.read.is_some();
    let is_list = |kind: &Type| !has_own_reader && argument(kind, "Vec").is_some();
    match rule.leniently {
        LenientRule::Same => reader.clone(),
        LenientRule::AnySpelling => quote! { ::agentwire_jsonrpc::wire::AnySpelling<#reader> },
        LenientRule::Needed if is_list(kind) => quote! { ::agentwire_jsonrpc::wire::RequiredItems },
        LenientRule::Needed => quote! { ::agentwire_jsonrpc::wire::AnySpelling<#reader> },
        LenientRule::OrDefault if is_list(kind) => quote! { ::agentwire_jsonrpc::wire::Items },
        LenientRule::OrDefault if argument(kind, "Option").is_some_and(is_list) => {
            quote! { ::agentwire_jsonrpc::wire::OptionalItems }
        }
        LenientRule::OrDefault => quote! { ::agentwire_jsonrpc::wire::OrDefault<#reader> },
        LenientRule::OrEmpty => quote! { ::agentwire_jsonrpc::wire::OrEmpty<#reader> },
    }
}

/// Declares the reader of a member that has its own function. `None` if it has none.
fn own_reader(at: usize, field: &Field<'_>) -> Option<TokenStream> {
    let read = match (&field.options.with, &field.options.read) {
        (_, Some(read)) => quote! { #read },
        (Some(with), None) => quote! { #with::deserialize },
        (None, None) => return None,
    };
    let (own, kind) = (format_ident!("Reader{at}"), &field.source.ty);
    Some(quote! {
        struct #own;

        impl<'de> ::agentwire_jsonrpc::wire::ReadAs<'de, #kind> for #own {
            #[inline]
            fn read<D: ::serde::Deserializer<'de>>(deserializer: D) -> ::core::result::Result<#kind, D::Error> {
                #read(deserializer)
            }
        }
    })
}

/// The value of a field after all members are read.
fn finished(at: usize, field: &Field<'_>) -> TokenStream {
    let place = place(at);
    match &field.kind {
        Kind::Union | Kind::Extra => quote! { #place },
        Kind::Member { rule, name } if rule.missing == MissingRule::Error => {
            let missing = match rule.leniently {
                LenientRule::OrDefault => {
                    quote! { ::agentwire_jsonrpc::wire::default_if_lenient::<_, A::Error>(#name)? }
                }
                _ => quote! {
                    return ::core::result::Result::Err(<A::Error as ::serde::de::Error>::missing_field(#name))
                },
            };
            quote! {
                match #place {
                    ::core::option::Option::Some(value) => value,
                    ::core::option::Option::None => #missing,
                }
            }
        }
        Kind::Member { .. } => quote! { #place.unwrap_or_default() },
    }
}

/// The code that writes a field.
fn written(field: &Field<'_>) -> TokenStream {
    let ident = field.ident;
    let Kind::Member { rule, name } = &field.kind else {
        return quote_spanned! { field.span()=>
            ::agentwire_jsonrpc::wire::WriteMembers::write_members(&self.#ident, members)?;
        };
    };
    let entry = |value: TokenStream| {
        let value = with_function(field, rule, value);
        quote_spanned! { field.span()=>
            ::serde::ser::SerializeMap::serialize_key(members, #name)?;
            ::serde::ser::SerializeMap::serialize_value(members, #value)?;
        }
    };
    if let Some(omit_if) = &field.options.omit_if {
        let entry = entry(quote! { &self.#ident });
        return quote! { if !#omit_if(&self.#ident) { #entry } };
    }
    match rule.written {
        WriteRule::Always => entry(quote! { &self.#ident }),
        WriteRule::UnlessNone => {
            let entry = entry(quote! { value });
            quote! { if let ::core::option::Option::Some(value) = &self.#ident { #entry } }
        }
        WriteRule::UnlessEmpty => {
            let entry = entry(quote! { &self.#ident });
            quote! { if !self.#ident.is_empty() { #entry } }
        }
        WriteRule::UnlessKept => {
            let entry = entry(quote! { &self.#ident });
            quote! { if !self.#ident.is_keep() { #entry } }
        }
        WriteRule::UnlessDefault => {
            let entry = entry(quote! { &self.#ident });
            quote! { if self.#ident { #entry } }
        }
    }
}

/// The value, wrapped so that the function of `with` or `write` serializes it, if the field has one. If a `None` is not written, the
/// function takes the value in the option.
fn with_function(field: &Field<'_>, rule: &Rule, value: TokenStream) -> TokenStream {
    let write = match (&field.options.with, &field.options.write) {
        (_, Some(write)) => quote! { #write },
        (Some(with), None) => quote! { #with::serialize },
        (None, None) => return value,
    };
    let inner = argument(&field.source.ty, "Option").filter(|_| rule.written == WriteRule::UnlessNone);
    let kind = inner.unwrap_or(&field.source.ty);
    quote! {
        &{
            struct Value<'a>(&'a #kind);

            impl ::serde::Serialize for Value<'_> {
                fn serialize<S: ::serde::Serializer>(
                    &self,
                    serializer: S,
                ) -> ::core::result::Result<S::Ok, S::Error> {
                    #write(self.0, serializer)
                }
            }

            Value(#value)
        }
    }
}
