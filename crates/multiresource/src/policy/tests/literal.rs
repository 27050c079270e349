use super::*;
use crate::policy::backfilling::inflated;
use rand::{RngExt, SeedableRng};

#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub number: u64,
    pub job_type: usize,
    arrived: f64,
    work: f64,
    pub runs: bool,
    expected: f64,
}

pub(super) fn drive(
    workload: &Workload,
    policy: Box<dyn Policy>,
    (load, inflation): (f64, f64),
    mut check: impl FnMut(f64, &[Known], &[u64]),
) {
    let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(3);
    let preempts = policy.preempts();
    let mut stage = Stage::boxed(workload, policy, preempts);
    let mut jobs: Vec<Known> = Vec::new();
    let (mut now, mut arrival, mut number) = (0.0, 0.0, 0);
    for _ in 0..4000 {
        let running = jobs.iter().filter(|job| job.runs);
        let next = running.min_by(|a, b| a.work.total_cmp(&b.work)).copied();
        match next.filter(|job| job.work < arrival) {
            Some(job) => {
                now = job.work;
                jobs.retain(|other| other.number != job.number);
                stage.finish(job.job_type, job.number, now);
            }
            None => {
                now = arrival;
                arrival -= (1.0 - random.random::<f64>()).ln() / load;
                let (job_type, work) = (
                    random.random_range(0..workload.types().len()),
                    -(1.0 - random.random::<f64>()).ln(),
                );
                stage.arrive_sized(job_type, now, work);
                let job = Job {
                    number,
                    arrived: now,
                    slot: 0,
                };
                jobs.push(Known {
                    number,
                    job_type,
                    arrived: now,
                    work,
                    runs: false,
                    expected: inflated(inflation, job, work),
                });
                number += 1;
            }
        }
        let before = jobs.clone();
        follow(&mut jobs, stage.system.actions(), now);
        let running = jobs.iter().filter(|job| job.runs);
        let running: Vec<u64> = running.map(|job| job.number).collect();
        check(now, &before, &running);
    }
    assert!(number > 1000 && now > 0.0);
}

fn follow(jobs: &mut [Known], actions: &[Action], now: f64) {
    for action in actions {
        let (job, starts) = match action {
            Action::Start(_, job) => (job, true),
            Action::Stop(_, job) => (job, false),
        };
        for known in jobs.iter_mut().filter(|known| known.number == job.number) {
            known.work += if starts { now } else { -now };
            known.expected += if starts { now } else { -now };
            known.runs = starts;
        }
    }
}

const SERVERS: u64 = 12;
const NEEDS: [u32; 4] = [1, 3, 4, 6];

fn placed(jobs: &[Known]) -> Vec<u64> {
    let mut free = SERVERS;
    let mut served = Vec::new();
    for job in jobs {
        let need = u64::from(NEEDS[job.job_type]);
        if need <= free {
            free -= need;
            served.push(job.number);
        }
    }
    served.sort_unstable();
    served
}

fn filling(jobs: &[Known]) -> Vec<u64> {
    let mut sum = 0;
    let enough = jobs.iter().position(|job| {
        sum += u64::from(NEEDS[job.job_type]);
        sum >= SERVERS
    });
    let mut prefix = jobs[..enough.map_or(jobs.len(), |n| n + 1)].to_vec();
    prefix.sort_by_key(|job| std::cmp::Reverse(NEEDS[job.job_type]));
    placed(&prefix)
}

#[test]
fn server_filling_matches_reference() {
    let workload = servers(SERVERS as u32, &NEEDS);
    let policy = ServerFilling::new(&workload).unwrap();
    drive(
        &workload,
        Box::new(policy),
        (3.0, 1.0),
        |_, jobs, running| {
            assert_eq!(running, filling(jobs));
        },
    );
}

fn fits(workload: &Workload, free: &[u64], job_type: usize) -> bool {
    let demand = workload.types()[job_type].units();
    free.iter().zip(demand).all(|(free, d)| d <= free)
}

fn change(workload: &Workload, free: &mut [u64], job_type: usize, sign: i64) {
    let demand = workload.types()[job_type].units();
    for (free, d) in free.iter_mut().zip(demand) {
        *free = free.wrapping_add_signed(sign * *d as i64);
    }
}

fn room(workload: &Workload, running: &[Known]) -> Vec<u64> {
    let mut free: Vec<u64> = workload.resources().iter().map(|r| r.units()).collect();
    for job in running {
        change(workload, &mut free, job.job_type, -1);
    }
    free
}

fn easy(workload: &Workload, now: f64, jobs: &[Known]) -> Vec<u64> {
    let mut running: Vec<Known> = jobs.iter().filter(|job| job.runs).copied().collect();
    let mut head: Option<(f64, Vec<u64>)> = None;
    for job in jobs.iter().filter(|job| !job.runs) {
        let free = room(workload, &running);
        let end = now + job.expected;
        let may = match &mut head {
            _ if !fits(workload, &free, job.job_type) => {
                if head.is_none() {
                    head = Some(shadow(workload, &running, free, job.job_type));
                }
                false
            }
            None => true,
            Some((shadow, _)) if end <= *shadow => true,
            Some((_, extra)) => {
                let left_over = fits(workload, extra, job.job_type);
                if left_over {
                    change(workload, extra, job.job_type, -1);
                }
                left_over
            }
        };
        if may {
            running.push(Known {
                expected: end,
                runs: true,
                ..*job
            });
        }
    }
    let mut numbers: Vec<u64> = running.iter().map(|job| job.number).collect();
    numbers.sort_unstable();
    numbers
}

fn shadow(w: &Workload, running: &[Known], mut free: Vec<u64>, job_type: usize) -> (f64, Vec<u64>) {
    let mut ends = running.to_vec();
    ends.sort_by(|a, b| a.expected.total_cmp(&b.expected));
    for job in ends {
        change(w, &mut free, job.job_type, 1);
        if fits(w, &free, job_type) {
            change(w, &mut free, job_type, -1);
            return (job.expected, free);
        }
    }
    unreachable!("each job fits on the empty server");
}

#[test]
fn easy_backfilling_matches_reference() {
    let workload = section7();
    let shares = workload.dominant_shares();
    let orders = [
        (TypeOrder::Arrival, 0.0),
        (TypeOrder::Largest, -1.0),
        (TypeOrder::Smallest, 1.0),
    ];
    let inflated = |own| [(own, 1.0), (own, 4.0)];
    for ((order, sign), inflation) in orders.into_iter().flat_map(inflated) {
        let mut choices = Backfilling::easy(Estimates::Inflated(inflation));
        choices.order = QueueOrder::Types(order);
        let policy = choices.rule(&workload, 1);
        drive(&workload, policy, (3.2, inflation), |now, jobs, running| {
            let mut jobs = jobs.to_vec();
            jobs.sort_by(|a, b| {
                let key = |job: &Known| sign * shares[job.job_type];
                key(a).total_cmp(&key(b))
            });
            assert_eq!(running, easy(&workload, now, &jobs), "{order:?}");
        });
    }
}

const OWN: Priority = Priority {
    size: 0.7,
    share: -0.4,
    age: 2.0,
    offset: 0.5,
};

/// The reference uses logarithms as in the definition. A plan for one job must be the same.
#[test]
fn easy_backfilling_by_priority_matches_reference() {
    let orders = [
        Priority::ARRIVAL,
        Priority::SHORTEST,
        Priority::SMALLEST_AREA,
        Priority::wfp3(0.1),
        OWN,
    ];
    for order in orders {
        for (reservations, longest_wait) in [
            (Reservations::First, f64::INFINITY),
            (Reservations::First, 3.0),
            (Reservations::Few(1), f64::INFINITY),
            (Reservations::Few(1), 3.0),
        ] {
            let overdue = by_priority(order, longest_wait, reservations, 3.2, easy);
            assert_eq!(overdue > 100, longest_wait == 3.0, "{order:?}: {overdue}");
        }
    }
}

#[test]
fn plans_by_priority_match_reference() {
    for order in [Priority::ARRIVAL, Priority::SHORTEST, OWN] {
        let few = |w: &Workload, now: f64, jobs: &[Known]| planned(w, now, jobs, 3);
        let all = |w: &Workload, now: f64, jobs: &[Known]| planned(w, now, jobs, usize::MAX);
        by_priority(order, 3.0, Reservations::Few(3), 2.4, few);
        by_priority(order, f64::INFINITY, Reservations::All, 2.4, all);
    }
}

fn by_priority(
    order: Priority,
    longest_wait: f64,
    reservations: Reservations,
    load: f64,
    expected: impl Fn(&Workload, f64, &[Known]) -> Vec<u64>,
) -> usize {
    let workload = section7();
    let shares = workload.dominant_shares();
    let mut choices = Backfilling::easy(Estimates::Inflated(4.0));
    choices.order = QueueOrder::Jobs(order);
    choices.longest_wait = Some(longest_wait);
    choices.reservations = reservations;
    let policy = choices.rule(&workload, 1);
    let mut overdue = 0;
    drive(&workload, policy, (load, 4.0), |now, jobs, running| {
        let key = |job: &Known| {
            let waited = now - job.arrived;
            if waited > longest_wait {
                return f64::NEG_INFINITY;
            }
            let aged = if order.age > 0.0 {
                order.age * (waited + order.offset).ln()
            } else {
                0.0
            };
            order.size * job.expected.ln() + order.share * shares[job.job_type].ln() - aged
        };
        let mut jobs = jobs.to_vec();
        let waiting = jobs.iter().filter(|job| !job.runs);
        overdue += waiting.filter(|job| key(job) == f64::NEG_INFINITY).count();
        jobs.sort_by(|a, b| key(a).total_cmp(&key(b)));
        let expected = expected(&workload, now, &jobs);
        assert_eq!(running, expected, "{order:?} {reservations:?}");
    });
    overdue
}

fn earliest(
    w: &Workload,
    plans: &[(usize, f64, f64)],
    now: f64,
    job_type: usize,
    size: f64,
) -> f64 {
    let free_at = |time: f64| {
        let mut free = room(w, &[]);
        let there = plans.iter();
        let there = there.filter(|(_, from, to)| *from <= time && time < *to);
        there.for_each(|(job_type, ..)| change(w, &mut free, *job_type, -1));
        free
    };
    let starts = plans.iter().map(|(_, _, to)| *to);
    let mut starts: Vec<f64> = starts.filter(|t| *t > now).collect();
    starts.push(now);
    starts.sort_by(f64::total_cmp);
    let works = |start: f64| {
        let changes = plans.iter().map(|(_, from, _)| *from);
        let inside = changes.filter(|time| *time > start && *time < start + size);
        inside
            .chain([start])
            .all(|time| fits(w, &free_at(time), job_type))
    };
    starts.into_iter().find(|start| works(*start)).unwrap()
}

fn planned(w: &Workload, now: f64, jobs: &[Known], most: usize) -> Vec<u64> {
    let (running, waiting): (Vec<&Known>, Vec<&Known>) = jobs.iter().partition(|job| job.runs);
    let plan = |job: &Known, from: f64, to: f64| (job.job_type, from, to);
    let mut plans = Vec::from_iter(running.iter().map(|job| plan(job, now, job.expected)));
    let mut numbers: Vec<u64> = running.iter().map(|job| job.number).collect();
    let mut kept = 0;
    for job in waiting {
        let start = earliest(w, &plans, now, job.job_type, job.expected);
        if start <= now {
            numbers.push(job.number);
        } else if kept == most {
            continue;
        } else {
            kept += 1;
        }
        plans.push(plan(job, start, start + job.expected));
    }
    numbers.sort_unstable();
    numbers
}

#[derive(Default)]
struct Plans(Vec<(u64, (usize, f64, f64))>);

impl Plans {
    fn earliest(&self, w: &Workload, now: f64, job: &Known) -> (usize, f64, f64) {
        let others = self.0.iter().filter(|(number, _)| *number != job.number);
        let others: Vec<_> = others.map(|(_, plan)| *plan).collect();
        let start = earliest(w, &others, now, job.job_type, job.expected);
        (job.job_type, start, start + job.expected)
    }

    fn forget(&mut self, now: f64, jobs: &[Known]) -> bool {
        let is_gone = |number: u64| jobs.iter().all(|job| job.number != number);
        let ended = self.0.iter().find(|(number, _)| is_gone(*number)).copied();
        self.0.retain(|(number, _)| !is_gone(*number));
        ended.is_some_and(|(_, (_, _, to))| to > now * (1.0 + 1e-9))
    }
}

#[test]
fn conservative_backfilling_matches_reference() {
    let workload = section7();
    for inflation in [1.0, 4.0] {
        let mut plans = Plans::default();
        let (mut known, mut waited) = (0, 0);
        let policy = Backfilling::conservative(Estimates::Inflated(inflation)).rule(&workload, 1);
        drive(&workload, policy, (2.6, inflation), |now, jobs, running| {
            if plans.forget(now, jobs) {
                for place in 0..plans.0.len() {
                    let job = jobs.iter().find(|job| job.number == plans.0[place].0);
                    if let Some(job) = job.filter(|job| !job.runs) {
                        plans.0[place].1 = plans.earliest(&workload, now, job);
                    }
                }
            }
            if let Some(job) = jobs.last().filter(|job| job.number >= known) {
                let plan = plans.earliest(&workload, now, job);
                plans.0.push((job.number, plan));
                known = job.number + 1;
                waited += usize::from(plan.1 > now);
            }
            let due = plans.0.iter();
            let due = due.filter(|(_, (_, from, _))| *from <= now * (1.0 + 1e-9));
            let due: Vec<u64> = due.map(|(number, _)| *number).collect();
            assert_eq!(running, due);
        });
        assert!(waited > 100, "{waited}");
    }
}
