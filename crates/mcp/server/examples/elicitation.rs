//! A server that asks its client: one tool, written once, for clients of every revision that can be asked.
//!
//! In a session each question is a request; to a client of 2026-07-28 it is a part of the result, and the client makes
//! its request again with the answer. Nothing here knows which of the two it is.

use agentwire_mcp_server::schema::{CreateMessageRequest, SamplingContent, SamplingMessage};
use agentwire_mcp_server::{Context, Elicited, Form, Page, Server, ToolError, field};
use agentwire_transport_stdio::stdio;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Book {
    /// The name of the restaurant.
    restaurant: String,
}

/// The fields of the form.
#[derive(Deserialize)]
struct Details {
    day: String,
    guests: u8,
    seating: String,
    #[serde(default)]
    wishes: Vec<String>,
}

fn details(restaurant: &str) -> Form<Details> {
    Form::new(format!("A table at {restaurant}"))
        .required("day", field::date().title("Day"))
        .required("guests", field::integer().minimum(1.0).maximum(12.0).default_value(2.0))
        .optional("seating", field::choice(["inside", "outside"]).default_value("inside"))
        .optional(
            "wishes",
            field::choices([("veg", "Vegetarian"), ("child", "High chair")].map(field::titled)),
        )
        .typed()
}

async fn book(Book { restaurant }: Book, cx: Context) -> Result<String, ToolError> {
    let Elicited::Accept(Details { day, guests, seating, wishes }) =
        cx.elicit("details", details(&restaurant)).await?
    else {
        return Ok("Nothing was booked.".to_owned());
    };
    let note = note(&restaurant, &wishes, &cx).await?;
    // Side effects come after the last question: code before it runs again in every round.
    Ok(format!("Booked: {restaurant}, {day}, {guests} guests, {seating}. {note}"))
}

/// A note to the kitchen, by the client's model if there is one to be asked.
async fn note(restaurant: &str, wishes: &[String], cx: &Context) -> Result<String, ToolError> {
    let text = format!("One friendly sentence to the kitchen of {restaurant} about: {}", wishes.join(", "));
    let request = CreateMessageRequest::new(vec![SamplingMessage::user(text)], 100);
    match cx.sample("note", request).await {
        Ok(said) => match said.content.first() {
            Some(SamplingContent::Text(text)) => Ok(text.text.clone()),
            _ => Ok(String::new()),
        },
        Err(error) if error.is_missing_capability() => Ok(format!("Wishes: {}.", wishes.join(", "))),
        Err(error) => Err(error.into()),
    }
}

/// A form never asks for data that the client must not see.
async fn pay(Book { restaurant }: Book, cx: Context) -> Result<&'static str, ToolError> {
    let page = Page::new(format!("Please pay the deposit for {restaurant}"), "https://example.com/deposit");
    Ok(match cx.elicit("deposit", page).await? {
        Elicited::Accept(()) => "The user is at the page.",
        Elicited::Decline | Elicited::Cancel => "The user did not want to.",
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::new("tables", "1.0.0").tool("book", "Book a table", book).tool(
        "pay",
        "Pay the deposit for a table",
        pay,
    );
    Ok(server.serve(stdio()?).await?)
}
