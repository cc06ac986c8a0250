//! The picture of the README: what the command shows at a terminal, as an SVG.
//!
//! It fails when the command shows something else. `UPDATE_PICTURE=1 cargo test -p agentwire-tests picture` draws it again.

use std::fmt::Write as _;
use std::{env, fs};

use vte::{Params, Parser, Perform};

use crate::program::{Program, SOON};
use crate::terminal::Terminal;

const PICTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/chat.svg");

/// The commands that are typed at the shell, one after the other.
const COMMANDS: [(&str, &[&str]); 2] = [
    (r#"agentwire chat '/call add {"a": 2, "b": 40}'"#, &["chat", r#"/call add {"a": 2, "b": 40}"#]),
    ("agentwire chat --yes '/run echo $((6 * 7))'", &["chat", "--yes", "/run echo $((6 * 7))"]),
];

/// Pixels of a character and of a line.
const CELL: (f64, usize) = (8.43, 20);
const MARGIN: usize = 16;

/// The lines of a terminal: runs of text with the parameter of their colour.
#[derive(Default)]
struct Lines {
    lines: Vec<Vec<(u16, String)>>,
    color: u16,
}

impl Lines {
    fn text(&mut self, color: u16, text: &str) {
        let line = self.lines.last_mut().expect("a line is begun first");
        match line.last_mut().filter(|run| run.0 == color) {
            Some(run) => run.1.push_str(text),
            None => line.push((color, text.to_owned())),
        }
    }
}

impl Perform for Lines {
    fn print(&mut self, character: char) {
        self.text(self.color, character.encode_utf8(&mut [0; 4]));
    }

    fn execute(&mut self, byte: u8) {
        if byte == b'\n' {
            self.lines.push(Vec::new());
        }
    }

    fn csi_dispatch(&mut self, params: &Params, _: &[u8], _: bool, action: char) {
        match action {
            'm' => self.color = params.iter().flatten().last().copied().unwrap_or_default(),
            'K' => self.lines.last_mut().expect("a line is begun first").clear(),
            _ => {}
        }
    }
}

fn draw(lines: &[Vec<(u16, String)>]) -> String {
    let columns = lines.iter().map(|line| line.iter().map(|run| run.1.chars().count()).sum()).max();
    let columns: usize = columns.expect("there are lines");
    let width = (columns as f64).mul_add(CELL.0, 2.0 * MARGIN as f64).ceil();
    let height = lines.len() * CELL.1 + 2 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" aria-label=\"Two conversations with an agent at a terminal\">\n\
         <style>text{{font:14px ui-monospace,Menlo,Consolas,monospace;fill:#d4d4d4;white-space:pre}}\
         .c1{{font-weight:bold}}.c2{{fill:#858585}}.c31{{fill:#f14c4c}}.c32{{fill:#23d18b}}.c33{{fill:#e5c07b}}</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1e1e1e\"/>\n",
    );
    for (row, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        let y = MARGIN + row * CELL.1 + 15;
        let _ = write!(svg, "<text x=\"{MARGIN}\" y=\"{y}\">");
        for (color, text) in line {
            let text = text.replace('&', "&amp;").replace('<', "&lt;");
            let _ = write!(svg, "<tspan class=\"c{color}\">{text}</tspan>");
        }
        svg.push_str("</text>\n");
    }
    svg.push_str("</svg>\n");
    svg
}

#[test]
fn the_picture_of_the_readme_is_current() {
    let mut lines = Lines::default();
    for (typed, arguments) in COMMANDS {
        lines.lines.push(Vec::new());
        lines.text(2, "$ ");
        lines.text(1, typed);
        lines.lines.push(Vec::new());
        let ended = Program::start_at(&Terminal::new(), arguments).end(SOON);
        assert!(ended.status.success(), "{}", ended.stdout);
        Parser::new().advance(&mut lines, ended.stdout.as_bytes());
        lines.color = 0;
    }
    let drawn = draw(&lines.lines[..lines.lines.len() - 1]);
    if env::var_os("UPDATE_PICTURE").is_some() {
        fs::write(PICTURE, drawn).expect("docs can be written");
    } else {
        let kept = fs::read_to_string(PICTURE).expect("docs/chat.svg is there");
        assert_eq!(kept, drawn, "`UPDATE_PICTURE=1 cargo test -p agentwire-tests picture` draws it again");
    }
}
