/// Gives a set of words or a tagged union, whose serde code is written out, the schema of an enum that is derived.
///
/// `x-open` tells that anything else is kept too, as the variant that holds it says. It is `true`, or an object with the
/// members that anything else must have and the schema of each.
macro_rules! described_by {
    ($name:ident $(requiring $($needed:literal => $needed_type:ty,)+)? $(#[$attribute:meta])* enum Described { $($variants:tt)* }) => {
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                concat!(module_path!(), "::", stringify!($name)).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $(#[$attribute])*
                enum Described { $($variants)* }

                let mut schema = <Described as schemars::JsonSchema>::json_schema(generator);
                #[allow(unused_mut, unused_assignments, reason = "most unions demand nothing of what they do not know")]
                let mut open = serde_json::Value::from(true);
                $(open = serde_json::json!({ $($needed: generator.subschema_for::<$needed_type>()),+ });)?
                schema.insert("x-open".to_owned(), open);
                schema
            }
        }
    };
}
pub(crate) use described_by;
