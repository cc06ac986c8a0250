//! Tests the inputs that the derives refuse, and the place of each error. The schema crates test the generated code.

use syn::{DeriveInput, Error};

fn input(source: &str) -> DeriveInput {
    syn::parse_str(source).expect("it is an item")
}

/// Checks that the derive fails on the source with the message, and that the error points to this part of the source.
#[track_caller]
fn refuses(source: &str, message: &str, at: &str) {
    fails(super::wire(&input(source)), message, at);
}

#[track_caller]
fn fails(derived: syn::Result<proc_macro2::TokenStream>, message: &str, at: &str) {
    let error: Error = derived.map(|_| ()).expect_err("it is refused");
    assert_eq!(error.to_string(), message);
    assert_eq!(error.span().source_text().as_deref(), Some(at), "{message}");
}

#[test]
fn field_has_one_known_rule() {
    let missing = "the rule of the member is missing, such as `#[wire(required)]`";
    refuses("struct A { name: String }", missing, "name");
    refuses("struct A { #[wire(name = \"b\")] name: String }", missing, "#[wire(name = \"b\")]");
    refuses("struct A { #[wire(needed)] name: String }", "there is no rule `needed` for a member", "needed");
    refuses(
        "struct A { #[wire(required, lenient)] name: String }",
        "a member has no option `lenient`",
        "lenient",
    );
}

#[test]
fn rule_fits_the_type_of_its_field() {
    refuses(
        "struct A { #[wire(lenient)] name: String }",
        "`lenient` is for a field of the type `Option<T>`",
        "String",
    );
    refuses(
        "struct A { #[wire(optional_items)] names: Option<String> }",
        "`optional_items` is for a field of the type `Option<Vec<T>>`",
        "Option<String>",
    );
    refuses(
        "struct A { #[wire(patch)] name: Option<String> }",
        "`patch` is for a field of the type `Patch<T>`",
        "Option<String>",
    );
    refuses("struct A { #[wire(flag)] on: u8 }", "`flag` is for a field of the type `bool`", "u8");
    refuses(
        "struct A { #[wire(list)] names: HashMap<String, String> }",
        "`list` is for a field of the type `Vec<T>` or `BTreeMap<K, V>`",
        "HashMap<String, String>",
    );
}

#[test]
fn member_belongs_to_one_field() {
    refuses(
        "struct A { #[wire(required)] a_b: u8, #[wire(required, name = \"aB\")] c: u8 }",
        "two fields have the name \"aB\"",
        "\"aB\"",
    );
    refuses(
        "struct A { #[wire(union)] b: B, #[wire(extra)] c: RawObject }",
        "only one field can take the other members",
        "c",
    );
    refuses(
        "struct A { #[wire(required, name = \"b\", name = \"c\")] a: u8 }",
        "`name` is given twice",
        "\"c\"",
    );
}

#[test]
fn unknown_and_misplaced_options_are_refused() {
    refuses(
        "#[wire(tag = \"type\")] struct A {}",
        "a struct has both a `tag` and its `value`, or neither",
        "\"type\"",
    );
    refuses("#[wire(open)] struct A {}", "a struct has no option `open`", "open");
    refuses(
        "struct A { #[wire(extra, name = \"b\")] a: RawObject }",
        "a field for several members has no option `name`",
        "\"b\"",
    );
    refuses(
        "struct A { #[wire(required, rename = \"b\")] a: u8 }",
        "`rename` takes no value, or there is no such option",
        "rename",
    );
    refuses(
        "struct A { #[wire(required, schemars(url))] a: u8 }",
        "there is no option `schemars(…)`",
        "schemars",
    );
}

#[test]
fn tag_belongs_to_one_variant() {
    refuses(
        "#[wire(tag = \"type\")] enum A { #[wire(\"b\")] B(B), #[wire(\"b\")] C(C) }",
        "two variants have the tag \"b\"",
        "\"b\"",
    );
    let missing = "a variant of a union has a tag, such as `#[wire(\"text\")]`, or is `unknown` or `base`";
    refuses("#[wire(tag = \"type\")] enum A { B(B) }", missing, "B");
    refuses(
        "#[wire(tag = \"type\")] enum A { #[wire(\"b\", unknown)] B(B) }",
        missing,
        "#[wire(\"b\", unknown)]",
    );
    refuses(
        "#[wire(tag = \"type\")] enum A { #[wire(\"b\")] B { c: u8 } }",
        "a variant of a union holds one type, or nothing",
        "{ c: u8 }",
    );
    refuses("#[wire(tag = \"type\")] enum A { #[wire(unknown)] B }", "this variant must hold a type", "B");
    refuses(
        "#[wire(tag = \"type\")] enum A { #[wire(unknown)] B(RawObject), #[wire(base)] C(C) }",
        "only one variant can take these objects",
        "C",
    );
}

#[test]
fn string_belongs_to_one_variant() {
    refuses("enum A { #[wire(\"b\")] B, #[wire(\"b\")] C }", "two variants have the string \"b\"", "\"b\"");
    refuses(
        "enum A { #[wire(\"b\")] B(String) }",
        "a variant for a string holds nothing; a union has `tag = \"…\"`",
        "B",
    );
    refuses("enum A { #[wire(unknown)] B }", "a variant that is `unknown` holds the string", "B");
    refuses("enum A { B }", "a variant has its string, such as `#[wire(\"pending\")]`, or is `unknown`", "B");
}

#[test]
fn other_items_are_refused() {
    refuses("struct A(u8);", "an object is a struct with named fields", "A");
    refuses("union A { b: u8 }", "a wire type is a struct or an enum", "A");
    refuses("struct A<T> { #[wire(required)] a: T }", "a wire type has no parameters", "T");
    let error = super::build(&input("enum A { B }")).expect_err("it has no setters");
    assert_eq!(error.to_string(), "an object is a struct with named fields");
}

#[test]
fn valid_input_is_expanded() {
    for source in [
        "struct A {}",
        "struct A { #[wire(required)] r#type: u8, #[wire(lenient)] b: Option<String>, #[wire(extra)] c: RawObject }",
        "#[wire(tag = \"type\", value = \"a\")] struct A { #[wire(list)] a: BTreeMap<String, u8> }",
        "#[wire(tag = \"type\")] enum A { #[wire(\"b\", from)] B(Box<B>), #[wire(\"c\")] C, #[wire(unknown)] U(RawObject) }",
        "enum A { #[wire(\"b\")] B, #[wire(unknown)] Other(String) }",
    ] {
        super::wire(&input(source)).unwrap_or_else(|error| panic!("{source}: {error}"));
    }
}

#[test]
fn settings_have_known_options_that_fit_the_field() {
    let refuses = |source: &str, message: &str, at: &str| fails(super::build(&input(source)), message, at);
    refuses("#[build(old)] struct A { b: u8 }", "a type has no option `old`", "old");
    refuses("struct A { /** B. */ #[build(max = 1)] b: u8 }", "a field has no option `max`", "max");
    refuses("struct A { /** B. */ #[build(into, list)] b: Vec<u8> }", "a field has no option `list`", "list");
    refuses("struct A { #[build(into)] b: u8 }", "a field without a setter has no option `into`", "into");
    refuses(
        "struct A { /** B. */ #[build(push)] b: u8 }",
        "the option is for a field of the type `Vec<T>`",
        "u8",
    );
    refuses(
        "struct A { /** B. */ #[build(dynamic)] b: Arc<u8> }",
        "the option is for a field of the type `Arc<dyn T>` or `Box<dyn T>`",
        "Arc<u8>",
    );
}

#[test]
fn setter_doc_names_the_default_once() {
    let setter = |source| super::build(&input(source)).expect("it is right").to_string();
    let constant = setter("struct A { /// B.\n #[build(default = Self::C)] b: u8 }");
    assert!(constant.contains("Default: [`C`](A::C)."), "{constant}");
    let value = setter("struct A { /// B.\n #[build(default = 5)] b: u8 }");
    assert!(value.contains("Default: `5`."), "{value}");
    let documented = setter("struct A { /// B (default 5).\n #[build(default = 5)] b: u8 }");
    assert!(!documented.contains("Default:"), "{documented}");
    assert!(!setter("struct A { #[build(default = 5)] b: u8 }").contains("fn b"));
}
