//! Checks a value against the schema of its field.

use std::collections::HashSet;

use agentwire_acp_schema::v1::{
    ElicitationContentValue as Value, ElicitationPropertySchema as Schema, IntegerPropertySchema,
    MultiSelectItems, MultiSelectPropertySchema, NumberPropertySchema, StringPropertySchema,
};
use regex_lite::RegexBuilder;

use super::fault::FieldFault;
use super::format;

/// The size limit of a compiled pattern: 16 KiB. The agent chooses the pattern.
const PATTERN_LIMIT: usize = 16 * 1024;
/// The longest text that a pattern is matched against: 4 KiB. The time grows with the product of both sizes, and the
/// agent chooses both: the default of a field is checked too.
const PATTERN_TEXT_LIMIT: usize = 4 * 1024;

/// Returns the value in the schema's type, if the schema allows it.
pub(super) fn check(schema: &Schema, value: Value) -> Result<Value, FieldFault> {
    match (schema, value) {
        (Schema::String(schema), Value::String(text)) => string(schema, &text).map(|()| Value::String(text)),
        (Schema::Number(schema), Value::Number(number)) => {
            within(schema, number).map(|()| Value::Number(number))
        }
        // The limits of a number have the schema's type.
        (Schema::Number(schema), Value::Integer(number)) => {
            within(schema, number as f64).map(|()| Value::Integer(number))
        }
        (Schema::Integer(schema), Value::Integer(number)) => {
            integer(schema, number).map(|()| Value::Integer(number))
        }
        (Schema::Integer(schema), Value::Number(number)) => {
            let number = whole(number).ok_or(FieldFault::NotA("a whole number"))?;
            integer(schema, number).map(|()| Value::Integer(number))
        }
        (Schema::Boolean(_), Value::Boolean(value)) => Ok(Value::Boolean(value)),
        (Schema::Array(schema), Value::StringArray(values)) => {
            several(schema, &values).map(|()| Value::StringArray(values))
        }
        (schema, _) => Err(kind(schema).map_or(FieldFault::Unknown, FieldFault::NotA)),
    }
}

/// Describes the schema's type, or returns `None` for an unknown type.
pub(super) fn kind(schema: &Schema) -> Option<&'static str> {
    match schema {
        Schema::String(_) => Some("text"),
        Schema::Number(_) => Some("a number"),
        Schema::Integer(_) => Some("a whole number"),
        Schema::Boolean(_) => Some("yes or no"),
        Schema::Array(schema) if schema_choices(schema).is_some() => Some("a list of choices"),
        _ => None,
    }
}

/// Returns the values and titles of the choices of a text field, or `None` if it takes any text.
pub(super) fn choices(schema: &StringPropertySchema) -> Option<Vec<(&str, &str)>> {
    let plain =
        schema.enum_values.as_ref().map(|values| values.iter().map(|value| (&**value, &**value)).collect());
    let titled = schema.one_of.as_ref();
    titled.map(|options| options.iter().map(|option| (&*option.value, &*option.title)).collect()).or(plain)
}

/// Returns the values and titles of the choices of a list field, or `None` if their type is unknown.
pub(super) fn schema_choices(schema: &MultiSelectPropertySchema) -> Option<Vec<(&str, &str)>> {
    match &schema.items {
        MultiSelectItems::String(items) => {
            Some(items.enum_values.iter().map(|value| (&**value, &**value)).collect())
        }
        MultiSelectItems::Titled(items) => {
            Some(items.any_of.iter().map(|option| (&*option.value, &*option.title)).collect())
        }
        _ => None,
    }
}

fn string(schema: &StringPropertySchema, text: &str) -> Result<(), FieldFault> {
    let listed =
        |list: &Option<Vec<String>>| list.as_ref().is_none_or(|list| list.iter().any(|value| value == text));
    let titled = schema.one_of.as_ref();
    if !listed(&schema.enum_values)
        || titled.is_some_and(|options| options.iter().all(|option| option.value != text))
    {
        return Err(FieldFault::NoChoice(text.to_owned()));
    }
    // JSON Schema counts characters, not bytes.
    let length = text.chars().count() as u64;
    if let Some(least) = schema.min_length.filter(|least| length < u64::from(*least)) {
        return Err(FieldFault::TooShort(least));
    }
    if let Some(most) = schema.max_length.filter(|most| length > u64::from(*most)) {
        return Err(FieldFault::TooLong(most));
    }
    if let Some(pattern) = schema.pattern.as_ref().filter(|pattern| !fits(pattern, text)) {
        return Err(FieldFault::Pattern(pattern.clone()));
    }
    match &schema.format {
        Some(format) if !format::matches(format, text) => Err(FieldFault::Format(format.clone())),
        _ => Ok(()),
    }
}

/// Returns whether the text matches a pattern. Returns true if the pattern cannot be compiled, such as for lookaround, or
/// the text is over the limit: the agent checks again, and the user could not continue otherwise.
fn fits(pattern: &str, text: &str) -> bool {
    if text.len() > PATTERN_TEXT_LIMIT {
        return true;
    }
    let pattern = RegexBuilder::new(pattern).size_limit(PATTERN_LIMIT).build();
    pattern.map_or(true, |pattern| pattern.is_match(text))
}

fn within(schema: &NumberPropertySchema, number: f64) -> Result<(), FieldFault> {
    if !number.is_finite() {
        return Err(FieldFault::NotA("a number"));
    }
    if let Some(least) = schema.minimum.filter(|least| number < *least) {
        return Err(FieldFault::BelowMinimum(least));
    }
    schema.maximum.filter(|most| number > *most).map_or(Ok(()), |most| Err(FieldFault::AboveMaximum(most)))
}

fn integer(schema: &IntegerPropertySchema, number: i64) -> Result<(), FieldFault> {
    if let Some(least) = schema.minimum.filter(|least| number < *least) {
        return Err(FieldFault::BelowMinimum(least as f64));
    }
    let most = schema.maximum.filter(|most| number > *most);
    most.map_or(Ok(()), |most| Err(FieldFault::AboveMaximum(most as f64)))
}

/// Returns a number without a fraction as an integer.
fn whole(number: f64) -> Option<i64> {
    // Up to this number, `f64` represents each integer exactly.
    const MOST: f64 = (1_i64 << 53) as f64;
    (number.fract() == 0.0 && number.abs() <= MOST).then_some(number as i64)
}

fn several(schema: &MultiSelectPropertySchema, values: &[String]) -> Result<(), FieldFault> {
    let choices = schema_choices(schema).ok_or(FieldFault::Unknown)?;
    let choices: HashSet<_> = choices.into_iter().map(|(choice, _)| choice).collect();
    if let Some(strange) = values.iter().find(|value| !choices.contains(&***value)) {
        return Err(FieldFault::NoChoice(strange.clone()));
    }
    let count = values.len() as u64;
    if let Some(least) = schema.min_items.filter(|least| count < *least) {
        return Err(FieldFault::TooFew(least));
    }
    schema.max_items.filter(|most| count > *most).map_or(Ok(()), |most| Err(FieldFault::TooMany(most)))
}
