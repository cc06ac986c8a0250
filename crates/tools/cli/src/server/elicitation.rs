//! Tools that ask the user through the client: `order` by a form, `visit` by a URL.

use agentwire_mcp_server::{Context, Elicited, Form, NoArguments, Page, ToolError, field};
use schemars::JsonSchema;
use serde::Deserialize;

/// The form of `order`, filled in.
#[derive(Deserialize)]
struct Order {
    drink: String,
    cups: u32,
}

pub(super) async fn order(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    let form = Form::new("What may it be?")
        .required("drink", field::choice(["coffee", "tea"]).title("Drink"))
        .required("cups", field::integer().title("Cups").minimum(1.0).maximum(9.0).default_value(1.0))
        .typed::<Order>();
    Ok(match cx.elicit("order", form).await? {
        Elicited::Accept(Order { drink, cups }) => format!("ordered: {cups} × {drink}"),
        Elicited::Decline => "nothing was ordered: the user declined".into(),
        Elicited::Cancel => "nothing was ordered".into(),
    })
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Visit {
    /// The page's URL.
    url: String,
}

pub(super) async fn visit(Visit { url }: Visit, cx: Context) -> Result<&'static str, ToolError> {
    let page = Page::new("Please look at this page", url);
    Ok(match cx.elicit("visit", page).await? {
        Elicited::Accept(()) => "the user agreed to visit it",
        Elicited::Decline => "the user declined",
        Elicited::Cancel => "the user gave no answer",
    })
}
