use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use itertools::Itertools as _;

use crate::commands::{Text, expand, gres_of_node};

use super::slurm_conf::Conf;
use super::text::{Pair, Place, Record, SiteError, TIME, is_one_of, number_or, short, time, words};
use super::{SiteNode, SitePartition, SlurmSite, Tres};

pub(super) const NODES_HELP: &str =
    "scontrol show node -o > nodes.txt; scontrol show partition -o > partitions.txt";

const LIST: &str = "a list of nodes such as n[1-4,7],gpu03";

#[derive(Default)]
pub(super) struct Places {
    of: HashMap<String, usize>,
    /// The nodes that are configured but do not exist yet (state FUTURE).
    future: HashSet<String>,
    /// Whether only visible nodes are listed, so that an unknown name is not an error.
    is_shown: bool,
    /// The nodes of each node set by name, and of each feature by `=feature`.
    sets: HashMap<String, Vec<usize>>,
}

impl Places {
    fn add(&mut self, site: &mut SlurmSite, record: &Record) -> Result<(), SiteError> {
        let name = &record.0[0];
        let names = name.read(LIST, expand)?;
        let state = record.text(&["State"]).unwrap_or_default();
        if state.to_ascii_uppercase().contains("FUTURE") {
            self.future.extend(names);
            return Ok(());
        }
        let node = node(record)?;
        let amounts = node.capacity.0.iter();
        let bases = amounts.filter_map(|(name, _)| name.split_once(':'));
        let has_several = bases.map(|own| own.0).duplicates().next().is_some();
        if has_several && !site.remarks.iter().any(|own| own.ends_with(SEVERAL_TYPES)) {
            let why = format!("{}={} {SEVERAL_TYPES}", name.key, name.value);
            site.remarks.push(name.place.wrong(why).to_string());
        }
        let features = record.text(&["ActiveFeatures", "Features", "Feature"]);
        for name_of_node in names {
            let place = site.nodes.len();
            if self.of.insert(name_of_node.clone(), place).is_some() {
                let why = format!("node `{name_of_node}` is defined twice: remove one definition");
                return Err(name.place.wrong(why));
            }
            site.nodes.push(SiteNode {
                name: name_of_node,
                ..node.clone()
            });
            for feature in words(features) {
                let set = self.sets.entry(format!("={feature}"));
                set.or_default().push(place);
            }
        }
        Ok(())
    }

    fn add_sets(&mut self, conf: &Conf) -> Result<(), SiteError> {
        for record in &conf.sets {
            let mut nodes = Vec::new();
            if let Some(pair) = record.pair(&["Nodes"]) {
                nodes.extend(self.listed(pair)?);
            }
            for feature in words(record.text(&["Feature"])) {
                nodes.extend(self.sets.get(&format!("={feature}")).into_iter().flatten());
            }
            self.sets.insert(record.0[0].value.clone(), nodes);
        }
        Ok(())
    }

    /// Returns the ascending indices of the nodes in a list of `ALL`, nodes and node sets.
    fn listed(&self, pair: &Pair) -> Result<Vec<usize>, SiteError> {
        if pair.value.eq_ignore_ascii_case("ALL") {
            return Ok((0..self.of.len()).collect());
        }
        let mut places = Vec::new();
        for name in pair.read(LIST, expand)? {
            match (self.of.get(&name), self.sets.get(&name)) {
                (Some(place), _) => places.push(*place),
                (None, Some(set)) => places.extend(set),
                (None, None) if self.future.contains(&name) => {}
                (None, None) if name.eq_ignore_ascii_case("ALL") => places.extend(0..self.of.len()),
                (None, None) if self.is_shown => {}
                (None, None) => {
                    let why = format!("there is no node or node set `{name}`: {ABOVE}");
                    return Err(pair.place.wrong(format!("{}: {why}", pair.key)));
                }
            }
        }
        places.sort_unstable();
        places.dedup();
        Ok(places)
    }
}

const SEVERAL_TYPES: &str = "has several types of a resource in one node. If a job does not request a type, it is assumed to get the first type that is free, in the order of Gres. This is only modeled by the rule slurm. Other rules may start a job that requests a type too early on such a node";

const ABOVE: &str =
    "add a line NodeName=… above, or check that nodes and partitions belong to the same cluster";

pub(super) fn of_conf(site: &mut SlurmSite, conf: &Conf) -> Result<Places, SiteError> {
    let mut places = Places::default();
    for record in &conf.nodes {
        places.add(site, record)?;
    }
    places.add_sets(conf)?;
    for record in &conf.down {
        let is_down = record.text(&["State"]).is_none_or(|state| !is_up(state));
        for place in places.listed(&record.0[0])? {
            site.nodes[place].is_up &= !is_down;
        }
    }
    Ok(places)
}

/// Reads the output of `scontrol show node`, or of `sinfo`, which can include the partitions.
pub(super) fn of_text(
    site: &mut SlurmSite,
    text: &Text,
    conf: &Conf,
    with_partitions: bool,
) -> Result<Places, SiteError> {
    let mut places = Places {
        is_shown: true,
        ..Places::default()
    };
    if text.text.trim_start().starts_with("NodeName=") {
        for record in shown(text, "NodeName=") {
            places.add(site, &record)?;
        }
    } else {
        of_sinfo(site, &mut places, text, with_partitions)?;
    }
    if site.nodes.is_empty() {
        let why = "it has no nodes: provide the output of these commands";
        return Err(SiteError(format!("{}: {why}: {NODES_HELP}", text.name)));
    }
    places.add_sets(conf)?;
    Ok(places)
}

/// Returns the records of `scontrol show`. If a key appears several times, the first value is used,
/// because the texts that can be chosen by users are printed last.
pub(super) fn shown(text: &Text, start: &str) -> Vec<Record> {
    let file: Rc<str> = text.name.as_str().into();
    let mut records: Vec<Record> = Vec::new();
    for (number, line) in text.text.lines().enumerate() {
        if line.starts_with(start) {
            records.push(Record::default());
        }
        let Some(Record(pairs)) = records.last_mut() else {
            continue;
        };
        let words = line.split_whitespace();
        for (key, value) in words.filter_map(|word| word.split_once('=')) {
            if pairs.iter().all(|pair| pair.key != key) {
                pairs.push(Pair::new(key, value, &Place::new(&file, number)));
            }
        }
    }
    records
}

fn node(record: &Record) -> Result<SiteNode, SiteError> {
    let number = |keys: &[&str], without| record.number(keys, without);
    let boards = number(&["Boards"], 1)?;
    let sockets = number(&["SocketsPerBoard"], 1)?.saturating_mul(boards);
    let cores = number(&["Sockets"], sockets)?.saturating_mul(number(&["CoresPerSocket"], 1)?);
    let threads = number(&["ThreadsPerCore"], 1)?;
    let cpus = number(&["CPUTot", "CPUs", "Procs"], cores.saturating_mul(threads))?;
    // These CPUs are reserved for the system.
    let listed = record.read(&["CPUSpecList"], "a list of CPUs such as 0,2-3", |text| {
        expand(&format!("[{text}]")).map(|cpus| cpus.len() as u64)
    })?;
    let per_core = if cores >= cpus { 1 } else { threads };
    let cores_kept = number(&["CoreSpecCount"], 0)?.saturating_mul(per_core);
    let kept = listed.unwrap_or(cores_kept);
    let expected = "generic resources such as gpu:a100:4(S:0-1)";
    let gres = record.read(&["Gres"], expected, gres_of_node)?;
    let text = record.text(&["Gres"]).unwrap_or_default();
    let gres = gres.unwrap_or_default().0.into_iter();
    let gres = gres.map(|(name, count)| (name.replacen("gres/", "", 1), count as u64));
    let gres = gres.sorted_by_key(|(name, _)| text.find(name.as_str()));
    let memory = number(&["RealMemory"], 1)?.saturating_sub(number(&["MemSpecLimit"], 0)?);
    let cpus = number(&["CPUEfctv"], cpus.saturating_sub(kept))?;
    let mut has = Tres::default();
    has.set("cpu", Some(cpus));
    has.set("mem", Some(memory));
    for (name, count) in gres {
        // The accounting ignores the case of the type.
        let (base, kind) = name.split_at(name.find(':').unwrap_or(name.len()));
        has.set(&(base.to_owned() + &kind.to_ascii_lowercase()), Some(count));
    }
    Ok(SiteNode {
        name: String::new(),
        capacity: has,
        weight: u32::try_from(number(&["Weight"], 1)?).unwrap_or(u32::MAX),
        is_up: record.text(&["State"]).is_none_or(is_up),
    })
}

/// Returns `true` if jobs can be started on a node in this state, such as `IDLE+CLOUD` or `mixed~`.
/// `UNKNOWN` counts as up, because the state is only known after the node has registered.
fn is_up(state: &str) -> bool {
    const DOWN: &str =
        "down drain drained draining drng fail failing failg error inval not_responding";
    let is_mark = |c: char| !c.is_ascii_alphanumeric();
    let is_down = |word: &str| is_one_of(word.trim_end_matches(is_mark), DOWN.split(' '));
    !state.contains('*') && !state.split('+').any(is_down)
}

pub(super) fn report_unmodeled(site: &mut SlurmSite, places: &Places) {
    let down = site.nodes.iter().filter(|node| !node.is_up);
    let down = short(&down.map(|node| &node.name).join(", "));
    if !down.is_empty() {
        let why = "are down or drained now, but are up in the replay";
        site.remarks.push(format!("nodes {down} {why}"));
    }
    let all = site.nodes.len();
    let features = places.sets.iter().filter(|set| set.1.len() < all);
    let features = features.filter_map(|set| set.0.strip_prefix('='));
    let features = short(&features.sorted_unstable().join(", "));
    if !features.is_empty() {
        let why = "are not modeled: a job that requests them may start on other nodes";
        site.remarks.push(format!("node features {features} {why}"));
    }
}

pub(super) fn partitions(
    site: &mut SlurmSite,
    records: &[Record],
    places: &Places,
) -> Result<(), SiteError> {
    for record in records {
        let name = record.0[0].value.clone();
        if site.partition(&name).is_some() {
            let why = format!("partition `{name}` is defined twice: remove one definition");
            return Err(record.0[0].place.wrong(why));
        }
        let nodes = record.pair(&["Nodes"]).map(|pair| places.listed(pair));
        let limit = |key: &str| Ok(record.read(&[key], TIME, time)?.flatten());
        let number = |keys: &[&str]| {
            let number = record.number(keys, 1)?;
            Ok(u32::try_from(number).unwrap_or(u32::MAX))
        };
        let any = number_or(&["UNLIMITED", "INFINITE"]);
        let max_nodes = record.read(&["MaxNodes"], "a number of nodes or UNLIMITED", any)?;
        site.partitions.push(SitePartition {
            nodes: nodes.transpose()?.unwrap_or_default(),
            is_default: record.says(&["Default"], &["YES", "true"]),
            state: record.text(&["State"]).unwrap_or("UP").to_ascii_uppercase(),
            max_time: limit("MaxTime")?,
            default_time: limit("DefaultTime")?,
            max_nodes: max_nodes.flatten(),
            min_nodes: record.number(&["MinNodes"], 0)?,
            tier: number(&["PriorityTier", "Priority"])?,
            job_factor: number(&["PriorityJobFactor", "Priority"])?,
            is_exclusive: record.says(&["OverSubscribe", "Shared"], &["EXCLUSIVE"])
                || record.says(&["Exclusive"], &["NODE", "TOPO"])
                || record.says(&["ExclusiveTopo"], &["YES"]),
            qos: record.text(&["QOS"]).map(str::to_owned),
            name,
        });
    }
    Ok(())
}

/// The columns of `sinfo` in the order of `%N|%P|%c|%m|%G|%T|%w`, and the keys in slurm.conf.
const COLUMNS: [(&str, &str); 7] = [
    ("NODELIST", "NodeName"),
    ("PARTITION", "PartitionName"),
    ("CPUS", "CPUs"),
    ("MEMORY", "RealMemory"),
    ("GRES", "Gres"),
    ("STATE", "State"),
    ("WEIGHT", "Weight"),
];

/// Reads the output of `sinfo -N`, whose columns are separated by blanks or `|`. Without titles
/// there must be seven columns that are separated by `|`.
fn of_sinfo(
    site: &mut SlurmSite,
    places: &mut Places,
    text: &Text,
    with_partitions: bool,
) -> Result<(), SiteError> {
    let file: Rc<str> = text.name.as_str().into();
    let mut columns: Option<[Option<usize>; COLUMNS.len()]> = None;
    for (number, line) in text.text.lines().enumerate() {
        let place = Place::new(&file, number);
        let cells: Vec<&str> = match line.contains('|') {
            true => line.split('|').map(str::trim).collect(),
            false => line.split_whitespace().collect(),
        };
        if cells.contains(&"NODELIST") {
            let of = |(title, _)| cells.iter().position(|cell| *cell == title);
            columns = Some(COLUMNS.map(of));
            continue;
        }
        if columns.is_none() && line.contains('|') && cells.len() == COLUMNS.len() {
            columns = Some(std::array::from_fn(Some));
        }
        // `sinfo -l` prints the date before the titles.
        let Some(columns) = columns.as_ref().filter(|_| !cells.is_empty()) else {
            continue;
        };
        if columns[0].is_none() || columns[2].is_none() {
            let why = "this form of `sinfo` does not show the CPUs of nodes: provide the output of these commands";
            return Err(place.wrong(format!("{why}: {NODES_HELP}")));
        }
        let mut record = Record::default();
        for ((_, key), column) in COLUMNS.iter().zip(columns) {
            let value = column.and_then(|column| cells.get(column)).unwrap_or(&"");
            record.0.push(Pair::new(key, value, &place));
        }
        let name = &record.0[0].value;
        if !places.of.contains_key(name) {
            places.add(site, &record)?;
        }
        let partition = record.text(&["PartitionName"]).filter(|_| with_partitions);
        if let Some((node, own)) = places.of.get(name).zip(partition) {
            of_row(site, own, *node);
        }
    }
    let pairs = COLUMNS.iter().zip(columns.into_iter().flatten());
    let missing = pairs.filter(|(_, column)| column.is_none());
    let alike = "all nodes are assumed to be alike";
    let missing = missing.map(|((_, key), _)| format!("it does not show {key}: {alike}"));
    let limits = "sinfo does not show the limits of partitions, and none are assumed".to_owned();
    let remarks = missing.chain(with_partitions.then_some(limits));
    let remarks = remarks.map(|why| format!("{}: {why}. {NODES_HELP}", text.name));
    site.remarks.extend(remarks);
    Ok(())
}

/// Adds a node to a partition, which may be new. The name of the default one ends with `*`.
fn of_row(site: &mut SlurmSite, name: &str, node: usize) {
    let bare = name.trim_end_matches('*');
    let place = site.partition(bare).unwrap_or_else(|| {
        site.partitions.push(SitePartition {
            name: bare.to_owned(),
            is_default: bare != name,
            ..SitePartition::default()
        });
        site.partitions.len() - 1
    });
    let nodes = &mut site.partitions[place].nodes;
    if let Err(at) = nodes.binary_search(&node) {
        nodes.insert(at, node);
    }
}
