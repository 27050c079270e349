//! Reports as text for a terminal.

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, TableStyle};
use itertools::{Itertools as _, chain};

use super::data::{Report, Section};

/// Width of text where no terminal is narrower, in characters.
pub const WIDTH: usize = 100;

/// Words in a cell are not broken into lines shorter than this.
const NARROWEST: usize = 16;

/// The most columns of words that name a row: a table that goes on below repeats them.
const KEYS: usize = 2;

/// Spaces around the content of a column, and the one that separates it from the next; there is none after the last column.
const PADDING: usize = 3;

const STYLE: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

impl Report {
    /// Returns the report as text, at most `width` characters wide.
    pub fn text(&self, width: usize) -> String {
        let texts = chain!(&self.summary, &self.warnings).map(|text| wrap(text, width));
        let sections = self.sections.iter().filter(|own| !own.is_detail);
        paragraphs(chain!(texts, sections.map(|own| own.text(width))))
    }
}

impl Section {
    /// Returns the section as text, at most `width` characters wide; lines to be copied are not wrapped.
    pub fn text(&self, width: usize) -> String {
        if self.is_empty() {
            return String::new();
        }
        let title = wrap(&self.title, width);
        let shown = self.shown();
        let columns = shown
            .heads
            .iter()
            .enumerate()
            .map(|(n, (head, is_words))| Lines {
                cells: chain!(
                    [head.clone()],
                    shown.rows.iter().map(|row| row[n].0.clone())
                )
                .collect(),
                is_words: *is_words,
            });
        let columns = columns.collect_vec();
        let table = match columns.is_empty() {
            true => String::new(),
            false => table(&columns, width + 1),
        };
        let lines = self.lines.join("\n");
        let body = [table, lines].into_iter().filter(|own| !own.is_empty());
        let titled = chain!(Some(title).filter(|own| !own.is_empty()), body).join("\n");
        let notes = self.notes.iter().map(|note| wrap(note, width)).join("\n");
        paragraphs([titled, notes])
    }
}

/// Joins the texts that are not empty, with an empty line between two of them.
pub fn paragraphs(texts: impl IntoIterator<Item = String>) -> String {
    texts.into_iter().filter(|own| !own.is_empty()).join("\n\n")
}

/// A column of a table as text: its head, then its cells.
#[derive(Clone)]
struct Lines {
    cells: Vec<String>,
    is_words: bool,
}

impl Lines {
    /// Returns its width with the space around it.
    fn width(&self) -> usize {
        let widths = self.cells.iter().map(|cell| width(cell));
        widths.max().unwrap_or(0) + PADDING
    }
}

/// Returns a table as text, without spaces at the ends of lines. If it is wider than `most` characters, its heads and its
/// words are wrapped; if that is not enough, further columns follow below, next to the columns that name the rows. No cell
/// is cut.
fn table(columns: &[Lines], most: usize) -> String {
    let shown = wrapped(columns, most);
    let keys = shown.iter().take_while(|own| own.is_words).count();
    let keys = keys.clamp(1, KEYS);
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

/// Returns the columns, with heads and words wrapped if they are too wide.
fn wrapped(columns: &[Lines], most: usize) -> Vec<Lines> {
    let mut columns = columns.to_vec();
    let total = |columns: &[Lines]| columns.iter().map(Lines::width).sum::<usize>();
    if total(&columns) <= most {
        return columns;
    }
    for column in &mut columns {
        let cells = column.cells[1..].iter().map(|cell| width(cell));
        column.cells[0] = wrap(&column.cells[0], cells.max().unwrap_or(0));
    }
    // The first column names the row and stays whole.
    let all = total(&columns);
    let words = columns.iter_mut().skip(1).filter(|own| own.is_words);
    let words: Vec<&mut Lines> = words.collect();
    let others = all - words.iter().map(|own| own.width()).sum::<usize>();
    let limit = most.saturating_sub(others) / words.len().max(1);
    for cell in words.into_iter().flat_map(|own| &mut own.cells) {
        *cell = wrap(cell, limit.saturating_sub(PADDING).max(NARROWEST));
    }
    columns
}

/// Returns columns, one at least, as text.
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

/// Returns the characters of the longest line.
fn width(cell: &str) -> usize {
    let lines = cell.lines().map(|line| line.chars().count());
    lines.max().unwrap_or(0)
}

/// Returns the text in lines of at most this many characters, broken between words; a longer word has a line of its own.
pub fn wrap(text: &str, most: usize) -> String {
    text.split('\n')
        .map(|line| wrap_line(line, most))
        .join("\n")
}

fn wrap_line(text: &str, most: usize) -> String {
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
}
