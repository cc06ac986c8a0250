//! `#[derive(Build)]` on settings: `new`, `Default`, and a setter for each documented field.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Attribute, DeriveInput, Error, Expr, ExprLit, FieldsNamed, Lit, Meta, Result, Token, Type};

use crate::attribute;
use crate::build::{exact, into, list};
use crate::field::argument;

pub(crate) fn expand(input: &DeriveInput, fields: &FieldsNamed) -> Result<TokenStream> {
    let mut options = Options::of(&input.attrs)?;
    let (new, default) = (options.take("new"), options.take("default"));
    let (of, path) = (options.take("of"), options.take("at").map(|path| quote! { #path. }));
    options.finish("a type")?;
    let fields = fields.named.iter().map(Setting::new).collect::<Result<Vec<_>>>()?;
    let visibility = if of.is_some() {
        quote! { pub }
    } else {
        input.vis.to_token_stream()
    };
    let name = &input.ident;
    let setters = fields.iter().filter(|field| field.has_setter);
    let setters = setters.map(|field| field.setter(name, &visibility, path.as_ref()));
    let setters = setters.collect::<Result<Vec<_>>>()?;
    let has_default =
        default.is_some() || new.is_some() && fields.iter().all(|field| field.required.is_none());
    let values: Vec<_> = fields.iter().map(Setting::value).collect();
    let new = new.map(|docs| {
        let arguments = fields.iter().filter_map(|field| field.required.as_ref());
        let docs = if docs.is_empty() {
            quote! { "The defaults." }
        } else {
            docs
        };
        quote! {
            #[doc = #docs]
            #[must_use]
            #visibility fn new(#(#arguments),*) -> Self {
                Self { #(#values),* }
            }
        }
    });
    let (parameters, arguments, clause) = input.generics.split_for_impl();
    let default = has_default.then(|| {
        quote! {
            #[automatically_derived]
            impl #parameters ::core::default::Default for #name #arguments #clause {
                fn default() -> Self {
                    Self { #(#values),* }
                }
            }
        }
    });
    let owner = of.unwrap_or_else(|| quote! { #name #arguments });
    let new =
        new.map(|new| quote! { #[automatically_derived] impl #parameters #name #arguments #clause { #new } });
    Ok(quote! {
        #new
        #[automatically_derived]
        impl #parameters #owner #clause {
            #(#setters)*
        }
        #default
    })
}

/// A field, and how it is set.
struct Setting<'a> {
    ident: &'a Ident,
    kind: &'a Type,
    docs: Vec<&'a Attribute>,
    has_setter: bool,
    default: Option<TokenStream>,
    /// The argument of `new`.
    required: Option<TokenStream>,
    /// The setter's name, if it is not the field's.
    name: Option<TokenStream>,
    min: Option<TokenStream>,
    /// The remaining options, which define the argument of the setter.
    options: Options,
}

impl<'a> Setting<'a> {
    fn new(field: &'a syn::Field) -> Result<Self> {
        let mut options = Options::of(&field.attrs)?;
        let ident = field.ident.as_ref().expect("the fields have names");
        let docs: Vec<_> = attribute::docs(&field.attrs).collect();
        let kind = &field.ty;
        let default = options.take("default");
        let required = options.take("required").map(|_| match options.has("into") {
            true => quote! { #ident: impl ::core::convert::Into<#kind> },
            false => quote! { #ident: #kind },
        });
        let has_setter = options.take("skip").is_none() && required.is_none() && !docs.is_empty();
        let (name, min) = (options.take("name"), options.take("min"));
        if !has_setter && required.is_none() {
            options.finish("a field without a setter")?;
        }
        Ok(Self { ident, kind, docs, has_setter, default, required, name, min, options })
    }

    /// The field in a struct literal: the argument of `new`, or the default.
    fn value(&self) -> TokenStream {
        let ident = self.ident;
        match (&self.required, &self.default) {
            (Some(_), _) if self.options.has("into") => quote! { #ident: #ident.into() },
            (Some(_), _) => quote! { #ident },
            (None, Some(default)) => quote! { #ident: #default },
            (None, None) => quote! { #ident: ::core::default::Default::default() },
        }
    }

    fn setter(
        &self,
        owner: &Ident,
        visibility: &TokenStream,
        path: Option<&TokenStream>,
    ) -> Result<TokenStream> {
        let (ident, docs) = (self.ident, &self.docs);
        let (argument, value) = self.argument()?;
        let default = self.default_docs(owner);
        let name = self.name.clone().unwrap_or_else(|| ident.to_token_stream());
        let min = self.min.as_ref().map(|min| quote! { let #ident = ::core::cmp::Ord::max(#ident, #min); });
        let assignment = match self.options.has("push") {
            true => quote! { self.#path #ident.push(#value); },
            false => quote! { self.#path #ident = #value; },
        };
        Ok(quote! {
            #(#docs)*
            #default
            #[must_use]
            #visibility fn #name(mut self, #ident: #argument) -> Self {
                #min
                #assignment
                self
            }
        })
    }

    /// The type of the setter's argument, and the expression for the field's value.
    fn argument(&self) -> Result<(TokenStream, TokenStream)> {
        let (ident, kind) = (self.ident, self.kind);
        let mut options = Options(self.options.0.clone());
        let misfit =
            |wanted| Error::new(kind.span(), format!("the option is for a field of the type {wanted}"));
        let kind = match options.take("push") {
            Some(_) => argument(kind, "Vec").ok_or_else(|| misfit("`Vec<T>`"))?,
            None => kind,
        };
        let taken = if options.take("into").is_some() {
            into(ident, kind)
        } else if options.take("optional").is_some() {
            (quote! { impl ::core::convert::Into<#kind> }, quote! { #ident.into() })
        } else if options.take("list").is_some() {
            list(ident, kind)
        } else if options.take("dynamic").is_some() {
            dynamic(ident, kind).ok_or_else(|| misfit("`Arc<dyn T>` or `Box<dyn T>`"))?
        } else {
            exact(ident, kind)
        };
        options.finish("a field")?;
        Ok(taken)
    }

    /// The doc of the default, if the field's own doc does not mention one: a link for a constant, code for any other value.
    fn default_docs(&self, owner: &Ident) -> Option<TokenStream> {
        let default = self.default.as_ref()?;
        if self.docs.iter().any(|line| text(line).is_some_and(|text| text.contains("efault"))) {
            return None;
        }
        let code = default.to_string().replace(' ', "");
        let is_constant =
            code.split("::").all(|word| syn::parse_str::<Ident>(word).is_ok() || word == "Self");
        let docs = match is_constant {
            true => {
                let path = code.replacen("Self", &owner.to_string(), 1);
                format!("Default: [`{}`]({path}).", code.trim_start_matches("Self::"))
            }
            false => format!("Default: `{default}`."),
        };
        Some(quote! { #[doc = ""] #[doc = #docs] })
    }
}

/// The argument and the value of a field for a trait object: any type that implements the trait.
fn dynamic(ident: &Ident, kind: &Type) -> Option<(TokenStream, TokenStream)> {
    let option = argument(kind, "Option");
    let pointer = option.unwrap_or(kind);
    let new = match argument(pointer, "Arc") {
        Some(_) => quote! { ::std::sync::Arc::new(#ident) },
        None => quote! { ::std::boxed::Box::new(#ident) },
    };
    let object = argument(pointer, "Arc").or_else(|| argument(pointer, "Box"))?;
    let Type::TraitObject(object) = object else { return None };
    let bounds = &object.bounds;
    let value = if option.is_some() {
        quote! { ::core::option::Option::Some(#new) }
    } else {
        new
    };
    Some((quote! { impl #bounds + 'static }, value))
}

/// The options of `#[build(…)]`, with their values.
struct Options(Vec<(Ident, TokenStream)>);

impl Options {
    fn of(attributes: &[Attribute]) -> Result<Self> {
        let mut options = Vec::new();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("build")) {
            attribute.parse_args_with(|input: ParseStream<'_>| {
                while !input.is_empty() {
                    let name = input.call(Ident::parse_any)?;
                    let has_value = input.parse::<Option<Token![=]>>()?.is_some();
                    options.push((name, if has_value { until_comma(input)? } else { TokenStream::new() }));
                    input.parse::<Option<Token![,]>>()?;
                }
                Ok(())
            })?;
        }
        Ok(Self(options))
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(option, _)| option == name)
    }

    /// Removes an option. Returns its value, which is empty if it has none.
    fn take(&mut self, name: &str) -> Option<TokenStream> {
        let at = self.0.iter().position(|(option, _)| option == name)?;
        Some(self.0.remove(at).1)
    }

    fn finish(&self, what: &str) -> Result<()> {
        match self.0.first() {
            Some((name, _)) => Err(Error::new(name.span(), format!("{what} has no option `{name}`"))),
            None => Ok(()),
        }
    }
}

/// Copies the tokens of an expression. To parse it, syn would need a feature that is slow to compile.
fn until_comma(input: ParseStream<'_>) -> Result<TokenStream> {
    let mut tokens = TokenStream::new();
    while !input.is_empty() && !input.peek(Token![,]) {
        tokens.extend([input.parse::<TokenTree>()?]);
    }
    Ok(tokens)
}

/// The text of a line of docs.
fn text(line: &Attribute) -> Option<String> {
    match &line.meta {
        Meta::NameValue(pair) => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}
