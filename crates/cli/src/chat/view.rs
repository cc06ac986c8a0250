//! Where a conversation is shown: to a person, or as lines of JSON to a program.

use std::cell::RefCell;
use std::io;

use agentwire_acp_schema::v1::{SessionNotification, StopReason};
use serde::Serialize;

use super::screen::Screen;
use crate::output::{JsonLines, Member};

pub(crate) enum View {
    Json(RefCell<JsonLines>),
    Screen(RefCell<Screen>),
}

impl View {
    /// Shows one update.
    pub(crate) fn update(&self, notification: &SessionNotification) -> io::Result<()> {
        match self {
            Self::Json(lines) => lines.borrow_mut().print(&Member("update", &notification.update)),
            Self::Screen(screen) => screen.borrow_mut().update(&notification.update),
        }
    }

    /// Shows an object that programs want to see; to people it says nothing.
    pub(crate) fn fact<T: Serialize>(&self, name: &str, value: &T) -> io::Result<()> {
        match self {
            Self::Json(lines) => lines.borrow_mut().print(&Member(name, value)),
            Self::Screen(_) => Ok(()),
        }
    }

    /// Shows a line that people want to see; to programs it says nothing.
    pub(crate) fn remark(&self, text: &str) -> io::Result<()> {
        match self {
            Self::Json(_) => Ok(()),
            Self::Screen(screen) => screen.borrow_mut().dim(text),
        }
    }

    /// A turn begins.
    pub(crate) fn turn_begins(&self) {
        if let Self::Screen(screen) = self {
            screen.borrow_mut().start_waiting();
        }
    }

    /// A turn has ended.
    pub(crate) fn turn_ended(&self, reason: &StopReason) -> io::Result<()> {
        match self {
            Self::Json(lines) => lines.borrow_mut().print(&Member("stopReason", reason)),
            Self::Screen(screen) => {
                let mut screen = screen.borrow_mut();
                screen.stop_waiting()?;
                match reason {
                    StopReason::EndTurn => Ok(()),
                    reason => screen.dim(&format!("[{reason}]")),
                }
            }
        }
    }

    /// A turn has failed.
    pub(crate) fn turn_failed(&self) -> io::Result<()> {
        match self {
            Self::Json(_) => Ok(()),
            Self::Screen(screen) => screen.borrow_mut().stop_waiting(),
        }
    }

    /// Turns the spinner.
    pub(crate) fn tick(&self) -> io::Result<()> {
        match self {
            Self::Json(_) => Ok(()),
            Self::Screen(screen) => screen.borrow_mut().tick(),
        }
    }

    /// The screen, if a person looks at one.
    pub(crate) fn screen(&self) -> Option<&RefCell<Screen>> {
        match self {
            Self::Json(_) => None,
            Self::Screen(screen) => Some(screen),
        }
    }
}
