use std::path::{Path, PathBuf};
use std::rc::Rc;

use synth_core::document::FileKind;

use super::text::{Pair, Place, Record, SiteError};
use crate::commands::Text;

/// A configuration that is read line by line as in Slurm (`src/common/parse_config.c`).
#[derive(Debug, Default)]
pub(super) struct Conf {
    pub options: Record,
    pub nodes: Vec<Record>,
    pub partitions: Vec<Record>,
    pub sets: Vec<Record>,
    pub down: Vec<Record>,
    defaults: [Record; 2],
    /// The files that are being read, to detect a file that includes itself.
    within: Vec<PathBuf>,
    /// The files that were read, starting with slurm.conf.
    pub files: Vec<Text>,
    /// Whether the text was printed by `scontrol show config`, which does not contain nodes.
    pub is_shown: bool,
}

impl Conf {
    /// Reads a text. The paths of included files are relative to the folder of the text.
    pub(super) fn read(name: &str, text: &str) -> Result<Self, SiteError> {
        let other = FileKind::of(text).filter(|kind| *kind != FileKind::SlurmConf);
        if let Some(kind) = other {
            let help = "provide slurm.conf here, or the output of `scontrol show config`";
            return Err(SiteError(format!("{}; {help}", kind.describe(name))));
        }
        let mut conf = Conf::default();
        let marks = ["Configuration data as of", "BOOT_TIME", "SLURM_VERSION"];
        let is_marked = |line: &str| marks.iter().any(|mark| line.starts_with(mark));
        conf.is_shown = text.lines().any(is_marked);
        if conf.is_shown {
            conf.show(name, text);
        } else {
            conf.within.push(name.into());
            conf.lines(name, text)?;
        }
        Ok(conf)
    }

    fn show(&mut self, name: &str, text: &str) {
        let file: Rc<str> = name.into();
        for (number, line) in text.lines().enumerate() {
            // The next sections belong to other files.
            if line.trim_end().ends_with("Configuration:") {
                break;
            }
            if let Some((key, value)) = line.split_once('=') {
                let place = Place::new(&file, number);
                let pair = Pair::new(key.trim(), value.trim(), &place);
                self.options.0.push(pair);
            }
        }
    }

    fn lines(&mut self, name: &str, text: &str) -> Result<(), SiteError> {
        let file: Rc<str> = name.into();
        self.files.push(Text {
            name: name.to_owned(),
            text: text.to_owned(),
        });
        let mut line = String::new();
        let mut first = 0;
        for (number, part) in text.lines().enumerate() {
            if line.is_empty() {
                first = number;
            }
            line.push_str(without_comment(part));
            if let Some(length) = continued(&line) {
                line.truncate(length);
                continue;
            }
            let place = Place::new(&file, first);
            self.line(&std::mem::take(&mut line), &place)?;
        }
        self.line(&line, &Place::new(&file, first))
    }

    fn line(&mut self, escaped: &str, place: &Place) -> Result<(), SiteError> {
        let line = &unescaped(escaped);
        let words = line.trim().split_once(char::is_whitespace);
        if let Some((_, other)) = words.filter(|(word, _)| word.eq_ignore_ascii_case("include")) {
            return self.include(other.trim(), place);
        }
        let mut record = Record::default();
        let rest = record.add(line, place);
        if !rest.is_empty() {
            let expected = "pairs such as NodeName=n1 CPUs=64, where a value that contains blanks must be in quotation marks";
            return Err(place.found(rest, expected));
        }
        let Some(first) = record.0.first() else {
            return Ok(());
        };
        let default = first.value.eq_ignore_ascii_case("DEFAULT");
        let kind = first.key.to_ascii_lowercase();
        match (kind.as_str(), default) {
            ("nodename", true) => self.defaults[0].0.extend(record.0.drain(1..)),
            ("partitionname", true) => self.defaults[1].0.extend(record.0.drain(1..)),
            ("nodename", false) => self.nodes.push(with(&self.defaults[0], record)),
            ("partitionname", false) => self.partitions.push(with(&self.defaults[1], record)),
            ("nodeset", _) => self.sets.push(record),
            ("downnodes", _) => self.down.push(record),
            ("frontendname", _) => {}
            _ => self.options.0.append(&mut record.0),
        }
        Ok(())
    }

    fn include(&mut self, other: &str, place: &Place) -> Result<(), SiteError> {
        let cluster = self.options.text(&["ClusterName"]).unwrap_or_default();
        let other = other.trim_matches('"').replace("%c", cluster);
        let folder = Path::new(&*place.file).parent().unwrap_or(Path::new(""));
        // A copy of a configuration in one folder still contains the paths of the original files.
        let copy = Path::new(&other).file_name().map(|name| folder.join(name));
        let original = folder.join(&other);
        let is_relative = Path::new(&other).is_relative();
        let is_below = is_relative || folder != Path::new("") && original.starts_with(folder);
        let is_inside = is_below && original.is_file();
        let path = copy.filter(|copy| !is_inside && copy.is_file());
        let path = path.unwrap_or(original);
        let name = path.display();
        if self.within.contains(&path) {
            let why = format!("Include {other}: {name} includes itself: remove the line");
            return Err(place.wrong(why));
        }
        let bytes = std::fs::read(&path).map_err(|why| {
            place.wrong(format!(
                "Include {other}: cannot read {name}: {why}: copy it to the folder of {}, or provide the output of `scontrol show config`",
                place.file
            ))
        })?;
        self.within.push(path.clone());
        self.lines(&name.to_string(), &String::from_utf8_lossy(&bytes))?;
        self.within.pop();
        Ok(())
    }
}

fn with(defaults: &Record, own: Record) -> Record {
    let (name, rest) = own.0.split_at(1);
    Record([name, &defaults.0, rest].concat())
}

pub(super) fn without_comment(line: &str) -> &str {
    let mut is_escaped = false;
    for (at, c) in line.char_indices() {
        if c == '#' && !is_escaped {
            return &line[..at];
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    line
}

pub(super) fn continued(line: &str) -> Option<usize> {
    let line = line.trim_end();
    let bare = line.trim_end_matches('\\');
    ((line.len() - bare.len()) % 2 == 1).then_some(line.len() - 1)
}

fn unescaped(line: &str) -> String {
    let mut chars = line.chars();
    let mut out = String::new();
    while let Some(c) = chars.next() {
        out.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    out
}
