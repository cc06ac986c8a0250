//! Two connections that are peers of each other and exchange frames as text.

use agentwire_connection::{Config, Dialect};

use crate::One;

pub(crate) struct Pair {
    pub(crate) left: One,
    pub(crate) right: One,
}

impl Pair {
    pub(crate) fn new(config: Config) -> Self {
        Self { left: One::new(config.clone()), right: One::new(config) }
    }

    pub(crate) fn acp() -> Self {
        Self::new(Config::new(Dialect::ACP))
    }

    pub(crate) fn mcp() -> Self {
        Self::new(Config::new(Dialect::MCP))
    }

    pub(crate) fn left_to_right(&mut self) {
        carry(&mut self.left, &mut self.right);
    }

    pub(crate) fn right_to_left(&mut self) {
        carry(&mut self.right, &mut self.left);
    }

    /// Each side receives the messages that the other sent before it received any.
    pub(crate) fn both_at_once(&mut self) {
        let (from_left, from_right) = (self.left.take_sent(), self.right.take_sent());
        from_left.iter().for_each(|text| self.right.receive(text));
        from_right.iter().for_each(|text| self.left.receive(text));
    }

    #[track_caller]
    pub(crate) fn assert_idle(&self) {
        self.left.assert_idle();
        self.right.assert_idle();
    }
}

fn carry(from: &mut One, to: &mut One) {
    for text in from.take_sent() {
        to.receive(&text);
    }
}
