//! How a cluster is set up, from the texts in which Slurm says it.
//!
//! # Theory
//! slurm.conf is read as Slurm reads it: one line after the other, where `DEFAULT` holds from there on, and the last
//! value of an option counts (`src/common/parse_config.c`). What runs is printed by `scontrol show`, what each may have
//! by `sacctmgr`, with the same words.
//!
//! # Practice
//! [`of_texts`] reads all of it into a [`SlurmSite`]. What cannot be read is an error with its file, its line and what to
//! write there; what is not understood, or not followed, is a remark of the site.

mod accounting;
mod files;
mod nodes;
mod options;
mod site;
mod slurm_conf;
mod text;

#[cfg(test)]
mod tests;

pub use files::of_path;
pub use nodes::NODES_HELP;
pub use site::{
    Association, LimitSet, PrioritySettings, Qos, SchedulerSettings, SiteNode, SitePartition,
    SlurmSite, Tres, factor, scope,
};
pub use text::SiteError;

use crate::commands::Texts;
use slurm_conf::Conf;

/// The name of the text of slurm.conf, or of `scontrol show config`.
const CONF: &str = "config.txt";

/// Reads a site. Without slurm.conf the defaults of Slurm 22.05 hold; nodes and partitions of `scontrol` or `sinfo` take
/// the place of those of slurm.conf; without associations those of `sshare` do.
///
/// # Errors
/// Where a text is not what it should be, or there are no nodes or partitions.
pub fn of_texts(texts: &Texts) -> Result<SlurmSite, SiteError> {
    let mut site = SlurmSite::default();
    let conf = texts.get(CONF);
    let name = conf.map_or("slurm.conf", |text| &text.name);
    let conf = conf.map(|text| Conf::read(&text.name, &text.text));
    let conf = conf.transpose()?.unwrap_or_default();
    if texts.contains_key(CONF) {
        let options = conf.options.0.iter().cloned();
        site.options = options.map(|own| (own.key, own.value)).collect();
        site.cluster = conf.options.text(&["ClusterName"]).unwrap_or("").to_owned();
        site.scheduler = options::scheduler(&conf.options, &mut site.remarks);
        site.priority = options::priority(&conf.options)?;
        options::others(&conf.options, conf.is_shown, &mut site);
    } else {
        site.remarks.push("no slurm.conf: the defaults of Slurm 22.05 are taken; `scontrol show config` prints what holds".into());
    }
    let mut records = conf.partitions.clone();
    if let Some(text) = texts.get("partitions.txt") {
        records = nodes::shown(text, "PartitionName=");
        if records.is_empty() {
            let why = "it has no partitions: give what `scontrol show partition -o` prints";
            return Err(SiteError(format!("{}: {why}", text.name)));
        }
    }
    let mut places = match texts.get("nodes.txt") {
        Some(text) => nodes::of_text(&mut site, text, records.is_empty())?,
        None => nodes::of_conf(&mut site, &conf)?,
    };
    if texts.contains_key("nodes.txt") {
        places.add_sets(&conf)?;
    }
    let weight = site.priority.weights[factor::PARTITION];
    if records.is_empty() && site.priority.is_multifactor && weight > 0.0 {
        let why = "is not followed, since the job factors of partitions are unknown";
        let told = format!("PriorityWeightPartition={weight} {why}: {NODES_HELP}");
        site.assumed.push(told);
    }
    nodes::unfollowed(&mut site, &places);
    nodes::partitions(&mut site, &records, &places)?;
    options::of_partitions(&records, &mut site);
    for (what, is_missing) in [
        ("nodes", site.nodes.is_empty()),
        ("partitions", site.partitions.is_empty()),
    ] {
        if is_missing {
            let why = format!("{name}: it has no {what}: give what this prints, too: {NODES_HELP}");
            return Err(SiteError(why));
        }
    }
    if texts.contains_key(CONF) && options::gives_whole_nodes(&conf.options) {
        let partitions = site.partitions.iter_mut();
        partitions.for_each(|own| own.is_exclusive = true);
    }
    of_accounting(&mut site, texts)?;
    accounting::drop_unenforced(&mut site, &conf.options);
    if let Some(text) = texts.get("reservations.txt") {
        let names = nodes::shown(text, "ReservationName=").into_iter();
        let names: Vec<String> = names.map(|own| own.0[0].value.clone()).collect();
        if !names.is_empty() {
            let why = "are not followed: jobs start on their nodes at all times";
            let what = format!("{}: the reservations {} {why}", text.name, names.join(", "));
            site.remarks.push(what);
        }
    }
    Ok(site)
}

/// Reads who may have what.
fn of_accounting(site: &mut SlurmSite, texts: &Texts) -> Result<(), SiteError> {
    let cluster = site.cluster.clone();
    if let Some(text) = texts.get("qos.txt") {
        site.qos = accounting::qos(text, &mut site.remarks)?;
    }
    if let Some(text) = texts.get("assoc.txt") {
        site.associations = accounting::associations(text, &cluster, &mut site.remarks)?;
    }
    if let Some(text) = texts.get("shares.txt") {
        let shares = accounting::associations(text, &cluster, &mut site.remarks)?;
        match site.associations.is_empty() {
            true => site.associations = shares,
            false => accounting::usage(&mut site.associations, &shares),
        }
    }
    let known = |name: &Option<String>| name.as_ref().is_none_or(|name| site.qos(name).is_some());
    let missing = site.partitions.iter().filter(|own| !known(&own.qos));
    let missing: Vec<String> = missing.map(|own| own.name.clone()).collect();
    if !missing.is_empty() {
        let why = "their quality of service is not among those of `sacctmgr -P show qos`, and limits nothing";
        let remark = format!("partitions {}: {why}", missing.join(", "));
        site.remarks.push(remark);
    }
    Ok(())
}
