//! The results: a table with ratios and floors, and JSON.

use serde_json::{Value, json};

use super::rows::{Better, Floor, Judgement, Medians, Row};
use super::scenario::{Measured, Sample};
use super::subject::{Side, Subject};

/// The measured rows of one protocol.
pub(crate) struct Report<'a> {
    pub(crate) title: &'static str,
    pub(crate) subjects: &'a [Subject],
    pub(crate) measured: Vec<Measured>,
}

impl Report<'_> {
    /// Prints the table.
    pub(crate) fn print(&self) {
        println!("\n{}", self.title);
        let mut header: Vec<String> = vec!["row".into(), "what".into()];
        header.extend(self.subjects.iter().map(|subject| subject.label.to_owned()));
        let other = if self.has(Side::Before) { "/ before" } else { "/ rival" };
        header.extend(["/ limit", other, "floors"].map(str::to_owned));
        let mut lines = vec![header];
        for measured in &self.measured {
            let medians = self.medians(measured);
            let mut line = vec![measured.row.key.to_owned(), measured.row.title.to_owned()];
            line.extend((0..self.subjects.len()).map(|index| cell(measured, index)));
            line.push(ratio(medians.ours, medians.limit));
            line.push(ratio(medians.ours, medians.before.or(medians.rival)));
            line.push(self.verdicts(measured));
            lines.push(line);
        }
        print_aligned(&lines);
    }

    /// The missed floors, each as `row: floor`. None without our side.
    pub(crate) fn misses(&self) -> Vec<String> {
        if !self.has_ours() {
            return Vec::new();
        }
        let mut misses = Vec::new();
        for measured in &self.measured {
            let judgement = Judgement::new(self.floors(measured.row), self.medians(measured));
            misses.extend(judgement.misses(format_args!("{} ({})", measured.row.key, measured.row.title)));
        }
        misses
    }

    pub(crate) fn json(&self) -> Vec<Value> {
        self.measured.iter().map(|measured| self.row_json(measured)).collect()
    }

    fn row_json(&self, measured: &Measured) -> Value {
        let Row { key, title, .. } = measured.row;
        let medians = self.medians(measured);
        let subjects: serde_json::Map<String, Value> =
            (self.subjects.iter().zip(&measured.samples).enumerate())
                .filter(|(_, (_, samples))| !samples.is_empty())
                .map(|(index, (subject, samples))| {
                    let value = json!({ "median": measured.median(index), "samples": samples });
                    (subject.label.to_owned(), value)
                })
                .collect();
        let floors = self.floors(measured.row).filter(|_| self.has_ours());
        let floors = Judgement::new(floors, medians).json();
        json!({ "row": key, "what": title, "subjects": subjects, "floors": floors })
    }

    /// The floors of a row: its own, or that it is not worse than before.
    fn floors(&self, row: &'static Row) -> impl Iterator<Item = Floor> {
        let (of_row, before) = match self.has(Side::Before) {
            true => ([].as_slice(), Some(Floor::OfBefore(row.better))),
            false => (row.floors, None),
        };
        of_row.iter().copied().chain(before)
    }

    fn has_ours(&self) -> bool {
        self.has(Side::Ours)
    }

    fn has(&self, side: Side) -> bool {
        self.subjects.iter().any(|subject| subject.side == side)
    }

    fn verdicts(&self, measured: &Measured) -> String {
        let floors = self.floors(measured.row);
        if self.has_ours() {
            return Judgement::new(floors, self.medians(measured)).text();
        }
        floors.map(|floor| format!("({floor})")).collect::<Vec<_>>().join(", ")
    }

    /// Our median, the limit's, and the best of the rivals'.
    fn medians(&self, measured: &Measured) -> Medians {
        let of = |side: Side| {
            let indices = self.subjects.iter().enumerate().filter(move |(_, subject)| subject.side == side);
            indices.filter_map(|(index, _)| measured.median(index))
        };
        let rival = match measured.row.better {
            Better::Higher => of(Side::Rival).reduce(f64::max),
            Better::Lower => of(Side::Rival).reduce(f64::min),
        };
        Medians {
            ours: of(Side::Ours).next(),
            before: of(Side::Before).next(),
            rival,
            limit: of(Side::Limit).next(),
        }
    }
}

fn cell(measured: &Measured, subject: usize) -> String {
    let samples: &[Sample] = &measured.samples[subject];
    match measured.median(subject) {
        Some(median) => measured.row.unit.show(median),
        None if samples.is_empty() => "-".into(),
        None => "no answer".into(),
    }
}

fn ratio(ours: Option<f64>, other: Option<f64>) -> String {
    match (ours, other) {
        (Some(ours), Some(other)) if other > 0.0 => format!("{:.2}", ours / other),
        _ => "-".into(),
    }
}

/// Prints aligned columns: the first two and the last to the left, the numbers between to the right.
pub(crate) fn print_aligned(lines: &[Vec<String>]) {
    let columns = lines.first().map_or(0, Vec::len);
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for line in lines {
        let cells = line.iter().enumerate().map(|(column, cell)| {
            let pad = " ".repeat(widths[column] - cell.chars().count());
            if column < 2 || column + 1 == columns { format!("{cell}{pad}") } else { format!("{pad}{cell}") }
        });
        println!("{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
}
