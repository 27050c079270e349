//! Who may have what, from what `sacctmgr -P` and `sshare -P` print: a table between `|`, whose first line names the columns.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::commands::Text;

use super::text::{Pair, Place, Record, SiteError, TIME, short, time, tres};
use super::{Association, Qos, Tres};

/// Limits that are read, and not followed.
const QOS_LEFT: &str = "GrpTRESMins GrpTRESRunMins GrpSubmit GrpWall MaxTRESPerNode MaxTRESMins MaxSubmitPU MaxTRESPA \
    MaxTRESRunMinsPA MaxTRESRunMinsPU MaxJobsPA MaxSubmitPA MinTRES Preempt Flags";
/// The same of associations.
const ASSOCIATIONS_LEFT: &str = "GrpJobs GrpSubmit GrpWall GrpTRESMins GrpTRESRunMins MaxTRES MaxTRESPerNode MaxSubmit \
    MaxWall MaxTRESMins";

/// Reads the rows of a table.
///
/// # Errors
/// Where it has no columns of these names, or a row has others.
fn rows(text: &Text, needed: &[&str], help: &str) -> Result<Vec<Record>, SiteError> {
    let file: Rc<str> = text.name.as_str().into();
    let lines = text
        .text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    let mut lines = lines.map(|(at, line)| {
        (
            Place {
                file: file.clone(),
                line: at + 1,
            },
            line.trim_end_matches('\r'),
        )
    });
    let (place, first) = lines
        .next()
        .ok_or_else(|| SiteError(format!("{}: it is empty: {help}", text.name)))?;
    // `Def QOS` and `DefaultQOS` are one.
    let titles: Vec<String> = first
        .split('|')
        .map(|title| title.replace(' ', ""))
        .collect();
    for name in needed {
        if !titles.iter().any(|title| title.eq_ignore_ascii_case(name)) {
            return Err(place.wrong(format!(
                "found `{}`, expected names of columns with {name}: {help}",
                short(first)
            )));
        }
    }
    let row = |(place, line): (Place, &str)| {
        let cells: Vec<&str> = line.split('|').collect();
        // `-p` ends lines with a bar, `-P` does not.
        if cells.len() != titles.len()
            && line.trim_end_matches('|').split('|').count() != titles.len()
        {
            return Err(place.wrong(format!(
                "{} fields, expected {}, as the first line has",
                cells.len(),
                titles.len()
            )));
        }
        let pairs = titles
            .iter()
            .zip(cells)
            .filter(|(title, _)| !title.is_empty());
        let pair = |(title, cell): (&String, &str)| Pair {
            key: title.clone(),
            value: cell.trim_end().to_owned(),
            place: place.clone(),
        };
        Ok(Record(pairs.map(pair).collect()))
    };
    lines.map(row).collect()
}

/// Reads a limit of amounts.
fn limit(row: &Record, keys: &[&str], left: &mut Left) -> Result<Tres, SiteError> {
    let mut others = Vec::new();
    let pair = row.pair(keys);
    let expected = "amounts such as cpu=100,mem=500G,gres/gpu=4";
    let limit = pair.map(|pair| {
        let checked = pair.read(expected, |text| tres(text, &mut Vec::new()))?;
        let _ = tres(&pair.value, &mut others);
        Ok(checked)
    });
    for name in others {
        left.note(&format!("{} {name}", keys[0]));
    }
    Ok(limit.transpose()?.unwrap_or_default())
}

/// Reads a count; −1 and nothing are no limit.
fn jobs(row: &Record, keys: &[&str]) -> Result<Option<u64>, SiteError> {
    let pair = row.pair(keys).filter(|pair| pair.value != "-1");
    let read = |pair: &Pair| pair.read("a number of jobs", super::text::number);
    pair.map(read).transpose()
}

/// What is set and not followed: how often.
#[derive(Default)]
struct Left(Vec<(String, usize)>);

impl Left {
    fn note(&mut self, what: &str) {
        match self.0.iter_mut().find(|(own, _)| own == what) {
            Some((_, times)) => *times += 1,
            None => self.0.push((what.to_owned(), 1)),
        }
    }

    /// Notes the columns of these names that have a value.
    fn of(&mut self, row: &Record, columns: &str) {
        let set = columns
            .split_whitespace()
            .filter(|column| row.pair(&[column]).is_some_and(|pair| pair.value != "-1"));
        set.for_each(|column| self.note(column));
    }

    fn tell(self, name: &str, remarks: &mut Vec<String>) {
        let columns = self
            .0
            .into_iter()
            .map(|(what, times)| format!("{what} ({times})"));
        let columns: Vec<String> = columns.collect();
        if !columns.is_empty() {
            remarks.push(format!(
                "{name}: not followed, with how many rows have it: {}",
                columns.join(", ")
            ));
        }
    }
}

/// Reads what `sacctmgr -P show qos` printed.
///
/// # Errors
/// Where it is no such table, or a value none.
pub(super) fn qos(text: &Text, remarks: &mut Vec<String>) -> Result<Vec<Qos>, SiteError> {
    let mut left = Left::default();
    let read = |row: Record| {
        left.of(&row, QOS_LEFT);
        Ok(Qos {
            name: row.text(&["Name"]).unwrap_or_default().to_owned(),
            priority: u32::try_from(row.number(&["Priority"], 0)?).unwrap_or(u32::MAX),
            max_jobs_per_user: jobs(&row, &["MaxJobsPU", "MaxJobsPerUser"])?,
            max_tres_per_user: limit(&row, &["MaxTRESPU", "MaxTRESPerUser"], &mut left)?,
            max_tres_per_job: limit(&row, &["MaxTRES", "MaxTRESPerJob"], &mut left)?,
            grp_tres: limit(&row, &["GrpTRES"], &mut left)?,
            grp_jobs: jobs(&row, &["GrpJobs"])?,
            max_wall: row
                .read(&["MaxWall", "MaxWallDurationPerJob"], TIME, time)?
                .flatten(),
        })
    };
    let help = "give what `sacctmgr -P show qos` prints";
    let qos = rows(text, &["Name", "Priority"], help)?
        .into_iter()
        .map(read)
        .collect();
    left.tell(&text.name, remarks);
    qos
}

/// Reads what `sacctmgr -P show assoc tree` or `sshare -alP` printed. The account above is that of the column
/// ParentName, or else the last before it that stands further left.
///
/// # Errors
/// As [`qos`]; and where an account's parent is not there, or is below it.
pub(super) fn associations(
    text: &Text,
    cluster: &str,
    remarks: &mut Vec<String>,
) -> Result<Vec<Association>, SiteError> {
    let help = "give what `sacctmgr -P show assoc tree` or `sshare -alP` prints";
    let mut left = Left::default();
    let mut found: Vec<(Association, Place)> = Vec::new();
    // The accounts above the row: how far right they stand, and their names.
    let mut above: Vec<(usize, String)> = Vec::new();
    let rows = rows(text, &["Account"], help)?;
    let is_tree = rows.iter().any(|row| {
        row.0
            .iter()
            .any(|pair| pair.key == "ParentName" || pair.value.starts_with(' '))
    });
    for row in rows {
        let is_other = |key, own: &str| {
            row.text(&[key])
                .is_some_and(|text| !own.is_empty() && text != own)
        };
        if is_other("Cluster", cluster) {
            left.note("rows of other clusters");
            continue;
        }
        if row.pair(&["Partition"]).is_some() {
            left.note("rows of one partition");
            continue;
        }
        left.of(&row, ASSOCIATIONS_LEFT);
        let Some(cell) = row.pair(&["Account"]) else {
            continue;
        };
        let account = cell.value.trim().to_owned();
        let user = row.text(&["User"]).map(|user| user.trim().to_owned());
        let depth = cell.value.len() - cell.value.trim_start().len();
        let mut parent = row.text(&["ParentName"]).unwrap_or_default().to_owned();
        if user.is_some() {
            parent.clone_from(&account);
        } else {
            above.retain(|(own, _)| *own < depth);
            let root = if is_tree { "" } else { "root" };
            let last = above.last().map_or(root, |(_, name)| name);
            if parent.is_empty() && account != "root" {
                last.clone_into(&mut parent);
            }
            above.push((depth, account.clone()));
        }
        let shares = row.pair(&["Share", "RawShares", "Fairshare"]);
        let shares = shares.filter(|pair| !pair.value.eq_ignore_ascii_case("parent"));
        let is_parent = row.says(&["Share"], "parent") || row.says(&["RawShares"], "parent");
        let shares =
            shares.map(|pair| pair.read("shares, a whole number, or parent", super::text::number));
        found.push((
            Association {
                account,
                user,
                parent,
                shares: if is_parent {
                    None
                } else {
                    shares.transpose()?.or(Some(1))
                },
                usage: row.number(&["RawUsage"], 0)? as f64,
                priority: u32::try_from(row.number(&["Priority"], 0)?).unwrap_or(u32::MAX),
                max_jobs: jobs(&row, &["MaxJobs"])?,
                grp_tres: limit(&row, &["GrpTRES"], &mut left)?,
                default_qos: row.text(&["DefQOS", "DefaultQOS"]).map(str::to_owned),
            },
            cell.place.clone(),
        ));
    }
    if !is_tree && !found.is_empty() {
        remarks.push(format!("{}: it tells no parents of accounts: all are taken to be below root. Write `sacctmgr -P show assoc tree`", text.name));
    }
    left.tell(&text.name, remarks);
    in_order(found)
}

/// Puts parents before their children, else in the order of the table.
fn in_order(found: Vec<(Association, Place)>) -> Result<Vec<Association>, SiteError> {
    let accounts = found.iter().filter(|(own, _)| own.user.is_none());
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, (own, place)) in found.iter().enumerate() {
        places.entry(own.parent.clone()).or_default().push(at);
        let is_known = own.parent.is_empty()
            || accounts
                .clone()
                .any(|(above, _)| above.account == own.parent);
        if !is_known {
            let why = format!(
                "the account `{}` is below `{}`, which has no row: add it",
                own.account, own.parent
            );
            return Err(place.wrong(why));
        }
    }
    let mut order = Vec::new();
    let mut next = vec![String::new()];
    let mut seen = HashSet::new();
    while let Some(account) = next.pop() {
        if !seen.insert(account.clone()) {
            continue;
        }
        let below = places.remove(&account).unwrap_or_default();
        for at in below.iter().rev().filter(|at| found[**at].0.user.is_none()) {
            next.push(found[*at].0.account.clone());
        }
        order.extend(below);
    }
    if let Some(at) = places.into_values().flatten().min() {
        let (own, place) = &found[at];
        let why = format!(
            "the account `{}` is below itself, by way of `{}`: write its parent",
            own.account, own.parent
        );
        return Err(place.wrong(why));
    }
    let mut found: Vec<Option<Association>> = found.into_iter().map(|(own, _)| Some(own)).collect();
    Ok(order
        .into_iter()
        .filter_map(|at| found[at].take())
        .collect())
}

/// Adds what was used so far, from what `sshare -alP` printed.
///
/// # Errors
/// As [`associations`].
pub(super) fn usage(own: &mut [Association], shares: &[Association]) {
    let key = |of: &Association| (of.account.clone(), of.user.clone());
    let used: HashMap<_, f64> = shares.iter().map(|of| (key(of), of.usage)).collect();
    for association in own {
        association.usage = used.get(&key(association)).copied().unwrap_or(0.0);
    }
}
