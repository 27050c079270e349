use std::error::Error;

use itertools::{Itertools as _, chain};

use super::plot::{Figure, Picture};
use super::{Csv, decimals, number, percentage, readable, within};
use synth_simulation::Estimate;

/// The result of a verb.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The title, which is only shown on pages.
    pub title: String,
    /// The answer in a few sentences. The first paragraph is the headline.
    pub summary: Vec<String>,
    /// The warnings that must be read before the numbers are used.
    pub warnings: Vec<String>,
    /// The tables and figures.
    pub sections: Vec<Section>,
    /// The terms that explain how the numbers were computed, which are only shown on pages.
    pub method: Vec<(&'static str, String)>,
    /// The command that reproduces the report, without the files that it is written to.
    pub command: String,
    /// All numbers, for use by other programs.
    pub numbers: Numbers,
}

impl From<String> for Report {
    fn from(text: String) -> Self {
        Report {
            summary: vec![text],
            ..Report::default()
        }
    }
}

/// The numbers for other programs. Each of them has its keys, the quantity, the value, the ends of
/// the 95 % interval (or empty ones), and the unit.
#[derive(Clone, Debug, Default)]
pub struct Numbers {
    /// The names of the keys.
    pub keys: &'static [&'static str],
    lines: Vec<Vec<String>>,
}

impl Numbers {
    /// Creates an empty list with these keys.
    pub fn new(keys: &'static [&'static str]) -> Self {
        let lines = Vec::new();
        Numbers { keys, lines }
    }

    /// Adds a value with its keys, its quantity and its unit (see [`Column`]) if it is finite.
    pub fn add(&mut self, keys: &[&str], of: impl Into<Column>, value: impl Into<Cell>) {
        let values = value.into().values().filter(|own| own[0].is_finite());
        let Some(values) = values else { return };
        let Column { name, unit } = of.into();
        let values = values.map(|own| match own.is_finite() {
            true => own.to_string(),
            false => String::new(),
        });
        let keys = keys.iter().map(|own| (*own).to_owned());
        let line = chain!(keys, [name], values, [unit]);
        self.lines.push(line.collect());
    }

    /// Adds the median and the 95th and 99th percentiles of a quantity.
    pub fn percentiles(&mut self, keys: &[&str], of: &str, unit: &str, own: Option<[f64; 3]>) {
        for (n, percent) in ["50", "95", "99"].iter().enumerate() {
            let column = Column::of(&format!("{of}_p{percent}"), unit);
            self.add(keys, column, own.map(|own| own[n]));
        }
    }

    /// Returns the numbers as CSV, with one number per line.
    pub fn csv(&self) -> Result<String, Box<dyn Error>> {
        let heads = ["quantity", "value", "low", "high", "unit"];
        let mut table = Csv::titled(chain!(self.keys, &heads))?;
        for line in &self.lines {
            table.row(line)?;
        }
        table.text()
    }
}

/// A table with its notes and figures. Each of these can be empty.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// The title.
    pub title: String,
    /// The columns of the table.
    pub columns: Vec<Column>,
    /// The rows of the table. If a row is too short, the remaining cells are empty.
    pub rows: Vec<Vec<Cell>>,
    /// Lines that are printed as they are.
    pub lines: Vec<String>,
    /// The notes, each of which is a paragraph.
    pub notes: Vec<String>,
    /// The figures, which are only shown on pages.
    pub figures: Vec<Figure>,
    /// `true` if the section is only shown on pages.
    pub is_detail: bool,
    /// `true` if pages show a bar for each time, which compares it with the others in its row.
    pub has_bars: bool,
}

/// A column of a table.
#[derive(Clone, Debug)]
pub struct Column {
    /// The name of the quantity.
    pub name: String,
    /// The unit: empty for text, `#` for integers, `1` for numbers without a unit, and `%` for
    /// fractions that are shown as percentages. A time is shown in a readable unit.
    pub unit: String,
}

impl<T: AsRef<str>> From<T> for Column {
    /// Parses `name [unit]`. If there is no unit, the column contains text.
    fn from(head: T) -> Self {
        let head = head.as_ref();
        let parts = head.strip_suffix(']').and_then(|own| own.rsplit_once(" ["));
        let (name, unit) = parts.unwrap_or((head, ""));
        Column::of(name, unit)
    }
}

impl Column {
    /// Creates a column.
    pub fn of(name: &str, unit: &str) -> Self {
        let (name, unit) = (name.to_owned(), unit.to_owned());
        Column { name, unit }
    }
}

/// A cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// An empty cell.
    None,
    /// A text.
    Text(String),
    /// A number.
    Number(f64),
    /// A number and half of the width of its 95 % interval.
    Within(f64, f64),
    /// A number and the ends of its 95 % interval.
    Between(f64, [f64; 2]),
    /// A number with a prefix such as `≥`.
    Signed(&'static str, f64),
    /// The best number of its column, or a number that is not significantly worse.
    Best(Box<Cell>),
}

/// Converts values to the cells of a row. An iterator of more cells can follow after a semicolon.
#[macro_export]
macro_rules! cells {
    ($($cell:expr),* $(,)?) => { vec![$($crate::report::Cell::from($cell)),*] };
    ($($cell:expr),*; $more:expr) => {{
        let mut cells = $crate::cells![$($cell),*];
        cells.extend($more);
        cells
    }};
}

/// Creates a section with a row for each item of an iterator and a [`Column`] for each head.
#[macro_export]
macro_rules! table {
    ($title:expr, $rows:expr, $row:pat => { $($head:expr => $cell:expr),* $(,)? }) => {{
        let heads = [$($crate::report::Column::from($head)),*];
        let mut section = $crate::report::Section::new($title, heads);
        for $row in $rows {
            section.rows.push($crate::cells![$($cell),*]);
        }
        section
    }};
}

/// Calls [`Numbers::add`](crate::report::Numbers::add) for several quantities with the same keys.
#[macro_export]
macro_rules! numbers {
    ($numbers:expr, $keys:expr => { $($of:expr => $value:expr),* $(,)? }) => {
        $($numbers.add($keys, $of, $value);)*
    };
}

macro_rules! into_cell {
    ($($from:ty: $own:ident => $cell:expr;)*) => {$(
        impl From<$from> for Cell {
            fn from($own: $from) -> Self {
                $cell
            }
        }
    )*};
}

into_cell! {
    &str: own => Cell::Text(own.to_owned());
    &String: own => Cell::Text(own.clone());
    &Option<String>: own => Cell::from(own.as_ref());
    String: own => Cell::Text(own);
    f64: own => Cell::Number(own);
    u64: own => Cell::Number(own as f64);
    u32: own => Cell::Number(f64::from(own));
    usize: own => Cell::Number(own as f64);
    (f64, f64): own => Cell::Within(own.0, own.1);
    (f64, Option<[f64; 2]>): own => own.1.map_or(Cell::Number(own.0), |ends| Cell::Between(own.0, ends));
    Estimate: own => Cell::Within(own.mean, own.half_width);
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(own: Option<T>) -> Self {
        own.map_or(Cell::None, Into::into)
    }
}

impl Cell {
    fn values(&self) -> Option<[f64; 3]> {
        match self {
            Cell::None | Cell::Text(_) => None,
            Cell::Number(value) | Cell::Signed(_, value) => Some([*value, f64::NAN, f64::NAN]),
            Cell::Within(value, half) => Some([*value, value - half, value + half]),
            Cell::Between(value, [low, high]) => Some([*value, *low, *high]),
            Cell::Best(own) => own.values(),
        }
    }

    fn is_blank(&self) -> bool {
        match self {
            Cell::None => true,
            Cell::Text(text) => text.is_empty(),
            _ => false,
        }
    }

    fn text(&self, unit: &str, factor: f64) -> String {
        let plain = |value: f64| match unit {
            "#" => format!("{value:.0}"),
            "%" => percentage(value),
            _ => number(factor * value),
        };
        match self {
            Cell::None if unit.is_empty() => String::new(),
            Cell::None => "–".into(),
            Cell::Text(text) => text.clone(),
            Cell::Number(value) => plain(*value),
            Cell::Signed(sign, value) => format!("{sign} {}", plain(*value)),
            Cell::Within(value, half) if *half > 0.0 => within(factor * value, factor * half),
            Cell::Within(value, _) => plain(*value),
            Cell::Between(value, ends) => {
                let all = [*value, ends[0], ends[1]].map(|own| factor * own);
                let shown = match decimals(0.5 * (all[2] - all[1])) {
                    Some(digits) => all.map(|own| format!("{own:.digits$}")),
                    None => all.map(number),
                };
                format!("{} [{}, {}]", shown[0], shown[1], shown[2])
            }
            Cell::Best(own) => own.text(unit, factor) + " *",
        }
    }
}

pub(super) struct Shown {
    pub heads: Vec<(String, bool)>,
    pub rows: Vec<Vec<ShownCell>>,
}

#[derive(Clone)]
pub(super) struct ShownCell {
    pub text: String,
    pub class: &'static str,
    /// The length of the bar, as a fraction of the longest one in the row.
    pub bar: Option<String>,
}

impl Section {
    /// Creates a section without rows.
    pub fn new<C: Into<Column>>(
        title: impl Into<String>,
        columns: impl IntoIterator<Item = C>,
    ) -> Self {
        Section {
            title: title.into(),
            columns: columns.into_iter().map(Into::into).collect(),
            ..Section::default()
        }
    }

    /// Creates a section with the figures that are not `None`. It is only shown on pages.
    pub fn of_figures(
        title: impl Into<String>,
        note: impl Into<String>,
        figures: impl IntoIterator<Item = Option<Figure>>,
    ) -> Self {
        Section {
            title: title.into(),
            notes: vec![note.into()],
            figures: figures.into_iter().flatten().collect(),
            is_detail: true,
            ..Section::default()
        }
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        let is_silent = self.lines.is_empty() && (self.is_detail || self.notes.is_empty());
        self.rows.is_empty() && self.figures.is_empty() && is_silent
    }

    /// Returns the heads and the cells as they are displayed, without columns that have no value.
    pub(super) fn shown(&self) -> Shown {
        let cells = |n: usize| self.rows.iter().filter_map(move |row| row.get(n));
        let (mut heads, mut rows) = (Vec::new(), vec![Vec::new(); self.rows.len()]);
        for (n, column) in self.columns.iter().enumerate() {
            if cells(n).all(Cell::is_blank) {
                continue;
            }
            let alike = self.columns.iter().positions(|own| own.unit == column.unit);
            let values = alike.flat_map(cells).filter_map(Cell::values);
            let (unit, factor) = match &*column.unit {
                "" | "#" | "1" => (String::new(), 1.0),
                "%" => (" [%]".into(), 100.0),
                unit => {
                    let (unit, factor) = readable(unit, values.map(|own| own[0]));
                    (format!(" [{unit}]"), factor)
                }
            };
            let has_bars = self.has_bars && !["", "#", "1", "%"].contains(&&*column.unit);
            let is_words = column.unit.is_empty();
            heads.push((format!("{}{unit}", column.name), is_words));
            for (own, row) in rows.iter_mut().zip(&self.rows) {
                let cell = row.get(n);
                let class = match cell {
                    Some(Cell::Best(_)) => "best",
                    Some(Cell::Text(_)) if is_words => "words",
                    Some(Cell::Text(_)) => "none",
                    _ => "",
                };
                let text = cell.map_or(String::new(), |cell| cell.text(&column.unit, factor));
                let alike = row.iter().zip(&self.columns);
                let alike = alike.filter(|(_, own)| own.unit == column.unit);
                let values = alike.filter_map(|(cell, _)| Some(cell.values()?[0]));
                let most = values.fold(0.0, f64::max);
                let part = cell.and_then(Cell::values).map(|own| own[0] / most);
                let part = part.filter(|part| has_bars && part.is_finite());
                let bar = part.map(|part| format!("{part:.3}"));
                own.push(ShownCell { text, class, bar });
            }
        }
        Shown { heads, rows }
    }

    pub(super) fn keys(&self) -> Vec<&(String, Picture)> {
        let keys = self.figures.iter().flat_map(|own| &own.keys);
        keys.unique_by(|(label, _)| label).collect()
    }
}
