use synth_slurm::commands::{Exported, Text, Texts};
use synth_slurm::configuration::of_texts;

use crate::cluster::real_slurm;

#[test]
fn reads_a_site_from_its_file_and_from_its_commands() {
    let Some(cluster) = real_slurm() else { return };
    let path = cluster.configuration();
    let conf = Text {
        name: path.display().to_string(),
        text: crate::common::read_text(&path),
    };
    let mut file = of_texts(&Texts::from([("config.txt", conf)])).unwrap();
    // This cluster has no accounting, so there are no past jobs.
    let slurm = cluster.slurm("synth");
    let why = slurm.export("now-4weeks").unwrap_err().to_string();
    let is_told =
        why.starts_with("sacct ended with exit code 1: Slurm accounting storage is disabled");
    assert!(is_told, "{why}");
    let (texts, remarks) = slurm.set_up();
    for name in ["config.txt", "nodes.txt", "partitions.txt"] {
        assert!(texts.contains_key(name), "{name}");
    }
    let mut all = remarks.iter();
    let is_told = all.any(|own| own.starts_with("`sacctmgr -P show qos`: sacctmgr ended"));
    assert!(is_told, "{remarks:?}");
    let mut shown = of_texts(&texts).unwrap();
    for site in [&mut file, &mut shown] {
        site.remarks.clear();
        site.options.clear();
        site.places.clear();
        site.files.clear();
    }
    assert_eq!(file, shown);
    assert_eq!(file.nodes.len(), 4);
    assert_eq!(file.partitions.len(), 3);
    assert_eq!(file.cluster.as_str(), "synthtest");
    assert_eq!(file.nodes[0].capacity.get("mem"), Some(15_000));

    // The commands that are printed must be the commands that were run.
    for command in &Exported::commands("now-4weeks")[1..4] {
        let (command, _) = command.split_once(" > ").unwrap();
        assert!(!cluster.run(command).is_empty(), "{command}");
    }
}
