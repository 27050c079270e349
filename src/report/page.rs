//! A page for people that loads nothing: the answer in words, a table, pictures, and how it was made.

use askama::Template;

use super::plot::{self, Look, Panel, Picture};

/// Pictures about one question.
pub struct Section {
    /// The question.
    pub title: String,
    /// What is seen, in words.
    pub text: String,
    /// The legend.
    pub keys: Vec<(String, Picture)>,
    /// The pictures.
    pub panels: Vec<Panel>,
}

impl Section {
    /// The legend of these labels, each with the next look.
    ///
    /// # Errors
    /// When a picture cannot be drawn.
    pub fn keys<'a>(
        labels: impl Iterator<Item = &'a str>,
    ) -> Result<Vec<(String, Picture)>, Box<dyn std::error::Error>> {
        let key = |(n, label): (usize, &str)| Ok((label.to_owned(), plot::key(Look::new(n))?));
        labels.enumerate().map(key).collect()
    }
}

/// A page about policies that are compared on one occasion.
#[derive(Template)]
#[template(path = "page.html")]
pub struct Page {
    /// Its title.
    pub title: String,
    /// The answer in a few sentences.
    pub headline: String,
    /// What should be known before the numbers are used.
    pub warnings: Vec<String>,
    /// What the table is about.
    pub what: String,
    /// The heads of its columns but the first.
    pub columns: Vec<String>,
    /// Its rows: a label, and as many cells.
    pub rows: Vec<(String, Vec<String>)>,
    /// What stands below it.
    pub note: String,
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
    /// A page with these words and no numbers yet, for pictures with so many looks.
    #[must_use]
    pub fn new(title: String, looks: usize) -> Self {
        let (light, dark) = plot::rules(looks);
        Page {
            title,
            headline: String::new(),
            warnings: Vec::new(),
            what: String::new(),
            columns: Vec::new(),
            rows: Vec::new(),
            note: String::new(),
            sections: Vec::new(),
            method: Vec::new(),
            command: String::new(),
            tool: format!("synth {}", env!("CARGO_PKG_VERSION")),
            light,
            dark,
        }
    }

    /// The text of the page; each picture gets a name.
    ///
    /// # Errors
    /// When it cannot be put together.
    pub fn text(mut self) -> Result<String, Box<dyn std::error::Error>> {
        let panels = self.sections.iter_mut().flat_map(|own| &mut own.panels);
        panels
            .enumerate()
            .for_each(|(n, panel)| panel.id = format!("figure-{}", n + 1));
        // The template's blocks leave spaces at the ends of lines, and empty lines.
        let text = self.render()?;
        let lines = text.lines().map(str::trim_end).filter(|l| !l.is_empty());
        Ok(lines.map(|line| format!("{line}\n")).collect())
    }
}
