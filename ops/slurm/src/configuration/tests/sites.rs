//! Nodes, partitions and options.

use super::super::{CONF, SchedulerSettings, SlurmSite, of_texts};
use super::{of_conf, recorded, sorted, text, tres};
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

/// Includes, defaults, features, node sets, cores and memory of the system's own, nodes that do not exist yet.
#[test]
fn a_file_and_what_the_controller_says_of_it_are_one_site() {
    let file = of_file();
    assert_eq!(file.cluster, "synthtest");
    let [cpu, .., gpu] = &file.nodes[..] else {
        panic!("{:?}", file.nodes);
    };
    assert_eq!(
        (&cpu.has, cpu.weight),
        (&tres(&[("cpu", 14), ("mem", 14_000)]), 2)
    );
    assert_eq!(
        gpu.has,
        tres(&[
            ("cpu", 16),
            ("mem", 15_000),
            ("gpu", 3),
            ("gpu:a100", 2),
            ("gpu:h100", 1)
        ])
    );
    let names: Vec<(&str, &[usize], u32, u32)> = file
        .partitions
        .iter()
        .map(|own| (own.name.as_str(), &own.nodes[..], own.tier, own.job_factor))
        .collect();
    assert_eq!(
        names,
        [
            ("all", &[0, 1, 2, 3][..], 1, 1),
            ("cpu", &[0, 1], 2, 7),
            ("gpu", &[2, 3], 1, 1),
            ("closed", &[3], 1, 1),
        ]
    );
    let [all, cpu, gpu, closed] = &file.partitions[..] else {
        panic!();
    };
    assert_eq!(
        (all.max_time, all.default_time, all.max_nodes),
        (Some(86_400.0), Some(1800.0), None)
    );
    assert_eq!((gpu.max_time, cpu.max_nodes), (None, Some(2)));
    assert_eq!(
        [all, cpu, gpu, closed].map(|own| own.is_default),
        [true, false, false, false]
    );
    assert_eq!(
        [all, cpu, gpu, closed].map(|own| own.is_exclusive),
        [false, false, true, false]
    );
    assert_eq!(
        [all, cpu, gpu, closed].map(|own| own.state.as_str()),
        ["UP", "UP", "UP", "DOWN"]
    );
    assert_eq!(
        file.scheduler,
        SchedulerSettings {
            bf_interval: 20.0,
            bf_window: 172_800.0,
            bf_max_job_test: 300,
            default_queue_depth: 1000,
            batch_sched_delay: 0.0,
            ..SchedulerSettings::default()
        }
    );
    let rank = &file.priority;
    assert!(
        rank.is_multifactor
            && rank.favors_small
            && rank.small_relative_to_time
            && !rank.is_fair_tree
    );
    assert_eq!(&rank.weights[..2], [1000.0, 5000.0]);
    assert_eq!(
        (rank.max_age, rank.decay_half_life),
        (14.0 * 86_400.0, Some(216_000.0))
    );

    let shown = sorted(of_commands("nodes-22.05.txt"));
    assert_eq!(sorted(file), shown);
    assert_eq!(sorted(of_commands("nodes-lines-22.05.txt")), shown);
}

#[test]
fn remarks_say_what_is_not_followed() {
    let remarks = of_file().remarks;
    let [parameters, types, features] = &remarks[..] else {
        panic!("{remarks:?}");
    };
    assert!(
        parameters.ends_with("SchedulerParameters: not followed: max_rpc_cnt"),
        "{parameters}"
    );
    assert_eq!(
        features,
        "node features big, cpu, gpu are not followed: jobs that ask for them may start on other nodes"
    );
    assert!(types.contains("several types"), "{types}");
    let site = of_conf(
        "SelectType=select/cons_tres\nPriorityType=priority/basic\nPriorityWeigthAge=3\nPreemptType=preempt/qos\n\
         SchedulerParameters=bf_window=week,bf_resolution=30s,bf_magic,defer,bf_interval=-1,sched_interval=-1\n\
         NodeName=n1 CPUs=4\nPartitionName=p Nodes=n1 LLN=YES\n",
    );
    assert_eq!(
        site.remarks,
        [
            "slurm.conf, line 5: SchedulerParameters: `bf_window=week` is not followed, nor does Slurm: write bf_window=N with N from 1 to 43200",
            "slurm.conf, line 5: SchedulerParameters: `bf_resolution=30s` is read as bf_resolution=30, as Slurm reads it",
            "slurm.conf, line 5: SchedulerParameters: `bf_magic` is no parameter of Slurm 22.05 to 26.05, and not followed",
            "slurm.conf, line 4: PreemptType: `preempt/qos` is not followed: no job is preempted",
            "slurm.conf, line 3: PriorityWeigthAge: no option of Slurm 22.05 to 26.05, and not followed: did you mean `PriorityWeightAge`?",
            "partition p: LLN=YES is not followed: nodes are filled up one after the other",
        ]
    );
    assert!(site.scheduler.defers && !site.scheduler.backfills);
    assert_eq!(site.scheduler.sched_interval, None);
    assert_eq!(
        (site.scheduler.bf_window, site.scheduler.bf_resolution),
        (86_400.0, 30.0)
    );
}

/// Slurm follows the last of several lines, and in a line the first of several parameters; `max_job_bf` only without its newer name.
#[test]
fn of_doubles_the_same_counts_as_in_slurm() {
    let nodes = "SelectType=select/cons_tres\nPriorityType=priority/basic\nNodeName=n1 CPUs=4\nPartitionName=p Nodes=n1\n";
    for (parameters, tests, remarks) in [
        ("bf_max_job_test=10,bf_max_job_test=2000", 10, 1),
        ("max_job_bf=20,bf_max_job_test=10,bf_continue", 10, 1),
        ("BF_max_job_test=x,bf_max_job_test=10", 500, 2),
        (
            "max_job_bf=20,bf_max_job_user=3,bf_max_job_user_part=4",
            20,
            0,
        ),
        (
            "bf_max_job_test=1\nschedulerparameters=bf_max_job_test=7",
            7,
            1,
        ),
    ] {
        let site = of_conf(&format!("{nodes}SchedulerParameters={parameters}\n"));
        let found = (site.scheduler.bf_max_job_test, site.remarks.len());
        assert_eq!(found, (tests, remarks), "{parameters}: {:?}", site.remarks);
    }
}

/// Types in the order of the line, in lower case; what is in parentheses belongs to none.
#[test]
fn nodes_have_types_of_resources() {
    let site = of_conf(
        "NodeName=n1 Gres=gpu:V100:2(S:0-1),gpu:a100:2,nic:x:1\nPartitionName=p Nodes=n1\n",
    );
    assert_eq!(
        site.servers().0.to_string(),
        "cpu=1,gpu=4,gpu:v100=2,gpu:a100=2,nic=1,nic:x=1"
    );
}

/// Settings with their usual values are not named, others are, and those that change all results come first.
#[test]
fn settings_that_are_not_followed_are_named() {
    let conf = |options: &str, partition: &str| {
        of_conf(&format!(
            "SelectType=select/cons_tres\nPriorityType=priority/multifactor\n{options}\nNodeName=n1 CPUs=4\nNodeName=n2 State=DRAIN\n\
             PartitionName=p Nodes=n1 {partition}\nPartitionName=q Nodes=n2 {partition}\n"
        ))
    };
    let usual = conf(
        "PreemptMode=OFF\nPriorityFlags=NO_FAIR_TREE,SMALL_RELATIVE_TO_TIME\nSelectTypeParameters=CR_Core_Memory\nOverTimeLimit=0\n\
         CompleteWait=0\nPriorityUsageResetPeriod=NONE",
        "OverSubscribe=FORCE:1 AllowAccounts=ALL AllowQos=all MaxMemPerNode=UNLIMITED LLN=NO PreemptMode=off OverTimeLimit=NONE",
    );
    let down = "nodes n2 are down or drained now, and up in the replay";
    assert_eq!(
        (usual.remarks, usual.assumed),
        (vec![down.to_owned()], vec![])
    );
    for (options, partition, named) in [
        (
            "SelectTypeParameters=CR_Core,CR_LLN",
            "",
            "SelectTypeParameters: `CR_LLN` is not followed",
        ),
        (
            "PriorityFlags=MAX_TRES,NO_FAIR_TREE",
            "",
            "PriorityFlags: `MAX_TRES` is not followed",
        ),
        (
            "PreemptMode=SUSPEND,GANG",
            "",
            "PreemptMode: `SUSPEND,GANG` is not followed",
        ),
        (
            "JobSubmitPlugins=lua,require_timelimit",
            "",
            "JobSubmitPlugins: `lua` is not followed",
        ),
        (
            "Licenses=matlab:5",
            "",
            "Licenses: `matlab:5` is not followed",
        ),
        (
            "",
            "AllowQos=long",
            "partition p, q: AllowQos=long is not followed",
        ),
        (
            "",
            "DenyAccounts=a,b",
            "partition p, q: DenyAccounts=a,b is not followed",
        ),
        (
            "",
            "ExclusiveUser=YES",
            "partition p, q: ExclusiveUser=YES is not followed",
        ),
    ] {
        let site = conf(options, partition);
        assert!(
            site.remarks.iter().any(|own| own.contains(named)),
            "{named} {:?}",
            site.remarks
        );
    }
    for (options, partition, named) in [
        (
            "",
            "OverSubscribe=FORCE:2",
            "partition p, q: OverSubscribe=FORCE:2 is not followed",
        ),
        (
            "",
            "Shared=YES",
            "partition p, q: Shared=YES is not followed",
        ),
        (
            "PriorityWeightTRES=cpu=9",
            "",
            "PriorityWeightTRES: `cpu=9` is not followed",
        ),
    ] {
        let assumed = conf(options, partition).assumed;
        let [told] = &assumed[..] else {
            panic!("{named}");
        };
        assert!(told.contains(named), "{told}");
    }
}

/// Without a word: Slurm 22.05 gives whole nodes, and ranks jobs by their place.
#[test]
fn defaults_of_22_05() {
    let lines = "NodeName=n[1-2]\nPartitionName=p Nodes=n[1-2]\n";
    let site = of_conf(lines);
    assert_eq!(site.nodes[1].has, tres(&[("cpu", 1), ("mem", 1)]));
    assert!(
        site.partitions[0].is_exclusive
            && !site.priority.is_multifactor
            && !site.scheduler.counts_memory
    );
    assert_eq!(site.remarks.len(), 2);
    assert!(site.scheduler.defers);
    let site = of_conf(&format!("Epilog=/etc/slurm/epilog\n{lines}"));
    assert!(!site.scheduler.defers, "nodes tell when it has ended");
    let site = of_conf(
        "SelectType=select/cons_tres\nNodeName=n Sockets=2 CoresPerSocket=8 ThreadsPerCore=2\nPartitionName=p Nodes=ALL",
    );
    assert!(!site.partitions[0].is_exclusive && site.scheduler.counts_memory);
    assert_eq!(site.nodes[0].has.get("cpu"), Some(32));
}

#[test]
fn lines_go_on_and_defaults_hold_from_there_on() {
    let site = of_conf(
        "nodename=a cpus=2 # State=DOWN\nNodeName=DEFAULT CPUs=4 \\\n  Weight=3\nNodeName=b\nNodeName=DEFAULT \
         RealMemory=100\nNodeName=c,d[1-2] Reason=\"it is \\# down\" State=DRAIN Weight=9\nDownNodes=d2 State=UP\n\
         NodeSet=s Nodes=a,b\nPartitionName=DEFAULT MaxTime=5\nPartitionName=p Nodes=d1,s\nPartitionName=q Nodes=s,ALL\n",
    );
    let nodes: Vec<_> = site
        .nodes
        .iter()
        .map(|own| {
            (
                &*own.name,
                own.has.get("cpu"),
                own.has.get("mem"),
                own.weight,
                own.is_up,
            )
        })
        .collect();
    assert_eq!(
        nodes,
        [
            ("a", Some(2), Some(1), 1, true),
            ("b", Some(4), Some(1), 3, true),
            ("c", Some(4), Some(100), 9, false),
            ("d1", Some(4), Some(100), 9, false),
            ("d2", Some(4), Some(100), 9, false),
        ]
    );
    assert_eq!(
        (&site.partitions[0].nodes, site.partitions[0].max_time),
        (&vec![0, 1, 3], Some(300.0))
    );
    assert_eq!(site.partitions[1].nodes, [0, 1, 2, 3, 4]);
}

#[test]
fn nodes_of_newer_versions() {
    let partitions = "PartitionName=all AllowGroups=ALL Default=YES QoS=big DefaultTime=NONE DisableRootJobs=NO Exclusive=NODE GraceTime=0 \
         MaxNodes=UNLIMITED MaxTime=2-00:00:00 MaxCPUsPerNode=UNLIMITED MaxCPUsPerSocket=UNLIMITED Nodes=c1,g1 \
         PriorityJobFactor=1 PriorityTier=1 OverSubscribe=NO State=UP TotalCPUs=192 Topology=default\n\n\
         PartitionName=some Exclusive=NO Nodes=c1 OverSubscribe=NO State=INACTIVE\n";
    let site = of_texts(&Texts::from([
        ("nodes.txt", recorded("nodes-25.05.txt")),
        ("partitions.txt", text("partitions.txt", partitions)),
    ]))
    .unwrap();
    let [cpu, gpu] = &site.nodes[..] else {
        panic!();
    };
    assert_eq!(
        (cpu.has.get("cpu"), cpu.has.get("mem"), cpu.is_up),
        (Some(126), Some(510_000), true)
    );
    // Its reason says other things.
    assert_eq!((gpu.weight, gpu.is_up), (100, false));
    let amounts = gpu
        .has
        .0
        .iter()
        .map(|(name, count)| format!("{name}={count}"));
    assert_eq!(
        amounts.skip(1).collect::<Vec<_>>().join(" "),
        "mem=1024000 gpu=4 gpu:h100=4 shard=16 shard:h100=16"
    );
    let [all, some] = &site.partitions[..] else {
        panic!();
    };
    assert_eq!(
        (all.is_exclusive, all.qos.as_deref(), all.default_time),
        (true, Some("big"), None)
    );
    assert_eq!(
        (some.is_exclusive, some.state.as_str(), &some.nodes[..]),
        (false, "INACTIVE", &[0][..])
    );
}

#[test]
fn sinfo_gives_nodes_too() {
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
            // It does not say what the system keeps of CPUs and memory.
            assert_eq!(
                (&own.has.0[..2], own.weight, own.is_up),
                (
                    &tres(&[("cpu", 16), ("mem", 15_000)]).0[..],
                    known.weight,
                    true
                )
            );
            assert_eq!(
                own.has.0[2..] == known.has.0[2..],
                has_gres || known.has.0.len() == 2
            );
        }
        assert_eq!(
            site.remarks.iter().any(|own| own.contains("tells no Gres")),
            !has_gres,
            "{:?}",
            site.remarks
        );
    }
}
