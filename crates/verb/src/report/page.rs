use askama::Template;

use super::data::{Report, Section, Shown};
use super::plot::Picture;

type Keys<'a> = Vec<&'a (String, Picture)>;

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    report: &'a Report,
    sections: Vec<(&'a Section, Shown, Keys<'a>)>,
    tool: &'static str,
}

impl Report {
    /// Returns the report as a page.
    pub fn page(&self) -> Result<String, Box<dyn std::error::Error>> {
        let sections = self.sections.iter().filter(|section| !section.is_empty());
        let page = Page {
            report: self,
            sections: sections.map(|own| (own, own.shown(), own.keys())).collect(),
            tool: concat!("synth ", env!("CARGO_PKG_VERSION")),
        };
        let text = page.render()?;
        let lines = text.lines().map(str::trim_end).filter(|l| !l.is_empty());
        Ok(lines.map(|line| format!("{line}\n")).collect())
    }
}
