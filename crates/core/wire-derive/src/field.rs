//! A field of a struct: its rule, its name on the wire, and its options.

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Error, GenericArgument, LitStr, PathArguments, Result, Type};

use crate::attribute::Options;
use crate::rule::{Rule, Shape};

/// A field of a struct with its parsed attribute.
pub(crate) struct Field<'a> {
    pub(crate) source: &'a syn::Field,
    pub(crate) ident: &'a Ident,
    pub(crate) kind: Kind,
    pub(crate) options: Options,
}

/// The form of a field on the wire.
pub(crate) enum Kind {
    /// A single member.
    Member { rule: &'static Rule, name: LitStr },
    /// A union, whose members are inlined into the object.
    Union,
    /// All members that no field matches.
    Extra,
}

impl<'a> Field<'a> {
    /// Parses the fields of a struct. At most one of them is a union or takes the extra members.
    pub(crate) fn all(fields: &'a syn::FieldsNamed) -> Result<Vec<Self>> {
        let fields: Vec<_> = fields.named.iter().map(Self::new).collect::<Result<_>>()?;
        let mut rest = fields.iter().filter(|field| !matches!(field.kind, Kind::Member { .. }));
        if let (Some(_), Some(second)) = (rest.next(), rest.next()) {
            return Err(Error::new(second.ident.span(), "only one field can take the other members"));
        }
        let mut names = Vec::new();
        for field in &fields {
            if let Kind::Member { name, .. } = &field.kind {
                if names.contains(&name.value()) {
                    return Err(Error::new(
                        name.span(),
                        format!("two fields have the name {:?}", name.value()),
                    ));
                }
                names.push(name.value());
            }
        }
        Ok(fields)
    }

    fn new(source: &'a syn::Field) -> Result<Self> {
        let ident = source.ident.as_ref().expect("the fields have names");
        let mut options = Options::of(&source.attrs)?;
        let is_union = options.take("union");
        let is_extra = options.take("extra");
        if is_union || is_extra {
            options.finish("a field for several members", &["read", "schema"])?;
            let kind = if is_union { Kind::Union } else { Kind::Extra };
            return Ok(Self { source, ident, kind, options });
        }
        let Some(rule_name) = (!options.words.is_empty()).then(|| options.words.remove(0)) else {
            let message = "the rule of the member is missing, such as `#[wire(required)]`";
            return Err(Error::new(options.span.unwrap_or_else(|| ident.span()), message));
        };
        let Some(rule) = Rule::find(&rule_name.to_string()) else {
            return Err(Error::new(rule_name.span(), format!("there is no rule `{rule_name}` for a member")));
        };
        options.finish("a member", &["name", "with", "read", "write", "omit_if", "schema"])?;
        if !has_shape(&source.ty, rule.shape) {
            let wanted = rule.shape.describe();
            return Err(Error::new(
                source.ty.span(),
                format!("`{rule_name}` is for a field of the type {wanted}"),
            ));
        }
        let name = match (&options.name, rule.wire_name()) {
            (Some(name), _) => name.clone(),
            (None, Some(name)) => LitStr::new(name, ident.span()),
            (None, None) => LitStr::new(&camel_case(&ident.unraw().to_string()), ident.span()),
        };
        Ok(Self { source, ident, kind: Kind::Member { rule, name }, options })
    }

    /// The place of an error about the field's type. Identifiers with this span are resolved at the derive.
    pub(crate) fn span(&self) -> Span {
        self.source.ty.span().resolved_at(Span::call_site())
    }

    /// Returns whether an object can be made without a value for it.
    pub(crate) fn has_default(&self) -> bool {
        match &self.kind {
            Kind::Member { rule, .. } => !rule.is_required(),
            Kind::Union => argument(&self.source.ty, "Option").is_some(),
            Kind::Extra => true,
        }
    }
}

fn has_shape(kind: &Type, shape: Shape) -> bool {
    let of_vec = |inner: Option<&Type>| inner.is_some_and(|inner| argument(inner, "Vec").is_some());
    match shape {
        Shape::Any => true,
        Shape::Bool => last_name(kind).is_some_and(|name| name == "bool"),
        Shape::OptionOf => argument(kind, "Option").is_some(),
        Shape::OptionOfVec => of_vec(argument(kind, "Option")),
        Shape::Vector => argument(kind, "Vec").is_some(),
        Shape::Collection => last_name(kind).is_some_and(|name| name == "Vec" || name == "BTreeMap"),
        Shape::PatchOf => argument(kind, "Patch").is_some(),
        Shape::PatchOfVec => of_vec(argument(kind, "Patch")),
    }
}

/// The last name of a type's path.
pub(crate) fn last_name(kind: &Type) -> Option<&Ident> {
    match kind {
        Type::Path(path) => path.path.segments.last().map(|segment| &segment.ident),
        Type::Group(group) => last_name(&group.elem),
        _ => None,
    }
}

/// The type argument of a type with this name, such as `T` of `Option<T>`.
pub(crate) fn argument<'a>(kind: &'a Type, name: &str) -> Option<&'a Type> {
    let path = match kind {
        Type::Path(path) => &path.path,
        // A type from another macro is in a group.
        Type::Group(group) => return argument(&group.elem, name),
        _ => return None,
    };
    let last = path.segments.last().filter(|last| last.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(kind) => Some(kind),
        _ => None,
    }
}

/// `toolCallId` of `tool_call_id`.
fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        camel.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}
