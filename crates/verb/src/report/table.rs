//! Tables for a terminal: a rule under the header, and nothing else.

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, TableStyle};

/// Width of tables where no terminal is narrower, in characters.
pub const WIDTH: usize = 100;

/// Words in a cell are not broken into lines shorter than this.
const NARROWEST: usize = 16;

/// Columns of words, from the first on, that name a row: a table that goes on below repeats them.
const KEYS: usize = 2;

/// Spaces around the content of a column, and what separates it from the next one.
const PADDING: usize = 3;

const STYLE: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// A table. Columns hold numbers, to the right, unless they are said to hold words; the first column
/// holds words and names the row.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<Column>,
}

#[derive(Clone, Debug)]
struct Column {
    /// The header, then the rows.
    cells: Vec<String>,
    words: bool,
    wraps: bool,
}

impl Column {
    fn width(&self) -> usize {
        self.cells.iter().map(|cell| width(cell)).max().unwrap_or(0)
    }

    /// With a header that is no wider than the rows, where its words allow it.
    fn narrow(&self) -> Column {
        let mut column = self.clone();
        let rows = self.cells[1..].iter().map(|cell| width(cell)).max();
        column.cells[0] = wrap(&self.cells[0], rows.unwrap_or(0));
        column
    }
}

impl Table {
    /// Returns a table with this header and no row.
    pub fn new<T: Into<String>>(header: impl IntoIterator<Item = T>) -> Self {
        let columns = header.into_iter().enumerate().map(|(n, name)| Column {
            cells: vec![name.into()],
            words: n == 0,
            wraps: false,
        });
        let columns = columns.collect();
        Table { columns }
    }

    /// Lets the n-th column hold words, to the left.
    pub fn words(mut self, n: usize) -> Self {
        self.columns[n].words = true;
        self
    }

    /// Lets the n-th column be broken into lines between its words, where there is no room.
    pub fn wrapping(mut self, n: usize) -> Self {
        self.columns[n].wraps = true;
        self
    }

    /// Adds a row; cells that are not given are empty.
    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        let mut cells = cells.into_iter();
        for column in &mut self.columns {
            let cell = cells.next().map_or_else(String::new, T::into);
            column.cells.push(cell);
        }
    }

    /// Returns the text, without spaces at the ends of lines. Where it is wider than `most` characters,
    /// headers are wrapped, and columns that may wrap; where that is not enough, further columns follow
    /// below, beside the first one again. No cell is cut.
    pub fn within(&self, most: usize) -> String {
        let most = most + 1; // nothing is separated after the last column
        let columns = self.wrapped(most);
        if columns.is_empty() {
            return String::new();
        }
        let columns_of_names = columns.iter().take_while(|own| own.words && !own.wraps);
        let keys = columns_of_names.count().clamp(1, KEYS);
        let of_keys: usize = columns[..keys].iter().map(|c| c.width() + PADDING).sum();
        let mut blocks: Vec<Vec<usize>> = Vec::new();
        let (mut block, mut taken): (Vec<usize>, usize) = ((0..keys).collect(), of_keys);
        for (n, column) in columns.iter().enumerate().skip(keys) {
            let width = column.width() + PADDING;
            if taken + width > most && block.len() > keys {
                blocks.push(std::mem::replace(&mut block, (0..keys).collect()));
                taken = of_keys;
            }
            taken += width;
            block.push(n);
        }
        blocks.push(block);
        // A block of its own may have room for what was wrapped to fit beside all others.
        let shown = blocks.iter().map(|block| {
            let columns = block.iter().map(|n| self.columns[*n].clone()).collect();
            shown(&Table { columns }.wrapped(most))
        });
        shown.collect::<Vec<_>>().join("\n\n")
    }

    /// Width where nothing is wrapped, in characters.
    pub fn width(&self) -> usize {
        let widths = self.columns.iter().map(|column| column.width() + PADDING);
        widths.sum::<usize>().saturating_sub(1)
    }

    /// Returns the columns, with headers wrapped where the table is too wide, and the columns that may wrap as
    /// narrow as need be.
    fn wrapped(&self, most: usize) -> Vec<Column> {
        if self.width() < most {
            // `most` counts what separates the last column.
            return self.columns.clone();
        }
        let mut columns: Vec<Column> = self.columns.iter().map(Column::narrow).collect();
        let fixed = columns.iter().filter(|column| !column.wraps);
        let fixed: usize = fixed.map(|column| column.width() + PADDING).sum();
        let wrapping = columns.iter().filter(|column| column.wraps).count();
        let each = most.saturating_sub(fixed) / wrapping.max(1);
        let each = each.saturating_sub(PADDING).max(NARROWEST);
        for column in columns.iter_mut().filter(|column| column.wraps) {
            for cell in &mut column.cells {
                *cell = wrap(cell, each);
            }
        }
        columns
    }
}

/// Returns columns, one at least, as text.
fn shown(columns: &[Column]) -> String {
    let mut table = comfy_table::Table::new();
    table.load_style(STYLE);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(columns.iter().map(|column| &column.cells[0]));
    for (n, column) in columns.iter().enumerate() {
        if let Some(shown) = table.column_mut(n).filter(|_| !column.words) {
            shown.set_cell_alignment(CellAlignment::Right);
        }
    }
    for row in 1..columns[0].cells.len() {
        table.add_row(columns.iter().map(|column| &column.cells[row]));
    }
    table.trim_fmt()
}

/// Characters of the longest line.
fn width(cell: &str) -> usize {
    let lines = cell.lines().map(|line| line.chars().count());
    lines.max().unwrap_or(0)
}

/// Returns the text in lines of at most so many characters, between its words; a longer word has a line of its
/// own.
pub fn wrap(text: &str, most: usize) -> String {
    let lines = text.split('\n').map(|line| wrap_line(line, most));
    lines.collect::<Vec<_>>().join("\n")
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

#[cfg(test)]
mod tests {
    use super::*;

    fn widest(text: &str) -> usize {
        text.lines()
            .map(|line| line.chars().count())
            .max()
            .unwrap_or(0)
    }

    #[test]
    fn words_are_wrapped_and_numbers_are_not() {
        let mut table = Table::new(["rule", "E[T]", "what it does"])
            .words(2)
            .wrapping(2);
        table.row([
            "fcfs",
            "36.81 ± 0.16",
            "first come, first served, and nobody overtakes",
        ]);
        let wide = table.within(100);
        assert_eq!(wide.lines().count(), 3, "{wide}");
        let narrow = table.within(50);
        assert!(widest(&narrow) <= 50, "{narrow}");
        assert!(narrow.contains("36.81 ± 0.16"), "{narrow}");
        assert_eq!(narrow.lines().count(), 4, "{narrow}");
    }

    #[test]
    fn columns_without_room_follow_below() {
        let header = std::iter::once("policy".into()).chain((0..9).map(|n| format!("ρ = .{n}")));
        let mut table = Table::new(header);
        let row = std::iter::once("first-fit").chain(["1234.5 ± 12.3"; 9]);
        table.row(row);
        let text = table.within(80);
        assert!(widest(&text) <= 80, "{text}");
        assert_eq!(text.matches("1234.5 ± 12.3").count(), 9, "{text}");
        assert_eq!(text.matches("first-fit").count(), 3, "{text}");
    }
}
