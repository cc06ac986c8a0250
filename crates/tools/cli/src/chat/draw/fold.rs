//! Folds the output of a tool call: shows the first and the last lines.

use std::collections::VecDeque;
use std::io;

use agentwire_acp_toolkit::last_bytes;

use crate::terminal::Screen;

/// The number of lines that are shown at the beginning, and at the end.
const EDGE: usize = 20;

/// The most bytes of a line that are shown.
const LINE: usize = 2000;

/// The most bytes of the whole output that are kept, from its end: 512 KiB.
const WHOLE: usize = 512 << 10;

/// The output of a tool call. Its first lines are shown as they arrive, its last ones when it ends.
#[derive(Default)]
pub(super) struct Fold {
    /// How many lines have begun.
    lines: usize,
    in_line: bool,
    /// The source of the current line.
    source: usize,
    /// How many bytes of the current line are shown.
    width: usize,
    /// The last lines, without the first [`EDGE`].
    last: VecDeque<String>,
    keeps_whole: bool,
    whole: WholeOutput,
}

/// The whole of an output that was shown in part.
#[derive(Default)]
pub(super) struct WholeOutput {
    text: String,
    /// How many bytes before it are not kept.
    lost: usize,
}

impl WholeOutput {
    fn push(&mut self, text: &str) {
        let kept = last_bytes(text, WHOLE);
        self.lost += text.len() - kept.len();
        self.text.push_str(kept);
        if self.text.len() > WHOLE + WHOLE / 4 {
            let start = self.text.len() - last_bytes(&self.text, WHOLE).len();
            self.text.drain(..start);
            self.lost += start;
        }
    }

    /// Drops the kept text.
    fn give_up(&mut self) {
        self.lost += self.text.len();
        self.text = String::new();
    }

    /// Shows all of it.
    pub(super) fn draw(&self, screen: &mut Screen) -> io::Result<()> {
        if self.lost > 0 {
            let place = if self.text.is_empty() { "" } else { " before this" };
            screen.dim(&format!("  … {} bytes{place} are not kept", self.lost))?;
        }
        self.text.lines().try_for_each(|line| screen.shortened_line("2", line))
    }
}

impl Fold {
    /// `keeps_whole`: all of the output is kept until its end, to be shown later.
    pub(super) fn new(keeps_whole: bool) -> Self {
        Self { keeps_whole, ..Self::default() }
    }

    /// Takes more of the output of a call, and shows it if it is of the first lines. A line of one source is not continued by
    /// another one.
    pub(super) fn push(
        &mut self,
        screen: &mut Screen,
        call: usize,
        source: usize,
        text: &str,
    ) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        if self.in_line && self.source != source {
            self.push(screen, call, self.source, "\n")?;
        }
        self.source = source;
        if self.keeps_whole {
            self.whole.push(text);
        }
        for piece in text.split_inclusive('\n') {
            let ends = piece.ends_with('\n');
            let line = piece.trim_end_matches(['\n', '\r']);
            let is_first = self.lines <= EDGE;
            // Something else was shown since, which ended the line.
            let was_ended = self.in_line && is_first && !screen.is_in_output(call);
            if was_ended && line.is_empty() {
                self.in_line = !ends;
                continue;
            }
            if !self.in_line {
                self.begin_line();
            }
            self.in_line = !ends;
            self.show(screen, call, line, ends)?;
        }
        Ok(())
    }

    /// Whether more output is shown when it arrives, and not when it ends.
    pub(super) fn shows_more(&self) -> bool {
        self.lines < EDGE + usize::from(self.in_line)
    }

    /// Whether lines are shown when it ends.
    pub(super) fn has_end(&self) -> bool {
        !self.last.is_empty()
    }

    /// How many bytes of memory the whole output takes.
    pub(super) fn weight(&self) -> usize {
        self.whole.text.capacity()
    }

    /// Drops the whole output so far. Its last lines are still shown when it ends.
    pub(super) fn give_up_whole(&mut self) {
        self.whole.give_up();
    }

    fn begin_line(&mut self) {
        self.lines += 1;
        self.width = 0;
        if self.lines > EDGE {
            self.last.push_back(String::new());
            if self.last.len() > EDGE {
                self.last.pop_front();
            }
        }
    }

    fn show(&mut self, screen: &mut Screen, call: usize, line: &str, ends: bool) -> io::Result<()> {
        let mut end = line.len().min(LINE.saturating_sub(self.width));
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        let is_cut = end < line.len() && self.width < LINE;
        self.width = if end < line.len() { LINE } else { self.width + end };
        let mut shown = line[..end].to_owned();
        shown.push_str(if is_cut { "…" } else { "" });
        if self.lines > EDGE {
            if let Some(last) = self.last.back_mut() {
                last.push_str(&shown);
            }
            return Ok(());
        }
        shown.push_str(if ends { "\n" } else { "" });
        screen.output_piece(call, &shown)
    }

    /// Shows the last lines. Returns all of the output if lines between were left out.
    pub(super) fn finish(
        &mut self,
        screen: &mut Screen,
        call: usize,
        offers_whole: bool,
    ) -> io::Result<Option<WholeOutput>> {
        let Self { lines, last, mut whole, .. } = std::mem::replace(self, Self::new(self.keeps_whole));
        let left_out = lines.saturating_sub(EDGE + last.len());
        if left_out > 0 {
            let how = match (offers_whole, whole.lost) {
                (false, _) => "",
                (true, 0) => ", :last shows all",
                (true, _) => ", :last shows the last of them",
            };
            let plural = if left_out == 1 { "" } else { "s" };
            screen.dim(&format!("  … {left_out} line{plural}{how}"))?;
        }
        for line in last {
            screen.output_piece(call, &(line + "\n"))?;
        }
        whole.text.shrink_to_fit();
        Ok((left_out > 0).then_some(whole))
    }
}
