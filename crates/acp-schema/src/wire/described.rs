/// Gives a set of words or a tagged union, whose serde code is written out, the schema of an enum that is derived.
///
/// `x-open` tells that anything else is kept too, as the variant that holds it says.
macro_rules! described_by {
    ($name:ident $(#[$attribute:meta])* enum Described { $($variants:tt)* }) => {
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
                schema.insert("x-open".to_owned(), true.into());
                schema
            }
        }
    };
}
pub(crate) use described_by;
