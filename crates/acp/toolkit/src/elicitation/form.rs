//! A form: its defaults, the user's input, and the answer.

use std::collections::BTreeMap;

use agentwire_acp_schema::v1::{
    CreateElicitationResponse, ElicitationAcceptAction, ElicitationContentValue as Value,
    ElicitationPropertySchema as Schema, ElicitationSchema, ElicitationSchemaType,
};

use super::check::{check, choices, kind, schema_choices};
use super::fault::{FieldError, FieldFault, FormError};

/// The limit of a form's fields.
const LIMIT: usize = 256;

/// A form that the user fills in. It begins with the defaults, checks each value against the schema, and makes the answer.
///
/// ```
/// use agentwire_acp_schema::v1::*;
/// use agentwire_acp_toolkit::{FieldFault, Form};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let schema = ElicitationSchema::new()
///     .required_property("branch", StringPropertySchema::new().min_length(1))
///     .property("depth", IntegerPropertySchema::new().minimum(1).default(50));
/// let mut form = Form::new(schema)?;
/// assert_eq!(form.value("depth"), Some(&50.into()));
/// assert_eq!(form.faults()[0].fault, FieldFault::Missing);
/// assert!(form.enter("depth", "0").is_err());
/// form.enter("branch", "main")?;
/// let answer: CreateElicitationResponse = form.accept().map_err(|mut faults| faults.remove(0))?;
/// # assert_eq!(serde_json::to_value(answer)?["content"]["branch"], "main");
/// # Ok(())
/// # }
/// ```
///
/// Agents should check the answer again. A form must never ask for secrets: an agent sends the user to a URL for them.
///
/// See <https://agentclientprotocol.com/protocol/v1/elicitation>.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    schema: ElicitationSchema,
    values: BTreeMap<String, Value>,
}

impl Form {
    /// Makes a form with the schema's defaults. Defaults that the schema itself does not allow are left out, and so are
    /// fields of an unknown type.
    ///
    /// A pattern is checked only if it works without backtracking, and in texts of up to 4 KiB. The rest is left to the
    /// agent.
    ///
    /// # Errors
    ///
    /// For a form that cannot be filled in, or has more than 256 fields. Answer the request with the error.
    pub fn new(schema: ElicitationSchema) -> Result<Self, FormError> {
        if let ElicitationSchemaType::Other(name) = &schema.schema_type {
            return Err(FormError::UnknownSchema(name.clone()));
        }
        if schema.properties.len() > LIMIT {
            return Err(FormError::TooManyFields { limit: LIMIT });
        }
        for name in schema.required.iter().flatten() {
            match schema.field(name) {
                None => return Err(FormError::NoSuchField(name.clone())),
                Some(field) if kind(field).is_none() => return Err(FormError::UnknownType(name.clone())),
                Some(_) => {}
            }
        }
        let defaults = schema.properties.iter().filter_map(|(name, field)| {
            let value = check(field, default(field)?).ok()?;
            Some((name.clone(), value))
        });
        Ok(Self { values: defaults.collect(), schema })
    }

    /// Returns the schema, with the form's title and description. The agent wrote these texts: show them as plain text,
    /// and make no URL in them clickable.
    pub fn schema(&self) -> &ElicitationSchema {
        &self.schema
    }

    /// Returns the fields of known types, in the order of the schema.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &Schema)> {
        self.schema
            .properties
            .iter()
            .map(|(name, field)| (&**name, field))
            .filter(|(_, field)| kind(field).is_some())
    }

    /// Returns whether a field is required.
    pub fn is_required(&self, field: &str) -> bool {
        self.schema.required.iter().flatten().any(|name| name == field)
    }

    /// Returns the current value of a field.
    pub fn value(&self, field: &str) -> Option<&Value> {
        self.values.get(field)
    }

    /// Returns the value and title of each choice of a field, or `None` if the field has no choices.
    pub fn choices(&self, field: &str) -> Option<Vec<(&str, &str)>> {
        match self.schema.field(field)? {
            Schema::String(schema) => choices(schema),
            Schema::Array(schema) => schema_choices(schema),
            _ => None,
        }
    }

    /// Sets a field. An integer field takes a number without a fraction.
    ///
    /// # Errors
    ///
    /// If the schema does not allow it. The field keeps its value.
    pub fn set(&mut self, field: &str, value: impl Into<Value>) -> Result<(), FieldError> {
        let known = self.schema.field(field);
        let value = known.ok_or(FieldFault::Unknown).and_then(|schema| check(schema, value.into()));
        let value = value.map_err(|fault| FieldError::new(field, fault))?;
        self.values.insert(field.to_owned(), value);
        Ok(())
    }

    /// Sets a field from the user's input.
    ///
    /// A choice is entered by its value or its title; several are separated by commas. Yes and no are also `y`, `n`,
    /// `true` and `false`. Blank input leaves a field empty, unless the field takes any text.
    ///
    /// # Errors
    ///
    /// If the text cannot be parsed, or the schema does not allow the value. The field keeps its value.
    pub fn enter(&mut self, field: &str, text: &str) -> Result<(), FieldError> {
        let fail = |fault| FieldError::new(field, fault);
        let schema = self.schema.field(field).ok_or_else(|| fail(FieldFault::Unknown))?;
        let free = matches!(schema, Schema::String(schema) if choices(schema).is_none());
        if !free && text.trim().is_empty() {
            self.clear(field);
            return Ok(());
        }
        let value = meaning(schema, text).map_err(fail)?;
        self.set(field, value)
    }

    /// Sets a list field from several inputs, each of which is one choice. A single input is passed to [`enter`](Self::enter).
    ///
    /// # Errors
    ///
    /// If an input is not a choice, the field takes one value, or the schema does not allow the list. The field keeps its
    /// value.
    pub fn enter_each(&mut self, field: &str, texts: &[&str]) -> Result<(), FieldError> {
        let fail = |fault| FieldError::new(field, fault);
        if let [text] = texts {
            return self.enter(field, text);
        }
        let schema = self.schema.field(field).ok_or_else(|| fail(FieldFault::Unknown))?;
        let Schema::Array(schema) = schema else { return Err(fail(FieldFault::Several)) };
        let choices = schema_choices(schema).ok_or_else(|| fail(FieldFault::Unknown))?;
        let chosen = texts.iter().map(|text| choice(&choices, text.trim()));
        let chosen = chosen.collect::<Result<_, _>>().map_err(fail)?;
        self.set(field, Value::StringArray(chosen))
    }

    /// Leaves a field empty.
    pub fn clear(&mut self, field: &str) {
        self.values.remove(field);
    }

    /// Returns a fault for each required field that is empty.
    pub fn faults(&self) -> Vec<FieldError> {
        let required = self.schema.required.iter().flatten();
        let empty = required.filter(|name| !self.values.contains_key(*name));
        empty.map(|name| FieldError::new(name, FieldFault::Missing)).collect()
    }

    /// Returns the answer with each field that has a value. Declining and cancelling need no form.
    ///
    /// # Errors
    ///
    /// The [faults](Self::faults) of the form.
    pub fn accept(&self) -> Result<CreateElicitationResponse, Vec<FieldError>> {
        match self.faults() {
            faults if faults.is_empty() => {
                let action = ElicitationAcceptAction::new().content(self.values.clone());
                Ok(CreateElicitationResponse::accept(action))
            }
            faults => Err(faults),
        }
    }

    /// Checks content that was filled in elsewhere: each value, missing fields, and fields that the form does not have. An
    /// agent can use it too.
    ///
    /// # Errors
    ///
    /// The faults of the content, at most one for each field.
    pub fn check(
        schema: &ElicitationSchema,
        content: &BTreeMap<String, Value>,
    ) -> Result<(), Vec<FieldError>> {
        let missing = schema.required.iter().flatten().filter(|name| !content.contains_key(*name));
        let missing = missing.map(|name| FieldError::new(name, FieldFault::Missing));
        let wrong = content.iter().filter_map(|(name, value)| {
            let checked = match schema.field(name) {
                Some(field) => check(field, value.clone()),
                None => Err(FieldFault::Unknown),
            };
            checked.err().map(|fault| FieldError::new(name, fault))
        });
        let faults: Vec<_> = missing.chain(wrong).collect();
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }
}

fn default(schema: &Schema) -> Option<Value> {
    match schema {
        Schema::String(schema) => schema.default.clone().map(Value::String),
        Schema::Number(schema) => schema.default.map(Value::Number),
        Schema::Integer(schema) => schema.default.map(Value::Integer),
        Schema::Boolean(schema) => schema.default.map(Value::Boolean),
        Schema::Array(schema) => schema.default.clone().map(Value::StringArray),
        _ => None,
    }
}

/// Parses the user's input into a value for the field.
fn meaning(schema: &Schema, text: &str) -> Result<Value, FieldFault> {
    let trimmed = text.trim();
    match schema {
        Schema::String(schema) => Ok(Value::String(match choices(schema) {
            Some(choices) => choice(&choices, trimmed)?,
            None => text.to_owned(),
        })),
        Schema::Integer(_) => {
            trimmed.parse().map(Value::Integer).map_err(|_| FieldFault::NotA("a whole number"))
        }
        Schema::Number(_) => {
            let integer = trimmed.parse().map(Value::Integer);
            integer.or_else(|_| trimmed.parse().map(Value::Number)).map_err(|_| FieldFault::NotA("a number"))
        }
        Schema::Boolean(_) => match &*trimmed.to_lowercase() {
            "y" | "yes" | "true" => Ok(Value::Boolean(true)),
            "n" | "no" | "false" => Ok(Value::Boolean(false)),
            _ => Err(FieldFault::NotA("yes or no")),
        },
        Schema::Array(schema) => {
            let choices = schema_choices(schema).ok_or(FieldFault::Unknown)?;
            // A choice may contain a comma.
            if let Ok(only) = choice(&choices, trimmed) {
                return Ok(Value::StringArray(vec![only]));
            }
            let chosen = trimmed.split(',').map(str::trim).filter(|text| !text.is_empty());
            chosen.map(|text| choice(&choices, text)).collect::<Result<_, _>>().map(Value::StringArray)
        }
        _ => Err(FieldFault::Unknown),
    }
}

/// Returns the value of a choice, by its value or else by its title.
fn choice(choices: &[(&str, &str)], name: &str) -> Result<String, FieldFault> {
    let value = choices.iter().find(|(value, _)| *value == name);
    let found = value.or_else(|| choices.iter().find(|(_, title)| *title == name));
    found.map(|(value, _)| (*value).to_owned()).ok_or_else(|| FieldFault::NoChoice(name.to_owned()))
}
