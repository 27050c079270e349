use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use serde_yaml::Location;

use super::fault::{DocumentError, Fault};

/// The maximum number of faults that are shown, so that a wrong file does not fill the screen.
const SHOWN: usize = 25;

pub(super) type Located = (Fault, Option<Range<usize>>);

pub(super) struct Sheet<'a> {
    pub text: &'a str,
    pub name: &'a str,
}

impl Sheet<'_> {
    pub(super) fn refuse(&self, mut located: Vec<Located>) -> DocumentError {
        located.sort_by_key(|(_, range)| range.as_ref().map_or(0, |range| range.start));
        let block = |(fault, range): &Located| self.render(Level::ERROR, fault, range.clone());
        let mut blocks: Vec<String> = located.iter().take(SHOWN).map(block).collect();
        if located.len() > SHOWN {
            blocks.push(format!("error: and {} more faults", located.len() - SHOWN));
        }
        DocumentError::Faults {
            report: blocks.join("\n\n"),
            faults: located.into_iter().map(|(fault, _)| fault).collect(),
        }
    }

    pub(super) fn warn(&self, fault: &Fault, range: Option<Range<usize>>) -> String {
        self.render(Level::WARNING, fault, range)
    }

    fn render(&self, level: Level<'_>, fault: &Fault, range: Option<Range<usize>>) -> String {
        let mark = range.and_then(|range| self.mark(range.start, range.len()));
        let mark = AnnotationKind::Primary.span(mark.unwrap_or(0..0));
        let group = level
            .primary_title(fault.message.as_str())
            .element(Snippet::source(self.text).path(self.name).annotation(mark))
            .element(Level::HELP.message(fault.help.as_str()));
        Renderer::plain().render(&[group])
    }

    /// The parser only knows the character and not the bytes of some locations.
    pub(super) fn range(&self, location: Location) -> Option<Range<usize>> {
        let span = location.span();
        let known = |n: Option<u64>| n.and_then(|n| usize::try_from(n).ok());
        let (start, length) = match (known(span.byte_offset()), known(span.byte_len())) {
            (Some(start), Some(length)) => (start, length),
            _ => (self.byte_of(known(Some(span.offset()))?), 1),
        };
        Some(start..start + length)
    }

    /// Marks at most the rest of one line, and at least one character, unless it ends at `start`.
    fn mark(&self, start: usize, length: usize) -> Option<Range<usize>> {
        let start = start.min(self.text.len());
        let line = self.text.get(start..)?.split(['\n', '\r']).next()?;
        let first = line.chars().next().map_or(0, char::len_utf8);
        let length = line.get(..length).map_or(line.len(), str::len).max(first);
        Some(start..start + length)
    }

    fn byte_of(&self, character: usize) -> usize {
        let place = self.text.char_indices().nth(character);
        place.map_or(self.text.len(), |(byte, _)| byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Place;

    #[test]
    fn marks_stay_within_one_line_and_between_characters() {
        let sheet = Sheet {
            text: "é: 1\r\nb",
            name: "t",
        };
        assert_eq!(sheet.mark(0, 0), Some(0..2));
        let why = "half a character: the rest of the line";
        assert_eq!(sheet.mark(0, 1), Some(0..5), "{why}");
        assert_eq!(sheet.mark(4, 100), Some(4..5));
        assert_eq!(sheet.mark(5, 1), Some(5..5));
        assert_eq!(sheet.mark(99, 1), Some(8..8));
        assert_eq!(sheet.mark(1, 1), None);
        assert_eq!(sheet.byte_of(1), 2);
    }

    #[test]
    fn shows_a_limited_number_of_faults_and_counts_the_rest() {
        let sheet = Sheet {
            text: "a\n",
            name: "t",
        };
        let fault = || (Fault::new(Place::DOCUMENT, "m", "h"), Some(0..1));
        let error = sheet.refuse((0..30).map(|_| fault()).collect());
        assert_eq!(error.to_string().matches("error: m").count(), 25);
        assert!(error.to_string().ends_with("and 5 more faults"));
    }
}
