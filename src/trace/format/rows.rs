//! Tables whose first line names the columns: a field may stand in quotation marks, a line is a row.

use std::io::BufRead;

use super::{Raw, Reader};
use crate::trace::fields::{AMOUNT, Fault, amount, ticks};
use crate::trace::input::Lines;
use crate::trace::{Account, Reason, Tick, TraceError};

/// A table that is being read, row by row.
pub(super) struct Rows {
    name: String,
    lines: Lines,
    separator: u8,
    header: Vec<String>,
    /// From where to where each field of the line reaches, without the blanks and the quotation marks around it.
    bounds: Vec<(usize, usize)>,
}

impl Rows {
    /// Reads the names of the columns.
    ///
    /// # Errors
    /// When the file cannot be read, is empty, or its first line is none of a table.
    pub fn open(name: &str, input: Box<dyn BufRead>, separator: u8) -> Result<Self, TraceError> {
        let mut rows = Rows {
            name: name.into(),
            lines: Lines::new(input),
            separator,
            header: Vec::new(),
            bounds: Vec::new(),
        };
        while rows.is_blank() {
            if !rows.lines.advance_in(name)? {
                return Err(rows.wrong("the file is empty".into()));
            }
        }
        if let Err(fault) = rows.cut() {
            let why = format!("in its first line, {}", fault.shown(rows.number()));
            return Err(rows.wrong(why));
        }
        let names = 0..rows.bounds.len();
        let text = |column| String::from_utf8_lossy(rows.get(column)).into_owned();
        rows.header = names.map(text).collect();
        // Spreadsheets mark the first bytes of what they write as UTF-8.
        if let Some(unmarked) = rows.header[0].strip_prefix('\u{feff}') {
            rows.header[0] = unmarked.into();
        }
        Ok(rows)
    }

    /// Goes on to the next row that has as many fields as there are columns; the others are noted as faults. `false`
    /// at the end.
    ///
    /// # Errors
    /// When the file cannot be read further.
    pub fn advance(&mut self, account: &mut Account) -> Result<bool, TraceError> {
        while self.lines.advance_in(&self.name)? {
            if self.is_blank() {
                continue;
            }
            match self.cut().and_then(|()| self.count()) {
                Ok(()) => return Ok(true),
                Err(fault) => fault.note(self.number(), account),
            }
        }
        Ok(false)
    }

    fn is_blank(&self) -> bool {
        self.lines.line().trim_ascii().is_empty()
    }

    /// Finds the fields of the line.
    fn cut(&mut self) -> Result<(), Fault> {
        let line = self.lines.line();
        self.bounds.clear();
        let mut at = 0;
        loop {
            let start = at + blanks(&line[at..]);
            let (field, end) = match line.get(start) {
                Some(b'"') => quoted(line, start)?,
                _ => {
                    let end = line[start..]
                        .iter()
                        .position(|byte| *byte == self.separator);
                    let end = end.map_or(line.len(), |length| start + length);
                    let length = line[start..end].trim_ascii_end().len();
                    ((start, start + length), end)
                }
            };
            self.bounds.push(field);
            let next = end + blanks(&line[end..]);
            match line.get(next) {
                None => return Ok(()),
                Some(byte) if *byte == self.separator => at = next + 1,
                Some(_) => {
                    let expected = "the end of the field after its quotation mark";
                    return Err(Fault::at(&line[..next], &line[next..], expected));
                }
            }
        }
    }

    /// Checks that the line has a field for each column.
    fn count(&self) -> Result<(), Fault> {
        let (line, columns) = (self.lines.line(), self.header.len());
        match self.bounds.get(columns) {
            Some((start, _)) => {
                let expected = match self.separator {
                    b'|' => {
                        "no more fields than the header has: a `|` in a name makes more of them; leave JobName out"
                    }
                    _ => {
                        "no more fields than the header has: a name with a comma stands in quotation marks"
                    }
                };
                Err(Fault::at(&line[..*start], &line[*start..], expected))
            }
            None if self.bounds.len() < columns => {
                let expected = "as many fields as the header has: the line ends here";
                Err(Fault::at(line, b"", expected))
            }
            None => Ok(()),
        }
    }

    /// Returns the names of the columns.
    pub fn header(&self) -> Vec<&str> {
        self.header.iter().map(String::as_str).collect()
    }

    /// Returns the column of this name, upper or lower case, if there is one.
    ///
    /// # Errors
    /// When there are two.
    pub fn column(&self, name: &str) -> Result<Option<usize>, TraceError> {
        let is_named = |column: &usize| self.header[*column].eq_ignore_ascii_case(name);
        let mut named = (0..self.header.len()).filter(is_named);
        match (named.next(), named.next()) {
            (found, None) => Ok(found),
            _ => Err(self.wrong(format!(
                "the column `{name}` stands twice in its first line"
            ))),
        }
    }

    /// It is not what was expected of it.
    pub fn wrong(&self, why: String) -> TraceError {
        TraceError(format!("{}: {why}", self.name))
    }

    /// Returns the number of the line, from 1.
    pub fn number(&self) -> u32 {
        self.lines.number()
    }

    /// Returns the field of this column.
    pub fn get(&self, column: usize) -> &[u8] {
        let (start, end) = self.bounds[column];
        &self.lines.line()[start..end]
    }

    /// This column holds something else.
    pub fn fault(&self, column: usize, expected: &'static str) -> Fault {
        let before = &self.lines.line()[..self.bounds[column].0];
        Fault::at(before, self.get(column), expected)
    }

    /// Returns a time in ticks, of which `per_unit` make the unit of the column; and whether it had to be rounded.
    pub fn time(
        &self,
        column: usize,
        per_unit: f64,
        expected: &'static str,
    ) -> Result<(i64, bool), Fault> {
        ticks(self.get(column), per_unit).ok_or_else(|| self.fault(column, expected))
    }

    /// Reads an amount ≥ 0 by resource from its column; returns whether one is missing, and 0 is taken.
    pub fn amounts(&self, columns: &[usize], demand: &mut [f64]) -> Result<bool, Fault> {
        let mut is_missing = false;
        for (demand, column) in demand.iter_mut().zip(columns) {
            let field = self.get(*column);
            is_missing |= field.is_empty();
            *demand = match field {
                b"" => 0.0,
                field => amount(field).ok_or_else(|| self.fault(*column, AMOUNT))?,
            };
        }
        Ok(is_missing)
    }
}

/// A format that has a row a job.
pub(super) trait Row {
    /// Returns the resolution of its times.
    fn tick(&self) -> Tick {
        Tick::Second
    }

    /// Returns its rows.
    fn rows(&mut self) -> &mut Rows;

    /// Whether the row is a part of a job, and none by itself.
    fn is_step(&self) -> bool {
        false
    }

    /// Reads the row.
    ///
    /// # Errors
    /// What is wrong with it.
    fn read(&self, demand: &mut [f64], account: &mut Account) -> Result<Raw, Fault>;
}

impl<R: Row> Reader for R {
    fn tick(&self) -> Tick {
        Row::tick(self)
    }

    fn next(
        &mut self,
        demand: &mut [f64],
        account: &mut Account,
    ) -> Result<Option<Raw>, TraceError> {
        while self.rows().advance(account)? {
            if self.is_step() {
                account.note(Reason::Step, self.rows().number(), 0.0);
                continue;
            }
            match self.read(demand, account) {
                Ok(raw) => return Ok(Some(raw)),
                Err(fault) => fault.note(self.rows().number(), account),
            }
        }
        Ok(None)
    }
}

/// Returns how many blanks the text begins with.
fn blanks(text: &[u8]) -> usize {
    text.len() - text.trim_ascii_start().len()
}

/// Returns the field between the quotation mark at `start` and the next that is not doubled, and where that ends.
fn quoted(line: &[u8], start: usize) -> Result<((usize, usize), usize), Fault> {
    let mut at = start + 1;
    while let Some(length) = line[at..].iter().position(|byte| *byte == b'"') {
        let mark = at + length;
        if line.get(mark + 1) != Some(&b'"') {
            return Ok(((start + 1, mark), mark + 1));
        }
        at = mark + 2;
    }
    let expected = "a second quotation mark, in the same line";
    Err(Fault::at(&line[..start], &line[start..], expected))
}
