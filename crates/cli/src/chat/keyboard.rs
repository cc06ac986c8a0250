//! Keys, pressed at the terminal.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};

/// A key that was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Character(char),
    /// Enter.
    Confirm,
    /// ^C or Escape.
    Interrupt,
}

/// Waits for a key. Dropping it gives the terminal back.
pub(super) async fn key() -> io::Result<Key> {
    let raw = RawMode::enter()?;
    let stop = raw.stop.clone();
    let key = tokio::task::spawn_blocking(move || read_key(&stop)).await;
    drop(raw);
    key.map_err(io::Error::other)?
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
fn read_key(stop: &AtomicBool) -> io::Result<Key> {
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

fn meaning(key: KeyEvent) -> Option<Key> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    match key.code {
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => Some(Key::Interrupt),
        KeyCode::Char(character) => Some(Key::Character(character)),
        KeyCode::Enter => Some(Key::Confirm),
        KeyCode::Esc => Some(Key::Interrupt),
        _ => None,
    }
}
