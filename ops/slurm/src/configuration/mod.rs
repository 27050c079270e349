//! This module reads the configuration of a cluster from the files of Slurm and the output of its
//! commands.
//!
//! In slurm.conf, a line with `DEFAULT` applies to the lines after it, and if an option is set
//! several times, the last value is used (`src/common/parse_config.c`). `scontrol show` prints the
//! current configuration with the same keywords. If a value cannot be parsed, [`of_texts`] returns
//! an error with the line number. If a setting is unknown or is not modeled, a remark is added to
//! the [`SlurmSite`].

mod accounting;
mod edit;
mod files;
mod nodes;
mod options;
mod site;
mod slurm_conf;
mod text;

#[cfg(test)]
mod tests;

pub(crate) use edit::{lines_of_first, with_value};
pub use files::of_path;
pub use site::{
    Association, PrioritySettings, SchedulerSettings, SiteNode, SitePartition, SlurmSite, Tres,
    factor,
};
pub(crate) use site::{LimitSet, Qos, scope};
pub use text::SiteError;

use crate::commands::Texts;
use itertools::Itertools as _;
use nodes::NODES_HELP;
use slurm_conf::Conf;

const CONF: &str = "config.txt";

/// Reads a site. If there is no slurm.conf, the defaults of Slurm 22.05 are used. Nodes and
/// partitions that are printed by `scontrol` or `sinfo` replace those of slurm.conf. Associations
/// are read from `sshare` if there is no output of `sacctmgr`.
///
/// # Errors
/// If a text cannot be parsed, or there are no nodes or no partitions.
pub fn of_texts(texts: &Texts) -> Result<SlurmSite, SiteError> {
    let mut site = SlurmSite::default();
    let conf = texts.get(CONF);
    let name = conf.map_or("slurm.conf", |text| &text.name);
    let conf = conf.map(|text| Conf::read(&text.name, &text.text));
    let conf = conf.transpose()?.unwrap_or_default();
    if texts.contains_key(CONF) {
        let options = conf.options.0.iter().cloned();
        site.options = options.map(|own| (own.key, own.value)).collect();
        let places = conf.options.0.iter();
        let places = places.map(|own| (own.place.file.to_string(), own.place.line - 1));
        site.places = places.collect();
        site.files.clone_from(&conf.files);
        site.cluster = conf.options.text(&["ClusterName"]).unwrap_or("").to_owned();
        site.scheduler = options::scheduler(&conf.options, &mut site.remarks);
        site.priority = options::priority(&conf.options)?;
        options::others(&conf.options, conf.is_shown, &mut site);
    } else {
        site.remarks.push("no slurm.conf: the defaults of Slurm 22.05 are assumed; `scontrol show config` prints the actual configuration".into());
    }
    let mut records = conf.partitions.clone();
    if let Some(text) = texts.get("partitions.txt") {
        records = nodes::shown(text, "PartitionName=");
        if records.is_empty() {
            let why = "there are no partitions: provide the output of `scontrol show partition -o`";
            return Err(SiteError(format!("{}: {why}", text.name)));
        }
    }
    let places = match texts.get("nodes.txt") {
        Some(text) => nodes::of_text(&mut site, text, &conf, records.is_empty())?,
        None => nodes::of_conf(&mut site, &conf)?,
    };
    let weight = site.priority.weights[factor::PARTITION];
    if records.is_empty() && site.priority.is_multifactor && weight > 0.0 {
        let why = "is not modeled, because the job factors of partitions are unknown";
        let told = format!("PriorityWeightPartition={weight} {why}: {NODES_HELP}");
        site.assumed.push(told);
        let missing = format!("PriorityWeightPartition={weight}");
        site.not_modeled.push(missing);
    }
    nodes::report_unmodeled(&mut site, &places);
    nodes::partitions(&mut site, &records, &places)?;
    options::of_partitions(&records, &mut site);
    let is_missing = [site.nodes.is_empty(), site.partitions.is_empty()];
    if let Some(n) = is_missing.iter().position(|own| *own) {
        let what = ["nodes", "partitions"][n];
        let why = "also provide the output of these commands";
        return Err(SiteError(format!(
            "{name}: it has no {what}: {why}: {NODES_HELP}"
        )));
    }
    if texts.contains_key(CONF) && options::gives_whole_nodes(&conf.options) {
        let partitions = site.partitions.iter_mut();
        partitions.for_each(|own| own.is_exclusive = true);
    }
    of_accounting(&mut site, texts)?;
    accounting::drop_unenforced(&mut site, &conf.options);
    if let Some(text) = texts.get("reservations.txt") {
        let records = nodes::shown(text, "ReservationName=");
        let names = records.iter().map(|own| &own.0[0].value).join(", ");
        if !names.is_empty() {
            site.not_modeled.push(format!("the reservations {names}"));
            let why = "are not modeled: jobs may start on their nodes at any time";
            let what = format!("{}: the reservations {names} {why}", text.name);
            site.remarks.push(what);
        }
    }
    Ok(site)
}

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
    let missing = missing.map(|own| &own.name).join(", ");
    if !missing.is_empty() {
        let why = "their QOS is not in the output of `sacctmgr -P show qos`, so its limits are not modeled";
        site.remarks.push(format!("partitions {missing}: {why}"));
    }
    Ok(())
}
