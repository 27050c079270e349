//! Tables of fixed widths: so many bytes of every column, and an end of line behind the last.

use super::SlurmError;

/// Columns as they are asked for.
pub(super) struct Layout {
    /// The command that prints them.
    pub program: &'static str,
    /// Of each its name, its title, and its width in bytes.
    pub columns: &'static [(&'static str, &'static str, usize)],
    /// What of the last column is printed though it is longer than its width.
    pub overflows: bool,
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
    /// None so far.
    pub(super) fn none() -> Self {
        Unread {
            count: 0,
            known: Vec::new(),
            example: None,
        }
    }

    /// One more: the row's beginning, what is wrong, and what is known of it all the same.
    pub(super) fn add(&mut self, row: &[u8], fault: &str, known: Option<K>) {
        self.count += 1;
        self.known.extend(known);
        if self.example.is_none() {
            let text: String = text(row).chars().take(60).collect();
            self.example = Some(format!("{fault}: `{}`", text.trim_end()));
        }
    }

    /// Rows of which nothing is known: any job may stand in them.
    #[must_use]
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
    pub fn asked(&self) -> String {
        let columns = self
            .columns
            .iter()
            .map(|(name, _, width)| format!("{name}:{width}"));
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
    pub fn read<T, K>(
        &'static self,
        mut bytes: &[u8],
        mut read: impl FnMut(&Cells<'_>) -> Result<T, (String, Option<K>)>,
    ) -> (Vec<T>, Unread<K>) {
        let (mut rows, mut unread) = (Vec::new(), Unread::none());
        while !bytes.is_empty() {
            let mut rest = bytes;
            let (fault, known) = match self.next(&mut rest).map(|cells| read(&cells)) {
                Some(Ok(row)) => {
                    rows.push(row);
                    bytes = rest;
                    continue;
                }
                Some(Err(wrong)) => wrong,
                None => (String::from("not a whole row"), None),
            };
            let line = bytes.iter().position(|byte| *byte == b'\n');
            let line = line.map_or(bytes.len(), |end| end + 1);
            unread.add(&bytes[..line], &fault, known);
            bytes = &bytes[line..];
        }
        (rows, unread)
    }

    /// Checks the titles in the first row, and gives what stands below it.
    pub fn below_titles<'a>(&'static self, mut bytes: &'a [u8]) -> Result<&'a [u8], SlurmError> {
        let fails = |column: &str, found: String| SlurmError::Column {
            program: self.program.into(),
            column: column.into(),
            found,
        };
        let start = text(&bytes[..bytes.len().min(80)]);
        let Some(titles) = self.next(&mut bytes) else {
            let found = format!(
                "its first line is `{}`",
                start.lines().next().unwrap_or_default().trim_end()
            );
            return Err(fails(self.columns[0].0, found));
        };
        for (i, (name, title, _)) in self.columns.iter().enumerate() {
            let found = titles.cell(i).map_or("", |cell| cell.text);
            if found != *title {
                return Err(fails(
                    name,
                    format!("its title is `{found}`, expected `{title}`"),
                ));
            }
        }
        Ok(bytes)
    }
}

impl<'a> Cells<'a> {
    /// Column i; `None` where its bytes are no text, or do not begin where the column does.
    pub fn cell(&self, i: usize) -> Option<Cell<'a>> {
        let bytes = self.bytes(i);
        let text = std::str::from_utf8(bytes).ok()?.trim_end_matches(' ');
        (!text.starts_with(' ')).then(|| Cell {
            text,
            is_full: bytes.last().is_some_and(|byte| *byte != b' '),
        })
    }

    /// Column i as free text: what is no text, as a character that was cut at the width, is replaced.
    pub fn free(&self, i: usize) -> String {
        let text = text(self.bytes(i));
        let text = text.trim_end_matches(' ');
        let text = text.trim_end_matches(char::REPLACEMENT_CHARACTER);
        match text {
            "(null)" => String::new(),
            text => text.to_owned(),
        }
    }

    fn bytes(&self, i: usize) -> &'a [u8] {
        let widths = |columns: &[(&str, &str, usize)]| {
            columns.iter().map(|(_, _, width)| width).sum::<usize>()
        };
        let columns = self.layout.columns;
        let start = widths(&columns[..i]);
        let end = if i + 1 == columns.len() {
            self.row.len()
        } else {
            start + columns[i].2
        };
        &self.row[start..end]
    }
}

/// Bytes as text, whatever they are.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
