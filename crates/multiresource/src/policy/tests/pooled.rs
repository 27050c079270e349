use rand::{RngExt, SeedableRng};

use super::*;
use crate::policy::{BackfillingConfig, PartitionConfig, Placement, Zone};
use crate::workload::Fleet;

fn fleet(jobs: &str) -> Fleet {
    let text = format!(
        "kind: multiresource\ntime_unit: s\nservers:
  - {{name: big, count: 2, capacity: {{cpu: 9}}}}
  - {{name: small, count: 3, capacity: {{cpu: 4, gpu: 1}}}}\njobs:\n{jobs}"
    );
    Fleet::parse(&text, "fleet").unwrap().workload
}

pub(crate) fn three_kinds() -> Fleet {
    fleet(
        "  - {name: one, demand: {cpu: 1}, arrival_rate: 2, mean_size: 8}
  - {name: wide, demand: {cpu: 4}, arrival_rate: 1, mean_size: 1}
  - {name: learn, demand: {cpu: 2, gpu: 1}, arrival_rate: .5, mean_size: 2}\n",
    )
}

const ARRIVAL: QueueOrder = QueueOrder::Types(TypeOrder::Arrival);
const LARGEST: QueueOrder = QueueOrder::Types(TypeOrder::Largest);

fn over_fleet(
    order: QueueOrder,
    reservations: Reservations,
    placement: Placement,
) -> BackfillingConfig {
    let mut choices = Backfilling::FIRST_FIT;
    choices.order = order;
    choices.reservations = reservations;
    choices.placement = placement;
    BackfillingConfig::new(choices, false)
}

struct Literal {
    fleet: Fleet,
    policy: BackfillingConfig,
    running: Vec<Vec<u32>>,
    waiting: Vec<(u64, usize)>,
}

impl Literal {
    fn new(fleet: &Fleet, policy: &BackfillingConfig) -> Self {
        Literal {
            running: vec![vec![0; fleet.types().len()]; fleet.servers()],
            waiting: Vec::new(),
            policy: policy.clone(),
            fleet: fleet.clone(),
        }
    }

    fn shape(&self, n: usize) -> usize {
        let mut before = 0;
        for (h, shape) in self.fleet.shapes().iter().enumerate() {
            before += shape.count() as usize;
            if n < before {
                return h;
            }
        }
        unreachable!()
    }

    fn free(&self, n: usize, jobs: &[u32]) -> Option<Vec<u64>> {
        let has = self.fleet.units(self.shape(n));
        let types = self.fleet.types();
        let left = has.iter().enumerate().map(|(j, has)| {
            let used = jobs.iter().zip(types);
            let used: u64 = used.map(|(u, t)| u64::from(*u) * t.units()[j]).sum();
            has.checked_sub(used)
        });
        left.collect()
    }

    fn with(&self, i: usize, n: usize) -> Option<Vec<u64>> {
        let mut jobs = self.running[n].clone();
        jobs[i] += 1;
        self.free(n, &jobs)
    }

    fn level(&self, n: usize) -> u8 {
        let units = self
            .fleet
            .envelope()
            .resources()
            .iter()
            .map(|r| r.units() as f64);
        let free = self.free(n, &self.running[n]).unwrap();
        let shares = free.iter().zip(units).map(|(free, all)| *free as f64 / all);
        ((shares.fold(0.0, f64::max) * 128.0) as u8).min(127)
    }

    fn keeps(&self, i: usize, n: usize) -> bool {
        let types = self.fleet.types();
        let own = &types[i];
        (0..types.len()).all(|j| {
            if types[j].mean_size() >= own.mean_size() || self.policy.reserve == 0.0 {
                return true;
            }
            let fits = |m: usize, more: u32| {
                let mut jobs = self.running[m].clone();
                jobs[i] += more;
                for (k, count) in jobs.iter_mut().enumerate() {
                    *count *= u32::from(types[k].mean_size() > types[j].mean_size());
                }
                let mut count = 0_u64;
                while self.free(m, &jobs).is_some() {
                    jobs[j] += 1;
                    count += 1;
                }
                count.saturating_sub(1)
            };
            let before: u64 = (0..self.running.len()).map(|m| fits(m, 0)).sum();
            let after = (0..self.running.len()).map(|m| fits(m, u32::from(m == n)));
            let after: u64 = after.sum();
            let part = 1.0 - types[j].mean_size() / own.mean_size();
            let least = self.policy.reserve * part * types[j].offered_load();
            before == after || after as f64 >= least
        })
    }

    fn lets_in(&self, i: usize, n: usize) -> bool {
        self.policy.zone.as_ref().is_none_or(|zone| {
            let before = (0..n).filter(|m| self.shape(*m) == self.shape(n)).count();
            before >= zone.servers[self.shape(n)] as usize || zone.types.contains(&i)
        })
    }

    fn servers_for(&self, i: usize) -> Option<Vec<usize>> {
        let fit = (0..self.running.len()).filter(|n| self.with(i, *n).is_some());
        let may = fit.filter(|n| self.keeps(i, *n) && self.lets_in(i, *n));
        let mut may: Vec<usize> = may.collect();
        if self.policy.placement == Some(Placement::Best) {
            may.sort_by_key(|n| (self.level(*n), *n));
        }
        may.truncate(self.fleet.types()[i].nodes() as usize);
        (may.len() == self.fleet.types()[i].nodes() as usize).then_some(may)
    }

    fn go_on(&mut self) -> Vec<(u64, Vec<usize>)> {
        let shares = self.fleet.envelope().dominant_shares();
        let mut started = Vec::new();
        loop {
            let mut order = self.waiting.clone();
            let by = |(number, i): &(u64, usize), sign: f64| (sign * shares[*i], *number);
            let compare = |a: (f64, u64), b: (f64, u64)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
            match (self.policy.order, self.policy.reservations) {
                (_, Reservations::Strict) => order.truncate(1),
                (ARRIVAL, _) => {}
                (LARGEST, _) => order.sort_by(|a, b| compare(by(a, -1.0), by(b, -1.0))),
                (_, _) => order.sort_by(|a, b| compare(by(a, 1.0), by(b, 1.0))),
            }
            let mut next = order.iter();
            let next = next.find_map(|job| Some((*job, self.servers_for(job.1)?)));
            let Some(((number, i), servers)) = next else {
                return started;
            };
            self.waiting.retain(|(other, _)| *other != number);
            servers.iter().for_each(|n| self.running[*n][i] += 1);
            started.push((number, servers));
        }
    }
}

fn agrees(fleet: &Fleet, policy: &BackfillingConfig, seed: u64) -> usize {
    let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut rule = policy.build(fleet);
    let mut system = System::of_fleet(fleet, 0, false);
    rule.begin(&mut system);
    let mut literal = Literal::new(fleet, policy);
    let (mut running, mut refused): (Vec<(usize, u64, Vec<usize>)>, _) = (Vec::new(), 0);
    for step in 0..400 {
        let now = f64::from(step);
        system.clear_actions();
        if random.random_bool(0.55) || running.is_empty() {
            let i = random.random_range(0..fleet.types().len());
            let job = system.arrive(i, now);
            literal.waiting.push((job.number, i));
            rule.react(Event::Arrival(i), &mut system);
        } else {
            let (i, number, servers) = running.swap_remove(random.random_range(0..running.len()));
            system.complete_job(i, number, now).unwrap();
            servers.iter().for_each(|n| literal.running[*n][i] -= 1);
            rule.react(Event::Completion(i), &mut system);
        }
        system.audit();
        assert_eq!(system.violation(), None);
        let expected = literal.go_on();
        let mut found = Vec::new();
        for action in system.actions() {
            let Action::Start(i, job) = action else {
                panic!("{action:?}")
            };
            let servers = system.servers_of(*job).to_vec();
            found.push((job.number, servers.clone()));
            running.push((*i, job.number, servers));
        }
        assert_eq!(found, expected, "{policy:?}, step {step}");
        refused += usize::from(expected.is_empty() && !literal.waiting.is_empty());
    }
    refused
}

#[test]
#[ignore = "takes over five seconds; CI runs it"]
fn pooled_rules_match_reference() {
    let fleet = three_kinds();
    for (order, reservations) in [
        (ARRIVAL, Reservations::Strict),
        (ARRIVAL, Reservations::None),
        (LARGEST, Reservations::None),
        (QueueOrder::Types(TypeOrder::Smallest), Reservations::None),
    ] {
        for placement in [Placement::First, Placement::Best] {
            for reserve in [0.0, 0.5, 1.5] {
                let mut policy = over_fleet(order, reservations, placement);
                policy.reserve = reserve;
                let refused: usize = (0..2).map(|seed| agrees(&fleet, &policy, seed)).sum();
                assert!(refused > 40, "jobs wait: {refused}");
            }
        }
    }
}

#[test]
fn zones_match_reference() {
    for (fleet, types, servers) in [
        (three_kinds(), vec![1], vec![1, 1]),
        (with_gangs(), vec![2, 1], vec![1, 2]),
    ] {
        for (placement, reserve) in [
            (Placement::First, 0.0),
            (Placement::Best, 0.0),
            (Placement::Best, 0.5),
        ] {
            let mut policy = over_fleet(ARRIVAL, Reservations::None, placement);
            policy.reserve = if types.len() == 1 { reserve } else { 0.0 };
            policy.zone = Some(Zone {
                types: types.clone(),
                servers: servers.clone(),
            });
            let refused: usize = (0..2).map(|seed| agrees(&fleet, &policy, seed)).sum();
            assert!(refused > 40, "jobs wait: {refused}");
        }
    }
}

pub(crate) fn with_gangs() -> Fleet {
    fleet(
        "  - {name: one, demand: {cpu: 1}, arrival_rate: 2, mean_size: 1}
  - {name: pair, nodes: 2, demand: {cpu: 3}, arrival_rate: .4, mean_size: 2}
  - {name: all, nodes: 3, demand: {cpu: 1, gpu: 1}, arrival_rate: .2, mean_size: 4}\n",
    )
}

#[test]
fn gangs_match_reference() {
    let fleet = with_gangs();
    for (order, reservations) in [
        (ARRIVAL, Reservations::Strict),
        (ARRIVAL, Reservations::None),
        (LARGEST, Reservations::None),
    ] {
        for placement in [Placement::First, Placement::Best] {
            let policy = over_fleet(order, reservations, placement);
            assert!(agrees(&fleet, &policy, 1) > 20);
        }
    }
}

#[test]
fn no_job_starts_while_servers_are_emptied() {
    let fleet = with_gangs();
    let policy = PartitionConfig {
        schedules: vec![
            vec![vec![3, 2, 0], vec![9, 0, 0]],
            vec![vec![3, 0, 1], vec![0, 1, 1]],
        ],
        assignments: vec![vec![vec![1, 1], vec![3, 0]], vec![vec![2, 0], vec![0, 3]]],
        weights: vec![0.5, 0.5],
        switching_rate: Some(0.2),
    };
    let slots: Vec<Vec<u64>> = (0..2).map(|m| policy.jobs(m, &[1, 2, 3])).collect();
    let mut rule = Partition::new(&policy, &fleet);
    let mut system = System::of_fleet(&fleet, rule.clocks(), false);
    rule.begin(&mut system);
    let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(5);
    let (mut position, mut emptied, mut held) = (0, false, 0);
    for step in 0..20_000 {
        let now = f64::from(step);
        let ringing = (0..rule.clocks()).filter(|c| system.clocks()[*c] > 0.0);
        let ringing: Vec<usize> = ringing.collect();
        let running: Vec<usize> = (0..3).filter(|i| system.running(*i) > 0).collect();
        system.clear_actions();
        match random.random_range(0..20) {
            0..8 => {
                let i = random.random_range(0..3);
                system.arrive(i, now);
                rule.react(Event::Arrival(i), &mut system);
            }
            8..17 if !running.is_empty() => {
                let i = running[random.random_range(0..running.len())];
                system.complete(i, 0, now).unwrap();
                rule.react(Event::Completion(i), &mut system);
            }
            17.. if !ringing.is_empty() => {
                let clock = ringing[random.random_range(0..ringing.len())];
                emptied |= clock == 0;
                rule.react(Event::Clock(clock), &mut system);
            }
            _ => continue,
        }
        system.audit();
        assert_eq!(system.violation(), None, "step {step}");
        if emptied && system.clocks()[0] > 0.0 {
            (emptied, position) = (false, 1 - position);
        }
        if emptied {
            let is_idle = system.actions().is_empty();
            assert!(is_idle, "step {step}: {:?}", system.actions());
            held += 1;
        }
        for (i, slots) in slots[position].iter().enumerate() {
            assert!(u64::from(system.running(i)) <= *slots, "step {step}");
        }
    }
    assert!(held > 1000, "{held}");
}

/// Returns the mean number of slots of each type under a partition. Jobs of all types are waiting.
pub(crate) fn mean_slots(fleet: &Fleet, policy: &PartitionConfig) -> Vec<f64> {
    let mut rule = Partition::new(policy, fleet);
    let mut system = System::of_fleet(fleet, rule.clocks(), false);
    rule.begin(&mut system);
    let rates: Vec<f64> = fleet.types().iter().map(|t| t.service_rate()).collect();
    let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(3);
    let (mut now, mut slots) = (0.0, vec![0.0; rates.len()]);
    for _ in 0..2_000_000 {
        for i in 0..rates.len() {
            while system.waiting(i) == 0 {
                system.arrive(i, now);
                rule.react(Event::Arrival(i), &mut system);
            }
        }
        let ends = (0..rates.len()).map(|i| f64::from(system.running(i)) * rates[i]);
        let rings = system.clocks().iter().copied();
        let each: Vec<f64> = ends.chain(rings).collect();
        let all: f64 = each.iter().sum();
        let length = -(1.0 - random.random::<f64>()).ln() / all;
        for (i, slots) in slots.iter_mut().enumerate() {
            *slots += length * f64::from(system.running(i));
        }
        now += length;
        let mut point = random.random::<f64>() * all;
        let which = each.iter().position(|rate| {
            point -= rate;
            point < 0.0
        });
        let which = which.unwrap_or(0);
        match which.checked_sub(rates.len()) {
            None => {
                let n = random.random_range(0..system.running(which)) as usize;
                system.complete(which, n, now).unwrap();
                rule.react(Event::Completion(which), &mut system);
            }
            Some(clock) => {
                system.advance(now);
                rule.react(Event::Clock(clock), &mut system);
            }
        }
        system.clear_actions();
    }
    system.audit();
    assert_eq!(system.violation(), None);
    slots.iter().map(|slots| slots / now).collect()
}
