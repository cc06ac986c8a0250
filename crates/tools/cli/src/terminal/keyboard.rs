//! Reads keys and lines from the terminal.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use crossterm::event::{
    self, DisableBracketedPaste, EnableBracketedPaste, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers,
};
use crossterm::execute;
use crossterm::terminal::{disable_raw_mode, enable_raw_mode, size};
use tokio::runtime::Handle;

use super::lines::LineReader;
use crate::output::text::one_line;
use crate::signals::{is_terminal_gone, stop_process};

/// The shortest time between two keys of a person: 20 ms. Faster keys are pasted text, or a line that arrived in one piece from a
/// program or a slow network.
const BURST: Duration = Duration::from_millis(20);

/// The longest total wait for the rest of pasted text: 1 s.
const PASTE_LIMIT: Duration = Duration::from_secs(1);

/// An input from the keyboard.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Key {
    Character(char),
    /// Pasted text, from a terminal with bracketed paste.
    Paste(String),
    Enter,
    Backspace,
    Escape,
    /// ^C.
    Interrupt,
    /// ^Z.
    Suspend,
}

/// The input to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TypedInput {
    Line(String),
    /// A line that came within 20 ms of the text after it, as in pasted text of several lines. Only [`deliberate_line`] returns it.
    Burst,
    Escape,
    /// ^C.
    Interrupt,
}

/// Takes text that was typed and not read yet.
pub(super) fn take_typed() -> io::Result<String> {
    let _raw = RawMode::enter()?;
    take_events()
}

fn take_events() -> io::Result<String> {
    // Otherwise the loop below would not end.
    if is_terminal_gone() {
        return Err(io::Error::other("the terminal is gone"));
    }
    let mut text = String::new();
    while event::poll(Duration::ZERO)? {
        let typed = match event::read()? {
            Event::Key(key) => to_key(key),
            Event::Paste(text) => Some(Key::Paste(text)),
            _ => None,
        };
        add_typed(&mut text, typed);
    }
    Ok(text)
}

/// Adds a key to the text of a line that nothing edits.
fn add_typed(text: &mut String, key: Option<Key>) {
    match key {
        Some(Key::Character(character)) => text.push(character),
        Some(Key::Paste(pasted)) => text.push_str(&pasted),
        Some(Key::Enter) => text.push('\n'),
        Some(Key::Backspace) => drop(text.pop()),
        Some(Key::Escape | Key::Interrupt | Key::Suspend) | None => {}
    }
}

/// Reads a line after the question. Dropping the future gives up the terminal.
pub(super) async fn line(question: String, lines: &LineReader) -> io::Result<TypedInput> {
    if lines.reads_answers() {
        return plain_line(&question, lines).await;
    }
    at_keyboard(move |stop| read_line(&question, false, stop)).await
}

/// Reads a line that the person types after the question is shown. Earlier input and pasted text are dropped.
pub(super) async fn deliberate_line(question: String, lines: &LineReader) -> io::Result<TypedInput> {
    if lines.reads_answers() {
        lines.drop_typed().await;
        return plain_line(&question, lines).await;
    }
    at_keyboard(move |stop| {
        let _typed_before_the_question = take_events()?;
        read_line(&question, true, stop)
    })
    .await
}

/// Reads a line that the terminal edits. The end of the input is an interrupt.
async fn plain_line(question: &str, lines: &LineReader) -> io::Result<TypedInput> {
    let mut screen = io::stdout();
    write!(screen, "{question}")?;
    screen.flush()?;
    Ok(lines.answer().await?.map_or(TypedInput::Interrupt, |line| TypedInput::Line(one_line(&line))))
}

/// Runs `read` in a thread, which ends early when the future is dropped.
async fn at_keyboard<R: Send + 'static>(
    read: impl FnOnce(&AtomicBool) -> io::Result<R> + Send + 'static,
) -> io::Result<R> {
    let mut raw = RawMode::enter()?;
    raw.enable_bracketed_paste()?;
    let stop = raw.stop.clone();
    let read = tokio::task::spawn_blocking(move || read(&stop)).await;
    drop(raw);
    read.map_err(io::Error::other)?
}

/// The terminal in raw mode, until this is dropped.
struct RawMode {
    stop: Arc<AtomicBool>,
    /// Whether bracketed paste is on.
    bracketed_paste: bool,
}

impl RawMode {
    fn enter() -> io::Result<Self> {
        enable_raw_mode()?;
        Ok(Self { stop: Arc::default(), bracketed_paste: false })
    }

    /// Turns on bracketed paste. A terminal without it ignores this.
    fn enable_bracketed_paste(&mut self) -> io::Result<()> {
        self.bracketed_paste = true;
        execute!(io::stdout(), EnableBracketedPaste)
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // No remedy exists for a terminal that fails here.
        let _restored = disable_raw_mode();
        if self.bracketed_paste {
            let _restored = execute!(io::stdout(), DisableBracketedPaste);
        }
    }
}

/// Reads a key. `None` when `stop` is set, which is checked every 50 ms.
fn next_key(stop: &AtomicBool) -> io::Result<Option<Key>> {
    const STEP: Duration = Duration::from_millis(50);
    while !stop.load(Ordering::Relaxed) {
        if event::poll(STEP)? {
            match event::read()? {
                Event::Key(key) => {
                    if let Some(key) = to_key(key) {
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

/// Reads a line. A deliberate one leaves out pasted text.
fn read_line(question: &str, deliberate: bool, stop: &AtomicBool) -> io::Result<TypedInput> {
    let mut screen = io::stdout();
    let mut line = String::new();
    let columns = size().ok().map(|(columns, _)| usize::from(columns)).filter(|columns| *columns > 0);
    let columns = columns.unwrap_or(80);
    // A wide question has its own line: a line that is wider than the screen cannot be redrawn.
    let mut before = question;
    if width(question) > columns / 2 {
        write!(screen, "{question}\r\n")?;
        before = "> ";
    }
    let room = columns.saturating_sub(width(before) + 1);
    loop {
        write!(screen, "\r\x1b[2K{before}{}", tail(&line, room))?;
        screen.flush()?;
        let Some(key) = next_key(stop)? else { return Ok(TypedInput::Interrupt) };
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
            Key::Suspend => {
                suspend(&mut screen, stop)?;
                continue;
            }
            Key::Enter if deliberate && drop_rest_of_paste()? => TypedInput::Burst,
            Key::Enter => TypedInput::Line(line),
            Key::Escape => TypedInput::Escape,
            Key::Interrupt => TypedInput::Interrupt,
        };
        write!(screen, "\r\n")?;
        screen.flush()?;
        return Ok(typed);
    }
}

/// Drops input that follows a line without a pause. Returns whether there was any.
fn drop_rest_of_paste() -> io::Result<bool> {
    let limit = Instant::now() + PASTE_LIMIT;
    let mut is_there = false;
    while Instant::now() < limit && event::poll(BURST)? {
        // Released keys and a new size are not text.
        is_there |= match event::read()? {
            Event::Key(key) => to_key(key).is_some(),
            Event::Paste(_) => true,
            _ => false,
        };
    }
    Ok(is_there)
}

/// Stops the process until the shell continues it. The terminal has its usual mode while the process is stopped.
fn suspend(screen: &mut impl Write, stop: &AtomicBool) -> io::Result<()> {
    execute!(screen, DisableBracketedPaste)?;
    disable_raw_mode()?;
    writeln!(screen)?;
    let (sender, stopped) = mpsc::channel::<()>();
    Handle::current().spawn(async move {
        stop_process().await;
        drop(sender);
    });
    let _sender_dropped = stopped.recv();
    // The question was withdrawn while the process was stopped, and the terminal is restored already.
    if stop.load(Ordering::Relaxed) {
        return Ok(());
    }
    enable_raw_mode()?;
    execute!(screen, EnableBracketedPaste)
}

/// The end of a line, in at most `room` columns.
fn tail(line: &str, room: usize) -> &str {
    let mut used = 0;
    let fits = line.char_indices().rev().take_while(|(_, character)| {
        used += width(character.encode_utf8(&mut [0; 4]));
        used <= room
    });
    fits.last().map_or("", |(start, _)| &line[start..])
}

/// The most columns that a text can take.
fn width(text: &str) -> usize {
    text.chars().map(|character| if character.is_ascii() { 1 } else { 2 }).sum()
}

fn to_key(key: KeyEvent) -> Option<Key> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c') if control => Some(Key::Interrupt),
        KeyCode::Char('z') if control => Some(Key::Suspend),
        // Raw mode delivers a line feed as this key.
        KeyCode::Char('j') if control => Some(Key::Enter),
        KeyCode::Char(character) if !control => Some(Key::Character(character)),
        KeyCode::Enter => Some(Key::Enter),
        KeyCode::Backspace => Some(Key::Backspace),
        KeyCode::Esc => Some(Key::Escape),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_typed_ahead_is_kept() {
        let mut text = String::new();
        let keys = [
            Key::Character('a'),
            Key::Character('b'),
            Key::Backspace,
            Key::Enter,
            Key::Escape,
            Key::Paste("c d".into()),
        ];
        for key in keys {
            add_typed(&mut text, Some(key));
        }
        assert_eq!(text, "a\nc d");
    }

    #[test]
    fn the_end_of_a_line_is_shown_as_far_as_it_fits() {
        assert_eq!([tail("abc", 3), tail("abc", 2), tail("abc", 0), tail("", 3)], ["abc", "bc", "", ""]);
        assert_eq!([tail("a漢字", 5), tail("a漢字", 4), tail("a漢字", 3)], ["a漢字", "漢字", "字"]);
    }
}
