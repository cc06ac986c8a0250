//! A terminal that takes text and what we draw with, and fails on any other control.

use vte::{Params, Parser, Perform};

/// The bytes that are not text.
#[derive(Default)]
struct Strict {
    /// Whether it is a terminal: there are colours, a line that is drawn again, and a carriage return before each line feed.
    is_terminal: bool,
    faults: Vec<String>,
}

/// Fails unless this is text that may go anywhere: with line feeds and tabs, and no other control.
#[track_caller]
pub(crate) fn at_pipe(name: &str, shown: &str) {
    check(name, shown, false);
}

/// Fails unless this is text and what we draw with at a terminal: colours, a cleared line, and the mode that reports pastes.
#[track_caller]
pub(crate) fn at_terminal(shown: &str) {
    check("the terminal", shown, true);
}

#[track_caller]
fn check(name: &str, shown: &str, is_terminal: bool) {
    let mut strict = Strict { is_terminal, faults: Vec::new() };
    Parser::new().advance(&mut strict, shown.as_bytes());
    assert!(strict.faults.is_empty(), "{name} is sent {:?}: {shown:?}", strict.faults);
}

impl Perform for Strict {
    fn print(&mut self, character: char) {
        let hides = matches!(character,
            '\u{61c}' | '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
                | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
        if hides || character.is_control() {
            self.faults.push(format!("{character:?}"));
        }
    }

    fn execute(&mut self, byte: u8) {
        if !(matches!(byte, b'\n' | b'\t') || byte == b'\r' && self.is_terminal) {
            self.faults.push(format!("control {byte:#x}"));
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], _: bool, action: char) {
        let params: Vec<_> = params.iter().flatten().copied().collect();
        let is_ours = match (intermediates, action) {
            (b"", 'm') => matches!(*params, [0 | 1 | 2 | 3 | 31 | 32 | 33 | 36]),
            (b"", 'K') => params == [2],
            (b"", 'J') => params == [0],
            (b"?", 'h' | 'l') => params == [2004],
            _ => false,
        };
        if !(is_ours && self.is_terminal) {
            self.faults.push(format!("CSI {params:?} {action}"));
        }
    }

    fn esc_dispatch(&mut self, _: &[u8], _: bool, byte: u8) {
        self.faults.push(format!("ESC {}", char::from(byte)));
    }

    fn hook(&mut self, _: &Params, _: &[u8], _: bool, action: char) {
        self.faults.push(format!("DCS {action}"));
    }

    fn osc_dispatch(&mut self, params: &[&[u8]], _: bool) {
        self.faults.push(format!("OSC {params:?}"));
    }
}
