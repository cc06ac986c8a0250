//! `Form`: a form for the user to fill in.

use std::fmt;
use std::marker::PhantomData;

use agentwire_mcp_schema::{ElicitRequest, ElicitSchema, JsonObject, PrimitiveSchema};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::decode::faults;
use crate::input::check;
use crate::input::elicited::{Elicitation, sealed};

/// A form for the user to fill in. Its fields are made by [`field`](crate::field).
///
/// The returned values have every required field, and each fits its field. A field that was left empty has its
/// default, if it has one. Fields that were not asked for are left out.
///
/// ```
/// use agentwire_mcp_server::{Context, Form, NoArguments, ToolError, field};
///
/// #[derive(serde::Deserialize)]
/// struct Person {
///     name: String,
///     age: Option<u8>,
/// }
///
/// async fn introduce(_: NoArguments, cx: Context) -> Result<String, ToolError> {
///     let form = Form::new("Who are you?")
///         .required("name", field::text())
///         .optional("age", field::integer().minimum(0.0).maximum(150.0))
///         .typed::<Person>();
///     let person = cx.elicit("person", form).await?.accepted();
///     Ok(person.map_or("somebody".into(), |Person { name, age }| format!("{name}, {age:?}")))
/// }
/// ```
pub struct Form<T = JsonObject> {
    message: String,
    schema: ElicitSchema,
    accepted: PhantomData<fn() -> T>,
}

impl Form {
    /// Creates a form without fields, which asks only for agreement. `message` gives the user the reason.
    pub fn new(message: impl Into<String>) -> Self {
        Self::from_schema(message, ElicitSchema::new())
    }

    /// A form with the fields of a schema.
    pub fn from_schema(message: impl Into<String>, schema: ElicitSchema) -> Self {
        Self { message: message.into(), schema, accepted: PhantomData }
    }
}

impl<T> Form<T> {
    /// Adds a field that must be filled in.
    #[must_use]
    pub fn required(mut self, name: impl Into<String>, field: impl Into<PrimitiveSchema>) -> Self {
        self.schema = self.schema.required(name, field);
        self
    }

    /// Adds a field that may be left empty.
    #[must_use]
    pub fn optional(mut self, name: impl Into<String>, field: impl Into<PrimitiveSchema>) -> Self {
        self.schema = self.schema.optional(name, field);
        self
    }

    /// Decodes the entered values as a `U`.
    #[must_use]
    pub fn typed<U: DeserializeOwned>(self) -> Form<U> {
        Form { message: self.message, schema: self.schema, accepted: PhantomData }
    }
}

impl<T> sealed::Sealed for Form<T> {}

impl<T: DeserializeOwned> Elicitation for Form<T> {
    type Accepted = T;

    fn request(&self) -> ElicitRequest {
        ElicitRequest::form(self.message.clone(), self.schema.clone())
    }

    fn read(&self, content: JsonObject) -> Result<T, String> {
        let content = check::content(&self.schema, content)?;
        let content = Value::Object(content).to_string();
        agentwire_jsonrpc::read(&content).map_err(|error| faults::of_json::<T>(&content, &error))
    }
}

impl<T> Clone for Form<T> {
    fn clone(&self) -> Self {
        Self { message: self.message.clone(), schema: self.schema.clone(), accepted: PhantomData }
    }
}

impl<T> fmt::Debug for Form<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Form").field("message", &self.message).field("schema", &self.schema).finish()
    }
}
