//! `#[derive(Wire)]` on an enum with a tag: a union.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{DeriveInput, Error, Fields, LitStr, Result, Type};

use crate::attribute::{Options, Requirement};
use crate::field::argument;

/// An enum with a tag, with its parsed attributes.
pub(crate) struct Union<'a> {
    pub(crate) input: &'a DeriveInput,
    pub(crate) tag: LitStr,
    pub(crate) variants: Vec<Variant<'a>>,
    pub(crate) has_schema: bool,
    pub(crate) options: Options,
}

pub(crate) struct Variant<'a> {
    pub(crate) source: &'a syn::Variant,
    /// The Rust type that it holds. `None` for a variant without members.
    pub(crate) kind: Option<&'a Type>,
    pub(crate) role: Role,
    /// Whether its type converts into the union.
    converts: bool,
}

/// The objects that belong to a variant.
pub(crate) enum Role {
    /// Objects with this tag.
    Tagged(LitStr),
    /// Objects without a tag. Objects with this tag are read too, but the tag is never written.
    Untagged(LitStr),
    /// Objects with any other tag.
    Unknown(Vec<Requirement>),
    /// All other objects: the variant holds another union, which this one extends.
    Base,
}

impl<'a> Variant<'a> {
    fn new(source: &'a syn::Variant) -> Result<Self> {
        let mut options = Options::of(&source.attrs)?;
        let kind = match &source.fields {
            Fields::Unit => None,
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                fields.unnamed.first().map(|field| &field.ty)
            }
            fields => {
                return Err(Error::new(fields.span(), "a variant of a union holds one type, or nothing"));
            }
        };
        let converts = options.take("from");
        let (is_untagged, is_unknown, is_base) =
            (options.take("untagged"), options.take("unknown"), options.take("base"));
        options.finish("a variant of a union", &["the variant's string", "requires"])?;
        let requires = std::mem::take(&mut options.requires);
        let role = match (options.literal, is_untagged, is_unknown, is_base) {
            (Some(tag), false, false, false) => Role::Tagged(tag),
            (Some(tag), true, false, false) => Role::Untagged(tag),
            (None, false, true, false) => Role::Unknown(requires),
            (None, false, false, true) => Role::Base,
            _ => {
                let message =
                    "a variant of a union has a tag, such as `#[wire(\"text\")]`, or is `unknown` or `base`";
                return Err(Error::new(options.span.unwrap_or_else(|| source.ident.span()), message));
            }
        };
        if kind.is_none() && (converts || !matches!(role, Role::Tagged(_))) {
            return Err(Error::new(source.ident.span(), "this variant must hold a type"));
        }
        Ok(Self { source, kind, role, converts })
    }

    pub(crate) fn base(&self) -> Option<&'a Type> {
        self.kind.filter(|_| matches!(self.role, Role::Base))
    }

    fn known(&self) -> Option<&LitStr> {
        match &self.role {
            Role::Tagged(tag) | Role::Untagged(tag) => Some(tag),
            Role::Unknown(_) | Role::Base => None,
        }
    }
}

impl<'a> Union<'a> {
    pub(crate) fn new(
        input: &'a DeriveInput,
        data: &'a syn::DataEnum,
        mut options: Options,
        tag: LitStr,
    ) -> Result<Self> {
        let has_schema = !options.take("without_schema");
        options.finish("a union", &["tag", "schema"])?;
        let variants: Vec<_> = data.variants.iter().map(Variant::new).collect::<Result<_>>()?;
        let mut tags = Vec::new();
        for tag in variants.iter().filter_map(Variant::known) {
            if tags.contains(&tag.value()) {
                return Err(Error::new(tag.span(), format!("two variants have the tag {:?}", tag.value())));
            }
            tags.push(tag.value());
        }
        let mut rest = variants.iter().filter(|variant| variant.known().is_none());
        let mut untagged = variants.iter().filter(|variant| matches!(variant.role, Role::Untagged(_)));
        if let Some(second) = rest.nth(1).or(untagged.nth(1)) {
            return Err(Error::new(second.source.ident.span(), "only one variant can take these objects"));
        }
        Ok(Self { input, tag, variants, has_schema, options })
    }

    /// The members that an object with an unknown tag must have. `None` if no variant takes one.
    pub(crate) fn unknown(&self) -> Option<&[Requirement]> {
        self.variants.iter().find_map(|variant| match &variant.role {
            Role::Unknown(requirements) => Some(&**requirements),
            _ => None,
        })
    }

    pub(crate) fn expand(&self) -> TokenStream {
        let (read, write) = (self.read(), self.write());
        let conversions = self.variants.iter().filter(|variant| variant.converts);
        let conversions = conversions.map(|variant| self.conversion(variant));
        quote! { #read #write #(#conversions)* }
    }

    fn read(&self) -> TokenStream {
        let (name, tag) = (&self.input.ident, &self.tag);
        let tags: Vec<_> = self.variants.iter().filter_map(Variant::known).collect();
        let known = if tags.is_empty() {
            quote! { false }
        } else {
            quote! { ::core::matches!(tag, #(#tags)|*) }
        };
        let base = self.variants.iter().find_map(Variant::base);
        let or_base = base.map(|base| quote! { || <#base as ::agentwire_jsonrpc::wire::Tagged>::knows(tag) });
        let decoded = self.variants.iter().filter_map(decoded);
        let (other, unknown) = self.others(&tags);
        let untagged = self.untagged();
        quote! {
            #[automatically_derived]
            impl ::agentwire_jsonrpc::wire::Tagged for #name {
                const KEY: &'static str = #tag;

                fn knows(tag: &str) -> bool {
                    #known #or_base
                }

                fn decode<'de, D: ::serde::Deserializer<'de>>(
                    tag: &str,
                    members: D,
                ) -> ::core::result::Result<Self, D::Error> {
                    match tag {
                        #(#decoded)*
                        _ => #other,
                    }
                }

                #unknown

                #untagged
            }

            #[automatically_derived]
            impl<'de> ::serde::Deserialize<'de> for #name {
                fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> ::core::result::Result<Self, D::Error> {
                    ::agentwire_jsonrpc::wire::read_tagged(deserializer)
                }
            }
        }
    }

    /// The code for an object whose tag no variant has: an expression if the tag is the first member, and a function if earlier
    /// members were buffered.
    fn others(&self, tags: &[&LitStr]) -> (TokenStream, TokenStream) {
        let rest = self.variants.iter().find(|variant| variant.known().is_none());
        let function = |tag: TokenStream, object: TokenStream, body: TokenStream| {
            quote! {
                fn unknown<E: ::serde::de::Error>(
                    #tag: &str,
                    #object: ::agentwire_jsonrpc::RawObject,
                ) -> ::core::result::Result<Self, E> {
                    #body
                }
            }
        };
        let Some(rest) = rest else {
            let other = quote! {
                ::core::result::Result::Err(<D::Error as ::serde::de::Error>::unknown_variant(tag, &[#(#tags),*]))
            };
            let body = quote! { ::core::result::Result::Err(E::unknown_variant(tag, &[#(#tags),*])) };
            return (other, function(quote! { tag }, quote! { _object }, body));
        };
        let ident = &rest.source.ident;
        if let Some(base) = rest.base() {
            let base = quote! { <#base as ::agentwire_jsonrpc::wire::Tagged> };
            let other = quote! { #base::decode(tag, members).map(Self::#ident) };
            let body = quote! { #base::unknown(tag, object).map(Self::#ident) };
            return (other, function(quote! { tag }, quote! { object }, body));
        }
        let key = &self.tag;
        let required = self.unknown().unwrap_or_default().iter().map(|Requirement { name, kind }| {
            quote! { ::agentwire_jsonrpc::wire::require::<#kind, E>(&object, #name)?; }
        });
        let other = quote! { Self::unknown(tag, ::agentwire_jsonrpc::wire::with_tag(#key, tag, members)?) };
        let body = quote! { #(#required)* ::core::result::Result::Ok(Self::#ident(object)) };
        (other, function(quote! { _tag }, quote! { object }, body))
    }

    fn untagged(&self) -> Option<TokenStream> {
        let body = self.variants.iter().find_map(|variant| {
            let (ident, kind) = (&variant.source.ident, variant.kind?);
            match variant.role {
                Role::Untagged(_) => {
                    Some(quote! { <#kind as ::serde::Deserialize>::deserialize(members).map(Self::#ident) })
                }
                Role::Base => Some(quote! {
                    <#kind as ::agentwire_jsonrpc::wire::Tagged>::decode_untagged(members).map(Self::#ident)
                }),
                Role::Tagged(_) | Role::Unknown(_) => None,
            }
        })?;
        Some(quote! {
            fn decode_untagged<'de, D: ::serde::Deserializer<'de>>(
                members: D,
            ) -> ::core::result::Result<Self, D::Error> {
                #body
            }
        })
    }

    fn write(&self) -> TokenStream {
        let (name, key) = (&self.input.ident, &self.tag);
        let arms = self.variants.iter().map(|variant| {
            let ident = &variant.source.ident;
            let (pattern, members) = match variant.kind {
                Some(kind) => (
                    quote! { Self::#ident(value) },
                    quote_spanned! { kind.span().resolved_at(Span::call_site())=>
                        ::agentwire_jsonrpc::wire::WriteMembers::write_members(value, members)
                    },
                ),
                None => (quote! { Self::#ident }, quote! { ::core::result::Result::Ok(()) }),
            };
            let tag = match &variant.role {
                Role::Tagged(tag) => {
                    quote! { ::serde::ser::SerializeMap::serialize_entry(members, #key, #tag)?; }
                }
                Role::Untagged(_) | Role::Unknown(_) | Role::Base => TokenStream::new(),
            };
            quote! { #pattern => { #tag #members } }
        });
        quote! {
            #[automatically_derived]
            impl ::agentwire_jsonrpc::wire::WriteMembers for #name {
                fn write_members<M: ::serde::ser::SerializeMap>(
                    &self,
                    members: &mut M,
                ) -> ::core::result::Result<(), M::Error> {
                    match self { #(#arms)* }
                }
            }

            #[automatically_derived]
            impl ::serde::Serialize for #name {
                fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> ::core::result::Result<S::Ok, S::Error> {
                    ::agentwire_jsonrpc::wire::write_members(self, serializer)
                }
            }
        }
    }

    fn conversion(&self, variant: &Variant<'_>) -> Option<TokenStream> {
        let (name, ident, kind) = (&self.input.ident, &variant.source.ident, variant.kind?);
        let from = argument(kind, "Box").unwrap_or(kind);
        Some(quote! {
            #[automatically_derived]
            impl ::core::convert::From<#from> for #name {
                fn from(value: #from) -> Self {
                    Self::#ident(value.into())
                }
            }
        })
    }
}

/// The match arm that reads an object with a variant's tag.
fn decoded(variant: &Variant<'_>) -> Option<TokenStream> {
    let (tag, ident) = (variant.known()?, &variant.source.ident);
    let value = match variant.kind {
        Some(kind) => quote_spanned! { kind.span().resolved_at(Span::call_site())=>
            <#kind as ::serde::Deserialize>::deserialize(members).map(Self::#ident)
        },
        None => quote! { ::agentwire_jsonrpc::wire::ignore_members(members).map(|()| Self::#ident) },
    };
    Some(quote! { #tag => #value, })
}
