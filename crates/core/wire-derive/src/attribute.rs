//! Parses the attribute `#[wire(…)]`.

use proc_macro2::{Span, TokenStream};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Attribute, Ident, LitStr, Path, Result, Token, Type};

/// The options in the `#[wire(…)]` attributes of one item, field or variant.
#[derive(Default)]
pub(crate) struct Options {
    /// The place of the first attribute.
    pub(crate) span: Option<Span>,
    /// The identifiers without a value: rules and flags.
    pub(crate) words: Vec<Ident>,
    /// The variant's string on the wire.
    pub(crate) literal: Option<LitStr>,
    pub(crate) name: Option<LitStr>,
    pub(crate) tag: Option<LitStr>,
    pub(crate) value: Option<LitStr>,
    pub(crate) with: Option<Path>,
    pub(crate) read: Option<Path>,
    pub(crate) write: Option<Path>,
    pub(crate) omit_if: Option<Path>,
    pub(crate) requires: Vec<Requirement>,
    /// Additions to the schema, in the syntax of `schemars`.
    pub(crate) schema: Option<TokenStream>,
}

/// A member that an object with an unknown tag must have.
pub(crate) struct Requirement {
    pub(crate) name: LitStr,
    pub(crate) kind: Type,
}

impl Parse for Requirement {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        Ok(Self { name, kind: input.parse()? })
    }
}

impl Options {
    pub(crate) fn of(attributes: &[Attribute]) -> Result<Self> {
        let mut options = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("wire")) {
            options.span.get_or_insert(attribute.span());
            attribute.parse_args_with(|input: ParseStream<'_>| options.parse(input))?;
        }
        Ok(options)
    }

    fn parse(&mut self, input: ParseStream<'_>) -> Result<()> {
        while !input.is_empty() {
            self.parse_one(input)?;
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    }

    fn parse_one(&mut self, input: ParseStream<'_>) -> Result<()> {
        if input.peek(LitStr) {
            let literal = input.parse()?;
            return once(&mut self.literal, literal, "the variant's string");
        }
        let word = input.call(<Ident as syn::ext::IdentExt>::parse_any)?;
        if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            return match word.to_string().as_str() {
                "name" => once(&mut self.name, input.parse()?, "name"),
                "tag" => once(&mut self.tag, input.parse()?, "tag"),
                "value" => once(&mut self.value, input.parse()?, "value"),
                "with" => once(&mut self.with, input.parse()?, "with"),
                "read" => once(&mut self.read, input.parse()?, "read"),
                "write" => once(&mut self.write, input.parse()?, "write"),
                "omit_if" => once(&mut self.omit_if, input.parse()?, "omit_if"),
                other => Err(syn::Error::new(
                    word.span(),
                    format!("`{other}` takes no value, or there is no such option"),
                )),
            };
        }
        if input.peek(syn::token::Paren) {
            let content;
            syn::parenthesized!(content in input);
            return match word.to_string().as_str() {
                "schema" => once(&mut self.schema, content.parse()?, "schema"),
                "requires" => {
                    let requirements = content.parse_terminated(Requirement::parse, Token![,])?;
                    self.requires.extend(requirements);
                    Ok(())
                }
                other => Err(syn::Error::new(word.span(), format!("there is no option `{other}(…)`"))),
            };
        }
        self.words.push(word);
        Ok(())
    }

    /// Removes an identifier. Returns whether it was there.
    pub(crate) fn take(&mut self, name: &str) -> bool {
        let at = self.words.iter().position(|word| word == name);
        at.map(|at| self.words.remove(at)).is_some()
    }

    /// Fails if an identifier is left, or an option that is not `allowed` for this item. `what` describes the item.
    pub(crate) fn finish(&self, what: &str, allowed: &[&str]) -> Result<()> {
        if let Some(word) = self.words.first() {
            return Err(syn::Error::new(word.span(), format!("{what} has no option `{word}`")));
        }
        let spans = [
            ("the variant's string", self.literal.as_ref().map(LitStr::span)),
            ("name", self.name.as_ref().map(LitStr::span)),
            ("tag", self.tag.as_ref().map(LitStr::span)),
            ("value", self.value.as_ref().map(LitStr::span)),
            ("with", self.with.as_ref().map(Spanned::span)),
            ("read", self.read.as_ref().map(Spanned::span)),
            ("write", self.write.as_ref().map(Spanned::span)),
            ("omit_if", self.omit_if.as_ref().map(Spanned::span)),
            ("requires", self.requires.first().map(|requirement| requirement.name.span())),
            ("schema", self.schema.as_ref().map(Spanned::span)),
        ];
        for (name, span) in spans {
            if let Some(span) = span.filter(|_| !allowed.contains(&name)) {
                return Err(syn::Error::new(span, format!("{what} has no option `{name}`")));
            }
        }
        Ok(())
    }
}

fn once<T: Spanned>(place: &mut Option<T>, value: T, name: &str) -> Result<()> {
    if place.is_some() {
        return Err(syn::Error::new(value.span(), format!("`{name}` is given twice")));
    }
    *place = Some(value);
    Ok(())
}

/// The attributes that document an item.
pub(crate) fn docs(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("doc"))
}
