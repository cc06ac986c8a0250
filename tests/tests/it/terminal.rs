//! `agentwire chat` with a person at a terminal.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use crate::binaries::scripted;
use crate::program::{PROMPT, Program};

/// A terminal: our end of it, and the end of those who run at it.
pub(crate) struct Terminal {
    ours: OwnedFd,
    theirs: File,
}

impl Terminal {
    pub(crate) fn new() -> Self {
        Self::with_columns(80)
    }

    pub(crate) fn with_columns(columns: u16) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
            .expect("there are terminals");
        grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("it is ours");
        let path = ptsname(&ours, Vec::new()).expect("it has a name");
        let path = path.to_str().expect("it is ASCII");
        let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&ours, size).expect("it is ours");
        // Without a session it does not become a controlling terminal.
        let theirs = File::options().read(true).write(true).open(path).expect("it was unlocked");
        Self { ours, theirs }
    }

    /// Stdin, stdout and stderr of a program that runs at it.
    pub(crate) fn streams(&self) -> [Stdio; 3] {
        [0; 3].map(|_| self.theirs.try_clone().expect("there are descriptors").into())
    }

    /// Where keys are pressed.
    pub(crate) fn keyboard(&self) -> File {
        self.ours.try_clone().expect("there are descriptors").into()
    }

    /// The screen.
    pub(crate) fn screen(&self) -> Screen {
        Screen(self.keyboard())
    }

    /// Whether it returns lines and echoes input, as the next program expects.
    pub(crate) fn is_as_before(&self) -> bool {
        let modes = tcgetattr(&self.theirs).expect("it is a terminal").local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }
}

/// The screen of a terminal, to be read. It reports the position of the cursor when it is asked, as terminals do.
pub(crate) struct Screen(File);

impl Read for Screen {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        const WHERE_IS_THE_CURSOR: &[u8] = b"\x1b[6n";
        let count = self.0.read(buffer)?;
        let shown = &buffer[..count];
        for _ in shown.windows(WHERE_IS_THE_CURSOR.len()).filter(|bytes| *bytes == WHERE_IS_THE_CURSOR) {
            self.0.write_all(b"\x1b[1;1R")?;
        }
        Ok(count)
    }
}

impl AsFd for Screen {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[test]
fn a_conversation_goes_on_until_the_person_has_enough() {
    let (terminal, mut chat, mut seen) = converse(&["chat"]);
    chat.write(b"hello\n");
    next(&chat, &mut seen, "You said: hello");
    chat.write(b"/slow 600\n");
    next(&chat, &mut seen, "This takes 600 s.");
    chat.signal(Signal::INT);
    next(&chat, &mut seen, "[cancelled]");
    chat.write(b"still there?\n");
    next(&chat, &mut seen, "You said: still there?");
    next(&chat, &mut seen, "> ");
    chat.write(b"\x04");
    leaves(chat, &terminal, 0);
}

#[test]
fn an_interrupt_ends_a_conversation_that_waits_for_the_person() {
    let terminal = Terminal::new();
    let chat = Program::start_at(&terminal, &["chat"]);
    chat.stdout.words("> ");
    chat.signal(Signal::INT);
    leaves(chat, &terminal, 130);
}

/// A terminal without a foreground process group sends no signal when it closes.
#[test]
fn a_terminal_that_goes_ends_a_conversation() {
    for (arguments, shown) in [
        (&["chat"][..], "> "),
        (&["chat", "/run echo $((6 * 7))"], "\x1b[2K> "),
        (&["chat", "/slow 600"], "This takes 600 s."),
    ] {
        let terminal = Terminal::new();
        let mut chat = Program::start_at(&terminal, arguments);
        chat.stdout.words(shown);
        chat.hang_up(terminal);
        let ended = chat.end(PROMPT);
        assert!(ended.code().is_some(), "{arguments:?}: {ended:?}");
    }
}

#[test]
fn the_end_of_an_agent_is_reported_at_an_idle_prompt() {
    let terminal = Terminal::new();
    let mut chat = Program::start_at(&terminal, &["chat"]);
    chat.stdout.words("> ");
    chat.family.find("agentwire agent").signal(Signal::KILL);
    chat.stdout.words("was killed by SIGKILL");
    leaves(chat, &terminal, 1);
}

#[test]
fn a_turn_that_fails_does_not_end_the_conversation() {
    let agent = scripted("agent turn refuse");
    let (terminal, mut chat, mut seen) = converse(&["chat", "--agent", &agent]);
    chat.write(b"hello\n");
    next(&chat, &mut seen, "error: the agent refused session/prompt: scripted: I would rather not");
    next(&chat, &mut seen, "> ");
    chat.write(b"\x04");
    leaves(chat, &terminal, 0);
}

/// The terminal is restored however a question ends.
#[test]
fn a_question_ends_with_an_answer_or_with_its_agent() {
    let ask = || {
        let terminal = Terminal::new();
        let chat = Program::start_at(&terminal, &["chat", "/run echo $((6 * 7))"]);
        let mut seen = 0;
        next(&chat, &mut seen, "allow once (a): Allow");
        next(&chat, &mut seen, "\x1b[2K> ");
        (chat, terminal, seen)
    };
    for (line, shows) in [("a", "42"), ("reject once", "not permitted"), ("2", "not permitted")] {
        let (mut chat, terminal, mut seen) = ask();
        answer(&mut chat, &mut seen, "> ", line, shows);
        leaves(chat, &terminal, 0);
    }
    for key in [b"\x03", b"\x1b"] {
        let (mut chat, terminal, _) = ask();
        chat.write(key);
        chat.stdout.words("[cancelled]");
        leaves(chat, &terminal, 130);
    }
    let (chat, terminal, _) = ask();
    chat.signal(Signal::INT);
    chat.stdout.words("[cancelled]");
    leaves(chat, &terminal, 130);

    let (mut chat, terminal, _) = ask();
    chat.family.find("agentwire agent").signal(Signal::KILL);
    chat.stdout.words("was killed by SIGKILL");
    leaves(chat, &terminal, 1);
}

/// Types an answer behind what stands before it, and waits until something is shown again. As a person does: Enter comes after
/// what was typed can be seen, not in one piece with it. Where the machine holds the program up so long that it was one
/// piece all the same, it reports that and asks again.
#[track_caller]
pub(crate) fn answer(chat: &mut Program, seen: &mut usize, before: &str, line: &str, shows: &str) {
    const BURST: &str = "What is pasted is not an answer";
    loop {
        chat.write(line.as_bytes());
        next(chat, seen, &format!("\x1b[2K{before}{line}"));
        std::thread::sleep(Duration::from_millis(200));
        chat.write(b"\r");
        let find = |bytes: &[u8], words: &str| {
            bytes
                .windows(words.len())
                .position(|window| window == words.as_bytes())
                .map(|at| at + words.len())
        };
        let (end, again) = chat.stdout.until(shows, |bytes| {
            let burst = find(&bytes[*seen..], BURST).map(|end| (end, true));
            find(&bytes[*seen..], shows).map(|end| (end, false)).or(burst)
        });
        *seen += end;
        if !again {
            return;
        }
        next(chat, seen, &format!("\x1b[2K{before}"));
    }
}

/// Waits until these words were shown again.
#[track_caller]
pub(crate) fn next(chat: &Program, seen: &mut usize, words: &str) {
    let needle = words.as_bytes();
    *seen = chat.stdout.until(words, |bytes| {
        let found = bytes[*seen..].windows(needle.len()).position(|window| window == needle);
        found.map(|at| *seen + at + needle.len())
    });
}

/// Starts a command at a terminal of its own, and waits for the prompt of its conversation. Returns also how many bytes were seen.
#[track_caller]
pub(crate) fn converse(arguments: &[&str]) -> (Terminal, Program, usize) {
    let terminal = Terminal::new();
    let program = Program::start_at(&terminal, arguments);
    let mut seen = 0;
    next(&program, &mut seen, "> ");
    (terminal, program, seen)
}

#[track_caller]
pub(crate) fn leaves(chat: Program, terminal: &Terminal, code: i32) {
    chat.end(PROMPT).exits(code);
    assert!(terminal.is_as_before(), "the terminal is not given back");
}
