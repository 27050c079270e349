#![allow(clippy::unwrap_used)]

mod gangs;

use super::document::TypesFile;
use super::types::TypeMap;
use super::{export_kueue, export_slurm};
use synth_core::document::DocumentError;
use synth_make::synthesis::{SynthesisOptions, SynthesisOutcome, synthesize};
use synth_multiresource::artifact::Checked;
use synth_multiresource::workload::{Fleet, Workload};
use synth_operator::Amounts;
use synth_slurm::commands::{Hold, JobKey, JobState, NodeRow, NodeState, QueueRow};

/// The shapes of `models/section7.yaml`, with a copy of the lean type that has a longer run time.
const SERVER: &str =
    "kind: multiresource\ntime_unit: min\nserver: {capacity: {cpu: 20, memory: 15}}\njobs:
  - {name: lean, demand: {cpu: 3, memory: 7}, arrival_rate: .01, mean_size: 1, limit: 60}
  - {name: long, demand: {cpu: 3, memory: 7}, arrival_rate: .01, mean_size: 10, limit: 600}
  - {name: slim, demand: {cpu: 4, memory: 1}, arrival_rate: .01, mean_size: 1}
  - {name: wide, demand: {cpu: 10, memory: 1}, arrival_rate: .01, mean_size: 1}\n";

const FLEET: &str = "kind: multiresource\ntime_unit: s\nservers:
  - {name: big, count: 2, capacity: {cpu: 20, memory: 14}}
  - {name: gpu, capacity: {cpu: 8, memory: 4, gpu: 2}}
jobs:
  - {name: plain, demand: {cpu: 4, memory: 2}, arrival_rate: .01, mean_size: 1}
  - {name: train, demand: {cpu: 4, memory: 2, gpu: 1}, arrival_rate: .01, mean_size: 1}\n";

fn fleet(text: &str) -> Fleet {
    Fleet::parse(text, "t").unwrap().workload
}

fn map(text: &str, file: &str) -> Result<TypeMap, String> {
    let fleet = fleet(text);
    let written = match file {
        "" => TypesFile::default(),
        file => TypesFile::parse(file, "types.yaml", &fleet).map_err(|why| why.to_string())?,
    };
    TypeMap::of(&fleet, &[], written)
}

fn amounts(cpus: u64, memory_mib: u64) -> Amounts {
    let mut amounts = Amounts::default();
    amounts.set("cpu", cpus);
    amounts.set("mem", memory_mib << 20);
    amounts
}

fn job(cpus: u64, memory_mib: u64) -> QueueRow {
    QueueRow {
        key: JobKey {
            submitted: 0,
            id: "17".parse().unwrap(),
        },
        state: JobState::Pending,
        hold: Hold::User,
        reason: "JobHeldUser".into(),
        depends: false,
        waits_for: Vec::new(),
        names_nodes: false,
        is_exclusive: false,
        eligible: None,
        nodes: 1,
        most_nodes: 1,
        per_node: Amounts::default(),
        amounts: amounts(cpus, memory_mib),
        has_unknown_gres: false,
        time_limit: None,
        partition: "synth".into(),
        qos: "normal".into(),
        account: "physics".into(),
        user: "ann".into(),
        comment: String::new(),
        name: "sim-7".into(),
        node_list: String::new(),
    }
}

fn node(name: &str, cpus: u64, memory_mib: u64) -> NodeRow {
    NodeRow {
        name: name.into(),
        state: NodeState::Up,
        words: "idle".into(),
        reason: String::new(),
        capacity: amounts(cpus, memory_mib),
        allocated: Amounts::default(),
    }
}

#[test]
fn chooses_the_cheapest_type_that_fits() {
    let types = map(SERVER, "").unwrap();
    let of = |cpus, memory| types.find(&job(cpus, memory)).ok();
    assert_eq!(of(4, 1024), Some(2));
    assert_eq!(of(1, 10), Some(2));
    assert_eq!(of(5, 1), Some(3));
    assert_eq!(of(3, 1025), Some(1), "one more MiB needs the lean type");
    assert_eq!((of(4, 1025), of(11, 1), of(1, 7169)), (None, None, None));
    let limited = |seconds| {
        let mut row = job(3, 7168);
        row.time_limit = Some(seconds);
        types.find(&row).ok()
    };
    let found = [limited(60), limited(3600), limited(3601), limited(99_999)];
    assert_eq!(found, [Some(0), Some(0), Some(1), Some(1)]);
}

#[test]
fn rejects_jobs_that_fit_no_type() {
    let types = map(SERVER, "").unwrap();
    let mut several = job(1, 1);
    (several.nodes, several.most_nodes) = (2, 2);
    assert!(types.find(&several).is_err());
    let mut component = job(1, 1);
    component.key.id = "17+1".parse().unwrap();
    assert!(types.find(&component).is_err());
    let mut unknown = job(1, 1);
    unknown.has_unknown_gres = true;
    let is_known = types.find(&unknown).is_ok();
    assert!(is_known, "the policy has no generic resources");
    let of_fleet = map(FLEET, "servers: {big: [\"n[1-2]\"], gpu: [g1]}").unwrap();
    assert!(of_fleet.find(&unknown).is_err());
    let mut gpu = job(1, 1);
    gpu.amounts.set("gres/gpu", 1_u64);
    assert_eq!(of_fleet.find(&job(1, 1)), Ok(0));
    assert_eq!(of_fleet.find(&gpu), Ok(1));
}

#[test]
fn prices_determine_the_cheapest_type() {
    let text = "kind: multiresource\ntime_unit: s\nserver: {capacity: {cpu: 20, memory: 15}}\njobs:
  - {name: thick, demand: {cpu: 2, memory: 6}, arrival_rate: .01, mean_size: 1}
  - {name: wide, demand: {cpu: 18, memory: 5}, arrival_rate: .01, mean_size: 1}\n";
    let of = |prices: &[f64]| {
        let types = TypeMap::of(&fleet(text), prices, TypesFile::default()).unwrap();
        types.find(&job(1, 1024)).ok()
    };
    assert_eq!(of(&[]), Some(0));
    assert_eq!(of(&[0.0, 1.0]), Some(1), "only memory is scarce");
    assert_eq!(of(&[1.0, 0.0]), Some(0));
}

#[test]
fn files_assign_types_by_conditions() {
    let file = "types:
  - name: slim
    match:
      - {qos: debug}
      - {name: \"sim-?\", time_limit: {up_to: 1h}}
  - {name: wide, match: [{account: \"phys*\", comment: \"wide*\"}]}
  - {name: long}\n";
    let types = map(SERVER, file).unwrap();
    let of = |change: fn(&mut QueueRow)| {
        let mut row = job(3, 512);
        change(&mut row);
        types.find(&row).ok()
    };
    assert_eq!(of(|row| row.qos = "debug".into()), Some(2));
    assert_eq!(of(|row| row.time_limit = Some(3600)), Some(2));
    assert_eq!(of(|row| row.time_limit = Some(3601)), Some(1));
    assert_eq!(of(|row| row.comment = "wide one".into()), Some(3));
    assert_eq!(of(|_| ()), Some(1));
    let found = of(|row| (row.qos, row.amounts) = ("debug".into(), amounts(3, 2048)));
    assert_eq!(found, Some(1), "a type that does not fit is skipped");
    assert_eq!(of(|row| row.amounts = amounts(9, 512)), None);
}

#[test]
fn reports_faults_at_their_places() {
    let faults = [
        ("kinds: {}\n", "kinds", "unknown"),
        ("types: [{name: slam}]\n", "types[0].name", "no type `slam`"),
        (
            "types: [{name: slim, match: [{colour: red}]}]\n",
            "types[0].match[0].colour",
            "unknown",
        ),
        (
            "types: [{name: slim, match: [{}]}]\n",
            "types[0].match[0]",
            "empty condition",
        ),
        (
            "types: [{name: slim}, {name: slim}]\n",
            "types[1].name",
            "listed twice",
        ),
        (
            "types: [{name: slim, match: [{time_limit: {up_to: soon}}]}]\n",
            "types[0].match[0].time_limit.up_to",
            "`soon` is not a duration",
        ),
        (
            "types: [{name: slim, match: [{time_limit: {above: 2h, up_to: 1h}}]}]\n",
            "types[0].match[0].time_limit",
            "the range is empty",
        ),
        (
            "resources: {net: gres/net}\n",
            "resources.net",
            "no resource `net`",
        ),
        (
            "resources: {memory: lots}\n",
            "resources.memory",
            "`lots` is not a resource",
        ),
        (
            "servers: {server: [\"n[1-\"]}\n",
            "servers.server[0]",
            "not a list of nodes",
        ),
        (
            "servers: {server: [n1, n2]}\n",
            "servers.server",
            "2 nodes, but the policy has 1",
        ),
        (
            "servers: {sever: [n1]}\n",
            "servers.sever",
            "no servers of the shape `sever`",
        ),
    ];
    for (file, place, message) in faults {
        let found = TypesFile::parse(file, "types.yaml", &fleet(SERVER)).unwrap_err();
        let DocumentError::Faults { report, faults } = found else {
            panic!("{file}: {found}");
        };
        let there = faults.iter().find(|fault| fault.place.to_string() == place);
        let there = there.unwrap_or_else(|| panic!("{file}: {report}"));
        assert!(there.message.contains(message), "{file}: {}", there.message);
        assert!(report.contains("types.yaml:1:"), "{report}");
    }
}

#[test]
fn types_with_equal_demand_need_a_file() {
    let text = SERVER.replace(", limit: 600", ", limit: 60");
    let found = map(&text, "").unwrap_err();
    let is_told = found.starts_with("the types `lean` and `long` have the same demand");
    assert!(is_told, "{found}");
    assert!(map(&text, "types: [{name: lean}]").is_ok());
}

#[test]
fn maps_nodes_to_servers() {
    let text = "servers: {gpu: [g1], big: [n7, n3]}";
    let types = map(FLEET, text).unwrap();
    let servers = ["n7", "n3", "g1", "n1"].map(|node| types.nodes.server(node));
    assert_eq!(servers, [Some(0), Some(1), Some(2), None]);
    assert_eq!(types.nodes.named(&[1]), vec!["n3".to_owned()]);
    assert_eq!(types.nodes.named(&[3]), [""; 0]);
    let mut nodes = vec![
        node("n3", 20, 14 << 10),
        node("n7", 24, 20 << 10),
        node("g1", 8, 4 << 10),
    ];
    let found = types.check_nodes(&nodes).unwrap_err();
    let is_told = found.starts_with("g1 has 0 of `gpu`, but the policy expects 2");
    assert!(is_told, "{found}");
    nodes[2].capacity.set("gres/gpu", 2_u64);
    types.check_nodes(&nodes).unwrap();
    nodes.remove(0);
    let found = types.check_nodes(&nodes).unwrap_err();
    assert!(found.contains("is not in the partition"), "{found}");
    let found = map(FLEET, "").unwrap_err();
    assert!(found.contains("with 2 nodes for this shape"), "{found}");
}

#[test]
fn one_server_is_a_node_or_a_pool() {
    let mut types = map(SERVER, "").unwrap();
    types.check_nodes(&[node("n1", 20, 15 << 10)]).unwrap();
    let found = types.check_nodes(&[node("n1", 20, 15_000)]).unwrap_err();
    let is_told = found.contains("n1 has 14 of `memory`, but the policy expects 15")
        && found.contains("mem:1000M");
    assert!(is_told, "{found}");
    let thousands = map(SERVER, "resources: {memory: mem:1000M}").unwrap();
    thousands.check_nodes(&[node("n1", 20, 15_000)]).unwrap();
    let two = [node("n1", 10, 8 << 10), node("n2", 10, 8 << 10)];
    let found = types.check_nodes(&two).unwrap_err();
    assert!(found.contains("the partition has 2 nodes"), "{found}");
    types.is_pooled = true;
    types.check_nodes(&two).unwrap();
    let found = types.check_nodes(&[]).unwrap_err();
    assert!(found.contains("the partition has 0 nodes"), "{found}");
    assert_eq!(types.nodes.server("n1"), Some(0));
    assert_eq!(types.nodes.named(&[0]), [""; 0]);
}

fn policy() -> Checked {
    let workload = Workload::parse(SERVER, "t").unwrap().workload;
    let options = SynthesisOptions::new(synth_multiresource::artifact::Preemption::None);
    let SynthesisOutcome::Policy(synthesized) = synthesize(&workload, &options).unwrap() else {
        panic!("a policy");
    };
    Checked::check(synthesized.artifact.clone()).unwrap()
}

#[test]
fn exported_files_can_be_read_back() {
    let policy = policy();
    let files = export_slurm(&policy, std::path::Path::new("p.json"), "batch").unwrap();
    let names: Vec<&str> = files.iter().map(|(name, _)| &**name).collect();
    let expected = [
        "README.md",
        "job_submit.lua",
        "slurm-lines.conf",
        "types.yaml",
        "synth-batch.service",
    ];
    assert_eq!(names, expected);
    let text = |name: &str| &files.iter().find(|(own, _)| own == name).unwrap().1;
    let types = map(SERVER, text("types.yaml")).unwrap();
    assert_eq!(types.find(&job(4, 1024)), Ok(2));
    let examples = text("types.yaml").replace("# types:", "types:");
    let examples = examples.replace("#   - ", "  - ");
    map(SERVER, &examples).unwrap();
    assert!(text("job_submit.lua").contains("if name == \"batch\" then"));
    let is_served = text("synth-batch.service")
        .contains(" --partition batch --types /etc/synth/batch/types.yaml ");
    assert!(is_served);
    assert!(text("README.md").contains("--release-all --partition batch"));
    for partition in ["", "a b", "-x", "x;y", "a\"b"] {
        let is_refused = export_slurm(&policy, std::path::Path::new("p.json"), partition).is_err();
        assert!(is_refused, "{partition}");
    }
}

#[test]
fn kueue_quotas_equal_node_capacity() {
    let policy = policy();
    let files = export_kueue(&policy, "{}", "research").unwrap();
    let text = |name: &str| &files.iter().find(|(own, _)| own == name).unwrap().1;
    let queues = text("queues.yaml");
    for line in [
        "coveredResources: [cpu, memory]",
        "{name: cpu, nominalQuota: \"20\"}",
        "{name: memory, nominalQuota: 15Gi}",
        "metadata: {name: synth, namespace: research}",
    ] {
        assert!(queues.contains(line), "{line} in {queues}");
    }
    for (name, text) in files.iter().filter(|(name, _)| name.ends_with(".yaml")) {
        for part in text.split("\n---\n") {
            let read = serde_yaml::from_str::<serde_json::Value>(part);
            assert!(read.is_ok(), "{name}: {read:?}");
        }
    }
    for namespace in ["", "A", "-a", "a-", "a.b", "a\nb"] {
        let is_refused = export_kueue(&policy, "{}", namespace).is_err();
        assert!(is_refused, "{namespace}");
    }
}
