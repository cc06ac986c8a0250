//! Derives the JSON Schema of a type, behind the feature `schema` of the type's crate.
//!
//! The generated code contains a copy of the type, with the rules translated into attributes of `schemars`, and derives the schema
//! from that.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Ident, LitStr};

use crate::attribute::docs;
use crate::field::{Field, Kind, last_name};
use crate::object::Object;
use crate::rule::WriteRule;
use crate::string_enum::StringEnum;
use crate::tagged::{Role, Union};

/// The implementation of `JsonSchema` with the code that makes the schema.
fn implementation(name: &Ident, body: &TokenStream) -> TokenStream {
    quote! {
        #[cfg(feature = "schema")]
        #[automatically_derived]
        impl ::schemars::JsonSchema for #name {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                ::core::stringify!(#name).into()
            }

            fn schema_id() -> ::std::borrow::Cow<'static, str> {
                ::core::concat!(::core::module_path!(), "::", ::core::stringify!(#name)).into()
            }

            fn json_schema(generator: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                #body
            }
        }
    }
}

pub(crate) fn of_object(object: &Object<'_>) -> TokenStream {
    let own = object.options.schema.as_ref().map(|schema| quote! { #[schemars(#schema)] });
    let docs = docs(&object.input.attrs);
    let fields = object.fields.iter().map(field);
    let described = quote! {
        #(#docs)*
        #[derive(::schemars::JsonSchema)]
        #own
        #[allow(dead_code, reason = "only its shape is looked at")]
        struct Described { #(#fields)* }
    };
    let body = match &object.tag {
        None => quote! { #described <Described as ::schemars::JsonSchema>::json_schema(generator) },
        Some((tag, value)) => quote! {
            #described
            let mut schema = <Described as ::schemars::JsonSchema>::json_schema(generator);
            ::agentwire_jsonrpc::wire::describe_tag(&mut schema, #tag, #value);
            schema
        },
    };
    implementation(&object.input.ident, &body)
}

fn field(field: &Field<'_>) -> TokenStream {
    let (docs, ident, kind) = (docs(&field.source.attrs), field.ident, &field.source.ty);
    let own = field.options.schema.as_ref().map(|schema| quote! { #[schemars(#schema)] });
    let attributes = match &field.kind {
        Kind::Union | Kind::Extra => quote! { flatten },
        Kind::Member { rule, name } => {
            // A member that is always written, possibly as `null`, has no default.
            let has_default = !rule.is_required() && rule.name != "nullable";
            let default = has_default.then(|| quote! { default, });
            let skip = skip(field, rule.written).map(|skip| quote! { skip_serializing_if = #skip, });
            let keywords = rule.keywords;
            let extend = (!keywords.is_empty()).then(|| quote! { extend(#(#keywords = true),*), });
            let with = (rule.name == "raw_object" && own.is_none())
                .then(|| quote! { with = "::core::option::Option<::agentwire_jsonrpc::RawObject>", });
            quote! { rename = #name, #default #skip #extend #with }
        }
    };
    quote! { #(#docs)* #[schemars(#attributes)] #own #ident: #kind, }
}

/// The path of the function that decides whether a member is left out.
fn skip(field: &Field<'_>, written: WriteRule) -> Option<String> {
    if let Some(omit_if) = &field.options.omit_if {
        return Some(quote! { #omit_if }.to_string());
    }
    let function = match written {
        WriteRule::Always => return None,
        WriteRule::UnlessNone => "::core::option::Option::is_none".to_owned(),
        WriteRule::UnlessKept => "::agentwire_jsonrpc::wire::Patch::is_keep".to_owned(),
        WriteRule::UnlessDefault => "::core::ops::Not::not".to_owned(),
        WriteRule::UnlessEmpty => match last_name(&field.source.ty) {
            Some(name) if name == "BTreeMap" => "::std::collections::BTreeMap::is_empty".to_owned(),
            _ => "::std::vec::Vec::is_empty".to_owned(),
        },
    };
    Some(function)
}

pub(crate) fn of_union(union: &Union<'_>) -> TokenStream {
    let name = &union.input.ident;
    if let Some(base) = union.variants.iter().find_map(|variant| variant.base()) {
        return of_extended_union(name, base);
    }
    let (docs, tag) = (docs(&union.input.attrs), &union.tag);
    let own = union.options.schema.as_ref().map(|schema| quote! { #[schemars(#schema)] });
    let variants = union.variants.iter().filter_map(|variant| {
        let docs = crate::attribute::docs(&variant.source.attrs);
        let (ident, fields) = (&variant.source.ident, &variant.source.fields);
        let attributes = match &variant.role {
            Role::Tagged(value) => quote! { rename = #value },
            Role::Untagged(_) => quote! { untagged },
            Role::Unknown(_) | Role::Base => return None,
        };
        Some(quote! { #(#docs)* #[schemars(#attributes)] #ident #fields, })
    });
    let open = union.unknown().map(|requirements| {
        let names = requirements.iter().map(|requirement| &requirement.name);
        let kinds = requirements.iter().map(|requirement| &requirement.kind);
        let open = if requirements.is_empty() {
            quote! { ::serde_json::Value::Bool(true) }
        } else {
            quote! { ::serde_json::json!({ #(#names: generator.subschema_for::<#kinds>()),* }) }
        };
        quote! {
            let open = #open;
            schema.insert("x-open".to_owned(), open);
        }
    });
    let mutable = open.is_some().then(|| quote! { mut });
    let body = quote! {
        #(#docs)*
        #[derive(::schemars::JsonSchema)]
        #[schemars(tag = #tag)]
        #own
        #[allow(dead_code, reason = "only its shape is looked at")]
        enum Described { #(#variants)* }

        let #mutable schema = <Described as ::schemars::JsonSchema>::json_schema(generator);
        #open
        schema
    };
    implementation(name, &body)
}

/// The schema of a union with additions is that of its base. The code that joins the schemas lists the additions itself.
fn of_extended_union(name: &Ident, base: &syn::Type) -> TokenStream {
    quote! {
        #[cfg(feature = "schema")]
        #[automatically_derived]
        impl ::schemars::JsonSchema for #name {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                <#base as ::schemars::JsonSchema>::schema_name()
            }

            fn schema_id() -> ::std::borrow::Cow<'static, str> {
                <#base as ::schemars::JsonSchema>::schema_id()
            }

            fn json_schema(generator: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                <#base as ::schemars::JsonSchema>::json_schema(generator)
            }
        }
    }
}

pub(crate) fn of_strings(strings: &StringEnum<'_>) -> TokenStream {
    let docs: Vec<_> = docs(&strings.input.attrs).collect();
    if strings.is_any_string {
        let body = quote! {
            #(#docs)*
            #[derive(::schemars::JsonSchema)]
            #[allow(dead_code, reason = "only its shape is looked at")]
            struct Described(::std::string::String);

            <Described as ::schemars::JsonSchema>::json_schema(generator)
        };
        return implementation(&strings.input.ident, &body);
    }
    let variants = strings.known.iter().map(|(variant, word): &(&syn::Variant, LitStr)| {
        let (docs, ident) = (crate::attribute::docs(&variant.attrs), &variant.ident);
        quote! { #(#docs)* #[schemars(rename = #word)] #ident, }
    });
    let open = strings
        .other
        .map(|_| quote! { schema.insert("x-open".to_owned(), ::serde_json::Value::Bool(true)); });
    let mutable = open.is_some().then(|| quote! { mut });
    let body = quote! {
        #(#docs)*
        #[derive(::schemars::JsonSchema)]
        #[allow(dead_code, reason = "only its shape is looked at")]
        enum Described { #(#variants)* }

        let #mutable schema = <Described as ::schemars::JsonSchema>::json_schema(generator);
        #open
        schema
    };
    implementation(&strings.input.ident, &body)
}
