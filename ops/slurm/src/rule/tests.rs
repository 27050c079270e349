//! The results of these tests were computed by hand.
#![allow(clippy::unwrap_used)] // Tests may panic.

mod prepared;

use std::sync::Arc;

use super::fair_share::FairShare;
use super::{Facts, RecordedJobs, SlurmRule};
use crate::configuration::{
    Association, PrioritySettings, Qos, SiteNode, SitePartition, SlurmSite, Tres, factor, scope,
};
use synth_multiresource::simulator::ExternalRule as _;
use synth_traces::replay::{Clock, DecisionState, DemandKinds, Log, Speed, Walk};
use synth_traces::trace::{ReadOptions, Source, Trace};

fn site(nodes: usize) -> SlurmSite {
    let node = |n: usize| SiteNode {
        name: format!("n{n}"),
        capacity: Tres(vec![("cpu".into(), 4)]),
        ..SiteNode::default()
    };
    let mut site = SlurmSite {
        nodes: (0..nodes).map(node).collect(),
        partitions: vec![SitePartition {
            name: "all".into(),
            nodes: (0..nodes).collect(),
            is_default: true,
            ..SitePartition::default()
        }],
        ..SlurmSite::default()
    };
    site.scheduler.batch_sched_delay = 0.0;
    site
}

/// Moves the second node to a partition of its own.
fn part(own: &mut SlurmSite) {
    let mut other = own.partitions[0].clone();
    (other.name, other.nodes, other.is_default) = ("other".into(), vec![1], false);
    own.partitions[0].nodes = vec![0];
    own.partitions.push(other);
}

fn qos(name: &str, scope: usize, resource: &str, most: u64) -> Qos {
    let mut own = Qos {
        name: name.into(),
        ..Qos::default()
    };
    own.limits[scope].set(resource, Some(most));
    own
}

/// The submission, size and time limit \[s\], the number of nodes, and the total CPUs of a job.
type Row = (u32, u32, u32, u32, u32);

fn jobs(list: &str) -> Vec<Row> {
    let jobs = list.split(", ").map(|job| {
        let job: Vec<u32> = job.split(' ').map(|own| own.parse().unwrap()).collect();
        (job[0], job[1], job[2], job[3], job[4])
    });
    jobs.collect()
}

/// Returns the time at which each job starts \[s\]. The facts of each job are changed by `change`.
fn starts(site: &SlurmSite, rows: &[Row], change: impl Fn(usize, &mut Facts)) -> Vec<f64> {
    let rows = rows.iter().map(|(submit, size, limit, nodes, cpus)| {
        let minutes = f64::from(*limit) / 60.0;
        (*submit, *size, format!("cpu={cpus},node={nodes}|{minutes}"))
    });
    starts_of(site, sacct("AllocTRES|TimelimitRaw", rows), change)
}

/// Returns the output of sacct for jobs with these submissions, sizes \[s\] and other columns.
fn sacct(others: &str, rows: impl Iterator<Item = (u32, u32, String)>) -> String {
    let mut text = format!("JobID|Submit|Start|End|ElapsedRaw|State|{others}\n");
    for (n, (submit, size, others)) in rows.enumerate() {
        // The time is a whole minute.
        let at = 1_699_999_980 + submit;
        let end = at + size;
        text += &format!("{n}|{at}|{at}|{end}|{size}|COMPLETED|{others}\n");
    }
    text
}

fn log_of(site: &SlurmSite, text: String) -> Log {
    let options = ReadOptions {
        servers: Some(site.servers().0),
        ..ReadOptions::default()
    };
    let source = Source::Text("jobs".into(), text.into_bytes());
    Log::read(&mut Trace::open(&source, &options).unwrap(), |_| ()).unwrap()
}

fn starts_of(site: &SlurmSite, text: String, change: impl Fn(usize, &mut Facts)) -> Vec<f64> {
    let log = log_of(site, text);
    let (mut facts, _) = super::facts(site, &log);
    facts
        .iter_mut()
        .enumerate()
        .for_each(|(n, own)| change(n, own));
    walked(site, &log, facts)
}

fn walked(site: &SlurmSite, log: &Log, facts: Vec<Facts>) -> Vec<f64> {
    let clock = Clock::whole(Speed::ONE);
    let kinds = DemandKinds::exact(log);
    let state = DecisionState::of_log(log, &log.jobs, &kinds, clock).unwrap();
    let rule = SlurmRule {
        at: Some((Arc::new(site.clone()), facts.into())),
        ..SlurmRule::default()
    };
    let mut walk = Walk::new(&state, rule.rule(&state.fleet).unwrap());
    walk.finish().unwrap();
    let jobs = log.jobs.iter().zip(walk.ends());
    jobs.map(|(job, end)| end - job.size).collect()
}

fn plain(site: &SlurmSite, rows: &[Row]) -> Vec<f64> {
    starts(site, rows, |_, _| ())
}

/// With EASY the long job would start next to the reservation, but here the whole node is reserved.
#[test]
fn backfilled_jobs_end_before_the_nodes_are_reserved() {
    let rows = jobs("0 600 600 1 3, 10 100 600 1 2, 20 50 300 1 1, 30 50 900 1 1");
    // The backfill scheduler runs at 0 and 30 s, and the reservation begins at 600 s.
    assert_eq!(plain(&site(1), &rows), [0.0, 600.0, 30.0, 600.0]);
}

#[test]
fn without_backfilling_no_job_overtakes() {
    let rows = [(0, 100, 120, 1, 3), (10, 50, 60, 1, 4), (20, 5, 60, 1, 1)];
    let mut own = site(1);
    assert_eq!(plain(&own, &rows), [0.0, 100.0, 30.0]);
    own.scheduler.backfills = false;
    assert_eq!(plain(&own, &rows), [0.0, 100.0, 150.0]);
}

#[test]
fn blocked_partitions_do_not_block_others() {
    let mut own = site(2);
    own.scheduler.backfills = false;
    part(&mut own);
    let rows = jobs("0 100 120 1 4, 1 50 60 1 4, 2 10 60 1 4, 3 10 60 1 1");
    let found = starts(&own, &rows, |n, facts| facts.partition = u32::from(n == 2));
    assert_eq!(found, [0.0, 100.0, 2.0, 150.0]);
}

#[test]
fn gangs_wait_for_all_their_nodes() {
    let rows = jobs("0 100 120 1 4, 0 200 240 1 4, 1 10 60 3 12, 2 10 60 2 8");
    // The job with two nodes overtakes the job that needs a third node, which is used for 120 s.
    assert_eq!(plain(&site(4), &rows), [0.0, 0.0, 100.0, 30.0]);
}

#[test]
fn priority_is_a_sum_of_factors() {
    let rows = [(0, 1000, 1200, 1, 4), (1, 10, 60, 1, 4), (2, 10, 60, 1, 4)];
    let mut own = site(1);
    own.priority.is_multifactor = true;
    let later_first = |n: usize, facts: &mut Facts| facts.site_factor = 100.0 * n as f64;
    assert_eq!(starts(&own, &rows, later_first), [0.0, 1010.0, 1000.0]);
    own.priority.weights[factor::AGE] = 1e9;
    own.priority.max_age = 1e6;
    assert_eq!(starts(&own, &rows, later_first), [0.0, 1000.0, 1010.0]);
}

#[test]
fn fair_share_favors_lower_usage() {
    let mut own = site(1);
    own.priority.is_multifactor = true;
    own.priority.weights[factor::FAIR_SHARE] = 1000.0;
    own.associations = vec![
        of("root", None, "", Some(1), 0.0),
        of("a", None, "root", Some(1), 0.0),
        of("b", None, "root", Some(1), 0.0),
        of("a", Some("ann"), "a", Some(1), 0.0),
        of("b", Some("bob"), "b", Some(1), 0.0),
    ];
    // Ann runs a job for 900 s, so the job of Bob is started before her next job.
    let rows = [(0, 900, 1200, 1, 4), (1, 10, 60, 1, 4), (2, 10, 60, 1, 4)];
    let users = |n: usize, facts: &mut Facts| facts.association = Some([3, 3, 4][n]);
    assert_eq!(starts(&own, &rows, users), [0.0, 910.0, 900.0]);
}

#[test]
fn enforces_user_limits() {
    let mut own = site(2);
    own.qos = vec![qos("normal", scope::USER, "", 1)];
    let rows = [(0, 100, 120, 1, 1), (1, 10, 60, 1, 1), (2, 10, 60, 1, 1)];
    let of = |n: usize, facts: &mut Facts| {
        (facts.qos, facts.user) = (Some(0), u32::from(n == 2));
    };
    assert_eq!(starts(&own, &rows, of), [0.0, 100.0, 2.0]);
    own.qos[0].limits[scope::USER].set("", None);
    own.qos[0].limits[scope::USER].set("cpu", Some(2));
    assert_eq!(starts(&own, &rows, of), [0.0, 1.0, 2.0]);
    let mut own = SlurmSite {
        qos: own.qos,
        ..site(1)
    };
    own.scheduler.backfills = false;
    own.qos[0].limits[scope::USER].set("cpu", Some(4));
    let rows = [(0, 100, 120, 1, 3), (1, 10, 60, 1, 2), (2, 10, 60, 1, 1)];
    assert_eq!(starts(&own, &rows, of)[2], 100.0);
    own.qos[0].limits[scope::USER].set("", Some(1));
    assert_eq!(starts(&own, &rows, of)[2], 2.0);
}

#[test]
fn assoc_limit_stop_blocks_later_jobs() {
    let mut own = site(1);
    own.qos = vec![qos("normal", scope::USER, "", 1)];
    own.scheduler.assoc_limit_stop = true;
    let rows = jobs("0 100 120 1 1, 1 10 60 1 1, 2 10 600 1 1, 2 10 60 1 1");
    let of = |n: usize, facts: &mut Facts| {
        (facts.qos, facts.user) = (Some(0), n.saturating_sub(1) as u32);
    };
    // At 30 s a job is started if its time limit ends before 530 s, but not if it ends at 630 s.
    assert_eq!(starts(&own, &rows, of), [0.0, 100.0, 100.0, 30.0]);
}

#[test]
fn jobs_choose_the_best_fitting_node() {
    let rows = jobs("0 100 120 1 4, 0 1000 1200 1 2, 110 500 600 1 1, 120 10 60 1 4");
    assert_eq!(plain(&site(2), &rows), [0.0, 0.0, 110.0, 120.0]);
}

#[test]
fn schedulers_run_without_events() {
    let mut own = site(1);
    own.scheduler.batch_sched_delay = 3.0;
    own.scheduler.backfills = false;
    let rows = [(0, 1, 60, 1, 1), (2, 5, 60, 1, 1)];
    assert_eq!(plain(&own, &rows), [0.0, 3.0]);
    // If there is an Epilog, the end of a job is reported by its nodes and is handled immediately.
    let rows = [(0, 1, 60, 1, 4), (0, 5, 60, 1, 4)];
    assert_eq!(plain(&own, &rows), [0.0, 3.0]);
    own.scheduler.defers = false;
    assert_eq!(plain(&own, &rows), [0.0, 1.0]);
    let mut own = site(1);
    own.scheduler.bf_max_job_start = 1;
    let rows = jobs("0 200 240 1 1, 1 50 60 1 4, 2 20 60 1 1, 2 20 60 1 1");
    assert_eq!(plain(&own, &rows)[2..], [30.0, 60.0]);
}

fn of(
    account: &str,
    user: Option<&str>,
    parent: &str,
    shares: Option<u64>,
    usage: f64,
) -> Association {
    Association {
        account: account.into(),
        user: user.map(str::to_owned),
        parent: parent.into(),
        shares,
        usage,
        ..Association::default()
    }
}

/// See doc/html/classic_fair_share.shtml. An additional user has the shares of the account.
#[test]
fn classic_fair_share_uses_effective_usage() {
    let tree = FairShare::new(&[
        of("root", None, "", Some(1), 100.0),
        of("A", None, "root", Some(40), 45.0),
        of("D", None, "root", Some(60), 25.0),
        of("B", None, "A", Some(30), 20.0),
        of("C", None, "A", Some(10), 25.0),
        of("E", None, "D", Some(25), 25.0),
        of("F", None, "D", Some(35), 0.0),
        of("B", Some("1"), "B", Some(1), 20.0),
        of("C", Some("2"), "C", Some(1), 25.0),
        of("C", Some("3"), "C", Some(1), 0.0),
        of("E", Some("4"), "E", Some(1), 25.0),
        of("F", Some("5"), "F", Some(1), 0.0),
        of("F", Some("6"), "F", None, 0.0),
    ]);
    let mut priority = PrioritySettings {
        is_fair_tree: false,
        ..PrioritySettings::default()
    };
    let usual = [0.408479, 0.022097, 0.125, 0.5, 0.749154, 0.749154_f64];
    let users = |priority: &PrioritySettings| tree.factors(priority)[7..].to_vec();
    for (found, usual) in users(&priority).into_iter().zip(usual) {
        assert!((found - usual).abs() < 1e-4, "{found} {usual}");
    }
    let bare = users(&priority)[0];
    priority.dampening = 2.0;
    assert!((users(&priority)[0] - bare.sqrt()).abs() < 1e-12);
}

#[test]
fn fair_share_skips_accounts_without_shares() {
    let tree = FairShare::new(&[
        of("root", None, "", Some(1), 10.0),
        of("a", None, "root", None, 0.0),
        of("b", None, "root", Some(1), 10.0),
        of("a", Some("ann"), "a", Some(1), 0.0),
        of("b", Some("bob"), "b", Some(1), 10.0),
    ]);
    let found = tree.factors(&PrioritySettings::default());
    assert_eq!(found, [0.0, 0.0, 0.0, 1.0, 0.5]);
}

#[test]
fn partition_qos_takes_precedence() {
    let mut own = site(2);
    own.qos = vec![
        qos("normal", scope::GROUP, "cpu", 1),
        qos("large", scope::GROUP, "cpu", 8),
    ];
    own.partitions[0].qos = Some("large".into());
    let rows = [(0, 100, 120, 1, 1), (1, 10, 60, 1, 1)];
    let of = |_: usize, facts: &mut Facts| facts.qos = Some(0);
    assert_eq!(starts(&own, &rows, of), [0.0, 1.0]);
    own.partitions[0].qos = None;
    assert_eq!(starts(&own, &rows, of), [0.0, 100.0]);
}

#[test]
fn partitions_keep_their_nodes_of_different_shapes() {
    let mut own = site(2);
    own.nodes[0].capacity.set("cpu", Some(8));
    part(&mut own);
    let rows = [(0, 100, 120, 1, 8), (1, 10, 60, 1, 4), (2, 10, 60, 1, 4)];
    let found = starts(&own, &rows, |n, facts| facts.partition = u32::from(n == 1));
    assert_eq!(found, [0.0, 1.0, 100.0]);
}

#[test]
fn ends_on_other_nodes_delay_reservations() {
    let mut own = site(2);
    part(&mut own);
    let rows = jobs("0 300 300 1 1, 0 3000 3600 1 2, 5 300 300 1 1, 10 10 60 1 2, 20 900 900 1 1");
    let elsewhere = |n: usize, facts: &mut Facts| facts.partition = u32::from(n == 2);
    assert_eq!(starts(&own, &rows, elsewhere)[3..], [930.0, 30.0]);
    let rows = [rows[0], rows[1], rows[3], rows[4]];
    assert_eq!(starts(&own, &rows, |_, _| ())[2..], [300.0, 310.0]);
}

/// Returns the starts of jobs that run for 100 s with a time limit of 2 min and these amounts.
fn of_types(nodes: &[&str], jobs: &[(u32, &str)]) -> Vec<f64> {
    let mut own = site(nodes.len());
    for (node, types) in own.nodes.iter_mut().zip(nodes) {
        let types = types.split(',').map(|own| (format!("gpu:{own}"), 2));
        let all = 2 * types.clone().count() as u64;
        node.capacity.set("gpu", Some(all));
        node.capacity.0.extend(types);
    }
    let rows = jobs.iter().map(|(submit, amounts)| {
        let (requested, got) = amounts.split_once('>').unwrap_or((*amounts, *amounts));
        (*submit, 100, format!("cpu=1,{requested}|cpu=1,{got}|2"))
    });
    let text = sacct("ReqTRES|AllocTRES|TimelimitRaw", rows);
    starts_of(&own, text, |_, _| ())
}

#[test]
fn gpu_types_are_resources() {
    let (a100, any) = ("node=1,gres/gpu=2,gres/gpu:a100=2", "node=1,gres/gpu=2");
    let found = of_types(&["a100", "v100"], &[(0, a100), (10, a100)]);
    assert_eq!(found, [0.0, 100.0]);
    let given = format!("{any}>{a100}");
    let found = of_types(&["a100", "v100"], &[(0, a100), (10, given.as_str())]);
    assert_eq!(found, [0.0, 10.0]);
    // The job without a type is on the V100, so both A100 nodes are free for the pair.
    let both = "node=2,gres/gpu=4,gres/gpu:a100=4";
    let jobs = [(0, any), (10, both), (20, any)];
    let found = of_types(&["a100", "v100", "a100"], &jobs);
    assert_eq!(found, [0.0, 10.0, 100.0]);
}

#[test]
fn untyped_jobs_take_the_first_type() {
    let (a100, v100, any) = (
        "node=1,gres/gpu=2,gres/gpu:a100=2",
        "node=1,gres/gpu=2,gres/gpu:v100=2",
        "node=1,gres/gpu=2",
    );
    let jobs = [(0, any), (10, v100), (20, a100)];
    assert_eq!(of_types(&["a100,v100"], &jobs), [0.0, 10.0, 100.0]);
    // The last job would not end before the reservation of the second job.
    assert_eq!(of_types(&["v100,a100"], &jobs), [0.0, 100.0, 100.0]);
    let four = "node=1,gres/gpu=4";
    let found = of_types(&["v100,a100"], &[(0, a100), (10, four), (110, any)]);
    assert_eq!(found, [0.0, 100.0, 200.0]);
}

/// By hand, with two nodes of 4 CPUs: the jobs with 2 CPUs are on different nodes, so they are
/// moved to one node when a job with 4 CPUs starts. If another one starts, only the largest two fit.
#[test]
fn running_jobs_are_moved_if_a_recorded_job_does_not_fit() {
    let own = site(2);
    let rows = jobs(
        "0 600 600 1 3, 0 600 600 1 2, 0 600 600 1 2, 0 600 600 1 4, 0 600 600 1 4, 0 600 600 1 2",
    );
    let columns = rows
        .iter()
        .map(|own| (own.0, own.1, format!("cpu={},node=1|10", own.4)));
    let log = log_of(&own, sacct("AllocTRES|TimelimitRaw", columns));
    let (facts, _) = super::facts(&own, &log);
    let kinds = DemandKinds::exact(&log);
    let clock = Clock::whole(Speed::ONE);
    let state = DecisionState::of_log(&log, &log.jobs, &kinds, clock).unwrap();
    let rule = SlurmRule {
        at: Some((Arc::new(own), facts.into())),
        ..SlurmRule::default()
    };
    let mut running = RecordedJobs::new(&rule, &state.fleet);
    let kind = |n: usize| state.types[log.jobs[n].kind as usize] as usize;
    for n in [0, 1, 5] {
        assert!(running.start(n, kind(n), 0.0));
    }
    running.end(0, 1.0);
    assert!(running.start(2, kind(2), 2.0));
    running.end(5, 3.0);
    assert_ne!(running.servers(1), running.servers(2));
    assert!(running.start(3, kind(3), 4.0));
    let [one, two] = [1, 2].map(|n| running.servers(n).unwrap());
    assert_eq!(one, two);
    assert_ne!(running.servers(3).unwrap(), one);
    assert!(!running.start(4, kind(4), 5.0));
    let placed = (1..5).filter(|n| running.servers(*n).is_some()).count();
    assert_eq!((running.servers(0), placed), (None, 2));
}
