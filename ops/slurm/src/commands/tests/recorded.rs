use super::cases;
use super::{fault, row, titles};
use crate::commands::{Hold, JobKey, JobState, NodeState, Nodes, QueueRow, SlurmQueue};

const QUEUE: &[u8] = include_bytes!("recorded/queue-22.05.txt");
const NODES: &[u8] = include_bytes!("recorded/nodes-22.05.txt");

#[test]
fn expects_the_titles_of_22_05() {
    let queue = include_str!("recorded/queue-title-22.05.txt");
    let nodes = include_str!("recorded/nodes-title-22.05.txt");
    for (recorded, columns) in [(queue, SlurmQueue::columns()), (nodes, Nodes::columns())] {
        assert_eq!(recorded.trim_end_matches('\n'), titles(columns));
    }
}

fn recorded() -> Vec<QueueRow> {
    let queue = SlurmQueue::parse(QUEUE);
    assert_eq!(queue.unread.example, None);
    queue.rows
}

fn of<'a>(rows: &'a [QueueRow], id: &str) -> &'a QueueRow {
    rows.iter()
        .find(|row| row.key.id.to_string() == id)
        .unwrap()
}

#[test]
fn parses_a_queue_of_22_05() {
    let rows = recorded();
    let ids: Vec<String> = rows.iter().map(|row| row.key.id.to_string()).collect();
    let expected = "16 15 13 14 5 12 11 10 9 8 7 6 4_7 4_9 3_1 3_2 3_3 2 1";
    assert_eq!(ids.join(" "), expected);
    assert!(
        rows.iter()
            .all(|row| row.user == "root" && row.qos.is_empty())
    );

    let plain = of(&rows, "1");
    assert_eq!(&plain.state, &JobState::Suspended);
    assert_eq!(plain.hold, Hold::None);
    assert_eq!(plain.amounts.get("cpu"), 2);
    assert_eq!(plain.amounts.get("mem"), 100 << 20);
    assert_eq!((plain.time_limit, &*plain.node_list), (Some(600), "n1"));
    assert!(plain.has_nodes());

    let bars = of(&rows, "2");
    assert_eq!((bars.hold, &*bars.name), (Hold::Admin, "a|b c"));
    assert_eq!(bars.time_limit, Some(86_400 + 2 * 3600 + 4 * 60));

    let text = of(&rows, "3_1");
    assert_eq!(&*text.name, "arr é日本語");
    assert_eq!(&*text.comment, "hello wörld");
    let found = (text.hold, text.depends, text.eligible);
    assert_eq!(found, (Hold::User, false, None));

    assert!(of(&rows, "4_7").depends && of(&rows, "4_7").hold == Hold::User);
    let found = of(&rows, "5").eligible;
    assert_eq!(found, Some(of(&rows, "5").key.submitted + 3600));
    assert_eq!(of(&rows, "6").name, "new\nline  17                  x");
    assert_eq!(of(&rows, "7").name, "é".repeat(32));
}

#[test]
fn parses_generic_resources_of_22_05() {
    let rows = recorded();
    let gpus = |id: &str| {
        let row = of(&rows, id);
        (!row.has_unknown_gres).then(|| row.amounts.get("gres/gpu"))
    };
    let found = ["7", "8", "9", "10", "11", "12", "13", "14"].map(gpus);
    let expected = [
        Some(0),
        Some(2),
        Some(1),
        Some(2),
        None,
        Some(1),
        Some(1),
        Some(2),
    ];
    assert_eq!(found, expected);
    assert_eq!(of(&rows, "12").amounts.get("gres/net"), 1);
    assert_eq!(of(&rows, "9").amounts.get("gres/gpu:a100"), 1);
    assert_eq!(of(&rows, "15").nodes, 2);
    assert_eq!(&*of(&rows, "15").node_list, "n[3-4]");
    assert_eq!(of(&rows, "16").partition, "fleet");
}

#[test]
fn parses_nodes_of_22_05() {
    let nodes = Nodes::parse(NODES);
    assert_eq!(nodes.unread.example, None);
    let names: Vec<&str> = nodes.rows.iter().map(|node| &*node.name).collect();
    assert_eq!(names, ["n1", "n2", "n3", "n4"]);
    let busy = &nodes.rows[1];
    let found = (busy.state, &*busy.words, &*busy.reason);
    assert_eq!(found, (NodeState::Up, "mixed", ""));
    assert_eq!(busy.capacity.get("cpu"), 20);
    assert_eq!(busy.allocated.get("cpu"), 2);
    assert_eq!(busy.capacity.get("mem"), 15_000 << 20);
    assert_eq!(busy.allocated.get("mem"), 1546 << 20);
    assert_eq!(busy.capacity.get("gres/gpu"), 4);
    assert_eq!(busy.allocated.get("gres/gpu:a100"), 3);
    assert_eq!(busy.capacity.get("gres/net"), 2);
    assert_eq!(busy.allocated.get("gres/net"), 0);
}

#[test]
fn classifies_states_of_nodes() {
    let mut line = NODES[..NODES.len() / 4].to_vec();
    let mut state = |words: &str| {
        line[64..184].fill(b' ');
        line[64..64 + words.len()].copy_from_slice(words.as_bytes());
        Nodes::parse(&line).rows[0].state
    };
    for (expected, states) in [
        (NodeState::Up, "idle idle+completing mixed+cloud+planned"),
        (
            NodeState::Drained,
            "allocated+drain idle+drain+completing mixed+maintenance+reserved",
        ),
        (
            NodeState::Down,
            "unknown+drain+invalid_reg idle+not_responding down down+drain",
        ),
        (NodeState::Unknown, "unknown n/a "),
    ] {
        for words in states.split(' ') {
            assert_eq!(state(words), expected, "{words}");
        }
    }
}

/// See `src/squeue/print.c` and `src/common/slurm_protocol_defs.c` of 23.11 and 26.05.
#[test]
fn parses_rows_of_later_versions() {
    let per_node = row(&[("tres-per-node", "gres/gpu:a100:2")]);
    assert_eq!(per_node.amounts.get("gres/gpu"), 2);
    let per_task = row(&[("tres-per-task", "cpu=2,gres/gpu=1"), ("NumTasks", "3")]);
    assert_eq!(per_task.amounts.get("gres/gpu"), 3);
    let tracked = row(&[
        (
            "tres-alloc",
            "cpu=1,mem=10M,node=1,billing=1,gres/gpu=2,gres/gpu:a100=2",
        ),
        ("tres-per-job", "gres/gpu:a100:2"),
    ]);
    assert_eq!(tracked.amounts.get("gres/gpu"), 2);
    assert!(!row(&[("Dependency", "")]).depends);
    let failed = row(&[("Reason", "launch failed requeued held")]);
    assert_eq!(failed.hold, Hold::Other);
    let found = row(&[("PriorityLong", "4294901757"), ("Reason", "Priority")]).hold;
    assert_eq!(found, Hold::None);
    let state = |text: &str| row(&[("StateCompact", text)]).state;
    assert_eq!(state("CG"), JobState::Completing);
    assert_eq!(state("RH"), JobState::Unknown("RH".into()));
    assert_eq!(state("?"), JobState::Unknown("?".into()));
}

#[test]
fn truncated_values_are_not_guessed() {
    let long = "x".repeat(200);
    for column in "QOS Account Partition TimeLimit tres-alloc NumNodes".split(' ') {
        let found = fault(&[(column, &long)]);
        assert!(found.starts_with(column), "{found}");
    }
    let tres = format!("cpu=4,mem=10M,{}", "gres/gpu:a100=1,".repeat(12));
    let queue = SlurmQueue::parse(&super::line(&[("tres-alloc", &tres)]));
    let key = JobKey {
        id: "17".parse().unwrap(),
        submitted: 1_795_629_282,
    };
    assert_eq!((queue.unread.known, queue.rows.len()), (vec![key], 0));
    assert!(row(&[("tres-per-node", &long)]).has_unknown_gres);
    let free = row(&[
        ("Reason", &long),
        ("Comment", &long),
        ("Name", &long),
        ("Dependency", &long),
    ]);
    assert_eq!((free.name.len(), free.depends), (64, true));
    let nodes = format!("n[{}1]", "1,".repeat(100));
    assert_eq!(row(&[("NodeList", &nodes)]).node_list, nodes);
}

/// The pending jobs were recorded from 22.05.8 on nodes with 20 CPUs. The results are the minimum
/// and the maximum number of nodes, and the CPUs and MiB on each node.
#[test]
fn parses_requested_nodes() {
    let names = "NumNodes MaxNodes NumTasks NTPerNode MinMemory tres-alloc";
    for [request, columns, expected] in cases(include_str!("asked.txt")) {
        let columns = names.split(' ').zip(columns.split(' '));
        let found = row(&columns.collect::<Vec<_>>());
        let each = found.on_each(found.nodes);
        let nodes = [found.nodes.into(), found.most_nodes.into()];
        let told = [nodes[0], nodes[1], each.get("cpu"), each.get("mem") >> 20];
        assert_eq!(
            told.map(|own| own.to_string()).join(" "),
            expected,
            "{request}"
        );
    }
    // Memory per node is counted once for each of the two nodes, and memory per CPU only once.
    let of = |memory| {
        let nodes = [("NumNodes", "2"), ("MaxNodes", "2")];
        let tres = ("tres-alloc", "cpu=32,mem=3200M,node=1");
        row(&[nodes[0], nodes[1], ("MinMemory", memory), tres]).on_each(2)
    };
    let told = [of("100M").get("mem") >> 20, of("3200M").get("mem") >> 20];
    assert_eq!(told, [1600, 3200]);
    assert_eq!(of("100M").get("cpu"), 16);
}
