//! Conversions into the content of a tool call.

use agentwire_acp_schema::v1::{Content, ContentBlock, Diff, Terminal, ToolCallContent};

/// The content of a tool call, from what its closure returns: a text, a [`ContentBlock`], a [`Diff`], a terminal, references to
/// these, a list of them, or `()`.
///
/// A terminal that is still used is shown by a reference to it: `running.show(&terminal)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not content of a tool call",
    note = "return a `String`, a `&str`, a `ContentBlock`, a `Diff`, a `Vec` of these, or `()`",
    note = "for a type of your own, implement `ToolContent`, or return its text and keep the value"
)]
pub trait ToolContent {
    /// Returns the content that the client is shown, or `None` if the content that it was shown before stays.
    fn content(&self) -> Option<Vec<ToolCallContent>>;
}

impl ToolContent for () {
    fn content(&self) -> Option<Vec<ToolCallContent>> {
        None
    }
}

impl ToolContent for str {
    fn content(&self) -> Option<Vec<ToolCallContent>> {
        Some(vec![Content::from(self).into()])
    }
}

impl<T: ToolContent + ?Sized> ToolContent for &T {
    fn content(&self) -> Option<Vec<ToolCallContent>> {
        (**self).content()
    }
}

impl ToolContent for String {
    fn content(&self) -> Option<Vec<ToolCallContent>> {
        self.as_str().content()
    }
}

impl ToolContent for ContentBlock {
    fn content(&self) -> Option<Vec<ToolCallContent>> {
        Some(vec![Content::new(self.clone()).into()])
    }
}

impl ToolContent for Diff {
    fn content(&self) -> Option<Vec<ToolCallContent>> {
        Some(vec![self.clone().into()])
    }
}

impl ToolContent for Terminal {
    fn content(&self) -> Option<Vec<ToolCallContent>> {
        Some(vec![self.clone().into()])
    }
}

impl ToolContent for super::Terminal {
    fn content(&self) -> Option<Vec<ToolCallContent>> {
        Terminal::new(self.id()).content()
    }
}

impl ToolContent for ToolCallContent {
    fn content(&self) -> Option<Vec<ToolCallContent>> {
        Some(vec![self.clone()])
    }
}

impl<T: ToolContent> ToolContent for Vec<T> {
    fn content(&self) -> Option<Vec<ToolCallContent>> {
        Some(self.iter().filter_map(T::content).flatten().collect())
    }
}
