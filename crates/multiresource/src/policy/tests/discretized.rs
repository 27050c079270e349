//! MaxWeight on a grid, against MaxWeight itself and against all schedules of the grid, which are derived from
//! amounts as they are written.

use super::literal::{Known, drive};
use super::*;
use crate::policy::DiscretizedMaxWeightConfig;
use crate::schedule::Schedule;
use rand::{RngExt, SeedableRng};

fn rule(workload: &Workload, cells: u64, preempts: bool) -> DiscretizedMaxWeight {
    DiscretizedMaxWeight::new(workload, DiscretizedMaxWeightConfig { cells, preempts })
}

/// Ten cores, needs of 3, 7 and 1, and ten cells: decision by decision what MaxWeight does, also where it takes over
/// in the middle.
#[test]
fn a_grid_that_divides_demands_changes_nothing() {
    for takes_over in [false, true] {
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(2);
        let exact = MaxWeight::plain(&cores()).bounding(&cores());
        let mut exact = Stage::new(&cores(), exact, true);
        let mut grid = Stage::new(&cores(), rule(&cores(), 10, true), true);
        let mut stops = 0;
        for _ in 0..4000 {
            let i = random.random_range(0..3);
            let said = if random.random_bool(0.5) {
                [exact.arrive(i), grid.arrive(i)]
            } else if exact.system.running(i) > 0 {
                [exact.end(i), grid.end(i)]
            } else {
                continue;
            };
            assert_eq!(said[0], said[1]);
            stops += said[0].matches('-').count();
            if takes_over {
                *grid.policy = rule(&cores(), 10, true);
                grid.policy.take_over(&mut grid.system);
                exact.policy.take_over(&mut exact.system);
            }
        }
        assert!(stops > 100 && exact.system.waiting(0) > 10);
    }
}

/// Types that demand 3.1 and 3.9 of ten are one class on four cells: two of them fit, and the oldest of both types are
/// served; without a grid three would fit.
#[test]
fn a_cell_is_a_class() {
    let text = "kind: multiresource\ntime_unit: s\nserver: {capacity: {cpu: 10}}\njobs:
  - {name: less, demand: {cpu: 3.1}, arrival_rate: 1, mean_size: 1}
  - {name: more, demand: {cpu: 3.9}, arrival_rate: 1, mean_size: 1}
  - {name: half, demand: {cpu: 5.1}, arrival_rate: 1, mean_size: 1}\n";
    let workload = Workload::parse(text, "cells").unwrap().workload;
    for preempts in [true, false] {
        let mut stage = Stage::new(&workload, rule(&workload, 4, preempts), preempts);
        assert_eq!([stage.arrive(1), stage.arrive(0)], ["+1:0", "+0:1"]);
        assert_eq!([stage.arrive(0), stage.arrive(2)], ["", ""]);
        assert_eq!(stage.finish(0, 1, 9.0), "+0:2");
    }
}

/// What is needed of a server of ten cpus and 1.5 of memory; the first two types share a cell of five.
const NEEDS: [[f64; 2]; 6] = [
    [1.7, 0.13],
    [2.0, 0.30],
    [2.1, 0.45],
    [3.9, 1.01],
    [6.3, 0.31],
    [9.9, 0.10],
];
const K: i64 = 5;

fn two_resources() -> Workload {
    let types = NEEDS.iter().enumerate().map(|(i, [cpu, memory])| {
        format!(
            "  - {{name: t{i}, demand: {{cpu: {cpu}, memory: {memory}}}, arrival_rate: 1, mean_size: 1}}\n"
        )
    });
    let types: String = types.collect();
    let head =
        "kind: multiresource\ntime_unit: s\nserver: {capacity: {cpu: 10, memory: 1.5}}\njobs:\n";
    Workload::parse(&(head.to_owned() + &types), "two")
        .unwrap()
        .workload
}

/// The cells of a type, in hundredths.
fn cells(i: usize) -> [i64; 2] {
    let hundredths = |need: f64| (need * 100.0).round() as i64;
    let up = |need: f64, capacity: i64| (hundredths(need) * K + capacity - 1) / capacity;
    [up(NEEDS[i][0], 1000), up(NEEDS[i][1], 150)]
}

fn class(i: usize) -> usize {
    (0..NEEDS.len()).find(|j| cells(*j) == cells(i)).unwrap()
}

/// All counts by class with no more than these, in so many cells.
fn all_within(most: &[i64], room: [i64; 2]) -> Vec<Vec<i64>> {
    let mut all = vec![vec![]];
    for (c, most) in most.iter().enumerate() {
        all = all
            .into_iter()
            .flat_map(|u: Vec<i64>| (0..=*most).map(move |n| [u.clone(), vec![n]].concat()))
            .filter(|u| {
                let used = |j: usize| -> i64 { (0..=c).map(|d| u[d] * cells(d)[j]).sum() };
                used(0) <= room[0] && used(1) <= room[1]
            })
            .collect();
    }
    all
}

fn counted(jobs: impl Iterator<Item = usize>) -> Vec<i64> {
    let mut counts = vec![0; NEEDS.len()];
    jobs.for_each(|i| counts[class(i)] += 1);
    counts
}

fn worth(counts: &[i64], weights: &[i64]) -> i64 {
    counts.iter().zip(weights).map(|(u, w)| u * w).sum()
}

fn minus(a: &[i64], b: &[i64]) -> Vec<i64> {
    a.iter().zip(b).map(|(a, b)| (a - b).max(0)).collect()
}

/// Those that run, and by class all, those that ran before and those that run now.
fn scene(jobs: &[Known], running: &[u64]) -> [Vec<i64>; 3] {
    // Of each class those that run are older than those that wait.
    for c in 0..NEEDS.len() {
        let own = jobs.iter().filter(|job| class(job.job_type) == c);
        let runs: Vec<bool> = own.map(|job| running.contains(&job.number)).collect();
        assert!(runs.is_sorted_by(|a, b| a >= b), "the oldest of a class");
    }
    let now = jobs.iter().filter(|job| running.contains(&job.number));
    [
        counted(jobs.iter().map(|job| job.job_type)),
        counted(jobs.iter().filter(|job| job.runs).map(|job| job.job_type)),
        counted(now.map(|job| job.job_type)),
    ]
}

#[test]
fn what_runs_has_most_weight_on_the_grid() {
    let workload = two_resources();
    assert_eq!([class(1), class(2)], [0, 2]);
    let mut preempted = 0;
    let policy = Box::new(rule(&workload, K as u64, true));
    drive(&workload, policy, (1.5, 1.0), |_, jobs, running| {
        let [weights, before, now] = scene(jobs, running);
        let all = all_within(&weights, [K; 2]);
        let best = all.iter().map(|u| worth(u, &weights)).max();
        assert_eq!(Some(worth(&now, &weights)), best);
        preempted += minus(&before, &now).iter().sum::<i64>();
    });
    assert!(preempted > 100, "{preempted}");
}

/// What starts without preemption is best beside what runs, or, where that is worth less than half of the best, the
/// best of what a best schedule has.
#[test]
fn without_preemption_it_extends_or_makes_way() {
    let workload = two_resources();
    let (mut waited, mut extended) = (0, 0);
    let policy = Box::new(rule(&workload, K as u64, false));
    drive(&workload, policy, (1.5, 1.0), |_, jobs, running| {
        let [weights, before, now] = scene(jobs, running);
        let started = minus(&now, &before);
        let used = |j: usize| -> i64 { (0..NEEDS.len()).map(|c| before[c] * cells(c)[j]).sum() };
        let room = [K - used(0), K - used(1)];
        let value = |u: &[i64]| worth(u, &weights);
        let most_of = |bounds: &[i64]| all_within(bounds, room).iter().map(|u| value(u)).max();
        let beside = most_of(&minus(&weights, &before)).unwrap();
        let all = all_within(&weights, [K; 2]);
        let best = all.iter().map(|u| value(u)).max().unwrap();
        if 2 * (value(&before) + beside) >= best {
            assert_eq!(value(&started), beside);
            extended += i64::from(beside > 0);
        } else {
            let mut ways = all.iter().filter(|m| value(m) == best);
            let is_best_of = |m: &Vec<i64>| {
                let left = minus(m, &before);
                let within = started.iter().zip(&left).all(|(a, b)| a <= b);
                within && most_of(&left) == Some(value(&started))
            };
            assert!(ways.any(is_best_of), "{started:?}");
            waited += i64::from(beside > value(&started));
        }
    });
    assert!(waited > 50 && extended > 500, "{waited}, {extended}");
}

/// A rule without preemption takes over from one that has filled the server with what cells have no room for: nothing
/// starts before they have, and nothing is lost.
#[test]
fn it_takes_over_what_cells_have_no_room_for() {
    let text = "kind: multiresource\ntime_unit: s\nserver: {capacity: {cpu: 10}}\njobs:
  - {name: three, demand: {cpu: 3.1}, arrival_rate: 1, mean_size: 1}\n";
    let workload = Workload::parse(text, "full").unwrap().workload;
    let mut stage = Stage::new(&workload, FIRST_FIT, false);
    (0..5).for_each(|_| drop(stage.arrive(0)));
    assert_eq!(stage.system.running(0), 3);
    let mut policy = rule(&workload, 4, false);
    policy.take_over(&mut stage.system);
    let mut stage = Stage {
        system: stage.system,
        policy: Box::new(policy),
    };
    assert_eq!([stage.end(0), stage.end(0)], ["", "+0:3"]);
    let waiting: Schedule = vec![stage.system.waiting(0), stage.system.running(0)];
    assert_eq!(waiting, [1, 2]);
}
