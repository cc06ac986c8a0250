//! Forms and URLs of elicitations. The names of tests carry the ids of the rules that they check.

use std::collections::BTreeMap;

use agentwire_acp_schema::v1::*;
use agentwire_acp_toolkit::{FieldFault, Form, FormError, UrlConsent, UrlError, UrlWarning};
use serde_json::{Value, json};

fn schema(properties: Value, required: &[&str]) -> ElicitationSchema {
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    serde_json::from_value(schema).unwrap()
}

fn form(properties: Value, required: &[&str]) -> Form {
    Form::new(schema(properties, required)).unwrap()
}

fn value(json: Value) -> ElicitationContentValue {
    serde_json::from_value(json).unwrap()
}

/// Checks the values that a field takes, and the faults of the others.
#[track_caller]
fn el_05(field: Value, good: &[Value], bad: &[(Value, FieldFault)]) {
    let mut form = form(json!({ "f": field }), &[]);
    for content in good {
        form.set("f", value(content.clone())).unwrap_or_else(|error| panic!("{content}: {error}"));
        assert!(form.value("f").is_some());
    }
    for (content, fault) in bad {
        let before = form.value("f").cloned();
        assert_eq!(form.set("f", value(content.clone())).unwrap_err().fault, *fault, "{content}");
        assert_eq!(form.value("f"), before.as_ref(), "a wrong value must not be kept");
        let content = BTreeMap::from([("f".to_owned(), value(content.clone()))]);
        assert_eq!(Form::check(form.schema(), &content).unwrap_err()[0].fault, *fault);
    }
}

#[test]
fn el_05_text() {
    let choice = |text: &str| FieldFault::NoChoice(text.to_owned());
    el_05(
        json!({ "type": "string" }),
        &[json!(""), json!("x")],
        &[
            (json!(1), FieldFault::NotA("text")),
            (json!(true), FieldFault::NotA("text")),
            (json!(["x"]), FieldFault::NotA("text")),
        ],
    );
    // Characters are counted, not bytes.
    el_05(
        json!({ "type": "string", "minLength": 2, "maxLength": 3 }),
        &[json!("äö"), json!("🦀🦀🦀")],
        &[(json!("ä"), FieldFault::TooShort(2)), (json!("abcd"), FieldFault::TooLong(3))],
    );
    let pattern = "^v\\d+$";
    el_05(
        json!({ "type": "string", "pattern": pattern }),
        &[json!("v12")],
        &[
            (json!("v"), FieldFault::Pattern(pattern.into())),
            (json!("v٣"), FieldFault::Pattern(pattern.into())),
        ],
    );
    // Found anywhere, as in JSON Schema; and a pattern that cannot be read is left to the agent.
    el_05(
        json!({ "type": "string", "pattern": "b" }),
        &[json!("abc")],
        &[(json!("ac"), FieldFault::Pattern("b".into()))],
    );
    el_05(json!({ "type": "string", "pattern": "(?!a)b" }), &[json!("zzz")], &[]);
    el_05(json!({ "type": "string", "pattern": "(((x{999}){999}){999}){999}" }), &[json!("zzz")], &[]);
    el_05(
        json!({ "type": "string", "format": "email" }),
        &[json!("a@b")],
        &[(json!("a"), FieldFault::Format(StringFormat::Email))],
    );
    el_05(
        json!({ "type": "string", "enum": ["a", "b"] }),
        &[json!("a"), json!("b")],
        &[(json!("c"), choice("c")), (json!(""), choice(""))],
    );
    let titled = json!({ "type": "string", "oneOf": [{ "const": "a", "title": "The A" }] });
    el_05(titled, &[json!("a")], &[(json!("The A"), choice("The A"))]);
}

#[test]
fn el_05_numbers_booleans_and_lists() {
    let (number, whole) = (FieldFault::NotA("a number"), FieldFault::NotA("a whole number"));
    el_05(
        json!({ "type": "number", "minimum": 0.5, "maximum": 2.0 }),
        &[json!(0.5), json!(1), json!(2.0)],
        &[
            (json!(0.4), FieldFault::BelowMinimum(0.5)),
            (json!(3), FieldFault::AboveMaximum(2.0)),
            (json!("1"), number.clone()),
        ],
    );
    el_05(
        json!({ "type": "integer", "minimum": -1, "maximum": 9 }),
        &[json!(-1), json!(9), json!(2.0)],
        &[
            (json!(-2), FieldFault::BelowMinimum(-1.0)),
            (json!(10), FieldFault::AboveMaximum(9.0)),
            (json!(1.5), whole.clone()),
            (json!(1e300), whole),
            (json!(false), FieldFault::NotA("a whole number")),
        ],
    );
    el_05(
        json!({ "type": "boolean" }),
        &[json!(true), json!(false)],
        &[(json!("true"), FieldFault::NotA("yes or no")), (json!(1), FieldFault::NotA("yes or no"))],
    );
    let items = json!({ "type": "string", "enum": ["a", "b", "c"] });
    let list = json!({ "type": "array", "items": items, "minItems": 1, "maxItems": 2 });
    el_05(
        list,
        &[json!(["a"]), json!(["c", "b"])],
        &[
            (json!([]), FieldFault::TooFew(1)),
            (json!(["a", "b", "c"]), FieldFault::TooMany(2)),
            (json!(["a", "z"]), FieldFault::NoChoice("z".into())),
            (json!("a"), FieldFault::NotA("a list of choices")),
        ],
    );
    let mut form = form(json!({ "n": { "type": "number" }, "i": { "type": "integer" } }), &[]);
    assert!(form.set("n", f64::NAN).is_err() && form.set("n", f64::INFINITY).is_err());
    form.set("i", 7.0).unwrap();
    assert_eq!(form.value("i"), Some(&7.into()), "an integer is sent as one");
}

#[test]
fn el_05_answer_has_required_fields_and_no_unknown_ones() {
    let schema = schema(json!({ "a": { "type": "string" }, "b": { "type": "boolean" } }), &["a", "b"]);
    let mut form = Form::new(schema.clone()).unwrap();
    let missing = form.accept().unwrap_err();
    let names: Vec<_> = missing.iter().map(|error| (&*error.field, &error.fault)).collect();
    assert_eq!(names, [("a", &FieldFault::Missing), ("b", &FieldFault::Missing)]);
    form.set("a", "x").unwrap();
    form.set("b", true).unwrap();
    assert_eq!(form.set("c", true).unwrap_err().fault, FieldFault::Unknown);
    let answer = form.accept().unwrap();
    assert_eq!(json!(answer), json!({ "action": "accept", "content": { "a": "x", "b": true } }));
    form.clear("b");
    assert_eq!(form.faults().len(), 1);

    let content = |json: Value| serde_json::from_value(json).unwrap();
    assert_eq!(Form::check(&schema, &content(json!({ "a": "", "b": false }))), Ok(()));
    let faults = Form::check(&schema, &content(json!({ "a": 1, "c": 1 }))).unwrap_err();
    let said: Vec<_> = faults.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "b: this must be filled in",
            "a: this is not text",
            "c: the form has no such field that could be filled in",
        ]
    );
}

#[test]
fn el_06_defaults_are_filled_in_if_they_are_allowed() {
    let form = form(
        json!({
            "a": { "type": "string", "default": "x" },
            "b": { "type": "integer", "default": 3, "maximum": 2 },
            "c": { "type": "array", "items": { "type": "string", "enum": ["p", "q"] }, "default": ["q"] },
            "d": { "type": "boolean", "default": false },
            "e": { "type": "number", "default": 0.5 },
            "f": { "type": "string" },
        }),
        &["a", "b"],
    );
    let content = json!({ "a": "x", "c": ["q"], "d": false, "e": 0.5 });
    for (name, default) in content.as_object().unwrap() {
        assert_eq!(form.value(name), Some(&value(default.clone())), "{name}");
    }
    assert_eq!((form.value("b"), form.value("f")), (None, None));
    assert_eq!(form.faults()[0].field, "b");
}

#[test]
fn el_18_field_of_an_unknown_type_is_not_shown() {
    let odd = json!({ "type": "colour", "default": "red" });
    let list = json!({ "type": "array", "items": { "type": "colour" } });
    let mut form = form(json!({ "odd": odd, "list": list, "text": { "type": "string" } }), &["text"]);
    assert_eq!(form.fields().map(|(name, _)| name).collect::<Vec<_>>(), ["text"]);
    assert_eq!(form.set("odd", "red").unwrap_err().fault, FieldFault::Unknown);
    assert_eq!(form.set("list", vec!["red".to_owned()]).unwrap_err().fault, FieldFault::Unknown);
    form.set("text", "x").unwrap();
    assert_eq!(json!(form.accept().unwrap())["content"], json!({ "text": "x" }));

    for name in ["odd", "list"] {
        let properties = json!({ "odd": odd, "list": list });
        assert_eq!(Form::new(schema(properties, &[name])), Err(FormError::UnknownType(name.into())));
    }
    assert_eq!(Form::new(schema(json!({}), &["gone"])), Err(FormError::NoSuchField("gone".into())));
    let strange: ElicitationSchema =
        serde_json::from_value(json!({ "type": "list", "properties": {} })).unwrap();
    let error = Form::new(strange).unwrap_err();
    crate::invalid::<()>(Err(error.into()), &["list"]);
}

#[test]
fn typed_text_is_decoded() {
    let mut form = form(
        json!({
            "text": { "type": "string" },
            "choice": { "type": "string", "oneOf": [{ "const": "a", "title": "Alpha" }, { "const": "Alpha", "title": "b" }] },
            "number": { "type": "number" },
            "integer": { "type": "integer" },
            "sure": { "type": "boolean" },
            "list": { "type": "array", "items": { "anyOf": [{ "const": "x", "title": "The X" }, { "const": "y", "title": "Y" }] } },
        }),
        &[],
    );
    let typed = [
        ("text", " as it is ", json!(" as it is ")),
        ("choice", " b", json!("Alpha")),
        ("choice", "Alpha", json!("Alpha")),
        ("choice", "a", json!("a")),
        ("number", "1.5", json!(1.5)),
        ("number", "2", json!(2)),
        ("integer", " -3 ", json!(-3)),
        ("sure", "Yes", json!(true)),
        ("sure", "n", json!(false)),
        ("list", "The X, y,", json!(["x", "y"])),
    ];
    for (field, text, expected) in typed {
        form.enter(field, text).unwrap();
        assert_eq!(form.value(field), Some(&value(expected)), "{text:?}");
    }
    for (field, text) in [
        ("choice", "c"),
        ("number", "nan"),
        ("integer", "1.5"),
        ("sure", "perhaps"),
        ("list", "x, z"),
        ("none", ""),
    ] {
        form.enter(field, text).unwrap_err();
    }
    form.enter("list", "  ").unwrap();
    form.enter("text", "").unwrap();
    assert_eq!((form.value("list"), form.value("text")), (None, Some(&"".into())));
    assert_eq!(form.choices("list"), Some(vec![("x", "The X"), ("y", "Y")]));
    assert_eq!(form.choices("text"), None);
}

fn consent(url: &str) -> Result<UrlConsent, UrlError> {
    let scope: SessionId = "s".into();
    UrlConsent::new(&ElicitationUrlMode::new(scope, "id", url))
}

#[test]
fn fields_are_in_the_order_of_the_agent() {
    let text = r#"{"type":"object","properties":{"user":{"type":"string"},"host":{"type":"string"},"port":{"type":"integer"}}}"#;
    let schema: ElicitationSchema = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&schema).unwrap(), text);
    let form = Form::new(schema).unwrap();
    assert_eq!(form.fields().map(|(name, _)| name).collect::<Vec<_>>(), ["user", "host", "port"]);
}

#[test]
fn el_16_url_with_an_ambiguous_host_is_refused() {
    use UrlWarning::*;
    let good: &[(&str, &str, &[UrlWarning])] = &[
        ("https://example.com/a?b=c#d", "example.com", &[]),
        ("HTTPS://EXAMPLE.com:443", "EXAMPLE.com", &[]),
        ("https://a.b.c_d.example/@x:y@z", "a.b.c_d.example", &[]),
        ("http://example.com", "example.com", &[NotEncrypted]),
        ("http://localhost:8080/x", "localhost", &[Local, Port]),
        ("http://app.localhost", "app.localhost", &[Local]),
        ("http://127.0.0.1", "127.0.0.1", &[Address, Local]),
        ("http://0.0.0.0", "0.0.0.0", &[Address, Local]),
        ("http://[::]", "[::]", &[Address, Local]),
        ("https://10.0.0.1:8443", "10.0.0.1", &[Address, Port]),
        ("https://[2001:db8::1]/x", "[2001:db8::1]", &[Address]),
        ("https://[::ffff:127.0.0.1]", "[::ffff:127.0.0.1]", &[Address, Local]),
        ("https://xn--80ak6aa92e.com", "xn--80ak6aa92e.com", &[Punycode]),
        ("http://a.XN--80ak6aa92e:1", "a.XN--80ak6aa92e", &[NotEncrypted, Punycode, Port]),
    ];
    for (url, host, warnings) in good {
        let consent = consent(url).unwrap_or_else(|error| panic!("{url}: {error}"));
        assert_eq!((consent.url(), consent.host(), consent.warnings()), (*url, *host, *warnings));
        assert_eq!(&consent.url()[consent.host_range()], *host);
    }
    let bad = [
        ("", UrlError::Scheme),
        ("example.com", UrlError::Scheme),
        ("javascript:alert(1)", UrlError::Scheme),
        ("javascript://x", UrlError::Scheme),
        ("file:///etc/passwd", UrlError::Scheme),
        ("https:/example.com", UrlError::Scheme),
        (" https://example.com", UrlError::Character { at: 0 }),
        ("https://example.com\n/x", UrlError::Character { at: 19 }),
        ("https://example.com/\u{202e}x", UrlError::Character { at: 20 }),
        ("https://\u{430}pple.com", UrlError::Character { at: 8 }),
        ("https://example.com\\@evil.com", UrlError::Character { at: 19 }),
        ("https://user@example.com", UrlError::Credentials),
        ("https://example.com:x@evil.com", UrlError::Credentials),
        ("https://", UrlError::Host),
        ("https:///example.com", UrlError::Host),
        ("https://example..com", UrlError::Host),
        ("https://example.com.", UrlError::Host),
        ("https://-a.com", UrlError::Host),
        ("https://ex%61mple.com", UrlError::Host),
        ("https://2130706433", UrlError::Host),
        ("https://0x7f.1", UrlError::Host),
        ("https://127.0.0.0x1", UrlError::Host),
        ("https://0177.0.0.1", UrlError::Host),
        ("https://1.2.3", UrlError::Host),
        ("https://a.0x", UrlError::Host),
        ("https://[::1", UrlError::Host),
        ("https://[::1]x", UrlError::Host),
        ("https://[fe80::1%25eth0]", UrlError::Host),
        ("https://example.com:", UrlError::Host),
        ("https://example.com:99999", UrlError::Host),
        ("https://example.com:+1", UrlError::Host),
    ];
    for (url, error) in bad {
        assert_eq!(consent(url), Err(error), "{url:?}");
    }
    let long = format!("https://example.com/{}", "x".repeat(8192));
    crate::invalid(consent(&long).map_err(Into::into), &["8192"]);
}

#[test]
fn el_10_consent_to_a_url_carries_no_content() {
    let consent = consent("https://example.com").unwrap();
    assert_eq!(json!(consent.accept()), json!({ "action": "accept" }));
    assert_eq!(*consent.elicitation_id(), "id");
}

#[test]
fn a_hostile_form_takes_no_time() {
    let values: Vec<_> = (0..20_000).map(|n| n.to_string()).collect();
    let list = json!({ "type": "array", "items": { "type": "string", "enum": values }, "default": values });
    // Each alone is harmless; multiplied they take minutes.
    let text = json!({ "type": "string", "pattern": "(a?){100}b", "default": "a".repeat(4000) });
    let fields: BTreeMap<_, _> = (0..255).map(|n| (n.to_string(), text.clone())).collect();
    let mut fields = json!(fields);
    fields["list"] = list;
    let before = std::time::Instant::now();
    let schema = schema(fields.clone(), &[]);
    assert_eq!(Form::new(schema).unwrap().fields().count(), 256);
    assert!(before.elapsed().as_secs() < 30, "{:?}", before.elapsed());
    fields["one more"] = text;
    let schema = serde_json::from_value(json!({ "type": "object", "properties": fields })).unwrap();
    assert_eq!(Form::new(schema), Err(FormError::TooManyFields { limit: 256 }));
}
