//! Reads files with one row per line, with a header and quotes, or separated by spaces.

use std::fmt::Display;
use std::io::{self, BufRead, Read as _};

use super::TraceFormat;
use crate::trace::fields::{AMOUNT, Fault, amount, is_unknown};
use crate::trace::{Account, Reason, TraceError};
use synth_core::document::suggest;

pub(super) const SWF_FIELDS: usize = 18;

const LONGEST: u64 = 1 << 20;

pub(in crate::trace) struct Rows {
    pub name: String,
    pub format: TraceFormat,
    pub remarks: Vec<String>,
    pub id: Option<usize>,
    pub has_ids: bool,
    input: Box<dyn BufRead>,
    pub line: Vec<u8>,
    pub number: u32,
    separator: u8,
    header: Vec<String>,
    /// The bounds of each field of the line, without the spaces and quotes around it.
    bounds: Vec<(usize, usize)>,
}

impl Rows {
    pub(crate) fn new(name: &str, format: TraceFormat, input: Box<dyn BufRead>) -> Self {
        Rows {
            name: name.into(),
            format,
            remarks: Vec::new(),
            id: None,
            has_ids: false,
            input,
            line: Vec::new(),
            number: 0,
            separator: b'|',
            header: Vec::new(),
            bounds: Vec::new(),
        }
    }

    fn next_line(&mut self) -> Result<bool, TraceError> {
        self.line.clear();
        let mut limited = (&mut self.input).take(LONGEST);
        let read = match limited.read_until(b'\n', &mut self.line) {
            Ok(read) if read as u64 == LONGEST => Err(io::Error::other(
                "the next line has more than a million bytes",
            )),
            read => read,
        };
        let read = read.map_err(|why| TraceError::unreadable(&self.name, self.number, why))?;
        while let [.., b'\n' | b'\r'] = self.line.as_slice() {
            self.line.pop();
        }
        self.number = self.number.saturating_add(1);
        Ok(read > 0)
    }

    pub(crate) fn open(
        name: &str,
        format: TraceFormat,
        input: Box<dyn BufRead>,
    ) -> Result<Self, TraceError> {
        let mut rows = Rows::new(name, format, input);
        while rows.is_blank() {
            if !rows.next_line()? {
                return Err(rows.wrong("the file is empty"));
            }
        }
        if format == TraceFormat::Csv {
            rows.separator = separator(&rows.line).unwrap_or(b',');
        }
        if let Err(fault) = rows.cut() {
            let why = format!("in its first line, {}", fault.reported(rows.number));
            return Err(rows.wrong(why));
        }
        let text = |column| String::from_utf8_lossy(rows.get(column)).into_owned();
        rows.header = (0..rows.bounds.len()).map(text).collect();
        if let Some(unmarked) = rows.header[0].strip_prefix('\u{feff}') {
            rows.header[0] = unmarked.into();
        }
        Ok(rows)
    }

    /// Moves to the next row with the correct number of fields. Other rows are recorded as faults.
    pub(crate) fn advance(&mut self, account: &mut Account) -> Result<bool, TraceError> {
        while self.next_line()? {
            if self.is_blank() {
                continue;
            }
            let cut = match self.format {
                TraceFormat::Swf if self.line.trim_ascii_start().starts_with(b";") => continue,
                TraceFormat::Swf => self.cut_at_blanks(),
                _ => self.cut().and_then(|()| self.count()),
            };
            match cut {
                Ok(()) if self.is_header()? => {
                    account.note(Reason::Header, self.number, 0.0);
                }
                Ok(()) => return Ok(true),
                Err(fault) => account.fault(self.number, || fault.reported(self.number)),
            }
        }
        Ok(false)
    }

    /// Returns whether the row repeats the header; an error if its columns are reordered.
    fn is_header(&self) -> Result<bool, TraceError> {
        let names = || self.header.iter().map(String::as_bytes);
        let fields = || {
            let fields = (0..self.header.len()).map(|column| self.get(column));
            fields.map(|own| own.strip_prefix(b"\xef\xbb\xbf").unwrap_or(own))
        };
        let is_named = fields().next().is_some_and(|own| !own.is_empty());
        if !is_named || !fields().all(|own| names().any(|name| name == own)) {
            return Ok(false);
        }
        if !names().eq(fields()) {
            let line = self.number;
            return Err(self.wrong(format!(
                "line {line} is a header with the columns in a different order: concatenate exports with the same columns, or pass each file separately"
            )));
        }
        Ok(true)
    }

    pub(crate) fn id(&self) -> &[u8] {
        let id = self.text(self.id);
        if is_unknown(id) { b"" } else { id }
    }

    fn is_blank(&self) -> bool {
        self.line.trim_ascii().is_empty()
    }

    fn cut_at_blanks(&mut self) -> Result<(), Fault> {
        let line = &self.line;
        self.bounds.clear();
        let mut start = 0;
        for field in line.split(|byte| matches!(byte, b' ' | b'\t')) {
            let end = start + field.len();
            if end > start && self.bounds.len() < SWF_FIELDS {
                self.bounds.push((start, end));
            }
            start = end + 1;
        }
        if self.bounds.len() < SWF_FIELDS {
            return Err(Fault::at(line, b"", "18 fields: the line ends here"));
        }
        Ok(())
    }

    fn cut(&mut self) -> Result<(), Fault> {
        let (line, separator) = (&self.line, self.separator);
        self.bounds.clear();
        let mut at = 0;
        loop {
            let start = at + blanks(&line[at..], separator);
            let (field, end) = match line.get(start) {
                Some(b'"') => quoted(line, start)?,
                _ => {
                    let end = line[start..].iter().position(|byte| *byte == separator);
                    let end = end.map_or(line.len(), |length| start + length);
                    let length = line[start..end].trim_ascii_end().len();
                    ((start, start + length), end)
                }
            };
            self.bounds.push(field);
            let next = end + blanks(&line[end..], separator);
            match line.get(next) {
                None => return Ok(()),
                Some(byte) if *byte == separator => at = next + 1,
                Some(_) => {
                    let expected = "the end of the field after its quotation mark";
                    return Err(Fault::at(&line[..next], &line[next..], expected));
                }
            }
        }
    }

    fn count(&self) -> Result<(), Fault> {
        let (line, columns) = (&self.line, self.header.len());
        let expected = match self.format {
            TraceFormat::Sacct => {
                "no more fields than the header has: a `|` in a name splits it; leave JobName out"
            }
            _ => {
                "no more fields than the header has: a name with a comma must be in quotation marks"
            }
        };
        if let Some((start, _)) = self.bounds.get(columns) {
            return Err(Fault::at(&line[..*start], &line[*start..], expected));
        }
        if self.bounds.len() < columns {
            let expected = "as many fields as the header has: the line ends here";
            return Err(Fault::at(line, b"", expected));
        }
        Ok(())
    }

    pub(crate) fn header(&self) -> Vec<&str> {
        self.header.iter().map(String::as_str).collect()
    }

    /// Ignores case; an error if there are two.
    pub(crate) fn column(&self, name: &str) -> Result<Option<usize>, TraceError> {
        let is_named = |column: &usize| self.header[*column].eq_ignore_ascii_case(name);
        let mut named = (0..self.header.len()).filter(is_named);
        let (found, second) = (named.next(), named.next());
        let twice = || format!("the column `{name}` appears twice in its first line");
        second.map_or(Ok(found), |_| Err(self.wrong(twice())))
    }

    pub(crate) fn needed(&self, names: &[&str]) -> Result<usize, TraceError> {
        let missing = || {
            let (name, format, help) = (names[0], self.format.name(), self.format.help());
            let others = suggest(name, "it has", &self.header());
            self.wrong(format!(
                "its first line lacks the column `{name}`, which {format} requires; {others}. {help}"
            ))
        };
        self.either(names)?.ok_or_else(missing)
    }

    pub(crate) fn either(&self, names: &[&str]) -> Result<Option<usize>, TraceError> {
        let mut found = names.iter().map(|name| self.column(name));
        found.find_map(Result::transpose).transpose()
    }

    pub(crate) fn wrong(&self, why: impl Display) -> TraceError {
        TraceError::Refused(format!("{}: {why}", self.name))
    }

    pub(crate) fn text(&self, column: Option<usize>) -> &[u8] {
        column.map_or(b"", |column| self.get(column))
    }

    pub(crate) fn get(&self, column: usize) -> &[u8] {
        let (start, end) = self.bounds[column];
        &self.line[start..end]
    }

    pub(crate) fn fault(&self, column: usize, expected: &'static str) -> Fault {
        let before = &self.line[..self.bounds[column].0];
        Fault::at(before, self.get(column), expected)
    }

    pub(crate) fn rest(&self) -> &[u8] {
        let (_, end) = self.bounds.last().copied().unwrap_or_default();
        &self.line[end..]
    }

    pub(crate) fn counted(
        &self,
        ticks: Option<(i64, bool)>,
        column: usize,
        expected: &'static str,
        account: &mut Account,
    ) -> Result<i64, Fault> {
        let (ticks, is_rounded) = ticks.ok_or_else(|| self.fault(column, expected))?;
        if is_rounded {
            account.note_if_used(Reason::RoundedTime);
        }
        Ok(ticks)
    }

    pub(crate) fn amount(&self, column: usize) -> Result<Option<f64>, Fault> {
        let field = self.get(column);
        let amount = amount(field);
        if amount.is_none() && !field.is_empty() {
            return Err(self.fault(column, AMOUNT));
        }
        Ok(amount)
    }

    pub(crate) fn demand(&self, column: usize, account: &mut Account) -> Result<f64, Fault> {
        let amount = self.amount(column)?;
        if amount.is_none() {
            account.note_if_used(Reason::NoAmount);
        }
        Ok(amount.unwrap_or(0.0))
    }
}

fn blanks(text: &[u8], separator: u8) -> usize {
    let is_blank = |byte: &&u8| byte.is_ascii_whitespace() && **byte != separator;
    text.iter().take_while(is_blank).count()
}

pub(super) fn separator(first: &[u8]) -> Option<u8> {
    let count = |mark: &u8| first.iter().filter(|byte| *byte == mark).count();
    let marks = [b'|', b'\t', b';', b','].into_iter();
    marks.max_by_key(count).filter(|mark| count(mark) > 0)
}

/// Returns the bounds of the quoted field at `start`, in which quotes are doubled, and its end.
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
