//! Checks the values of a user against the form.

use agentwire_mcp_schema::{
    Choice, ElicitSchema, JsonObject, MultiSelectSchema, NumberKind, NumberSchema, PrimitiveSchema,
    StringSchema,
};
use serde_json::{Number, Value};

use crate::input::format;

/// Checks the entered values against the form's fields, and fills in the defaults.
///
/// # Errors
///
/// The first wrong field, and its fault.
pub(super) fn content(form: &ElicitSchema, mut given: JsonObject) -> Result<JsonObject, String> {
    let mut content = JsonObject::new();
    for (name, field) in &form.properties {
        // A client that has no other way to leave a field empty sends null.
        let given = given.remove(name).filter(|value| !value.is_null());
        let value = match given {
            Some(value) => fits(field, &value).map(|()| Some(value)),
            None => Ok(default_of(field)),
        };
        match value.map_err(|why| format!("{name}: {why}"))? {
            Some(value) => drop(content.insert(name.clone(), value)),
            None if form.required.contains(name) => return Err(format!("{name}: is missing")),
            None => {}
        }
    }
    Ok(content)
}

fn default_of(field: &PrimitiveSchema) -> Option<Value> {
    match field {
        PrimitiveSchema::String(text) => text.default_value.clone().map(Value::from),
        PrimitiveSchema::Number(number) => number.default_value.and_then(|value| number_of(number, value)),
        PrimitiveSchema::Boolean(boolean) => boolean.default_value.map(Value::from),
        PrimitiveSchema::SingleSelect(select) => select.default_value.clone().map(Value::from),
        PrimitiveSchema::MultiSelect(select) => {
            (!select.default_value.is_empty()).then(|| select.default_value.clone().into())
        }
        PrimitiveSchema::Unknown(keywords) => keywords.get("default").cloned(),
        _ => None,
    }
}

/// A whole number is written as one, because a type that is read from it wants that.
fn number_of(field: &NumberSchema, value: f64) -> Option<Value> {
    #[allow(clippy::cast_possible_truncation, reason = "whole numbers of this size are exact in both types")]
    match field.kind {
        NumberKind::Integer if value.fract() == 0.0 && value.abs() < 9e15 => Some((value as i64).into()),
        _ => Number::from_f64(value).map(Value::Number),
    }
}

fn fits(field: &PrimitiveSchema, value: &Value) -> Result<(), String> {
    match field {
        PrimitiveSchema::String(text) => fits_text(text, value),
        PrimitiveSchema::Number(number) => fits_number(number, value),
        PrimitiveSchema::Boolean(_) if value.is_boolean() => Ok(()),
        PrimitiveSchema::Boolean(_) => Err("must be true or false".to_owned()),
        PrimitiveSchema::SingleSelect(select) => fits_choice(&select.choices, value),
        PrimitiveSchema::MultiSelect(select) => fit_choices(select, value),
        // A field of a kind that is not known here is the caller's to check.
        _ => Ok(()),
    }
}

fn fits_text(field: &StringSchema, value: &Value) -> Result<(), String> {
    let text = value.as_str().ok_or("must be a text")?;
    let length = text.chars().count() as u64;
    if let Some(least) = field.min_length.filter(|least| length < *least) {
        return Err(format!("must have {least} characters or more"));
    }
    if let Some(most) = field.max_length.filter(|most| length > *most) {
        return Err(format!("must have {most} characters or fewer"));
    }
    match &field.format {
        Some(format) if !format::fits(format, text) => Err(format!("is not of the format `{format}`")),
        _ => Ok(()),
    }
}

fn fits_number(field: &NumberSchema, value: &Value) -> Result<(), String> {
    let number = value.as_f64().ok_or("must be a number")?;
    if field.kind == NumberKind::Integer && number.fract() != 0.0 {
        return Err("must be a whole number".to_owned());
    }
    if let Some(least) = field.minimum.filter(|least| number < *least) {
        return Err(format!("must be {least} or more"));
    }
    match field.maximum.filter(|most| number > *most) {
        Some(most) => Err(format!("must be {most} or less")),
        None => Ok(()),
    }
}

fn fits_choice(choices: &[Choice], value: &Value) -> Result<(), String> {
    let word = value.as_str().ok_or("must be a text")?;
    match choices.iter().any(|choice| choice.value == word) {
        true => Ok(()),
        false => Err("is not one of the choices".to_owned()),
    }
}

fn fit_choices(field: &MultiSelectSchema, value: &Value) -> Result<(), String> {
    let values = value.as_array().ok_or("must be a list of texts")?;
    values.iter().try_for_each(|value| fits_choice(&field.choices, value))?;
    let count = values.len() as u64;
    if let Some(least) = field.min_items.filter(|least| count < *least) {
        return Err(format!("must be {least} choices or more"));
    }
    match field.max_items.filter(|most| count > *most) {
        Some(most) => Err(format!("must be {most} choices or fewer")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::field;

    fn check(form: ElicitSchema, given: Value) -> Result<Value, String> {
        let Value::Object(given) = given else { panic!("an object") };
        content(&form, given).map(Value::Object)
    }

    #[test]
    fn each_kind_of_field_takes_what_it_asks_for_and_nothing_else() {
        let one = |schema: PrimitiveSchema| ElicitSchema::new().required("field", schema);
        let cases: Vec<(PrimitiveSchema, Vec<Value>, Vec<Value>)> = vec![
            (
                field::text().min_length(2_u64).max_length(3_u64).into(),
                vec![json!("ab"), json!("äöü")],
                vec![json!("a"), json!("abcd"), json!(12), json!(["ab"]), json!(null)],
            ),
            (field::email().into(), vec![json!("a@b.example")], vec![json!("a.example")]),
            (
                field::number().minimum(-0.5).maximum(0.5).into(),
                vec![json!(0), json!(-0.5), json!(0.5)],
                vec![json!(0.51), json!(-1), json!("0"), json!(true)],
            ),
            (field::integer().into(), vec![json!(3), json!(3.0)], vec![json!(3.5)]),
            (field::boolean().into(), vec![json!(true), json!(false)], vec![json!("true"), json!(1)]),
            (field::choice(["a", "b"]).into(), vec![json!("b")], vec![json!("c"), json!(["a"])]),
            (
                field::choices([("a", "A"), ("b", "B"), ("c", "C")].map(field::titled))
                    .min_items(1_u64)
                    .max_items(2_u64)
                    .into(),
                vec![json!(["a"]), json!(["c", "a"])],
                vec![json!([]), json!(["a", "b", "c"]), json!(["A"]), json!("a"), json!([1])],
            ),
        ];
        for (schema, right, wrong) in cases {
            for value in right {
                let given = json!({ "field": value });
                assert_eq!(check(one(schema.clone()), given.clone()), Ok(given));
            }
            for value in wrong {
                let why = check(one(schema.clone()), json!({ "field": value })).unwrap_err();
                assert!(why.starts_with("field: "), "{why}");
            }
        }
    }

    #[test]
    fn defaults_are_filled_in_and_what_was_not_asked_for_is_left_out() {
        let form = ElicitSchema::new()
            .required("name", field::text().default_value("Ada"))
            .optional("age", field::integer().default_value(30.0))
            .optional("score", field::number().default_value(95.5))
            .optional("sure", field::boolean().default_value(true))
            .optional("size", field::choice(["S", "M"]).default_value("M"))
            .optional("colours", field::choices(["r", "g"]).default_value(vec!["g".to_owned()]))
            .optional("note", field::text());
        let filled = json!({
            "name": "Ada", "age": 30, "score": 95.5, "sure": true, "size": "M", "colours": ["g"],
        });
        assert_eq!(check(form.clone(), json!({ "more": 1, "note": null })), Ok(filled));
        let mut some = json!({
            "name": "Bo", "age": 3, "score": 1, "sure": false, "size": "S", "colours": [], "note": "",
        });
        assert_eq!(check(form, some.take()).map(|content| content["name"].clone()), Ok(json!("Bo")));
        assert_eq!(
            check(ElicitSchema::new().required("x", field::text()), json!({})),
            Err("x: is missing".into())
        );
    }
}
