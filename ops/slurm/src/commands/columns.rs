//! Tables of fixed widths: so many bytes of every column, and an end of line behind the last.

use super::{Slurm, SlurmError};

/// Columns as they are requested.
pub(super) struct Layout {
    /// The command that prints them.
    pub program: &'static str,
    /// Of each its name, its title, and its width in bytes.
    pub columns: &'static [(&'static str, &'static str, usize)],
    /// What of the last column is printed though it is longer than its width.
    pub overflows: bool,
}

/// What a command printed of a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnTable<T, K> {
    /// The rows that were understood, in Slurm's order.
    pub rows: Vec<T>,
    /// Those that were not: that something is among the known of these is no sign that it has left, and where some are
    /// nameless, no absence is.
    pub unread: Unread<K>,
}

/// What was not understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unread<K> {
    /// How many rows.
    pub count: usize,
    /// Those of which at least this is known: they exist, whatever else is true of them.
    pub known: Vec<K>,
    /// The first of them and what is wrong with it.
    pub example: Option<String>,
}

impl<K> Unread<K> {
    /// Returns what a person should know of it, if there is any; `program` printed it.
    pub fn note(&self, program: &str) -> Option<String> {
        let (count, example) = (self.count, self.example.as_ref()?);
        Some(format!(
            "{count} rows of {program} are not understood, for instance: {example}"
        ))
    }

    /// Rows of which nothing is known: any job may stand in them.
    pub fn nameless(&self) -> usize {
        self.count - self.known.len()
    }
}

/// One row, cut into its columns.
pub(super) struct Cells<'a> {
    row: &'a [u8],
    layout: &'static Layout,
}

/// What stands in a column.
pub(super) struct Cell<'a> {
    /// Its text without the blanks behind it.
    pub text: &'a str,
    /// Whether it fills its column, so that more may have been cut.
    pub is_full: bool,
}

impl Layout {
    /// Returns what is typed after `-O`.
    pub(super) fn request(&self) -> String {
        let columns = self.columns.iter();
        let columns = columns.map(|(name, _, width)| format!("{name}:{width}"));
        columns.collect::<Vec<_>>().join(",")
    }

    /// Takes the next row from the bytes: as long as its columns say, to the end of its line. `None` where no line ends
    /// there. A last column that is longer than its width has no blanks to fill it.
    fn next<'a>(&'static self, bytes: &mut &'a [u8]) -> Option<Cells<'a>> {
        let length = self.columns.iter().map(|(_, _, width)| width).sum();
        let behind = bytes.get(length..)?;
        let longer = behind.iter().position(|byte| *byte == b'\n')?;
        let end = length + longer;
        let (_, _, width) = self.columns.last()?;
        if longer > 0 && (!self.overflows || bytes[length - width..end].contains(&b' ')) {
            return None;
        }
        let row = &bytes[..end];
        *bytes = &bytes[end + 1..];
        Some(Cells { row, layout: self })
    }

    /// Every row of a table: `read` makes something of its columns, or says what is wrong and what is known. After a row
    /// that is not understood the next one is looked for behind its first end of line.
    pub(super) fn read<T, K>(
        &'static self,
        mut bytes: &[u8],
        mut read: impl FnMut(&Cells<'_>) -> Result<T, (String, Option<K>)>,
    ) -> ColumnTable<T, K> {
        let (mut rows, mut count, mut known, mut example) = (Vec::new(), 0, Vec::new(), None);
        while !bytes.is_empty() {
            let mut rest = bytes;
            let (fault, key) = match self.next(&mut rest).map(|cells| read(&cells)) {
                Some(Ok(row)) => {
                    rows.push(row);
                    bytes = rest;
                    continue;
                }
                Some(Err(wrong)) => wrong,
                None => (String::from("not a whole row"), None),
            };
            let line = bytes.iter().position(|byte| *byte == b'\n');
            let (line, rest) = bytes.split_at(line.map_or(bytes.len(), |end| end + 1));
            count += 1;
            known.extend(key);
            example.get_or_insert_with(|| {
                let text: String = text(line).chars().take(60).collect();
                format!("{fault}: `{}`", text.trim_end())
            });
            bytes = rest;
        }
        let unread = Unread {
            count,
            known,
            example,
        };
        ColumnTable { rows, unread }
    }

    /// Checks the titles in the first row, and gives what stands below it.
    fn below_titles<'a>(&'static self, mut bytes: &'a [u8]) -> Result<&'a [u8], SlurmError> {
        let start = text(&bytes[..bytes.len().min(80)]);
        let Some(titles) = self.next(&mut bytes) else {
            let first = start.lines().next().unwrap_or_default().trim_end();
            return Err(self.unprinted(self.columns[0].0, &format!("its first line is `{first}`")));
        };
        for (i, (name, title, _)) in self.columns.iter().enumerate() {
            let found = titles.cell(i).map_or("", |cell| cell.text);
            if found != *title {
                let why = format!("its title is `{found}`, expected `{title}`");
                return Err(self.unprinted(name, &why));
            }
        }
        Ok(bytes)
    }

    fn unprinted(&self, column: &str, found: &str) -> SlurmError {
        SlurmError::Unusable(format!(
            "{program} of this Slurm does not print the column {column}: {found}. Slurm 22.05 to 26.05 do; see which version `{program} --version` tells",
            program = self.program
        ))
    }
}

/// Jobs that wait, are made ready, run, end, or are stopped.
pub(super) const STATES: &str = "PD,CF,R,CG,S";

impl Slurm {
    /// Returns what a command prints of the partition; with its titles, they are checked and left out.
    pub(super) fn print(
        &self,
        layout: &'static Layout,
        has_titles: bool,
    ) -> Result<Vec<u8>, SlurmError> {
        let (partition, columns) = (&*self.partition, layout.request());
        let options: &[&str] = match layout.program {
            "squeue" => &["-r", "-a", "-p", partition, "-t", STATES, "-O", &columns],
            _ => &["-N", "-p", partition, "-O", &columns],
        };
        if !has_titles {
            return self.ask(layout.program, &[&["-h"], options].concat());
        }
        let printed = self.ask(layout.program, options).map_err(|error| {
            // Slurm names a column that it does not know: `Invalid job format specification: X`.
            let SlurmError::Failed { text, .. } = &error else {
                return error;
            };
            let named = text.rsplit_once("format specification:");
            match named.and_then(|(_, column)| column.split_whitespace().next()) {
                Some(column) => layout.unprinted(column, &format!("`{}`", text.trim())),
                None => error,
            }
        })?;
        layout.below_titles(&printed).map(<[u8]>::to_vec)
    }
}

impl<'a> Cells<'a> {
    /// Column i; `None` where its bytes are no text, or do not begin where the column does.
    pub(super) fn cell(&self, i: usize) -> Option<Cell<'a>> {
        let bytes = self.bytes(i);
        let text = std::str::from_utf8(bytes).ok()?.trim_end_matches(' ');
        (!text.starts_with(' ')).then(|| Cell {
            text,
            is_full: bytes.last().is_some_and(|byte| *byte != b' '),
        })
    }

    /// Column i as free text: what is no text, as a character that was cut at the width, is replaced.
    pub(super) fn free(&self, i: usize) -> String {
        let text = text(self.bytes(i));
        let text = text.trim_end_matches(' ');
        let text = text.trim_end_matches(char::REPLACEMENT_CHARACTER);
        match text {
            "(null)" => String::new(),
            text => text.to_owned(),
        }
    }

    /// Column i, which is read whole or not at all.
    pub(super) fn read<T>(&self, i: usize, of: impl Fn(&'a str) -> Option<T>) -> Result<T, String> {
        let Some(cell) = self.cell(i).filter(|cell| !cell.is_full) else {
            return Err(self.wrong(i, &self.free(i)));
        };
        of(cell.text).ok_or_else(|| self.wrong(i, cell.text))
    }

    /// Column i is not what was expected.
    pub(super) fn wrong(&self, i: usize, found: &str) -> String {
        format!("{} is `{found}`", self.layout.columns[i].0)
    }

    fn bytes(&self, i: usize) -> &'a [u8] {
        let columns = self.layout.columns;
        let start: usize = columns[..i].iter().map(|(_, _, width)| width).sum();
        match i + 1 == columns.len() {
            true => &self.row[start..],
            false => &self.row[start..start + columns[i].2],
        }
    }
}

/// Bytes as text, whatever they are.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Names the places of the columns that are requested of a command, and lists them.
macro_rules! layout {
    ($program:literal, $overflows:literal; $($column:ident: $name:literal, $title:literal, $width:literal;)+) => {
        #[derive(Clone, Copy)]
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Place { $($column),+ }
        $(const $column: usize = Place::$column as usize;)+

        /// The columns that are requested of the command; free text comes last.
        pub(super) static LAYOUT: Layout = Layout {
            program: $program,
            columns: &[$(($name, $title, $width)),+],
            overflows: $overflows,
        };
    };
}
pub(super) use layout;
