//! The files in `recorded` were printed by Slurm 22.05.8, or follow the source of newer versions
//! (src/api/node_info.c and src/api/partition_info.c at the tags 25-05-8-1 and 26-05-3-1).
#![allow(clippy::unwrap_used)]

mod accounts;
mod broken;
mod sites;

use super::{CONF, SlurmSite, Tres, of_texts};
use crate::commands::tests::cases;
use crate::commands::{Text, Texts};

fn text(name: &str, text: &str) -> Text {
    Text {
        name: name.into(),
        text: text.into(),
    }
}

fn tres(amounts: &[(&str, u64)]) -> Tres {
    let amounts = amounts.iter().map(|(name, n)| ((*name).to_owned(), *n));
    Tres(amounts.collect())
}

fn recorded(name: &str) -> Text {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/src/configuration/tests/recorded"
    );
    let path = format!("{folder}/{name}");
    text(&path, &std::fs::read_to_string(&path).unwrap())
}

fn of_conf(conf: &str) -> SlurmSite {
    of_texts(&Texts::from([(CONF, text("slurm.conf", conf))])).unwrap()
}

fn sorted(mut site: SlurmSite) -> (SlurmSite, Vec<Vec<String>>) {
    let of = |own: &super::SitePartition| {
        let names = own.nodes.iter().map(|n| site.nodes[*n].name.clone());
        names.collect::<Vec<String>>()
    };
    let mut names: Vec<Vec<String>> = site.partitions.iter().map(of).collect();
    names.iter_mut().for_each(|names| names.sort());
    site.partitions.iter_mut().for_each(|own| own.nodes.clear());
    site.nodes.sort_by(|a, b| a.name.cmp(&b.name));
    site.remarks.clear();
    site.options.clear();
    site.places.clear();
    site.files.clear();
    (site, names)
}
