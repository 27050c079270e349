use std::collections::BTreeMap;

/// The number of unchanged lines before and after a change.
const CONTEXT: usize = 3;

/// A text whose lines are replaced.
#[derive(Clone, Debug)]
pub(super) struct EditedText<'a> {
    /// The lines with their line breaks.
    pub lines: Vec<&'a str>,
    /// The number of lines that are replaced, and the new text, by the index of the first line.
    edits: BTreeMap<usize, (usize, String)>,
}

impl<'a> EditedText<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        EditedText {
            lines: text.split_inclusive('\n').collect(),
            edits: BTreeMap::new(),
        }
    }

    pub(super) fn is_edited(&self) -> bool {
        !self.edits.is_empty()
    }

    /// Returns the text of lines, which may have been replaced before.
    pub(super) fn text(&self, at: usize, count: usize) -> String {
        let edit = self.edits.get(&at).map(|(_, new)| new.clone());
        edit.unwrap_or_else(|| self.lines[at..at + count].concat())
    }

    /// Replaces lines by a text.
    pub(super) fn replace(&mut self, at: usize, count: usize, new: String) {
        self.edits.insert(at, (count, new));
    }

    /// Inserts lines before the line at an index, after all lines that were replaced.
    pub(super) fn insert(&mut self, at: usize, lines: &[String]) {
        let is_in_dos_format = self.lines.iter().any(|line| line.ends_with("\r\n"));
        let end = if is_in_dos_format { "\r\n" } else { "\n" };
        let last = self.edits.iter().next_back();
        let last = last.map(|(first, (count, _))| (*first, *count));
        let last = last.filter(|(first, count)| first + count == at);
        let before = usize::from(at > 0);
        let (first, count) = last.unwrap_or((at - before, before));
        let mut text = self.text(first, count);
        if !text.is_empty() && !text.ends_with('\n') {
            text += end;
        }
        text.extend(lines.iter().flat_map(|line| [line, end]));
        self.replace(first, count, text);
    }

    /// Returns the difference in the unified format, or an empty text if there is none.
    pub(super) fn unified(&self, name: &str) -> String {
        let edits: Vec<_> = self.edits.iter().collect();
        let is_near = |a: &(&usize, &(usize, String)), b: &(&usize, &(usize, String))| {
            a.0 + a.1.0 + 2 * CONTEXT >= *b.0
        };
        let (mut hunks, mut added, mut removed) = (String::new(), 0, 0);
        for edits in edits.chunk_by(is_near) {
            let start = edits[0].0.saturating_sub(CONTEXT);
            let mut at = start;
            let mut body = Vec::new();
            for (first, (count, new)) in edits {
                let old = &self.lines[**first..**first + count];
                let new: Vec<&str> = new.split_inclusive('\n').collect();
                let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
                let kept = &self.lines[at..**first + same];
                body.extend(kept.iter().map(|line| (' ', *line)));
                body.extend(old[same..].iter().map(|line| ('-', *line)));
                body.extend(new[same..].iter().map(|line| ('+', *line)));
                at = **first + count;
            }
            let end = (at + CONTEXT).min(self.lines.len());
            body.extend(self.lines[at..end].iter().map(|line| (' ', *line)));
            let [old, new] =
                ['+', '-'].map(|other| body.iter().filter(|own| own.0 != other).count());
            let first = start + usize::from(old > 0);
            let moved = start + added - removed + usize::from(new > 0);
            hunks += &format!("@@ -{first},{old} +{moved},{new} @@\n");
            added += new;
            removed += old;
            let line = |(sign, line): &(char, &str)| match line.ends_with('\n') {
                true => format!("{sign}{line}"),
                false => format!("{sign}{line}\n\\ No newline at end of file\n"),
            };
            hunks.extend(body.iter().map(line));
        }
        match hunks.is_empty() {
            true => hunks,
            false => format!("--- {name}\n+++ {name}\n{hunks}"),
        }
    }
}
