use super::{Slurm, SlurmError};

pub(super) struct Layout {
    pub program: &'static str,
    /// The name, the title and the width in bytes of each column.
    pub columns: &'static [(&'static str, &'static str, usize)],
    /// Whether the last column is printed in full if its text is longer.
    pub overflows: bool,
}

/// The result of parsing a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnTable<T, K> {
    /// The rows that could be parsed, in the order of Slurm.
    pub rows: Vec<T>,
    /// The rows that could not be parsed. If one of them has no key, a job or node that is not in
    /// `rows` may still exist.
    pub unread: Unread<K>,
}

/// The rows that could not be parsed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unread<K> {
    /// The number of rows.
    pub count: usize,
    /// The keys of the rows whose key could be parsed. These jobs or nodes exist.
    pub known: Vec<K>,
    /// The first of these rows, and the reason why it could not be parsed.
    pub example: Option<String>,
}

impl<K> Unread<K> {
    /// Returns a warning about a table of `program` if there are such rows.
    pub fn note(&self, program: &str) -> Option<String> {
        let (count, example) = (self.count, self.example.as_ref()?);
        let what = format!("{count} rows of {program} could not be parsed");
        Some(format!("{what}, for example: {example}"))
    }

    /// Returns the number of rows without a key.
    pub fn nameless(&self) -> usize {
        self.count - self.known.len()
    }
}

pub(super) struct Cells<'a> {
    row: &'a [u8],
    layout: &'static Layout,
}

pub(super) struct Cell<'a> {
    pub text: &'a str,
    /// Whether the text is as long as its column, so it may have been truncated.
    pub is_full: bool,
}

impl Layout {
    pub(super) fn request(&self) -> String {
        let columns = self.columns.iter();
        let columns = columns.map(|(name, _, width)| format!("{name}:{width}"));
        columns.collect::<Vec<_>>().join(",")
    }

    /// Splits off the next row, or returns `None` if no line ends at the end of the columns. If the
    /// last column overflows, it is not padded and must not contain blanks.
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

    /// Parses each row by `read`, whose error contains the key of the row if it is known. After an
    /// error, parsing continues after the next line feed.
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
                None => (String::from("not a complete row"), None),
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
            "{program} of this Slurm does not print the column {column}: {found}. Slurm 22.05 to 26.05 print it; check the version with `{program} --version`",
            program = self.program
        ))
    }
}

pub(super) const STATES: &str = "PD,CF,R,CG,S";

impl Slurm {
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
            // If a column is unknown, Slurm prints `Invalid job format specification: X`.
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
    /// Returns column `i`, or `None` if it is not valid UTF-8 or begins with a blank.
    pub(super) fn cell(&self, i: usize) -> Option<Cell<'a>> {
        let bytes = self.bytes(i);
        let text = std::str::from_utf8(bytes).ok()?.trim_end_matches(' ');
        (!text.starts_with(' ')).then(|| Cell {
            text,
            is_full: bytes.last().is_some_and(|byte| *byte != b' '),
        })
    }

    /// Returns the text of column `i`. Invalid UTF-8 is replaced, because a character may be cut.
    pub(super) fn free(&self, i: usize) -> String {
        let text = text(self.bytes(i));
        let text = text.trim_end_matches(' ');
        let text = text.trim_end_matches(char::REPLACEMENT_CHARACTER);
        match text {
            "(null)" => String::new(),
            text => text.to_owned(),
        }
    }

    pub(super) fn read<T>(&self, i: usize, of: impl Fn(&'a str) -> Option<T>) -> Result<T, String> {
        let Some(cell) = self.cell(i).filter(|cell| !cell.is_full) else {
            return Err(self.wrong(i, &self.free(i)));
        };
        of(cell.text).ok_or_else(|| self.wrong(i, cell.text))
    }

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

pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

// The columns with free text must be at the end, so that a text cannot look like a row.
macro_rules! layout {
    ($program:literal, $overflows:literal; $($column:ident: $name:literal, $title:literal, $width:literal;)+) => {
        #[derive(Clone, Copy)]
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Place { $($column),+ }
        $(const $column: usize = Place::$column as usize;)+

        pub(super) static LAYOUT: Layout = Layout {
            program: $program,
            columns: &[$(($name, $title, $width)),+],
            overflows: $overflows,
        };
    };
}
pub(super) use layout;
