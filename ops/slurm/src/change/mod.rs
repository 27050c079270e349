//! This module writes a change of slurm.conf as files: the patches that apply it and undo it, the
//! script of an order, and the commands to run.

mod diff;
#[cfg(test)]
mod tests;

use std::path::{Component, Path};

use askama::Template;
use itertools::Itertools as _;

use crate::configuration::{SlurmSite, lines_of_first, with_value};
use crate::order::{self, FOLDER, SlurmOrder};
use crate::templates;
use diff::EditedText;
use synth_core::document::filled_in;

/// A change of slurm.conf, which may include an order of the queue.
#[derive(Clone, Copy, Debug)]
pub struct SiteEdit<'a> {
    /// A short description.
    pub what: &'a str,
    /// The options that are set, and their values.
    pub settings: &'a [(String, String)],
    /// The new lines of slurm.conf.
    pub lines: &'a [String],
    /// The lines that undo the change.
    pub back: &'a [String],
    /// The order, and its partitions separated by commas.
    pub order: Option<(&'a SlurmOrder, &'a str)>,
    /// The job_submit.lua of the site, if it is known.
    pub script: Option<&'a str>,
}

/// The steps that are described in README.md.
struct Steps<'a> {
    what: &'a str,
    /// The names of the options, separated by `|`.
    names: String,
    has_lines: bool,
    has_patch: bool,
    /// Whether a changed file is not below the folder of slurm.conf.
    is_outside: bool,
    /// Whether slurmctld must be restarted, because it does not apply the change otherwise.
    restarts: bool,
    has_order: bool,
    /// The way in which Slurm loads the script of the order.
    script: Script,
    load: String,
    folder: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    /// The script is not changed, or there is none.
    None,
    /// The script of the order becomes the script of the site.
    Copied,
    /// The script of the site is patched.
    Patched,
    /// The script of the site already loads the script of the order.
    Loading,
    /// The script of the site is unknown, or the place of the new line is unknown.
    ByHand,
}

/// A byte of an encoding other than UTF-8, which is not known any more.
const UNREADABLE: char = char::REPLACEMENT_CHARACTER;

impl SiteEdit<'_> {
    /// Returns the name and the contents of each file.
    ///
    /// # Errors
    /// If an order cannot be exported, because the name of a partition is invalid.
    pub fn files(&self, site: &SlurmSite) -> Result<Vec<(String, String)>, String> {
        let [inside, outside] = self.patches(site).unwrap_or_default();
        let (script, merged) = self.script();
        let sets = |name: &str| self.settings.iter().any(|(own, _)| own == name);
        let steps = &Steps {
            what: self.what,
            names: self.settings.iter().map(|(name, _)| name).join("|"),
            has_lines: !self.lines.is_empty(),
            has_patch: !inside.is_empty() || !outside.is_empty(),
            is_outside: !outside.is_empty(),
            restarts: sets("PriorityType") || sets("SchedulerType"),
            has_order: self.order.is_some(),
            script,
            load: load_line(),
            folder: FOLDER,
        };
        let mut files = filled_in([("README.md", Readme { steps }.render())])?;
        let text = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect();
        let named = [
            ("slurm.conf.patch", inside),
            ("included.patch", outside),
            ("job_submit.lua.patch", merged),
            ("new-lines.conf", text(self.lines)),
            ("old-lines.conf", text(self.back)),
        ];
        let named = named.into_iter().filter(|(_, text)| !text.is_empty());
        files.extend(named.map(|(name, text)| (name.to_owned(), text)));
        if let Some((order, partitions)) = self.order {
            let exported = order::export(order, partitions, Some(self.lines))?;
            let below = |(name, text)| (format!("order/{name}"), text);
            files.extend(exported.into_iter().map(below));
        }
        Ok(files)
    }

    /// Returns the differences of the files in the folder of slurm.conf and of other files, or
    /// `None` if they are unknown or cannot be changed by a patch.
    fn patches(&self, site: &SlurmSite) -> Option<[String; 2]> {
        let edited = site.files.iter().map(|file| EditedText::new(&file.text));
        let mut edited = edited.collect_vec();
        let mut missing = Vec::new();
        for (key, value) in self.settings {
            let mut options = site.options.iter().zip(&site.places).rev();
            let is_it = |own: &(&(String, String), _)| own.0.0.eq_ignore_ascii_case(key);
            let Some((_, (file, at))) = options.find(is_it) else {
                missing.push(format!("{key}={value}"));
                continue;
            };
            let file = site.files.iter().position(|own| own.name == *file)?;
            let count = lines_of_first(&edited[file].lines[*at..]);
            let line = with_value(&edited[file].text(*at, count), key, value)?;
            edited[file].replace(*at, count, line);
        }
        if !missing.is_empty() {
            missing.insert(
                0,
                "# These lines were added because of advice by synth.".into(),
            );
            let end = edited.first()?.lines.len();
            edited[0].insert(end, &missing);
        }
        let folder = Path::new(&site.files.first()?.name).parent()?;
        let mut patches = [String::new(), String::new()];
        let files = site.files.iter().zip(&edited).enumerate();
        for (n, (file, edited)) in files.filter(|(_, (_, edited))| edited.is_edited()) {
            let path = Path::new(&file.name);
            let own = path
                .strip_prefix(folder)
                .ok()
                .filter(|own| own.is_relative());
            let (part, name) = match own {
                _ if n == 0 => (0, Path::new("slurm.conf")),
                Some(own) => (0, own),
                None => (1, path.strip_prefix("/").ok()?),
            };
            // The program `patch` refuses such names.
            if name.components().contains(&Component::ParentDir) {
                return None;
            }
            patches[part] += &edited.unified(&name.display().to_string());
        }
        let is_readable = !patches.iter().any(|own| own.contains(UNREADABLE));
        is_readable.then_some(patches)
    }

    /// Returns the way in which the script of the order is loaded, and the patch for this.
    fn script(&self) -> (Script, String) {
        let is_new = self.settings.iter().any(|own| own.0 == "JobSubmitPlugins");
        let script = match (self.order, self.script) {
            (None, _) => Script::None,
            _ if is_new => Script::Copied,
            (_, Some(text)) if text.contains(&load_line()) => Script::Loading,
            (_, Some(text)) => match merged(text) {
                Some(patch) => return (Script::Patched, patch),
                None => Script::ByHand,
            },
            (_, None) => Script::ByHand,
        };
        (script, String::new())
    }
}

fn load_line() -> String {
    format!("pcall(dofile, \"{FOLDER}/job_submit.lua\")")
}

/// Returns the patch of a script that also loads the script of the order, or `None` if the end of
/// its last block is unknown.
fn merged(script: &str) -> Option<String> {
    let mut edited = EditedText::new(script);
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("--");
    let last = edited.lines.iter().rposition(is_code)?;
    let code = edited.lines[last].trim();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let at = match code.split(|c| !is_word(c)).next() {
        Some("return") if !code.contains("]]") => last,
        Some("end") if code == "end" => last + 1,
        _ => return None,
    };
    edited.insert(at, &[load_line()]);
    let patch = edited.unified("job_submit.lua");
    (!patch.contains(UNREADABLE)).then_some(patch)
}

impl Steps<'_> {
    fn copies_script(&self) -> bool {
        self.script == Script::Copied
    }

    fn patches_script(&self) -> bool {
        self.script == Script::Patched
    }

    fn touches_script(&self) -> bool {
        matches!(self.script, Script::Loading | Script::ByHand)
    }

    fn is_by_hand(&self) -> bool {
        self.script == Script::ByHand
    }
}

templates! {
    Readme: "change/README.md", steps: &'a Steps<'a>;
}
