//! Who may have what, from what `sacctmgr -P` and `sshare -P` print: a table between `|`, whose first line names the columns.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::commands::Text;

use super::text::{Pair, Place, Record, SiteError, TIME, time, tres};
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
    let lines = text.text.lines().enumerate();
    let mut lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let Some((at, first)) = lines.next() else {
        return Err(SiteError(format!("{}: it is empty: {help}", text.name)));
    };
    // `Def QOS` and `DefaultQOS` are one.
    let titles: Vec<String> = first
        .split('|')
        .map(|title| title.replace(' ', ""))
        .collect();
    for name in needed {
        if !titles.iter().any(|title| title.eq_ignore_ascii_case(name)) {
            let expected = format!("names of columns with {name}: {help}");
            return Err(Place::new(&file, at).found(first, &expected));
        }
    }
    let row = |(at, line): (usize, &str)| {
        let place = Place::new(&file, at);
        let count = line.split('|').count();
        // `-p` ends lines with a bar, `-P` does not.
        if count != titles.len() && line.trim_end_matches('|').split('|').count() != titles.len() {
            let expected = titles.len();
            let why = format!("{count} fields, expected {expected}, as the first line has");
            return Err(place.wrong(why));
        }
        let pairs = titles.iter().zip(line.split('|'));
        let pairs = pairs.map(|(title, cell)| Pair::new(title, cell.trim_end(), &place));
        Ok(Record(pairs.collect()))
    };
    lines.map(row).collect()
}

/// Reads a limit of amounts.
fn limit(row: &Record, keys: &[&str], left: &mut Left) -> Result<Tres, SiteError> {
    let mut others = Vec::new();
    let pair = row.pair(keys);
    let expected = "amounts such as cpu=100,mem=500G,gres/gpu=4";
    let limit = pair.map(|pair| pair.read(expected, |text| tres(text, &mut others)));
    let limit = limit.transpose()?.unwrap_or_default();
    for name in others {
        left.note(&format!("{} {name}", keys[0]));
    }
    Ok(limit)
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
    let rows = rows(text, &["Account"], help)?;
    let is_above = |pair: &Pair| pair.key == "ParentName" || pair.value.starts_with(' ');
    let is_tree = rows.iter().any(|row| row.0.iter().any(is_above));
    let mut left = Left::default();
    let mut found: Vec<(Association, Place)> = Vec::new();
    // The accounts above the row: how far right they stand, and their names.
    let mut above: Vec<(usize, String)> = Vec::new();
    for row in rows {
        let other = row
            .text(&["Cluster"])
            .filter(|own| !cluster.is_empty() && *own != cluster);
        let Some(cell) = row.pair(&["Account"]) else {
            continue;
        };
        if other.is_some() || row.pair(&["Partition"]).is_some() {
            left.note(if other.is_some() {
                "rows of other clusters"
            } else {
                "rows of one partition"
            });
            continue;
        }
        left.of(&row, ASSOCIATIONS_LEFT);
        let mut own = association(&row, cell.value.trim(), &mut left)?;
        if own.user.is_none() {
            let depth = cell.value.len() - cell.value.trim_start().len();
            above.retain(|(known, _)| *known < depth);
            if own.parent.is_empty() && own.account != "root" {
                let root = if is_tree { "" } else { "root" };
                own.parent = above.last().map_or(root, |(_, name)| name).to_owned();
            }
            above.push((depth, own.account.clone()));
        }
        found.push((own, cell.place.clone()));
    }
    if !is_tree && !found.is_empty() {
        let why = "it tells no parents of accounts: all are taken to be below root";
        remarks.push(format!(
            "{}: {why}. Write `sacctmgr -P show assoc tree`",
            text.name
        ));
    }
    left.tell(&text.name, remarks);
    in_order(found)
}

/// Reads a row; the account above is that which the row tells.
fn association(row: &Record, account: &str, left: &mut Left) -> Result<Association, SiteError> {
    let user = row.text(&["User"]).map(|user| user.trim().to_owned());
    let parent = match user {
        Some(_) => account,
        None => row.text(&["ParentName"]).unwrap_or_default(),
    };
    let shares = row.read(
        &["Share", "RawShares"],
        "shares, a whole number, or parent",
        |text| {
            if text.eq_ignore_ascii_case("parent") {
                return Some(None);
            }
            super::text::number(text).map(Some)
        },
    );
    Ok(Association {
        account: account.to_owned(),
        parent: parent.to_owned(),
        user,
        shares: shares?.unwrap_or(Some(1)),
        usage: row.number(&["RawUsage"], 0)? as f64,
        priority: u32::try_from(row.number(&["Priority"], 0)?).unwrap_or(u32::MAX),
        max_jobs: jobs(row, &["MaxJobs"])?,
        grp_tres: limit(row, &["GrpTRES"], left)?,
        default_qos: row.text(&["DefQOS", "DefaultQOS"]).map(str::to_owned),
    })
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
pub(super) fn usage(own: &mut [Association], shares: &[Association]) {
    let key = |of: &Association| (of.account.clone(), of.user.clone());
    let used: HashMap<_, f64> = shares.iter().map(|of| (key(of), of.usage)).collect();
    for association in own {
        association.usage = used.get(&key(association)).copied().unwrap_or(0.0);
    }
}
