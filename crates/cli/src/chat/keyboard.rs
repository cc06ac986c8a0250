//! Keys, pressed at the terminal.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode, size};

use crate::text::printable;

/// A key that was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Character(char),
    /// Enter.
    Confirm,
    Backspace,
    Escape,
    /// ^C.
    Interrupt,
}

/// What was typed behind a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    Line(String),
    Escape,
    /// ^C.
    Interrupt,
}

/// Forgets what was typed and not read.
pub(super) fn forget_typed() -> io::Result<()> {
    let _raw = RawMode::enter()?;
    while event::poll(Duration::ZERO)? {
        event::read()?;
    }
    Ok(())
}

/// Waits for a key. Dropping it gives the terminal back.
pub(super) async fn key() -> io::Result<Key> {
    at_keyboard(next_key).await
}

/// Waits for a line, which is shown behind the question as it is typed. Dropping it gives the terminal back.
pub(super) async fn line(question: String) -> io::Result<Typed> {
    at_keyboard(move |stop| read_line(&question, stop)).await
}

/// Lets a thread read keys until it has what it wants or nobody wants that any more.
async fn at_keyboard<R: Send + 'static>(
    read: impl FnOnce(&AtomicBool) -> io::Result<R> + Send + 'static,
) -> io::Result<R> {
    let raw = RawMode::enter()?;
    let stop = raw.stop.clone();
    let read = tokio::task::spawn_blocking(move || read(&stop)).await;
    drop(raw);
    read.map_err(io::Error::other)?
}

/// A terminal that gives keys instead of lines, until this is dropped.
struct RawMode {
    stop: Arc<AtomicBool>,
}

impl RawMode {
    fn enter() -> io::Result<Self> {
        enable_raw_mode()?;
        Ok(Self { stop: Arc::default() })
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // There is nothing better to do with a terminal that does not listen.
        let _restored = disable_raw_mode();
    }
}

/// Reads a key, in steps between which it looks whether anybody still wants it.
fn next_key(stop: &AtomicBool) -> io::Result<Key> {
    const STEP: Duration = Duration::from_millis(50);
    while !stop.load(Ordering::Relaxed) {
        if event::poll(STEP)?
            && let Event::Key(key) = event::read()?
            && let Some(key) = meaning(key)
        {
            return Ok(key);
        }
    }
    Ok(Key::Interrupt)
}

fn read_line(question: &str, stop: &AtomicBool) -> io::Result<Typed> {
    let mut screen = io::stdout();
    let mut line = String::new();
    let columns = size().ok().map(|(columns, _)| usize::from(columns)).filter(|columns| *columns > 0);
    let columns = columns.unwrap_or(80);
    // A question that leaves too little room stands above the answer: what is wider than the screen cannot be redrawn.
    let mut before = question;
    if width(question) > columns / 2 {
        write!(screen, "{question}\r\n")?;
        before = "> ";
    }
    let room = columns.saturating_sub(width(before) + 1);
    loop {
        write!(screen, "\r\x1b[2K{before}{}", tail(&line, room))?;
        screen.flush()?;
        let typed = match next_key(stop)? {
            Key::Character(character) => {
                line.push_str(&printable(&character.to_string()));
                continue;
            }
            Key::Backspace => {
                line.pop();
                continue;
            }
            Key::Confirm => Typed::Line(line),
            Key::Escape => Typed::Escape,
            Key::Interrupt => Typed::Interrupt,
        };
        write!(screen, "\r\n")?;
        screen.flush()?;
        return Ok(typed);
    }
}

/// The end of a line, as much as there is room for.
fn tail(line: &str, room: usize) -> &str {
    let mut used = 0;
    let fits = line.char_indices().rev().take_while(|(_, character)| {
        used += width(character.encode_utf8(&mut [0; 4]));
        used <= room
    });
    fits.last().map_or("", |(start, _)| &line[start..])
}

/// How many columns a text takes at most.
fn width(text: &str) -> usize {
    text.chars().map(|character| if character.is_ascii() { 1 } else { 2 }).sum()
}

fn meaning(key: KeyEvent) -> Option<Key> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c') if control => Some(Key::Interrupt),
        // What a line feed is where keys come one by one.
        KeyCode::Char('j') if control => Some(Key::Confirm),
        KeyCode::Char(character) if !control => Some(Key::Character(character)),
        KeyCode::Enter => Some(Key::Confirm),
        KeyCode::Backspace => Some(Key::Backspace),
        KeyCode::Esc => Some(Key::Escape),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_line_is_shown_as_far_as_it_fits() {
        assert_eq!([tail("abc", 3), tail("abc", 2), tail("abc", 0), tail("", 3)], ["abc", "bc", "", ""]);
        assert_eq!([tail("a漢字", 5), tail("a漢字", 4), tail("a漢字", 3)], ["a漢字", "漢字", "字"]);
    }
}
