//! `#[derive(Wire)]` on an enum without a tag: a set of strings.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Error, Fields, Ident, LitStr, Result};

use crate::attribute::Options;

/// An enum of strings, with its parsed attributes.
pub(crate) struct StringEnum<'a> {
    pub(crate) input: &'a DeriveInput,
    /// The variants for known strings.
    pub(crate) known: Vec<(&'a syn::Variant, LitStr)>,
    /// The variant that keeps any other string.
    pub(crate) other: Option<&'a Ident>,
    /// Whether the protocol's schema does not list the strings.
    pub(crate) is_any_string: bool,
}

impl<'a> StringEnum<'a> {
    pub(crate) fn new(input: &'a DeriveInput, data: &'a syn::DataEnum, mut options: Options) -> Result<Self> {
        let is_any_string = options.take("any_string");
        options.finish("an enum of strings", &[])?;
        let mut words = Self { input, known: Vec::new(), other: None, is_any_string };
        for variant in &data.variants {
            words.add(variant)?;
        }
        Ok(words)
    }

    fn add(&mut self, variant: &'a syn::Variant) -> Result<()> {
        let mut options = Options::of(&variant.attrs)?;
        let is_unknown = options.take("unknown");
        options.finish("a string", &["the variant's string"])?;
        let fail = |message: String| Err(Error::new(variant.ident.span(), message));
        match (options.literal, is_unknown, &variant.fields) {
            (Some(word), false, Fields::Unit) => {
                if self.known.iter().any(|(_, other)| other.value() == word.value()) {
                    return Err(Error::new(
                        word.span(),
                        format!("two variants have the string {:?}", word.value()),
                    ));
                }
                self.known.push((variant, word));
                Ok(())
            }
            (None, true, Fields::Unnamed(fields)) if fields.unnamed.len() == 1 => {
                if self.other.replace(&variant.ident).is_some() {
                    return fail("only one variant can keep unknown strings".to_owned());
                }
                Ok(())
            }
            (None, true, _) => fail("a variant that is `unknown` holds the string".to_owned()),
            (Some(_), false, _) => {
                fail("a variant for a string holds nothing; a union has `tag = \"…\"`".to_owned())
            }
            _ => fail("a variant has its string, such as `#[wire(\"pending\")]`, or is `unknown`".to_owned()),
        }
    }

    pub(crate) fn expand(&self) -> TokenStream {
        let strings = self.strings();
        let conversions = self.other.map(|other| self.conversions(other));
        let serde = self.serde();
        quote! { #strings #conversions #serde }
    }

    /// The conversions between a variant and its string.
    fn strings(&self) -> TokenStream {
        let name = &self.input.ident;
        let (known, words): (Vec<_>, Vec<_>) =
            self.known.iter().map(|(variant, word)| (&variant.ident, word)).unzip();
        let other = self.other.map(|other| quote! { Self::#other(word) => word, });
        quote! {
            #[automatically_derived]
            impl #name {
                /// The string on the wire.
                pub fn as_str(&self) -> &str {
                    match self {
                        #(Self::#known => #words,)*
                        #other
                    }
                }

                fn known(word: &str) -> ::core::option::Option<Self> {
                    match word {
                        #(#words => ::core::option::Option::Some(Self::#known),)*
                        _ => ::core::option::Option::None,
                    }
                }
            }

            #[automatically_derived]
            impl ::core::fmt::Display for #name {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    f.write_str(self.as_str())
                }
            }
        }
    }

    fn serde(&self) -> TokenStream {
        let name = &self.input.ident;
        let words = self.known.iter().map(|(_, word)| word);
        let read = match self.other {
            Some(other) => quote! {
                ::core::result::Result::Ok(
                    Self::known(word.as_str()).unwrap_or_else(|| Self::#other(word.into_string().into())),
                )
            },
            None => quote! {
                Self::known(word.as_str()).ok_or_else(|| {
                    <D::Error as ::serde::de::Error>::unknown_variant(word.as_str(), &[#(#words),*])
                })
            },
        };
        quote! {
            #[automatically_derived]
            impl ::serde::Serialize for #name {
                fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> ::core::result::Result<S::Ok, S::Error> {
                    serializer.serialize_str(self.as_str())
                }
            }

            #[automatically_derived]
            impl<'de> ::serde::Deserialize<'de> for #name {
                fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> ::core::result::Result<Self, D::Error> {
                    let word = <::agentwire_jsonrpc::wire::Text<'de> as ::serde::Deserialize>::deserialize(deserializer)?;
                    #read
                }
            }
        }
    }

    /// The conversions of an open set, to which every string belongs.
    fn conversions(&self, other: &Ident) -> TokenStream {
        let name = &self.input.ident;
        quote! {
            #[automatically_derived]
            impl #name {
                /// Returns whether this version of the crate knows the string.
                pub fn is_known(&self) -> bool {
                    !::core::matches!(self, Self::#other(_))
                }
            }

            #[automatically_derived]
            impl ::core::convert::From<&str> for #name {
                fn from(word: &str) -> Self {
                    Self::known(word).unwrap_or_else(|| Self::#other(word.into()))
                }
            }

            #[automatically_derived]
            impl ::core::convert::From<::std::string::String> for #name {
                fn from(word: ::std::string::String) -> Self {
                    Self::known(&word).unwrap_or_else(|| Self::#other(word.into()))
                }
            }
        }
    }
}
