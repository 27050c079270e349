//! Nodes, servers, and what others use there.

use super::*;

#[test]
fn a_new_node_takes_the_place_of_one_that_is_gone() {
    let mut scene = Scene::fleet();
    scene.desk.check(&scene.cluster).unwrap();
    scene.cluster.machines.remove("big-2");
    scene.gang("g", gated(), &[]);
    scene.gang("h", gated(), &[]);
    assert_eq!(scene.released(), ["g"]);
    assert!(!scene.holds("g", "big-2"));
    scene.cluster.works.remove("g");
    scene.cluster.machines.remove("big-3");
    assert_eq!(scene.released(), [""; 0], "two are left");
    scene.machine("new-1", json!({"nvidia.com/gpu": 8}), true);
    assert_eq!(scene.released(), ["h"]);
    assert!(scene.holds("h", "new-1"));
}

#[test]
fn what_others_use_is_not_the_policys() {
    let mut scene = Scene::one_server(&[]);
    scene.pod("other", "n1", json!({"cpu": "10500m"}));
    scene.job("a", gated(), &[], wide());
    assert_eq!(scene.released(), [""; 0]);
    scene.pod("other", "n1", json!({"cpu": 10}));
    assert_eq!(scene.released(), ["a"]);
    // Its own pods count once.
    scene.job("a", marked(&[]), &["QuotaReserved"], wide());
    scene.pod("a", "n1", json!({"cpu": 10}));
    scene.cluster.pods.remove("other@n1");
    scene.job("b", gated(), &[], wide());
    assert_eq!(scene.released(), ["b"]);
}

#[test]
fn a_job_that_is_shut_out_keeps_no_other_waiting() {
    let mut scene = Scene::one_server(&[]);
    scene.pod("other", "n1", json!({"cpu": 15}));
    scene.job("a", gated(), &[], (1, json!({"cpu": 3, "memory": "6Gi"})));
    scene.job("b", gated(), &[], wide());
    assert_eq!(scene.released(), ["a"]);
    assert!(
        scene
            .desk
            .operator
            .scheduler
            .waits("b")
            .unwrap()
            .is_shut_out
    );
}

#[test]
fn a_closed_node_starts_nothing_and_loses_nothing() {
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
fn a_gang_starts_on_whole_servers() {
    let mut scene = Scene::fleet();
    scene.desk.check(&scene.cluster).unwrap();
    scene.gang("g", gated(), &[]);
    scene.gang("h", gated(), &[]);
    let round = scene
        .desk
        .look(&scene.cluster, HostMoment { now: 1.0, wall: 0 });
    scene.now = 1.0;
    assert_eq!(round.releases.len(), 1, "four servers, three for each gang");
    assert_eq!(round.releases[0].mark.nodes.len(), 3);
    assert!(
        round.releases[0]
            .mark
            .nodes
            .iter()
            .all(|node| node.starts_with("big"))
    );
}

#[test]
fn a_gang_runs_where_its_pods_are() {
    let mut scene = Scene::fleet();
    scene.desk.check(&scene.cluster).unwrap();
    let mark = marked(&["big-1", "big-2", "big-3"]);
    scene.gang("g", mark, &["QuotaReserved"]);
    assert_eq!(scene.released(), [""; 0]);
    assert_eq!(
        scene.nodes("g"),
        ["big-1", "big-2", "big-3"],
        "as its mark says"
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
fn nothing_starts_where_a_gang_is_found() {
    let mut scene = Scene::fleet();
    scene.desk.check(&scene.cluster).unwrap();
    let mark = marked(&["big-1", "big-2", "big-3"]);
    scene.gang("g", mark, &["QuotaReserved"]);
    scene.gang("h", gated(), &[]);
    assert_eq!(scene.released(), [""; 0]);
    // One server of three is another one: were it to leave first, the other gang would start on the two.
    for node in ["big-2", "big-3", "big-4"] {
        scene.pod("g", node, json!({"nvidia.com/gpu": 8}));
    }
    assert_eq!(scene.look(), (vec![], vec![Concern::Elsewhere]));
}

#[test]
fn pods_that_end_later_than_their_job_keep_its_room() {
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
fn a_cluster_with_too_few_nodes_is_refused() {
    let mut scene = Scene::fleet();
    scene.cluster.machines.remove("big-3");
    let why = scene.desk.check(&scene.cluster).unwrap_err();
    assert!(
        why.contains("4 servers of the shape `node8`, and 3 of 5 nodes"),
        "{why}"
    );
    let mut scene = Scene::one_server(&[]);
    scene.server(16, true);
    let why = scene.desk.check(&scene.cluster).unwrap_err();
    assert!(why.contains("80 % of the policy's `cpu`"), "{why}");
}
