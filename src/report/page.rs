//! A page for people that loads nothing: the answer in words, a table, pictures, and its method.

use askama::Template;
use itertools::chain;

use super::Table;
use super::plot::{self, Drawn, Look, Panel, Picture};

/// Pictures about one question.
pub struct Section {
    /// The question.
    pub title: String,
    /// What is seen, in words.
    pub text: String,
    /// The pictures.
    pub panels: Vec<Panel>,
}

impl Section {
    /// Returns a section with those of the panels that there are.
    pub fn new(
        title: &str,
        text: impl Into<String>,
        panels: impl IntoIterator<Item = Option<Panel>>,
    ) -> Self {
        Section {
            title: title.into(),
            text: text.into(),
            panels: panels.into_iter().flatten().collect(),
        }
    }
}

/// A cell of the table.
pub struct Shown {
    /// What stands there.
    pub text: String,
    /// Its class in the style sheet: `best`, `none` or nothing.
    pub class: &'static str,
}

impl Shown {
    /// Returns a cell of no class.
    pub fn plain(text: String) -> Self {
        Shown { text, class: "" }
    }
}

/// Rows of a table: a label, and as many cells as there are columns.
pub type Rows = Vec<(String, Vec<Shown>)>;

/// Renders rows as a table for a terminal, below this head of the column of labels.
pub fn grid(head: &str, columns: &[String], rows: &Rows, width: usize) -> String {
    let mut table = Table::new(chain!([head], columns.iter().map(String::as_str)));
    for (label, cells) in rows {
        table.row(chain!([&**label], cells.iter().map(|cell| &*cell.text)));
    }
    table.within(width)
}

/// A page about policies that are compared on one occasion.
#[derive(Default, Template)]
#[template(path = "page.html")]
pub struct Page {
    /// Its title.
    pub title: String,
    /// The answer in a few sentences.
    pub headline: String,
    /// What should be known before the numbers are used.
    pub warnings: Vec<String>,
    /// The answer case by case: the case, and what is known of it.
    pub answers: Vec<(String, String)>,
    /// What the signs in the answers mean.
    pub legend: &'static str,
    /// What the table is about.
    pub what: String,
    /// The heads of its columns but the first.
    pub columns: Vec<String>,
    /// Its rows.
    pub rows: Rows,
    /// What stands below it.
    pub note: String,
    /// The legend of all pictures.
    pub keys: Vec<(String, Picture)>,
    /// Pictures.
    pub sections: Vec<Section>,
    /// How it was computed: terms and texts.
    pub method: Vec<(&'static str, String)>,
    /// The command that makes it again.
    pub command: String,
    /// The program and its version.
    pub tool: String,
    /// Style of the looks on light ground.
    pub light: String,
    /// The same on dark ground.
    pub dark: String,
}

impl Page {
    /// Returns a page without numbers yet, for pictures in which curves have these labels.
    ///
    /// # Errors
    /// When a picture cannot be drawn.
    pub fn new(title: String, labels: impl Iterator<Item = String>) -> Drawn<Self> {
        let key = |(n, label)| Ok((label, plot::key(Look::new(n))?));
        let keys: Vec<_> = labels.enumerate().map(key).collect::<Drawn<_>>()?;
        let (light, dark) = plot::rules(keys.len());
        Ok(Page {
            title,
            keys,
            tool: concat!("synth ", env!("CARGO_PKG_VERSION")).into(),
            light,
            dark,
            ..Page::default()
        })
    }

    /// Returns the text of the page; each picture gets a name, and sections without pictures are left out.
    ///
    /// # Errors
    /// When it cannot be put together.
    pub fn text(mut self) -> Drawn<String> {
        self.sections.retain(|section| !section.panels.is_empty());
        let panels = self.sections.iter_mut().flat_map(|own| &mut own.panels);
        for (n, panel) in panels.enumerate() {
            panel.id = format!("figure-{}", n + 1);
        }
        // The template's blocks leave spaces at the ends of lines, and empty lines.
        let text = self.render()?;
        let lines = text.lines().map(str::trim_end).filter(|l| !l.is_empty());
        Ok(lines.map(|line| format!("{line}\n")).collect())
    }
}
