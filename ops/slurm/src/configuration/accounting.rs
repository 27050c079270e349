use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use itertools::Itertools as _;

use crate::commands::Text;

use super::text::{Pair, Place, Record, SiteError, TIME, is_one_of, number_or, time, tres, words};
use super::{Association, LimitSet, Qos, SlurmSite, scope};

/// The columns of a QOS that are not modeled, where the value after the colon has no effect.
const QOS_LEFT: &str = "GrpTRESMins GrpTRESRunMins GrpSubmit GrpWall MaxSubmitPU MaxSubmitPA MaxTRESRunMinsPA \
    MaxTRESRunMinsPU GrpJobsAccrue MaxJobsAccruePU MaxJobsAccruePA MinPrioThres Preempt UsageFactor:1.000000 UsageThres \
    LimitFactor";
const ASSOCIATIONS_LEFT: &str = "GrpSubmit GrpWall GrpTRESMins GrpTRESRunMins MaxSubmit GrpJobsAccrue MaxJobsAccrue MinPrioThresh";

/// The QOS flags that are modeled, or that have no effect on jobs that were already run.
const FLAGS: &str =
    "DenyOnLimit OverPartQOS PartitionMaxNodes PartitionMinNodes PartitionTimeLimit";

fn rows(text: &Text, needed: &[&str], help: &str) -> Result<Vec<Record>, SiteError> {
    let file: Rc<str> = text.name.as_str().into();
    let lines = text.text.lines().enumerate();
    let mut lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let Some((at, first)) = lines.next() else {
        let why = format!("{}: the table is empty: {help}", text.name);
        return Err(SiteError(why));
    };
    // For example, `Def QOS` and `DefaultQOS` are the same column.
    let titles = first.split('|').map(|title| title.replace(' ', ""));
    let titles: Vec<String> = titles.collect();
    for name in needed {
        if !titles.iter().any(|title| title.eq_ignore_ascii_case(name)) {
            let expected = format!("a header line with the column {name}: {help}");
            return Err(Place::new(&file, at).found(first, &expected));
        }
    }
    let row = |(at, line): (usize, &str)| {
        let place = Place::new(&file, at);
        let count = line.split('|').count();
        // The option `-p` adds a bar at the end of each line, and `-P` does not.
        if count != titles.len() && line.trim_end_matches('|').split('|').count() != titles.len() {
            let expected = titles.len();
            let why = format!("{count} fields, expected {expected} as in the first line");
            return Err(place.wrong(why));
        }
        let pairs = titles.iter().zip(line.split('|'));
        let pairs = pairs.map(|(title, cell)| Pair::new(title, cell.trim_end(), &place));
        Ok(Record(pairs.collect()))
    };
    lines.map(row).collect()
}

fn limits(row: &Record, columns: &str, left: &mut Vec<String>) -> Result<LimitSet, SiteError> {
    let mut limits = LimitSet::default();
    for (own, names) in limits.iter_mut().zip(columns.split(';')) {
        let (count, amounts) = names.split_once(' ').unwrap_or_default();
        let most = if count == "MaxWall" {
            let wall = row.read(&[count, "MaxWallDurationPerJob"], TIME, time)?;
            wall.flatten().map(|seconds| (seconds / 60.0) as u64)
        } else {
            let jobs = row.read(&[count], "a number of jobs", number_or(&["-1"]))?;
            jobs.flatten()
        };
        own.set("", most);
        let expected = "amounts such as cpu=100,mem=500G,gres/gpu=4";
        let mut others = Vec::new();
        let found = row.read(&[amounts], expected, |text| tres(text, &mut others))?;
        own.0.extend(found.unwrap_or_default().0);
        left.extend(others.iter().map(|name| format!("{amounts} {name}")));
    }
    Ok(limits)
}

/// Removes the limits if they are not enforced by Slurm. Otherwise, reports the limits on resources
/// that are not counted in the replay.
pub(super) fn drop_unenforced(site: &mut SlurmSite, options: &Record) {
    let storage = |key: &str| options.text(&[&format!("AccountingStorage{key}")]);
    let word = storage("Enforce").unwrap_or("not set");
    let kind = storage("Type").unwrap_or("slurmdbd");
    // The other values have no effect on limits (`_validate_accounting_storage_enforce`).
    let enforces = |word: &str| ["limits", "2", "safe", "all"].contains(&word.trim());
    let has_slurmdbd = kind.to_ascii_lowercase().ends_with("slurmdbd");
    let is_held = has_slurmdbd && word.to_ascii_lowercase().split(',').any(enforces);
    let counted = site.servers().0.resources;
    let limits = site.qos.iter_mut().map(|own| &mut own.limits);
    let limits = limits.chain(site.associations.iter_mut().map(|own| &mut own.limits));
    let (mut dropped, mut uncounted) = (0, BTreeSet::new());
    for own in limits.filter(|own| **own != LimitSet::default()) {
        let names = own.iter().flat_map(|limit| &limit.0).map(|own| &own.0);
        let is_counted = |name: &&String| match name.as_str() {
            "" | "node" => true,
            "mem" => counted.iter().any(|own| own == "memory"),
            _ => counted.contains(name),
        };
        uncounted.extend(names.filter(|name| !is_counted(name)).cloned());
        if !is_held {
            dropped += 1;
            *own = LimitSet::default();
        }
    }
    if dropped > 0 {
        let setting = match has_slurmdbd {
            true => format!("Enforce is {word}, without `limits`, `safe` or `all`"),
            false => format!("Type is {kind}"),
        };
        site.assumed.push(format!(
            "AccountingStorage{setting}: as in Slurm, the limits of QOS and accounts are ignored ({dropped} found)"
        ));
    } else if !uncounted.is_empty() {
        let names = uncounted.iter().join(", ");
        let why = "limits on these resources are not modeled, because nodes do not have or do not count them";
        site.remarks.push(format!("{names}: {why}"));
    }
}

fn note_columns(left: &mut Vec<String>, row: &Record, columns: &'static str) {
    for column in columns.split_whitespace() {
        let (column, neutral) = column.split_once(':').unwrap_or((column, "-1"));
        if row.text(&[column]).is_some_and(|value| value != neutral) {
            left.push(column.to_owned());
        }
    }
}

fn tell(left: &[String], name: &str, remarks: &mut Vec<String>) {
    let counts = left.iter().counts().into_iter().sorted_unstable();
    let mut columns = counts.map(|(what, rows)| format!("{what} ({rows})"));
    let columns = columns.join(", ");
    if !columns.is_empty() {
        let what = "not modeled (with the number of rows)";
        remarks.push(format!("{name}: {what}: {columns}"));
    }
}

pub(super) fn qos(text: &Text, remarks: &mut Vec<String>) -> Result<Vec<Qos>, SiteError> {
    let mut left = Vec::new();
    let read = |row: Record| {
        note_columns(&mut left, &row, QOS_LEFT);
        let flags: Vec<String> = words(row.text(&["Flags"])).map(str::to_owned).collect();
        let is_unknown = |flag: &&String| !is_one_of(flag, FLAGS.split(' '));
        let unknown = flags.iter().filter(is_unknown);
        left.extend(unknown.map(|flag| format!("flag {flag}")));
        Ok(Qos {
            name: row.text(&["Name"]).unwrap_or_default().to_owned(),
            priority: u32::try_from(row.number(&["Priority"], 0)?).unwrap_or(u32::MAX),
            flags,
            limits: limits(&row, scope::OF_QOS, &mut left)?,
        })
    };
    let help = "provide the output of `sacctmgr -P show qos`";
    let rows = rows(text, &["Name", "Priority"], help)?;
    let qos = rows.into_iter().map(read).collect();
    tell(&left, &text.name, remarks);
    qos
}

/// Reads the associations. The parent of an account is in the column ParentName. Without this
/// column, it is the last account above the row that has less indentation.
pub(super) fn associations(
    text: &Text,
    cluster: &str,
    remarks: &mut Vec<String>,
) -> Result<Vec<Association>, SiteError> {
    let help = "provide the output of `sacctmgr -P show assoc tree` or `sshare -alP`";
    let rows = rows(text, &["Account"], help)?;
    let is_above = |pair: &Pair| pair.key == "ParentName" || pair.value.starts_with(' ');
    let is_tree = rows.iter().any(|row| row.0.iter().any(is_above));
    let is_share = |pair: &Pair| ["Share", "RawShares"].contains(&pair.key.as_str());
    let has_shares = rows.iter().any(|row| row.0.iter().any(is_share));
    let mut left = Vec::new();
    let mut found: Vec<(Association, Place)> = Vec::new();
    // The indentation and the name of each account above the row.
    let mut above: Vec<(usize, String)> = Vec::new();
    for row in rows {
        let other = row.text(&["Cluster"]).filter(|own| *own != cluster);
        let is_other = other.is_some() && !cluster.is_empty();
        let Some(cell) = row.pair(&["Account"]) else {
            continue;
        };
        if is_other || row.pair(&["Partition"]).is_some() {
            let kinds = ["rows of one partition", "rows of other clusters"];
            left.push(kinds[usize::from(is_other)].to_owned());
            continue;
        }
        note_columns(&mut left, &row, ASSOCIATIONS_LEFT);
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
        let why = "it does not name the parents of accounts, so all are assumed to be directly below root. Export `sacctmgr -P show assoc tree` instead";
        remarks.push(format!("{}: {why}", text.name));
    }
    if !has_shares && !found.is_empty() {
        let why =
            "it has no column Share, so all accounts and users are assumed to have one share each";
        remarks.push(format!("{}: {why}: {help}", text.name));
    }
    tell(&left, &text.name, remarks);
    in_order(found).map(inherited)
}

/// Applies the limits of each parent to its children, except for group limits, as in Slurm.
fn inherited(mut all: Vec<Association>) -> Vec<Association> {
    for (n, parent) in Association::parents(&all).into_iter().enumerate() {
        let Some(above) = parent.map(|parent| all[parent].limits.clone()) else {
            continue;
        };
        let pairs = all[n].limits.iter_mut().zip(above);
        for (own, above) in pairs.skip(scope::USER) {
            let others = above.0.into_iter();
            let others: Vec<_> = others.filter(|(name, _)| own.get(name).is_none()).collect();
            own.0.extend(others);
        }
    }
    all
}

fn association(
    row: &Record,
    account: &str,
    left: &mut Vec<String>,
) -> Result<Association, SiteError> {
    let user = row.text(&["User"]).map(|user| user.trim().to_owned());
    let parent = match user {
        Some(_) => account,
        None => row.text(&["ParentName"]).unwrap_or_default(),
    };
    let expected = "shares, a whole number, or parent";
    let shares = row.read(&["Share", "RawShares"], expected, number_or(&["parent"]));
    Ok(Association {
        account: account.to_owned(),
        parent: parent.to_owned(),
        user,
        shares: shares?.unwrap_or(Some(1)),
        usage: row.number(&["RawUsage"], 0)? as f64,
        priority: u32::try_from(row.number(&["Priority"], 0)?).unwrap_or(u32::MAX),
        limits: limits(row, scope::OF_ASSOCIATION, left)?,
        default_qos: row.text(&["DefQOS", "DefaultQOS"]).map(str::to_owned),
    })
}

fn in_order(found: Vec<(Association, Place)>) -> Result<Vec<Association>, SiteError> {
    let (all, places): (Vec<Association>, Vec<Place>) = found.into_iter().unzip();
    let parents = Association::parents(&all);
    let depth = |(n, own): (usize, &Association)| {
        let above = std::iter::successors(parents[n], |n| parents[*n]);
        let depth = above.take(all.len()).count();
        let why = match parents[n] {
            None if !own.parent.is_empty() => "which has no row: add one",
            _ if depth == all.len() => "and so below itself: correct its parent",
            _ => return Ok(depth),
        };
        let (account, parent) = (&own.account, &own.parent);
        let why = format!("the account `{account}` is below `{parent}`, {why}");
        Err(places[n].wrong(why))
    };
    let depths: Result<Vec<usize>, SiteError> = all.iter().enumerate().map(depth).collect();
    let pairs = depths?.into_iter().zip(all).sorted_by_key(|own| own.0);
    Ok(pairs.map(|own| own.1).collect())
}

pub(super) fn usage(own: &mut [Association], shares: &[Association]) {
    let key = |of: &Association| (of.account.clone(), of.user.clone());
    let used: HashMap<_, f64> = shares.iter().map(|of| (key(of), of.usage)).collect();
    for association in own {
        association.usage = used.get(&key(association)).copied().unwrap_or(0.0);
    }
}
