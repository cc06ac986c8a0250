//! A terminal of some columns: what stands on its screen in the end, with its colours.

use vte::{Params, Parser, Perform};

/// The lines of a terminal. Each cell is a character and the parameter of its last style.
struct Emulator {
    columns: usize,
    lines: Vec<Vec<(u16, char)>>,
    column: usize,
    style: u16,
}

/// The screen of a terminal: one line each, with `{2:text}` for text in style 2.
pub(crate) fn screen(columns: usize, shown: &str) -> String {
    let mut emulator = Emulator { columns, lines: vec![Vec::new()], column: 0, style: 0 };
    Parser::new().advance(&mut emulator, shown.as_bytes());
    let mut screen = String::new();
    for line in &emulator.lines {
        let end = line.iter().rposition(|cell| *cell != (0, ' ')).map_or(0, |last| last + 1);
        for run in line[..end].chunk_by(|one, other| one.0 == other.0) {
            let text: String = run.iter().map(|cell| cell.1).collect();
            screen.push_str(&if run[0].0 == 0 { text } else { format!("{{{}:{text}}}", run[0].0) });
        }
        screen.push('\n');
    }
    screen
}

impl Perform for Emulator {
    fn print(&mut self, character: char) {
        if self.column == self.columns {
            self.lines.push(Vec::new());
            self.column = 0;
        }
        let line = self.lines.last_mut().expect("there is a line");
        if line.len() <= self.column {
            line.resize(self.column + 1, (0, ' '));
        }
        line[self.column] = (self.style, character);
        self.column += 1;
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => self.lines.push(Vec::new()),
            b'\r' => self.column = 0,
            _ => panic!("control {byte:#x}"),
        }
    }

    fn csi_dispatch(&mut self, params: &Params, _: &[u8], _: bool, action: char) {
        let params: Vec<u16> = params.iter().flatten().copied().collect();
        match (action, &*params) {
            ('m', [style]) => self.style = *style,
            ('K', [2]) => self.lines.last_mut().expect("there is a line").clear(),
            ('J', [0]) => self.lines.last_mut().expect("there is a line").truncate(self.column),
            ('h' | 'l', [2004]) => {}
            _ => panic!("CSI {params:?} {action}"),
        }
    }
}
