//! The users of this synthetic Slurm site have different habits, and their limits are too long. The
//! start times are the result of EASY on the nodes of each partition.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Write as _;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Random;

#[allow(dead_code)]
pub(crate) const SERVERS: &str =
    "40xcpu=64,memory=256;4xcpu=64,memory=1024;8xcpu=64,memory=512,gpu=4";

/// The number of CPUs, the amount of memory in GiB, and the number of GPUs.
type Amounts = [i64; 3];

/// The name, number of nodes, resources of each, and mean utilization of the bottleneck resource.
const PARTITIONS: [(&str, usize, Amounts, f64); 3] = [
    ("cpu", 40, [64, 256, 0], 0.82),
    ("bigmem", 4, [64, 1024, 0], 0.75),
    ("gpu", 8, [64, 512, 4], 0.85),
];
const HEADER: &str = "JobID|User|Account|Partition|QOS|Submit|Eligible|Start|End|ElapsedRaw|State|NNodes|ReqTRES|AllocTRES|TimelimitRaw\n";
/// The limits that can be selected by a user \[min\].
const LIMITS: [i64; 9] = [15, 30, 60, 120, 240, 480, 1440, 2880, 4320];
/// The number of jobs that are considered after a job that does not fit.
const DEPTH: usize = 100;

#[derive(Clone)]
struct Habit {
    user: usize,
    partition: usize,
    nodes: usize,
    on_each: Amounts,
    /// The time limit \[min\].
    limit: i64,
    /// The typical fraction of the limit that is used.
    level: f64,
}

/// All times are in seconds since the site was opened.
struct Job {
    id: String,
    habit: Habit,
    submit: i64,
    /// The random part of the fraction of the limit that is used.
    point: f64,
    run: i64,
    state: &'static str,
    start: Option<i64>,
}

/// Returns the accounting data of `count` jobs, where each task of an array counts.
pub(crate) fn sacct(seed: u64, count: usize, days: i64) -> String {
    let mut random = Random::seed_from_u64(seed);
    let horizon = days * 86_400;
    let mut jobs = submitted(&mut random, count, horizon);
    for (partition, all) in PARTITIONS.into_iter().enumerate() {
        let mut own: Vec<&mut Job> = jobs.iter_mut().collect();
        own.retain(|job| job.habit.partition == partition);
        run_times(&mut own, all, horizon);
        own.retain(|job| job.state != "CANCELLED by 0");
        schedule(&mut own, all);
    }
    let rows = jobs.iter().map(|job| row(job, horizon));
    HEADER.to_owned() + &rows.collect::<String>()
}

fn pick<T: Clone>(random: &mut Random, of: &[T]) -> T {
    of[random.random_range(0..of.len())].clone()
}

fn habit(random: &mut Random, user: usize) -> Habit {
    let (partition, nodes, on_each) = match random.random_range(0..100) {
        0..50 => {
            let cpus = pick(random, &[1, 1, 2, 4, 8, 16, 32, 64]);
            (0, 1, [cpus, cpus * pick(random, &[1, 2, 4]), 0])
        }
        50..75 => {
            let nodes = pick(random, &[2, 2, 2, 3, 4, 4, 6, 8, 8, 12, 16, 24]);
            (
                0,
                nodes,
                pick(random, &[[64, 240, 0], [32, 120, 0], [64, 128, 0]]),
            )
        }
        75..82 => {
            let cpus = pick(random, &[8, 16, 32, 64]);
            (1, 1, [cpus, pick(random, &[128, 256, 512, 1000]), 0])
        }
        82..95 => {
            let gpus = pick(random, &[1, 1, 1, 2, 4]);
            (2, 1, [12 * gpus, 100 * gpus, gpus])
        }
        _ => (2, pick(random, &[2, 2, 4, 8]), [48, 400, 4]),
    };
    Habit {
        user,
        partition,
        nodes,
        on_each,
        limit: pick(random, &LIMITS),
        level: random.random(),
    }
}

fn submitted(random: &mut Random, count: usize, horizon: i64) -> Vec<Job> {
    let habits = (0..160).map(|n| habit(random, n % 40));
    let habits: Vec<Habit> = habits.collect();
    let mut sizes = Vec::new();
    while sizes.iter().map(|(_, tasks)| tasks).sum::<usize>() < count {
        let user = (40.0 * random.random::<f64>().powi(2)) as usize;
        let habit = habits[user + 40 * random.random_range(0..4)].clone();
        let is_array = habit.nodes == 1 && habit.partition == 0 && random.random::<f64>() < 0.03;
        let tasks = if is_array {
            random.random_range(20..=200)
        } else {
            1
        };
        sizes.push((habit, tasks));
    }
    let mut times: Vec<i64> = Vec::new();
    while times.len() < sizes.len() {
        let at = random.random_range(0..horizon);
        let hour = (at % 86_400) as f64 / 86_400.0 * std::f64::consts::TAU;
        if random.random::<f64>() < 0.6 - 0.4 * hour.cos() {
            times.push(at);
        }
    }
    times.sort_unstable();
    let mut jobs: Vec<Job> = Vec::new();
    for (submit, (habit, tasks)) in times.into_iter().zip(sizes) {
        let id = 4_000_000 + jobs.len();
        for task in 0..tasks {
            let state = match random.random_range(0..100) {
                0..78 => "COMPLETED",
                78..85 => "TIMEOUT",
                85..91 => "FAILED",
                91..94 => "CANCELLED by 0",
                94..96 => "CANCELLED by 1007",
                96..97 => "OUT_OF_MEMORY",
                97..98 => "NODE_FAIL",
                98..99 => "PREEMPTED",
                _ => "DEADLINE",
            };
            jobs.push(Job {
                id: if tasks == 1 {
                    format!("{id}")
                } else {
                    format!("{id}_{task}")
                },
                point: 0.7 * habit.level + 0.3 * random.random::<f64>(),
                habit: habit.clone(),
                submit,
                run: 0,
                state,
                start: None,
            });
        }
    }
    jobs.truncate(count);
    jobs
}

/// Sets the run times so that the mean utilization is equal to `load`. Each run time is the limit
/// multiplied by a power of the random part.
fn run_times(
    jobs: &mut [&mut Job],
    (_, nodes, each, load): (&str, usize, Amounts, f64),
    horizon: i64,
) {
    let run = |job: &Job, power: f64| match job.state {
        "CANCELLED by 0" => 0,
        "TIMEOUT" => 60 * job.habit.limit + 5,
        _ => 1 + (60.0 * job.habit.limit as f64 * job.point.powf(power)) as i64,
    };
    let held = |power: f64| {
        let own = jobs.iter().map(|job| {
            let of = job.habit.on_each.iter().zip(each);
            let of = of.filter(|(_, all)| *all > 0);
            let shares = of.map(|(own, all)| *own as f64 / all as f64);
            let share = shares.fold(0.0, f64::max);
            share * job.habit.nodes as f64 * run(job, power) as f64
        });
        own.sum::<f64>() / (nodes as f64 * horizon as f64)
    };
    let (mut low, mut high) = (0.01, 100.0);
    for _ in 0..40 {
        let between = (low + high) / 2.0;
        let end = if held(between) > load {
            &mut low
        } else {
            &mut high
        };
        *end = between;
    }
    jobs.iter_mut().for_each(|job| job.run = run(job, high));
}

fn first_free_nodes(free: &[Amounts], habit: &Habit, without: &[usize]) -> Option<Vec<usize>> {
    let fits = |n: &usize| {
        let mut each = free[*n].iter().zip(habit.on_each);
        each.all(|(free, own)| *free >= own)
    };
    let fitting = (0..free.len()).filter(|n| !without.contains(n) && fits(n));
    let found: Vec<usize> = fitting.take(habit.nodes).collect();
    (found.len() == habit.nodes).then_some(found)
}

fn take(free: &mut [Amounts], habit: &Habit, nodes: &[usize], sign: i64) {
    for n in nodes {
        for (free, own) in free[*n].iter_mut().zip(habit.on_each) {
            *free -= sign * own;
        }
    }
}

fn schedule(jobs: &mut [&mut Job], (_, nodes, each, _): (&str, usize, Amounts, f64)) {
    let mut free = vec![each; nodes];
    // These are the actual end times, but the end times in `running` are based on the limits.
    let mut ends: BinaryHeap<Reverse<(i64, usize)>> = BinaryHeap::new();
    let mut running: Vec<(i64, usize, Vec<usize>)> = Vec::new();
    let mut queue: Vec<usize> = Vec::new();
    let mut next = 0;
    loop {
        let arrival = jobs.get(next).map(|job| job.submit);
        let end = ends.peek().map(|Reverse((at, _))| *at);
        let Some(now) = arrival.into_iter().chain(end).min() else {
            return;
        };
        while let Some(Reverse((at, job))) = ends.peek().copied()
            && at == now
        {
            ends.pop();
            let place = running.iter().position(|(_, own, _)| *own == job);
            let (_, _, nodes) = running.swap_remove(place.expect("it runs"));
            take(&mut free, &jobs[job].habit, &nodes, -1);
        }
        while jobs.get(next).is_some_and(|job| job.submit == now) {
            queue.push(next);
            next += 1;
        }
        let mut reserved: Option<(i64, Vec<usize>)> = None;
        let (mut place, mut looked) = (0, 0);
        while place < queue.len() && looked < DEPTH {
            let job = queue[place];
            let habit = jobs[job].habit.clone();
            let promised = now + 60 * habit.limit;
            let without: &[usize] = match &reserved {
                Some((shadow, nodes)) if promised > *shadow => nodes,
                _ => &[],
            };
            if let Some(nodes) = first_free_nodes(&free, &habit, without) {
                take(&mut free, &habit, &nodes, 1);
                jobs[job].start = Some(now);
                ends.push(Reverse((now + jobs[job].run, job)));
                running.push((promised, job, nodes));
                queue.remove(place);
                continue;
            }
            if reserved.is_none() {
                running.sort_by_key(|(promised, job, _)| (*promised, *job));
                let mut later = free.clone();
                reserved = running.iter().find_map(|(at, job, nodes)| {
                    take(&mut later, &jobs[*job].habit, nodes, -1);
                    Some((*at, first_free_nodes(&later, &habit, &[])?))
                });
            }
            (place, looked) = (place + 1, looked + 1);
        }
    }
}

fn row(job: &Job, horizon: i64) -> String {
    let Habit {
        user,
        partition,
        nodes,
        on_each: [cpus, memory, gpus],
        limit,
        ..
    } = &job.habit;
    let n = *nodes as i64;
    let mut tres = format!(
        "billing={0},cpu={0},mem={1}G,node={n}",
        n * cpus,
        n * memory
    );
    if *gpus > 0 {
        write!(tres, ",gres/gpu={0},gres/gpu:a100={0}", n * gpus)
            .expect("it should always be possible to write to a string");
    }
    let never = job.state == "CANCELLED by 0";
    let start = job.start.filter(|start| *start < horizon);
    let end = start.map(|start| start + job.run);
    let end = end.filter(|end| *end <= horizon);
    let (start, end, elapsed, state) = match (start, end) {
        (_, _) if never => (
            "None".into(),
            instant(job.submit + 900),
            0,
            "CANCELLED by 1003",
        ),
        (None, _) => ("Unknown".into(), "Unknown".into(), 0, "PENDING"),
        (Some(at), None) => (instant(at), "Unknown".into(), horizon - at, "RUNNING"),
        (Some(at), Some(end)) => (instant(at), instant(end), end - at, job.state),
    };
    let submit = instant(job.submit);
    let allocated = if elapsed > 0 { &*tres } else { "" };
    format!(
        "{}|u{user:02}|lab{}|{}|normal|{submit}|{submit}|{start}|{end}|{elapsed}|{state}|{n}|{tres}|{allocated}|{limit}\n",
        job.id,
        user % 7,
        PARTITIONS[*partition].0,
    )
}

/// Formats a time, where 0 is Monday, 2 March 2026.
fn instant(at: i64) -> String {
    let (day, second) = (1 + at / 86_400, at % 86_400);
    let (month, day) = match day {
        ..31 => (3, day + 1),
        _ => (4, day - 30),
    };
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!(
        "2026-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}",
        second % 60
    )
}
