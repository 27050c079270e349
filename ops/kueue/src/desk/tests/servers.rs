use super::*;

#[test]
fn new_nodes_replace_missing_ones() {
    let mut scene = Scene::fleet();
    scene.desk.check(&scene.cluster).unwrap();
    scene.cluster.machines.remove("big-2");
    scene.gang("g", gated(), &[]);
    scene.gang("h", gated(), &[]);
    assert_eq!(scene.released(), ["g"]);
    assert!(!scene.holds("g", "big-2"));
    scene.cluster.works.remove("g");
    scene.cluster.machines.remove("big-3");
    assert_eq!(scene.released(), [""; 0], "two nodes remain");
    scene.machine("new-1", json!({"nvidia.com/gpu": 8}), true);
    assert_eq!(scene.released(), ["h"]);
    assert!(scene.holds("h", "new-1"));
}

#[test]
fn use_by_others_reduces_capacity() {
    let mut scene = Scene::one_server(&[]);
    scene.pod("other", "n1", json!({"cpu": "10500m"}));
    scene.job("a", gated(), &[], wide());
    assert_eq!(scene.released(), [""; 0]);
    scene.pod("other", "n1", json!({"cpu": 10}));
    assert_eq!(scene.released(), ["a"]);
    scene.job("a", marked(&[]), &["QuotaReserved"], wide());
    scene.pod("a", "n1", json!({"cpu": 10}));
    scene.cluster.pods.remove("other@n1");
    scene.job("b", gated(), &[], wide());
    assert_eq!(scene.released(), ["b"]);
}

#[test]
fn jobs_without_capacity_do_not_block_others() {
    let mut scene = Scene::one_server(&[]);
    scene.pod("other", "n1", json!({"cpu": 15}));
    scene.job("a", gated(), &[], (1, json!({"cpu": 3, "memory": "6Gi"})));
    scene.job("b", gated(), &[], wide());
    assert_eq!(scene.released(), ["a"]);
    let waits = scene.desk.operator.scheduler.waits("b");
    assert!(waits.unwrap().lacks_capacity);
}

#[test]
fn closed_nodes_start_no_jobs_and_keep_running_ones() {
    let mut scene = Scene::one_server(&[]);
    scene.job("a", marked(&[]), &["QuotaReserved"], wide());
    assert_eq!(scene.released(), [""; 0]);
    scene.server(20, false);
    scene.job("b", gated(), &[], wide());
    assert_eq!(scene.look(), (vec![], vec![Concern::Capacity]));
    assert_eq!(scene.desk.operator.counts()[2], [1, 1]);
    scene.server(20, true);
    assert_eq!(scene.look(), (vec!["b".into()], vec![Concern::Capacity]));
}

#[test]
fn gangs_start_on_whole_servers() {
    let mut scene = Scene::fleet();
    scene.desk.check(&scene.cluster).unwrap();
    scene.gang("g", gated(), &[]);
    scene.gang("h", gated(), &[]);
    let at = Timestamps { now: 1.0, wall: 0 };
    let round = scene.desk.look(&scene.cluster, at);
    assert_eq!(round.releases.len(), 1, "four servers, three for each gang");
    let nodes = &round.releases[0].mark.nodes;
    assert_eq!(nodes.len(), 3);
    assert!(nodes.iter().all(|node| node.starts_with("big")));
}

#[test]
fn gangs_run_where_their_pods_are() {
    let mut scene = Scene::fleet();
    scene.desk.check(&scene.cluster).unwrap();
    let mark = marked(&["big-1", "big-2", "big-3"]);
    scene.gang("g", mark, &["QuotaReserved"]);
    assert_eq!(scene.released(), [""; 0]);
    assert_eq!(
        scene.nodes("g"),
        ["big-1", "big-2", "big-3"],
        "as in its mark"
    );
    scene.pod("g", "big-2", json!({"nvidia.com/gpu": 8}));
    scene.pod("g", "big-3", json!({"nvidia.com/gpu": 8}));
    assert_eq!(scene.released(), [""; 0], "one pod has no node yet");
    scene.pod("g", "big-4", json!({"nvidia.com/gpu": 8}));
    assert_eq!(scene.look(), (vec![], vec![Concern::Elsewhere]));
    assert_eq!(scene.nodes("g"), ["big-2", "big-3", "big-4"]);
    scene.gang("h", gated(), &[]);
    assert_eq!(scene.released(), [""; 0], "three servers are not free");
    scene.cluster.works.remove("g");
    scene.cluster.pods.clear();
    assert_eq!(scene.released(), ["h"]);
}

#[test]
fn gangs_move_without_freeing_their_new_servers() {
    let mut scene = Scene::fleet();
    scene.desk.check(&scene.cluster).unwrap();
    let mark = marked(&["big-1", "big-2", "big-3"]);
    scene.gang("g", mark, &["QuotaReserved"]);
    scene.gang("h", gated(), &[]);
    assert_eq!(scene.released(), [""; 0]);
    // If the gang left its servers first, the other gang would be started on them.
    for node in ["big-2", "big-3", "big-4"] {
        scene.pod("g", node, json!({"nvidia.com/gpu": 8}));
    }
    assert_eq!(scene.look(), (vec![], vec![Concern::Elsewhere]));
}

#[test]
fn remaining_pods_keep_the_capacity_of_their_job() {
    let mut scene = Scene::one_server(&[]);
    scene.job(
        "a",
        marked(&[]),
        &["QuotaReserved"],
        (1, json!({"cpu": 15})),
    );
    scene.pod("a", "n1", json!({"cpu": 15}));
    scene.job("b", gated(), &[], wide());
    assert_eq!(scene.released(), [""; 0]);
    scene.cluster.works.remove("a");
    assert_eq!(scene.released(), [""; 0]);
    scene.cluster.pods.clear();
    assert_eq!(scene.released(), ["b"]);
}

#[test]
fn rejects_clusters_with_too_few_nodes() {
    let mut scene = Scene::fleet();
    scene.cluster.machines.remove("big-3");
    let why = scene.desk.check(&scene.cluster).unwrap_err();
    assert!(
        why.contains("4 servers of the shape `node8`, but only 3 of 5 nodes"),
        "{why}"
    );
    let mut scene = Scene::one_server(&[]);
    scene.server(16, true);
    let why = scene.desk.check(&scene.cluster).unwrap_err();
    assert!(why.contains("80 % of the policy's `cpu`"), "{why}");
}
