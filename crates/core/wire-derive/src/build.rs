//! `#[derive(Build)]` on a wire type: `new` and setters. [`settings`](crate::settings) is for all other types.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{DeriveInput, Result, Type};

use crate::attribute::Options;
use crate::field::{Field, Kind, argument};
use crate::rule;

pub(crate) fn expand(input: &DeriveInput, fields: &syn::FieldsNamed) -> Result<TokenStream> {
    let without_new = Options::of(&input.attrs)?.take("without_new");
    let fields = Field::all(fields)?;
    let new = (!without_new).then(|| constructor(&fields));
    let setters = fields.iter().filter(|field| !is_argument(field)).map(setter);
    let name = &input.ident;
    Ok(quote! {
        #[automatically_derived]
        impl #name {
            #new
            #(#setters)*
        }
    })
}

/// Returns whether the field is an argument of `new`.
fn is_argument(field: &Field<'_>) -> bool {
    match &field.kind {
        Kind::Member { rule, .. } => rule.build == rule::BuildRule::Argument,
        Kind::Union | Kind::Extra => !field.has_default(),
    }
}

fn constructor(fields: &[Field<'_>]) -> TokenStream {
    let (arguments, others): (Vec<_>, Vec<_>) = fields.iter().partition(|field| is_argument(field));
    let (names, kinds): (Vec<_>, Vec<_>) =
        arguments.iter().map(|field| (field.ident, &field.source.ty)).unzip();
    let others = others.iter().map(|field| field.ident);
    quote! {
        /// Makes a value from the members that the protocol requires. Setters add the others.
        #[must_use]
        pub fn new(#(#names: impl ::core::convert::Into<#kinds>),*) -> Self {
            Self {
                #(#names: #names.into(),)*
                #(#others: ::core::default::Default::default(),)*
            }
        }
    }
}

fn setter(field: &Field<'_>) -> TokenStream {
    let (ident, kind) = (field.ident, &field.source.ty);
    let (argument, value) = match &field.kind {
        Kind::Extra => (quote! { #kind }, quote! { #ident }),
        Kind::Union => into(ident, kind),
        Kind::Member { rule, .. } => match rule.build {
            rule::BuildRule::List => list(ident, kind),
            rule::BuildRule::Exact => exact(ident, kind),
            rule::BuildRule::Into | rule::BuildRule::Argument => into(ident, kind),
        },
    };
    let docs = format!("Sets [`{ident}`](Self#structfield.{ident}).");
    quote! {
        #[doc = #docs]
        #[must_use]
        pub fn #ident(mut self, #ident: #argument) -> Self {
            self.#ident = #value;
            self
        }
    }
}

/// The type of a setter's argument and the value of the field, for any argument that converts into the field's type.
pub(crate) fn into(ident: &Ident, kind: &Type) -> (TokenStream, TokenStream) {
    if let Some(inner) = argument(kind, "Option") {
        let value = quote! { ::core::option::Option::Some(#ident.into()) };
        return (quote! { impl ::core::convert::Into<#inner> }, value);
    }
    if let Some(inner) = argument(kind, "Patch") {
        let value = quote! { ::agentwire_jsonrpc::wire::Patch::Set(#ident.into()) };
        return (quote! { impl ::core::convert::Into<#inner> }, value);
    }
    (quote! { impl ::core::convert::Into<#kind> }, quote! { #ident.into() })
}

/// The type of a setter's argument and the value of the field, for an argument of the field's type or of the type in its option.
pub(crate) fn exact(ident: &Ident, kind: &Type) -> (TokenStream, TokenStream) {
    match argument(kind, "Option") {
        Some(inner) => (quote! { #inner }, quote! { ::core::option::Option::Some(#ident) }),
        None => (quote! { #kind }, quote! { #ident }),
    }
}

/// The type of a setter's argument and the value of the field, for an iterator over the items of a `Vec`.
pub(crate) fn list(ident: &Ident, kind: &Type) -> (TokenStream, TokenStream) {
    let option = argument(kind, "Option");
    let Some(item) = argument(option.unwrap_or(kind), "Vec") else { return exact(ident, kind) };
    let taken = quote! { impl ::core::iter::IntoIterator<Item = impl ::core::convert::Into<#item>> };
    let list = quote! { #ident.into_iter().map(::core::convert::Into::into).collect() };
    let value = if option.is_some() {
        quote! { ::core::option::Option::Some(#list) }
    } else {
        list
    };
    (taken, value)
}
