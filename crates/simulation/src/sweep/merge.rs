use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::comparison::{Cell, Comparison};
use super::header::{Shard, deal, differences};
use super::journal::{DAMAGED, End, PartHeading, same};
use synth_core::document::line::unsealed;
use synth_core::document::{all_bytes_of, fault_of_json};

fn listed(lines: &[String]) -> String {
    let shown = lines.len().min(20);
    let some = lines[..shown].join("\n  ");
    match lines.len() - shown {
        0 => some,
        more => format!("{some}\n  … and {more} more"),
    }
}

#[derive(Clone, Debug)]
struct Part {
    path: String,
    heading: PartHeading,
    cells: Vec<String>,
    fault: Option<String>,
}

/// All cells of a comparison, from its parts.
#[derive(Debug)]
pub struct Whole {
    /// The heading of one of the parts. The number of its shard is not used.
    pub heading: PartHeading,
    parts: Vec<Part>,
}

impl Whole {
    /// Reads all parts of a comparison and merges them.
    ///
    /// # Errors
    /// Returns an error if one of the files is not a complete part, if a shard is missing, if the
    /// parts do not belong to the same comparison, or if two parts of the same shard differ.
    pub fn read(paths: &[PathBuf]) -> Result<Self, String> {
        let parts = paths.iter().map(|path| Part::read(path));
        let parts = parts.collect::<Result<Vec<Part>, String>>()?;
        let mut shards: BTreeMap<usize, &Part> = BTreeMap::new();
        let (mut faults, mut commands) = (Vec::new(), Vec::new());
        let Some(first) = parts.first() else {
            return Err(no_part("", "no file was given"));
        };
        for part in &parts {
            let differences = differences(&first.heading, &part.heading, &["plan", "shard"]);
            if !differences.is_empty() {
                let (one, other, differences) = (&first.path, &part.path, listed(&differences));
                return Err(format!(
                    "{one} and {other} are parts of different comparisons:\n  {differences}\nmerge the parts of one comparison"
                ));
            }
            let number = part.heading.shard;
            if let Some(fault) = &part.fault {
                faults.push(format!("{}: {fault}", part.path));
                commands.push(part.heading.command(number, &part.path));
                shards.entry(number).or_insert(part);
                continue;
            }
            match shards.get(&number).filter(|there| there.fault.is_none()) {
                Some(there) => same_cells(there, part)?,
                None => drop(shards.insert(number, part)),
            }
        }
        let count = first.heading.shards;
        for n in (1..=count).filter(|n| !shards.contains_key(n)) {
            faults.push(format!("shard {n} of {count} is missing"));
            let path = Path::new(&first.path).with_file_name(format!("part-{n}.jsonl"));
            commands.push(first.heading.command(n, &path.display().to_string()));
        }
        if !faults.is_empty() {
            let (faults, commands) = (listed(&faults), listed(&commands));
            return Err(format!(
                "the parts are incomplete:\n  {faults}\nrun these commands, then merge again:\n  {commands}"
            ));
        }
        Ok(Whole {
            heading: first.heading.clone(),
            parts: shards.into_values().cloned().collect(),
        })
    }

    /// Returns the comparison as a single process would have produced it.
    pub fn comparison<M: DeserializeOwned, C: DeserializeOwned>(
        &self,
    ) -> Result<Comparison<M, C>, String> {
        let header = &self.heading.comparison;
        let dealt = deal(header, self.heading.shards);
        let mut next = vec![0; self.parts.len()];
        let mut cells: Vec<Cell<M, C>> = Vec::new();
        let bad_cell = |part: &Part, at: usize, message: &str| {
            format!("{}, line {}: {message}", part.path, at + 2)
        };
        for ((n, load), shard) in header.cells().zip(dealt) {
            let (part, at) = (&self.parts[shard - 1], next[shard - 1]);
            next[shard - 1] += 1;
            let policy = &header.policies[n].name;
            let text = part.cells.get(at).map_or("null", String::as_str);
            let cell: Option<Cell<M, C>> = serde_json::from_str(text)
                .map_err(|error| bad_cell(part, at, &fault_of_json(&error)))?;
            let place = header.place(load);
            let missing = format!("expected the cell of {policy} at {place}");
            let cell = cell.filter(|cell| cell.is_of(policy, load));
            cells.push(cell.ok_or_else(|| bad_cell(part, at, &missing))?);
        }
        for (part, count) in self.parts.iter().zip(next) {
            if part.cells.len() > count {
                return Err(bad_cell(part, count, "the cell is of another shard"));
            }
        }
        Ok(Comparison::new(header.clone(), cells, false))
    }
}

/// Returns `true` if the complete part with this heading exists; an error for any other file.
pub(super) fn is_there(output: &Path, heading: &PartHeading) -> Result<bool, String> {
    if !output.exists() {
        return Ok(false);
    }
    let in_the_way = |error| format!("{error}: delete it, or choose another --output");
    let part = Part::read(output).map_err(in_the_way)?;
    same(&part.path, &part.heading, heading, &["plan"])?;
    Ok(part.fault.is_none())
}

impl Part {
    fn read(path: &Path) -> Result<Self, String> {
        let name = path.display().to_string();
        let bytes = all_bytes_of(path);
        let bytes = bytes.map_err(|why| format!("cannot read {name}: {why}"))?;
        let text = String::from_utf8_lossy(&bytes);
        let mut lines = text.split_inclusive('\n');
        let first = lines.next().and_then(|line| line.strip_suffix('\n'));
        let first = first.ok_or_else(|| no_part(&name, "it has no complete line"))?;
        let heading = heading(&name, first)?;
        let mut part = Part {
            path: name,
            heading,
            cells: Vec::new(),
            fault: None,
        };
        part.fault = part.take(lines).err();
        Ok(part)
    }

    fn take<'a>(&mut self, lines: impl Iterator<Item = &'a str>) -> Result<(), String> {
        let mut ended = false;
        for (n, line) in lines.enumerate() {
            let number = n + 2;
            if ended {
                return Err(format!("line {number} follows the line that marks its end"));
            }
            let Some(line) = line.strip_suffix('\n') else {
                return Err(format!("it is truncated in line {number}"));
            };
            let object = unsealed(line).ok_or_else(|| format!("line {number}: {DAMAGED}"))?;
            match serde_json::from_str::<End>(&object) {
                Ok(end) if end.complete && end.cells == self.cells.len() => ended = true,
                Ok(end) => {
                    let (there, all) = (self.cells.len(), end.cells);
                    return Err(format!("only {there} of its {all} cells are present"));
                }
                Err(_) => self.cells.push(object),
            }
        }
        let count = self.cells.len();
        let missing = || format!("it is truncated after {count} cells: its last line is missing");
        ended.then_some(()).ok_or_else(missing)
    }
}

fn heading(path: &str, first: &str) -> Result<PartHeading, String> {
    let object = unsealed(first);
    let object = object.ok_or_else(|| no_part(path, "its first line has no valid checksum"))?;
    let heading: PartHeading =
        serde_json::from_str(&object).map_err(|error| no_part(path, &fault_of_json(&error)))?;
    let format = format!("{} {}", heading.format, heading.version);
    let known = format!("{} {}", PartHeading::FORMAT, PartHeading::VERSION);
    if format != known {
        let why = format!("its format is {format}, expected {known}");
        return Err(no_part(path, &why));
    }
    if Shard::new(heading.shard, heading.shards).is_none() || heading.plan != heading.digest() {
        return Err(no_part(path, "its first line is inconsistent"));
    }
    Ok(heading)
}

fn no_part(path: &str, why: &str) -> String {
    format!(
        "{path} is not a part of a comparison: {why}; parts are the files written by `synth compare --shard i/N --output FILE`"
    )
}

fn same_cells(there: &Part, here: &Part) -> Result<(), String> {
    if there.cells == here.cells {
        return Ok(());
    }
    let mut both = there.cells.iter().zip(&here.cells);
    let common = there.cells.len().min(here.cells.len());
    let differs = both.position(|(there, here)| there != here);
    Err(format!(
        "{} and {} are both shard {} of {}, but differ from line {} on: merge only one of them (with --time, results depend on the machine)",
        there.path,
        here.path,
        here.heading.shard,
        here.heading.shards,
        differs.unwrap_or(common) + 2
    ))
}
