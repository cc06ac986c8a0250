//! Asks for the fields of a form, one by one.

use agentwire_acp_client::Error;
use agentwire_acp_schema::v1::{
    CreateElicitationResponse, ElicitationContentValue, ElicitationPropertySchema,
};
use agentwire_acp_toolkit::Form;

use super::keyboard::TypedInput;
use super::screen::MAX_ITEMS;
use super::shown::short;
use super::user::User;

impl User {
    /// Asks for every field, those in `order` first, and then whether to send the form. Escape declines, ^C cancels.
    pub(crate) async fn fill_in(
        &self,
        message: &str,
        form: Form,
        order: &[String],
    ) -> Result<CreateElicitationResponse, Error> {
        let _keyboard = self.keyboard().await?;
        self.show_question(message).await.map_err(Error::internal_error)?;
        fill_in(self, form, order).await
    }
}

async fn fill_in(user: &User, mut form: Form, order: &[String]) -> Result<CreateElicitationResponse, Error> {
    let about = [form.schema().title.clone(), form.schema().description.clone()];
    for line in about.into_iter().flatten() {
        user.tell(&line)?;
    }
    let mut fields: Vec<_> =
        form.fields().map(|(name, schema)| (name.to_owned(), label(name, schema))).collect();
    fields.sort_by_key(|(name, _)| order.iter().position(|named| named == name).unwrap_or(order.len()));
    for (name, label) in &fields {
        match ask(user, &mut form, name, label).await? {
            TypedInput::Line(_) | TypedInput::Burst => {}
            TypedInput::Escape => return Ok(CreateElicitationResponse::decline()),
            TypedInput::Interrupt => return Ok(CreateElicitationResponse::cancel()),
        }
    }
    match user.yes("Send this? [y/n] ").await? {
        Some(true) => form.accept().map_err(|faults| {
            let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
            Error::internal_error(faults.join("; "))
        }),
        Some(false) => Ok(CreateElicitationResponse::decline()),
        None => Ok(CreateElicitationResponse::cancel()),
    }
}

/// Asks for one field until its value is valid. An empty line keeps the field's value.
async fn ask(user: &User, form: &mut Form, name: &str, label: &Label) -> Result<TypedInput, Error> {
    if let Some(about) = &label.about {
        user.tell(about)?;
    }
    for line in choice_lines(&form.choices(name).unwrap_or_default()) {
        user.tell(&line)?;
    }
    loop {
        let value = form.value(name).map(value_text);
        let value = value.map(|value| format!(" [{value}]")).unwrap_or_default();
        let must = if form.is_required(name) { " *" } else { "" };
        let typed = user.line(&format!("{}{must}{value}: ", label.title)).await?;
        let TypedInput::Line(line) = &typed else { return Ok(typed) };
        if line.is_empty() {
            if form.value(name).is_some() || !form.is_required(name) {
                return Ok(typed);
            }
            user.tell("this must be filled in")?;
            continue;
        }
        match form.enter(name, line) {
            Ok(()) => return Ok(typed),
            Err(error) => user.tell(&error.fault.to_string())?,
        }
    }
}

/// The lines of the choices, each with its value and title. The choices after the first [`MAX_ITEMS`] are only counted, but can
/// be typed.
fn choice_lines(choices: &[(&str, &str)]) -> Vec<String> {
    let line = |(value, title): &(&str, &str)| {
        let title = if title == value { String::new() } else { format!(" ({})", short(title)) };
        format!("  {}{title}", short(value))
    };
    let mut lines: Vec<_> = choices.iter().take(MAX_ITEMS).map(line).collect();
    if choices.len() > MAX_ITEMS {
        lines.push(format!("  … {} more", choices.len() - MAX_ITEMS));
    }
    lines
}

/// A field's title and description.
struct Label {
    title: String,
    about: Option<String>,
}

fn label(name: &str, schema: &ElicitationPropertySchema) -> Label {
    let (title, about) = match schema {
        ElicitationPropertySchema::String(schema) => (&schema.title, &schema.description),
        ElicitationPropertySchema::Number(schema) => (&schema.title, &schema.description),
        ElicitationPropertySchema::Integer(schema) => (&schema.title, &schema.description),
        ElicitationPropertySchema::Boolean(schema) => (&schema.title, &schema.description),
        ElicitationPropertySchema::Array(schema) => (&schema.title, &schema.description),
        _ => (&None, &None),
    };
    Label { title: title.clone().unwrap_or_else(|| name.to_owned()), about: about.clone() }
}

fn value_text(value: &ElicitationContentValue) -> String {
    match value {
        ElicitationContentValue::String(text) => text.clone(),
        ElicitationContentValue::Integer(number) => number.to_string(),
        ElicitationContentValue::Number(number) => number.to_string(),
        ElicitationContentValue::Boolean(true) => "yes".into(),
        ElicitationContentValue::Boolean(false) => "no".into(),
        ElicitationContentValue::StringArray(values) => values.join(", "),
        _ => "set".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_bounded_and_escaped() {
        let choices = vec![("a", "\u{1b}[2JOne"); 100_000];
        let lines = choice_lines(&choices);
        assert_eq!(lines.len(), MAX_ITEMS + 1);
        assert_eq!((&*lines[0], &*lines[MAX_ITEMS]), ("  a (^[[2JOne)", "  … 99800 more"));
        assert_eq!(choice_lines(&[("a", "a")]), ["  a"]);
    }
}
