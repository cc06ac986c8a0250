//! What is typed at the terminal.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossterm::event::{
    self, DisableBracketedPaste, EnableBracketedPaste, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers,
};
use crossterm::execute;
use crossterm::terminal::{disable_raw_mode, enable_raw_mode, size};

use crate::signals::is_terminal_gone;
use crate::text::one_line;

/// A key that follows another in less time was not pressed by a person who has read what they answer.
const BURST: Duration = Duration::from_millis(20);

/// What comes from the keyboard.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Key {
    Character(char),
    /// Text that was pasted, where the terminal says so.
    Paste(String),
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
    /// A line whose end came in one piece with what is before it, as where text is pasted. Only
    /// [`deliberate_line`] tells it from others.
    Burst,
    Escape,
    /// ^C.
    Interrupt,
}

/// Forgets what was typed and not read.
pub(super) fn forget_typed() -> io::Result<()> {
    let _raw = RawMode::enter()?;
    forget()
}

fn forget() -> io::Result<()> {
    // There it would read for ever.
    if is_terminal_gone() {
        return Err(io::Error::other("the terminal is gone"));
    }
    while event::poll(Duration::ZERO)? {
        event::read()?;
    }
    Ok(())
}

/// Waits for a line, which is shown behind the question as it is typed. Dropping it gives the terminal back.
pub(super) async fn line(question: String) -> io::Result<Typed> {
    at_keyboard(move |stop| read_line(&question, false, stop)).await
}

/// Waits for a line that a person types: what was typed before, and what is pasted, is no part of it.
pub(super) async fn deliberate_line(question: String) -> io::Result<Typed> {
    at_keyboard(move |stop| {
        forget()?;
        read_line(&question, true, stop)
    })
    .await
}

/// Lets a thread read keys until it has what it wants or nobody wants that any more.
async fn at_keyboard<R: Send + 'static>(
    read: impl FnOnce(&AtomicBool) -> io::Result<R> + Send + 'static,
) -> io::Result<R> {
    let mut raw = RawMode::enter()?;
    raw.tell_pastes()?;
    let stop = raw.stop.clone();
    let read = tokio::task::spawn_blocking(move || read(&stop)).await;
    drop(raw);
    read.map_err(io::Error::other)?
}

/// A terminal that gives keys instead of lines, until this is dropped.
struct RawMode {
    stop: Arc<AtomicBool>,
    /// Whether the terminal was asked to tell what is pasted.
    tells_pastes: bool,
}

impl RawMode {
    fn enter() -> io::Result<Self> {
        enable_raw_mode()?;
        Ok(Self { stop: Arc::default(), tells_pastes: false })
    }

    /// Asks the terminal to tell what is pasted from what is typed. One that cannot goes on as before.
    fn tell_pastes(&mut self) -> io::Result<()> {
        self.tells_pastes = true;
        execute!(io::stdout(), EnableBracketedPaste)
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // There is nothing better to do with a terminal that does not listen.
        let _restored = disable_raw_mode();
        if self.tells_pastes {
            let _restored = execute!(io::stdout(), DisableBracketedPaste);
        }
    }
}

/// Reads a key, in steps between which it looks whether anybody still wants it. None when nobody does.
fn next_key(stop: &AtomicBool) -> io::Result<Option<Key>> {
    const STEP: Duration = Duration::from_millis(50);
    while !stop.load(Ordering::Relaxed) {
        if event::poll(STEP)? {
            match event::read()? {
                Event::Key(key) => {
                    if let Some(key) = meaning(key) {
                        return Ok(Some(key));
                    }
                }
                Event::Paste(text) => return Ok(Some(Key::Paste(text))),
                _ => {}
            }
        }
    }
    Ok(None)
}

/// Reads a line. A deliberate one takes nothing that was pasted.
fn read_line(question: &str, deliberate: bool, stop: &AtomicBool) -> io::Result<Typed> {
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
        // Also where this thread is held up: then what lies ready counts as a burst, which only asks again.
        let lies_ready = event::poll(Duration::ZERO)?;
        let since = Instant::now();
        let Some(key) = next_key(stop)? else { return Ok(Typed::Interrupt) };
        let in_burst = lies_ready || since.elapsed() < BURST;
        let typed = match key {
            Key::Character(character) => {
                line.push_str(&one_line(character.encode_utf8(&mut [0; 4])));
                continue;
            }
            Key::Paste(text) => {
                if !deliberate {
                    line.push_str(&one_line(&text));
                }
                continue;
            }
            Key::Backspace => {
                line.pop();
                continue;
            }
            Key::Confirm if deliberate && in_burst && !line.is_empty() => Typed::Burst,
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
