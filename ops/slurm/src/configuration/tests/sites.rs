use super::super::{CONF, SchedulerSettings, SlurmSite, of_texts};
use super::{cases, of_conf, recorded, sorted, text, tres};
use crate::commands::Texts;

fn of_file() -> SlurmSite {
    of_texts(&Texts::from([(CONF, recorded("slurm.conf"))])).unwrap()
}

fn of_commands(nodes: &str) -> SlurmSite {
    of_texts(&Texts::from([
        (CONF, recorded("config-22.05.txt")),
        ("nodes.txt", recorded(nodes)),
        ("partitions.txt", recorded("partitions-22.05.txt")),
    ]))
    .unwrap()
}

#[test]
fn slurm_conf_and_scontrol_give_the_same_site() {
    let file = of_file();
    assert_eq!(file.cluster, "synthtest");
    let [cpu, .., gpu] = &file.nodes[..] else {
        panic!("{:?}", file.nodes);
    };
    assert_eq!(&cpu.capacity, &tres(&[("cpu", 14), ("mem", 14_000)]));
    assert_eq!(cpu.weight, 2);
    let expected = tres(&[
        ("cpu", 16),
        ("mem", 15_000),
        ("gpu", 3),
        ("gpu:a100", 2),
        ("gpu:h100", 1),
    ]);
    assert_eq!(gpu.capacity, expected);
    let names = file.partitions.iter();
    let names = names.map(|own| (own.name.as_str(), &own.nodes[..], own.tier, own.job_factor));
    let names: Vec<(&str, &[usize], u32, u32)> = names.collect();
    let expected = [
        ("all", &[0, 1, 2, 3][..], 1, 1),
        ("cpu", &[0, 1], 2, 7),
        ("gpu", &[2, 3], 1, 1),
        ("closed", &[3], 1, 1),
    ];
    assert_eq!(names, expected);
    let [all, cpu, gpu, closed] = &file.partitions[..] else {
        panic!();
    };
    let found = (all.max_time, all.default_time, all.max_nodes);
    assert_eq!(found, (Some(86_400.0), Some(1800.0), None));
    assert_eq!((gpu.max_time, cpu.max_nodes), (None, Some(2)));
    let found = [all, cpu, gpu, closed].map(|own| own.is_default);
    assert_eq!(found, [true, false, false, false]);
    let found = [all, cpu, gpu, closed].map(|own| own.is_exclusive);
    assert_eq!(found, [false, false, true, false]);
    let found = [all, cpu, gpu, closed].map(|own| own.state.as_str());
    assert_eq!(found, ["UP", "UP", "UP", "DOWN"]);
    let expected = SchedulerSettings {
        bf_interval: 20.0,
        bf_window: 172_800.0,
        bf_max_job_test: 300,
        default_queue_depth: 1000,
        batch_sched_delay: 0.0,
        ..SchedulerSettings::default()
    };
    assert_eq!(file.scheduler, expected);
    let rank = &file.priority;
    assert!(rank.is_multifactor);
    assert!(rank.favors_small && rank.small_relative_to_time && !rank.is_fair_tree);
    assert_eq!(&rank.weights[..2], [1000.0, 5000.0]);
    assert_eq!(rank.max_age, 14.0 * 86_400.0);
    assert_eq!(rank.decay_half_life, Some(216_000.0));

    let shown = sorted(of_commands("nodes-22.05.txt"));
    assert_eq!(sorted(file), shown);
    assert_eq!(sorted(of_commands("nodes-lines-22.05.txt")), shown);
}

#[test]
fn remarks_name_settings_that_are_not_modeled() {
    let remarks = of_file().remarks;
    let [parameters, types, features] = &remarks[..] else {
        panic!("{remarks:?}");
    };
    let is_told = parameters.ends_with("SchedulerParameters: not modeled: max_rpc_cnt");
    assert!(is_told, "{parameters}");
    let expected = "node features big, cpu, gpu are not modeled: a job that requests them may start on other nodes";
    assert_eq!(features, expected);
    assert!(types.contains("several types"), "{types}");
    let site = of_conf(include_str!("tables/remarks.conf"));
    let expected: Vec<_> = include_str!("tables/remarks.txt").lines().collect();
    assert_eq!(site.remarks, expected);
    assert!(site.scheduler.defers && !site.scheduler.backfills);
    assert_eq!(site.scheduler.sched_interval, None);
    assert_eq!(site.scheduler.bf_window, 86_400.0);
    assert_eq!(site.scheduler.bf_resolution, 30.0);
}

/// Slurm uses the last line with an option, but the first value of a parameter in a line.
#[test]
fn duplicates_resolve_as_in_slurm() {
    let nodes = "SelectType=select/cons_tres\nPriorityType=priority/basic\nNodeName=n1 CPUs=4\nPartitionName=p Nodes=n1\n";
    for [parameters, tests, remarks] in cases(include_str!("tables/doubles.txt")) {
        let site = of_conf(&format!("{nodes}SchedulerParameters={parameters}\n"));
        let found = (site.scheduler.bf_max_job_test, site.remarks.len());
        let expected = (tests.parse().unwrap(), remarks.parse().unwrap());
        assert_eq!(found, expected, "{parameters}: {:?}", site.remarks);
    }
}

#[test]
fn reads_types_of_resources() {
    let text = "NodeName=n1 Gres=gpu:V100:2(S:0-1),gpu:a100:2,nic:x:1\nPartitionName=p Nodes=n1\n";
    let site = of_conf(text);
    let found = site.servers().0.to_string();
    assert_eq!(found, "cpu=1,gpu=4,gpu:v100=2,gpu:a100=2,nic=1,nic:x=1");
}

#[test]
fn reports_settings_that_are_not_modeled() {
    let conf = |options: &str, partition: &str| {
        of_conf(&format!(
            "SelectType=select/cons_tres\nPriorityType=priority/multifactor\n{options}\nNodeName=n1 CPUs=4\nNodeName=n2 State=DRAIN\n\
             PartitionName=p Nodes=n1 {partition}\nPartitionName=q Nodes=n2 {partition}\n"
        ))
    };
    let [options, partition] = cases(include_str!("tables/usual.txt")).remove(0);
    let usual = conf(&options, &partition);
    let down = "nodes n2 are down or drained now, but are up in the replay";
    assert_eq!(usual.remarks, [down]);
    assert_eq!(usual.assumed, [""; 0]);
    for [options, partition, named] in cases(include_str!("tables/not_followed.txt")) {
        let site = conf(&options, &partition);
        let is_told = site.remarks.iter().any(|own| own.contains(&named));
        assert!(is_told, "{named} {:?}", site.remarks);
    }
    for [options, partition, named] in cases(include_str!("tables/assumed.txt")) {
        let assumed = conf(&options, &partition).assumed;
        let [told] = &assumed[..] else {
            panic!("{named}");
        };
        assert!(told.contains(&named), "{told}");
    }
}

#[test]
fn defaults_of_22_05() {
    let lines = "NodeName=n[1-2]\nPartitionName=p Nodes=n[1-2]\n";
    let site = of_conf(lines);
    assert_eq!(site.nodes[1].capacity, tres(&[("cpu", 1), ("mem", 1)]));
    assert!(site.partitions[0].is_exclusive);
    assert!(!site.priority.is_multifactor && !site.scheduler.counts_memory);
    assert_eq!(site.remarks.len(), 2);
    assert!(site.scheduler.defers);
    let site = of_conf(&format!("Epilog=/etc/slurm/epilog\n{lines}"));
    assert!(!site.scheduler.defers, "nodes report its end");
    let text = "SelectType=select/cons_tres\nNodeName=n Sockets=2 CoresPerSocket=8 ThreadsPerCore=2\nPartitionName=p Nodes=ALL";
    let site = of_conf(text);
    assert!(!site.partitions[0].is_exclusive && site.scheduler.counts_memory);
    assert_eq!(site.nodes[0].capacity.get("cpu"), Some(32));
}

#[test]
fn continues_lines_and_applies_defaults() {
    let site = of_conf(include_str!("tables/lines.conf"));
    let nodes = site.nodes.iter().map(|own| {
        let [cpu, mem] = ["cpu", "mem"].map(|name| own.capacity.get(name).unwrap());
        format!("{} {cpu} {mem} {} {}", own.name, own.weight, own.is_up)
    });
    let expected = ["a 2 1 1 true", "b 4 1 3 true", "c 4 100 9 false"].into_iter();
    let expected = expected.chain(["d1 4 100 9 false", "d2 4 100 9 false"]);
    assert!(nodes.eq(expected), "{:?}", site.nodes);
    assert_eq!(&site.partitions[0].nodes, &vec![0, 1, 3]);
    assert_eq!(site.partitions[0].max_time, Some(300.0));
    assert_eq!(site.partitions[1].nodes, [0, 1, 2, 3, 4]);
}

#[test]
fn reads_nodes_of_newer_versions() {
    let partitions = include_str!("tables/partitions-25.05.txt");
    let site = of_texts(&Texts::from([
        ("nodes.txt", recorded("nodes-25.05.txt")),
        ("partitions.txt", text("partitions.txt", partitions)),
    ]))
    .unwrap();
    let [cpu, gpu] = &site.nodes[..] else {
        panic!();
    };
    let found = (cpu.capacity.get("cpu"), cpu.capacity.get("mem"), cpu.is_up);
    assert_eq!(found, (Some(126), Some(510_000), true));
    assert_eq!((gpu.weight, gpu.is_up), (100, false));
    let amounts = gpu.capacity.0.iter();
    let amounts = amounts.map(|(name, count)| format!("{name}={count}"));
    let found = amounts.skip(1).collect::<Vec<_>>().join(" ");
    assert_eq!(found, "mem=1024000 gpu=4 gpu:h100=4 shard=16 shard:h100=16");
    let [all, some] = &site.partitions[..] else {
        panic!();
    };
    let found = (all.is_exclusive, all.qos.as_deref(), all.default_time);
    assert_eq!(found, (true, Some("big"), None));
    let found = (some.is_exclusive, some.state.as_str(), &some.nodes[..]);
    assert_eq!(found, (false, "INACTIVE", &[0][..]));
}

#[test]
fn reads_nodes_from_sinfo() {
    let known = of_commands("nodes-22.05.txt");
    for (name, has_gres) in [("sinfo-22.05.txt", false), ("sinfo-bars-22.05.txt", true)] {
        let site = of_texts(&Texts::from([("nodes.txt", recorded(name))])).unwrap();
        let names = |site: &SlurmSite| -> Vec<(String, Vec<usize>, bool)> {
            let of = |own: &super::super::SitePartition| {
                (own.name.clone(), own.nodes.clone(), own.is_default)
            };
            site.partitions.iter().map(of).collect()
        };
        assert_eq!(names(&site), names(&known), "{name}");
        for (own, known) in site.nodes.iter().zip(&known.nodes) {
            let told = &own.capacity.0[..2];
            assert_eq!(told, &tres(&[("cpu", 16), ("mem", 15_000)]).0[..]);
            assert_eq!(own.weight, known.weight);
            assert!(own.is_up);
            let found = own.capacity.0[2..] == known.capacity.0[2..];
            assert_eq!(found, has_gres || known.capacity.0.len() == 2);
        }
        let found = site.remarks.iter().any(|own| own.contains("not show Gres"));
        assert_eq!(found, !has_gres, "{:?}", site.remarks);
    }
}
