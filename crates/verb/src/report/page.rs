//! A page for people that loads nothing: the answer in words, a table, pictures, and its method.

use askama::Template;
use itertools::chain;

use super::plot::{self, Drawn, Look, Panel, Picture, Style};
use super::{Table, counted, percent, span};
use synth_simulation::Stretch;

/// A table or pictures about one question.
#[derive(Default)]
pub struct Section {
    /// Unique on the page, which gives it.
    pub id: String,
    /// The question.
    pub title: String,
    /// What is seen, in words.
    pub text: String,
    /// The pictures.
    pub panels: Vec<Panel>,
    /// Their legend, where it is not that of the page.
    pub keys: Vec<(String, Picture)>,
    /// The table.
    pub grid: Option<Grid>,
}

/// A table.
pub struct Grid {
    /// What the numbers are.
    pub caption: String,
    /// The head of the column of labels.
    pub head: &'static str,
    /// The heads of the other columns.
    pub columns: Vec<String>,
    /// Its rows.
    pub rows: Rows,
}

impl Section {
    /// Returns a section with those of the panels that there are.
    pub fn new(
        title: &str,
        text: impl Into<String>,
        panels: impl IntoIterator<Item = impl Into<Option<Panel>>>,
    ) -> Self {
        Section {
            title: title.into(),
            text: text.into(),
            panels: panels.into_iter().filter_map(Into::into).collect(),
            ..Section::default()
        }
    }

    /// Returns what ran when under each of these policies, in the same stretch of time; `text` says which it is.
    pub fn schedules(own: &[(String, &Stretch)], unit: &str, text: &str) -> Self {
        let counts = own.iter().map(|own| own.1.most_waiting());
        let most = counts.fold(0.0, f64::max);
        let panel = |(name, own): &(String, &Stretch)| {
            let awaited = own.awaited().map_or(String::new(), |job| {
                format!(
                    " The job with the thick line ({}) had waited for {}.",
                    own.classes[job.class as usize],
                    span((job.waited, 0.0), unit)
                )
            });
            let note = format!(
                "At most {} waited at once; {} of the room stood idle while jobs waited.{awaited}",
                counted(own.most_waiting(), "job"),
                percent(own.idle_while_waiting())
            );
            let description = format!("What ran when under {name}. {note}");
            let picture = plot::schedule(own, unit, most);
            let panel = Panel::new(name.clone(), description, picture);
            Panel { note, ..panel }
        };
        let classes = own.first().map_or(&[][..], |(_, own)| &own.classes);
        let stints = own.iter().flat_map(|own| &own.1.stints);
        let shown = |n: usize| stints.clone().any(|job| job.class as usize == n);
        let keys = classes.iter().enumerate().filter(|(n, _)| shown(*n));
        Section {
            title: "What ran when?".into(),
            text: format!(
                "{text} Each rectangle is a job: across the time for which it ran, up what it held. Room that is shaded stood idle while jobs waited, held back for a larger one or too small for those that waited. The line below is the number of jobs that wait."
            ),
            panels: own.iter().map(panel).collect(),
            keys: keys
                .map(|(n, name)| (name.clone(), plot::swatch(n)))
                .collect(),
            ..Section::default()
        }
    }

    /// Returns a section with a table.
    pub fn tabled(title: &str, text: impl Into<String>, grid: Grid) -> Self {
        Section {
            grid: Some(grid),
            ..Section::new(title, text, [None; 0])
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

/// Colours of a picture that are not those of policies.
const COLORS: usize = 8;

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
    /// What belongs to the answer: a question, and what is known of it.
    pub answers: Vec<(String, String)>,
    /// Lines to be copied, with what they are for.
    pub lines: Vec<(&'static str, String)>,
    /// Pictures of the answer.
    pub first: Vec<Panel>,
    /// What the signs in the answers mean.
    pub legend: &'static str,
    /// What the table is about.
    pub what: String,
    /// What its rows are.
    pub caption: &'static str,
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
    /// The command that makes it again, but for where the page goes.
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
    pub fn new(title: String, labels: impl Iterator<Item = String>) -> Self {
        let key = |(n, label)| (label, plot::key(Look::new(n), Style::Joined));
        let keys: Vec<_> = labels.enumerate().map(key).collect();
        // Classes of jobs have such colours, too.
        let (light, dark) = plot::rules(keys.len().max(COLORS));
        Page {
            title,
            keys,
            tool: concat!("synth ", env!("CARGO_PKG_VERSION")).into(),
            light,
            dark,
            caption: "A policy in each row",
            ..Page::default()
        }
    }

    /// Returns the text of the page; each picture gets a name, and sections in which nothing is shown are left out.
    ///
    /// # Errors
    /// When it cannot be put together.
    pub fn text(mut self) -> Drawn<String> {
        let is_shown = |section: &Section| section.grid.is_some() || !section.panels.is_empty();
        self.sections.retain(is_shown);
        for (n, section) in self.sections.iter_mut().enumerate() {
            section.id = format!("section-{}", n + 1);
        }
        let panels = self.sections.iter_mut().flat_map(|own| &mut own.panels);
        for (n, panel) in self.first.iter_mut().chain(panels).enumerate() {
            panel.id = format!("figure-{}", n + 1);
        }
        // The template's blocks leave spaces at the ends of lines, and empty lines.
        let text = self.render()?;
        let lines = text.lines().map(str::trim_end).filter(|l| !l.is_empty());
        Ok(lines.map(|line| format!("{line}\n")).collect())
    }
}
