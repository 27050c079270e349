use comfy_table::{CellAlignment, ContentArrangement, LineStyle, TableStyle};
use itertools::{Itertools as _, chain};

use super::data::{Report, Section};

/// The default width of the text, and the largest width of a paragraph, in characters.
pub const WIDTH: usize = 100;

const NARROWEST: usize = 16;

const KEYS: usize = 2;

const PADDING: usize = 3;

const STYLE: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

impl Report {
    /// Returns the report as text. Each line has at most `width` characters.
    pub fn text(&self, width: usize) -> String {
        let texts = chain!(&self.summary, &self.warnings).map(|text| paragraph(text, width));
        let sections = self.sections.iter().filter(|own| !own.is_detail);
        paragraphs(chain!(texts, sections.map(|own| own.text(width))))
    }
}

impl Section {
    /// Returns the section as text. Its table has at most `width` characters per line, and its
    /// `lines` are not wrapped.
    pub fn text(&self, width: usize) -> String {
        if self.is_empty() {
            return String::new();
        }
        let shown = self.shown();
        let columns = shown.heads.into_iter().enumerate();
        let columns = columns.map(|(n, (head, is_words))| {
            let cells = shown.rows.iter().map(|row| row[n].text.clone());
            let cells = chain!([head], cells).collect();
            Lines { cells, is_words }
        });
        let columns = columns.collect_vec();
        let table = match columns.is_empty() {
            true => String::new(),
            false => table(&columns, width + 1),
        };
        let parts = [paragraph(&self.title, width), table, self.lines.join("\n")];
        let titled = parts.iter().filter(|own| !own.is_empty()).join("\n");
        let notes = self.notes.iter();
        let notes = notes.map(|note| paragraph(note, width)).join("\n");
        paragraphs([titled, notes])
    }
}

fn paragraph(text: &str, width: usize) -> String {
    wrap(text, width.min(WIDTH))
}

fn paragraphs(texts: impl IntoIterator<Item = String>) -> String {
    texts.into_iter().filter(|own| !own.is_empty()).join("\n\n")
}

#[derive(Clone)]
struct Lines {
    cells: Vec<String>,
    is_words: bool,
}

impl Lines {
    fn width(&self) -> usize {
        let widths = self.cells.iter().map(|cell| width(cell));
        widths.max().unwrap_or(0) + PADDING
    }

    /// Wraps the cells, so that the column has at most `most` characters.
    fn wrap(&mut self, most: usize) {
        for cell in &mut self.cells {
            *cell = wrap_all(cell, most - PADDING);
        }
    }
}

/// If the table is wider than `most`, its heads and texts are wrapped, and the columns that do not
/// fit follow below, next to the columns that name the rows. No cell is cut.
fn table(columns: &[Lines], most: usize) -> String {
    let shown = wrapped(columns, most);
    let words = shown.iter().take_while(|own| own.is_words).count();
    let widest = |keys: usize| shown[keys..].iter().map(Lines::width).max();
    let fits = |keys: &usize| {
        let named = shown[..*keys].iter().map(Lines::width).sum::<usize>();
        named + widest(*keys).unwrap_or(0) <= most
    };
    let keys = (1..=words.min(KEYS)).rev().find(fits).unwrap_or(1);
    let ends = shown.iter().scan(0, |end, own| {
        *end += own.width();
        Some(*end)
    });
    let fitting = ends.take_while(|end| *end <= most).count().max(keys + 1);
    if fitting >= columns.len() {
        return laid_out(&shown);
    }
    let first = laid_out(&wrapped(&columns[..fitting], most));
    let rest = [&columns[..keys], &columns[fitting..]].concat();
    format!("{first}\n\n{}", table(&rest, most))
}

fn wrapped(columns: &[Lines], most: usize) -> Vec<Lines> {
    let mut columns = columns.to_vec();
    let total = |columns: &[Lines]| columns.iter().map(Lines::width).sum::<usize>();
    if total(&columns) <= most {
        return columns;
    }
    for column in &mut columns {
        let cells = column.cells[1..].iter().map(|cell| width(cell));
        let cells = cells.max().unwrap_or(0);
        let words = wrap(&column.cells[0], cells);
        column.cells[0] = wrap_all(&words, cells.max(most / 2 - PADDING));
    }
    let words = columns[1..].iter().filter(|own| own.is_words);
    let (count, wide) = words.fold((0, 0), |(n, wide), own| (n + 1, wide + own.width()));
    let limit = most.saturating_sub(total(&columns) - wide) / count.max(1);
    for column in columns[1..].iter_mut().filter(|own| own.is_words) {
        let words = column.cells.iter().flat_map(|cell| cell.split_whitespace());
        let longest = words.map(width).max().unwrap_or(0) + PADDING;
        column.wrap(limit.max(NARROWEST + PADDING).max(longest.min(most / 4)));
    }
    if columns[0].is_words {
        let rest = most.saturating_sub(total(&columns[1..]));
        columns[0].wrap(rest.max(most / 3).max(NARROWEST));
    }
    columns
}

fn laid_out(columns: &[Lines]) -> String {
    let mut table = comfy_table::Table::new();
    table.load_style(STYLE);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(columns.iter().map(|column| &column.cells[0]));
    for (n, column) in columns.iter().enumerate() {
        if let Some(shown) = table.column_mut(n).filter(|_| !column.is_words) {
            shown.set_cell_alignment(CellAlignment::Right);
        }
    }
    for row in 1..columns[0].cells.len() {
        table.add_row(columns.iter().map(|column| &column.cells[row]));
    }
    table.trim_fmt()
}

fn width(cell: &str) -> usize {
    let lines = cell.lines().map(|line| line.chars().count());
    lines.max().unwrap_or(0)
}

/// Wraps a text between words, so that each line has at most `most` characters, or one longer word.
pub fn wrap(text: &str, most: usize) -> String {
    let wrap_line = |text: &str| {
        let (mut wrapped, mut length) = (String::new(), 0);
        for word in text.split(' ') {
            let more = word.chars().count();
            if length > 0 {
                let fits = length + 1 + more <= most;
                wrapped.push(if fits { ' ' } else { '\n' });
                length = if fits { length + 1 } else { 0 };
            }
            wrapped.push_str(word);
            length += more;
        }
        wrapped
    };
    text.split('\n').map(wrap_line).join("\n")
}

/// Wraps a text like [`wrap`], but also splits words that are longer than `most`.
pub(super) fn wrap_all(text: &str, most: usize) -> String {
    let split = |line: &str| {
        let parts = line.chars().chunks(most);
        parts.into_iter().map(String::from_iter).join("\n")
    };
    wrap(text, most).split('\n').map(split).join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{cells, table};

    #[test]
    fn wraps_words_but_not_numbers() {
        let does = "first come, first served, and nobody overtakes";
        let section = table!("Rules", [("fcfs", (36.8107, 0.156), does)], (name, mean, does) => {
            "rule" => name,
            "E[T] [s]" => mean,
            "what it does" => does,
            "not known" => Option::<f64>::None,
        });
        let wide = section.text(100);
        assert_eq!(wide.lines().count(), 4, "{wide}");
        assert!(wide.contains("E[T] [s]") && !wide.contains("not known"));
        let narrow = section.text(50);
        assert!(width(&narrow) <= 50, "{narrow}");
        assert!(narrow.contains("36.81 ± 0.16"), "{narrow}");
        assert_eq!(narrow.lines().count(), 5, "{narrow}");
    }

    #[test]
    fn columns_that_do_not_fit_follow_below() {
        let mut section = Section::new("", ["policy"]);
        let heads = (0..9).map(|n| format!("ρ = .{n} [s]").into());
        section.columns.extend(heads);
        let row = [(1234.5, 12.3); 9].map(Into::into);
        section.rows.push(cells!["first-fit"; row]);
        let text = section.text(80);
        assert!(width(&text) <= 80, "{text}");
        assert_eq!(text.matches("1234 ± 12").count(), 9, "{text}");
        assert_eq!(text.matches("first-fit").count(), 2, "{text}");
    }

    #[test]
    fn tables_are_never_wider_than_requested() {
        let long = "least limit × CPUs first, waiting counts 2400 points a week";
        let name = "user_name_without_any_space.of.the.department@REALM.EXAMPLE.ORG";
        let rows = [(long, name, 1234.5), (name, long, 0.123)];
        let section = table!("", rows, (own, other, value) => {
            "configuration" => own,
            "user" => other,
            "ratio of the mean waits [1]" => (value, Some([0.5 * value, 2.0 * value])),
            format!("{name} [s]") => value,
            "done" => other,
            "jobs [#]" => value,
        });
        let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count();
        for most in 40..=400 {
            let text = section.text(most);
            assert!(width(&text) <= most, "{most}: {text}");
            assert!(letters(&text) >= letters(&section.text(1000)), "{text}");
        }
        assert_eq!(section.text(400).lines().count(), 4);
    }

    #[test]
    fn cells_are_shown_in_the_unit_of_their_column() {
        let section = table!("", [(7200.0, 0.125, 12_u64), (86_400.0, 2e-5, 3)], (time, share, count) => {
            "of" => "a",
            "wait [s]" => time,
            "ratio [1]" => (0.7271, Some([0.6502, 0.8101])),
            "share [%]" => share,
            "jobs [#]" => count,
        });
        let text = section.text(100);
        let cells = |line: &'_ str| {
            let cells = line.split("  ").map(str::trim);
            cells.filter(|own| !own.is_empty()).join("; ")
        };
        let rows: Vec<String> = text.lines().skip(2).map(cells).collect();
        assert_eq!(rows[0], "a; 2.000; 0.727 [0.650, 0.810]; 12.5; 12");
        assert_eq!(rows[1], "a; 24.00; 0.727 [0.650, 0.810]; < 0.1; 3");
        assert!(text.contains("wait [h]"), "{text}");
    }
}
