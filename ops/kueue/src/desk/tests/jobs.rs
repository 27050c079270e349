use super::*;

#[test]
fn jobs_start_when_others_have_ended() {
    let mut scene = Scene::one_server(&[]);
    for name in ["a", "b", "c"] {
        scene.job(name, gated(), &[], wide());
    }
    assert_eq!(scene.released(), ["a", "b"]);
    assert_eq!(scene.released(), [""; 0], "the API has not answered yet");
    for name in ["a", "b"] {
        scene.desk.released(&name.into(), true);
        scene.job(name, marked(&[]), &[], wide());
    }
    assert_eq!(
        scene.released(),
        [""; 0],
        "capacity is used from the release on"
    );
    scene.job("a", marked(&[]), &["QuotaReserved"], wide());
    assert_eq!(scene.released(), [""; 0]);
    scene.job("a", marked(&[]), &["QuotaReserved", "Finished"], wide());
    assert_eq!(scene.released(), ["c"]);
}

#[test]
fn a_new_controller_adopts_the_state_of_the_api() {
    let mut scene = Scene::one_server(&[]);
    scene.job("a", marked(&[]), &["QuotaReserved"], wide());
    scene.job("b", marked(&[]), &[], wide());
    scene.job("c", gated(), &[], wide());
    assert_eq!(scene.released(), [""; 0]);
    assert_eq!(scene.desk.operator.counts()[2], [1, 2]);
    scene.cluster.works.remove("b");
    assert_eq!(scene.released(), ["c"]);
}

#[test]
fn failed_releases_are_repeated() {
    let mut scene = Scene::one_server(&[]);
    scene.job("a", gated(), &[], wide());
    assert_eq!(scene.released(), ["a"]);
    scene.desk.released(&"a".into(), false);
    assert_eq!(scene.released(), ["a"]);
    scene.desk.released(&"a".into(), true);
    scene.now += 40.0;
    assert_eq!(scene.released(), ["a"], "the API never showed it");
    scene.desk.released(&"a".into(), false);
    scene.job("a", json!({GATES: "a/b,synth/gate"}), &[], wide());
    assert_eq!(scene.look(), (vec![], vec![Concern::OtherGates]));
    assert_eq!(scene.desk.operator.jobs.len(), 0);
}

#[test]
fn evicted_jobs_free_their_capacity_and_are_readopted() {
    let mut scene = Scene::one_server(&[]);
    scene.job("a", marked(&[]), &["QuotaReserved"], wide());
    scene.job("b", marked(&[]), &["QuotaReserved"], wide());
    scene.job("c", gated(), &[], wide());
    assert_eq!(scene.released(), [""; 0]);
    scene.job("b", marked(&[]), &["Evicted"], wide());
    assert_eq!(scene.look(), (vec!["c".into()], vec![Concern::Evicted]));
    scene.desk.released(&"c".into(), true);
    scene.job("c", marked(&[]), &["QuotaReserved"], wide());
    scene.job("b", marked(&[]), &["QuotaReserved"], wide());
    assert_eq!(scene.released(), [""; 0]);
    assert_eq!(
        scene.desk.operator.counts()[2],
        [0, 3],
        "Kueue has admitted a job beyond the policy's capacity"
    );
}

#[test]
fn adopts_and_reports_jobs_released_by_others() {
    let mut scene = Scene::one_server(&[]);
    scene.job("a", marked(&[]), &["QuotaReserved"], wide());
    scene.job("b", marked(&[]), &["QuotaReserved"], wide());
    scene.job("c", gated(), &[], wide());
    assert_eq!(scene.released(), [""; 0]);
    scene.job("c", json!({}), &[], wide());
    assert_eq!(scene.look(), (vec![], vec![Concern::ReleasedByOthers]));
    scene.job("c", json!({}), &["QuotaReserved"], wide());
    assert_eq!(scene.released(), [""; 0]);
    assert_eq!(scene.desk.operator.counts()[2], [0, 3]);
}

#[test]
fn untyped_jobs_stay_gated_or_are_released() {
    let huge = || (1, json!({"cpu": 21}));
    let mut scene = Scene::one_server(&[]);
    scene.job("x", gated(), &[], huge());
    assert_eq!(scene.look(), (vec![], vec![Concern::NoType]));
    assert_eq!(scene.released(), [""; 0], "reported once");
    let mut scene = Scene::one_server(&["--unknown", "release"]);
    scene.job("x", gated(), &[], huge());
    assert_eq!(scene.look(), (vec!["x".into()], vec![Concern::NoType]));
    assert_eq!(scene.released(), [""; 0]);
}

#[test]
fn releases_all_pods_of_a_group() {
    let mut scene = Scene::one_server(&[]);
    scene.job("a", gated(), &[], wide());
    let pod = |name: &str, annotations: Value| {
        let metadata = json!({"name": name, "uid": name, "annotations": annotations});
        Owner::new(
            &serde_json::from_value(metadata).unwrap(),
            ("v1", "Pod"),
            GATE,
        )
    };
    let (p, q) = (pod("p", gated()), pod("q", gated()));
    let owners = vec![p.own.clone(), q.own.clone()];
    scene.cluster.works.get_mut("a").unwrap().owners = owners;
    let pods = [("p".into(), p), ("q".into(), q)];
    scene.cluster.owners.extend(pods);
    let at = |now: f64| Timestamps { now, wall: 0 };
    let round = scene.desk.look(&scene.cluster, at(1.0));
    assert_eq!(round.releases[0].owners.len(), 2);
    // The second request failed, so only the first pod has lost its gate.
    let marked = pod("p", marked(&[]));
    scene.cluster.owners.insert("p".into(), marked);
    scene.desk.released(&"a".into(), false);
    let round = scene.desk.look(&scene.cluster, at(2.0));
    assert_eq!(round.releases.len(), 1);
    assert_eq!(&*round.releases[0].owners[0].own.name, "q");
    assert_eq!(
        scene.desk.look(&scene.cluster, at(3.0)).releases,
        [],
        "the release is in progress"
    );
    assert_eq!(scene.desk.operator.counts()[2], [0, 1]);
}

#[test]
fn labels_select_the_type() {
    let mut scene = Scene::one_server(&[]);
    scene.job("a", gated(), &[], (1, json!({"cpu": 1})));
    let owner: &str = "o-a";
    scene.cluster.owners.get_mut(owner).unwrap().labels =
        [(TYPE.to_owned(), "type-3".to_owned())].into();
    assert_eq!(scene.released(), ["a"]);
    assert_eq!(scene.desk.operator.counts()[2], [0, 1]);
}

#[test]
fn files_assign_types_by_conditions() {
    let file = "types:
  - {name: type-3, match: [{queue: research, labels: {stage: train*}}, {time_limit: {above: 1h}}]}
  - {name: type-2, match: [{namespace: other}]}
  - {name: type-1}\n";
    let mut scene = Scene::one_server(&[]);
    let setup = scene.desk.setup.clone();
    scene.desk = Desk::of(policy("first-fit"), Some((file, "types.yaml")), &setup).unwrap();
    let names = ["labelled", "long", "short", "large"];
    for name in names {
        let cpus = if name == "large" { 4 } else { 1 };
        scene.job(name, gated(), &[], (1, json!({"cpu": cpus})));
    }
    let mut work = |name: &str, queue: &str, limit: Option<f64>| {
        let work = scene.cluster.works.get_mut(name).unwrap();
        (work.queue, work.limit) = (queue.into(), limit);
    };
    work("labelled", "research", Some(60.0));
    work("long", "", Some(3601.0));
    work("short", "research", Some(3600.0));
    work("large", "", Some(60.0));
    let owner: &str = "o-labelled";
    scene.cluster.owners.get_mut(owner).unwrap().labels =
        [("stage".to_owned(), "training".to_owned())].into();
    let Cluster { works, owners, .. } = &scene.cluster;
    let of = |name: &str| scene.desk.find(&View::new(&works[name], owners, GATE));
    assert_eq!(
        names.map(|name| of(name).ok()),
        [Some(2), Some(2), Some(0), None],
        "the last one demands more than type-1"
    );
    let file = "types: [{name: type-1, match: [{time_limit: {above: soon}}]}]\n";
    let refused = Desk::of(policy("first-fit"), Some((file, "types.yaml")), &setup);
    let why = refused.err().unwrap();
    assert!(
        why.contains("`soon` is not a duration") && why.contains("types.yaml:1:"),
        "{why}"
    );
}

#[test]
fn rejects_preemptive_policies() {
    let setup = Setup::parse_from(["synth-kueue", "p.json", "--resource", "network=net"]);
    let why = Desk::of(policy("msr-full"), None, &setup).err().unwrap();
    assert!(why.contains("--preemption none"), "{why}");
}

#[test]
fn reports_ten_thousand_waiting_jobs_once() {
    let mut scene = Scene::one_server(&[]);
    for n in 0..10_000 {
        scene.job(&format!("j{n:05}"), gated(), &[], wide());
    }
    assert_eq!(scene.released().len(), 2);
    let round = scene
        .desk
        .look(&scene.cluster, Timestamps { now: 2.0, wall: 2 });
    assert_eq!(round.decided.told, [], "unchanged jobs are not reported");
}
