//! Compares the rules with truncated Markov chains and with separate implementations of the rules.

use super::*;
use std::collections::HashMap;

type Jobs = Vec<(usize, bool)>;

type Serve = fn(&mut Jobs, &[usize]);

const SERVERS: usize = 3;

fn free(jobs: &Jobs, needs: &[usize]) -> usize {
    let served = jobs.iter().filter(|(_, served)| *served);
    SERVERS - served.map(|(i, _)| needs[*i]).sum::<usize>()
}

fn fcfs(jobs: &mut Jobs, needs: &[usize]) {
    for n in 0..jobs.len() {
        if !jobs[n].1 && needs[jobs[n].0] > free(jobs, needs) {
            return;
        }
        jobs[n].1 = true;
    }
}

fn first_fit(jobs: &mut Jobs, needs: &[usize]) {
    for n in 0..jobs.len() {
        jobs[n].1 |= needs[jobs[n].0] <= free(jobs, needs);
    }
}

fn most_servers_first(jobs: &mut Jobs, needs: &[usize]) {
    for i in [1, 0] {
        for n in 0..jobs.len() {
            jobs[n].1 |= jobs[n].0 == i && needs[i] <= free(jobs, needs);
        }
    }
}

fn server_filling(jobs: &mut Jobs, needs: &[usize]) {
    jobs.iter_mut().for_each(|job| job.1 = false);
    let mut sum = 0;
    let inside = jobs.iter().position(|(i, _)| {
        sum += needs[*i];
        sum >= SERVERS
    });
    let mut prefix: Jobs = jobs[..inside.map_or(jobs.len(), |n| n + 1)].to_vec();
    most_servers_first(&mut prefix, needs);
    jobs[..prefix.len()].copy_from_slice(&prefix);
}

/// Ties are broken by fewer jobs of the first type.
fn max_weight(jobs: &mut Jobs, needs: &[usize]) {
    let count = |i: usize| jobs.iter().filter(|job| job.0 == i).count();
    let (q, mut best) = ([count(0), count(1)], (0, [0, 0]));
    for second in (0..=SERVERS / needs[1]).rev() {
        let first = (SERVERS - second * needs[1]) / needs[0];
        let u = [first.min(q[0]), second.min(q[1])];
        let worth = u[0] * q[0] + u[1] * q[1];
        if worth > best.0 {
            best = (worth, u);
        }
    }
    let mut left = best.1;
    for (i, served) in jobs {
        *served = left[*i] > 0;
        left[*i] -= usize::from(*served);
    }
}

struct Chain {
    serve: Serve,
    /// Whether the order of the waiting jobs of different types matters.
    ordered: bool,
    most: usize,
    rates: [f64; 2],
    ends: [f64; 2],
    needs: [usize; 2],
    states: HashMap<Jobs, usize>,
    list: Vec<Jobs>,
}

impl Chain {
    fn state(&mut self, mut jobs: Jobs) -> usize {
        (self.serve)(&mut jobs, &self.needs);
        if !self.ordered {
            jobs.sort_unstable();
        }
        let next = self.list.len();
        let state = *self.states.entry(jobs.clone()).or_insert(next);
        if state == next {
            self.list.push(jobs);
        }
        state
    }

    fn transitions(&mut self, from: usize) -> Vec<(usize, f64)> {
        let jobs = self.list[from].clone();
        let mut found = Vec::new();
        for i in 0..2 {
            if jobs.len() < self.most {
                let mut more = jobs.clone();
                more.push((i, false));
                found.push((self.state(more), self.rates[i]));
            }
        }
        for n in (0..jobs.len()).filter(|n| jobs[*n].1) {
            let mut fewer = jobs.clone();
            let (i, _) = fewer.remove(n);
            found.push((self.state(fewer), self.ends[i]));
        }
        found
    }

    /// Uses the Gauss–Seidel method.
    fn mean_numbers(mut self) -> [f64; 2] {
        self.state(Vec::new());
        let (mut inflows, mut outflow) = (Vec::<Vec<(usize, f64)>>::new(), Vec::new());
        let mut from = 0;
        while from < self.list.len() {
            let transitions = self.transitions(from);
            inflows.resize(self.list.len(), Vec::new());
            outflow.push(transitions.iter().map(|(_, rate)| rate).sum::<f64>());
            for (to, rate) in transitions {
                inflows[to].push((from, rate));
            }
            from += 1;
        }
        let law = stationary(&inflows, &outflow);
        let full = self.list.iter().zip(&law);
        let full = full.filter(|(s, _)| s.len() == self.most);
        let cut: f64 = full.map(|(_, p)| p).sum();
        let is_enough = cut * (self.most as f64) < 1e-3;
        assert!(is_enough, "truncated too early: {cut}");
        [0, 1].map(|i| {
            let number = |jobs: &Jobs| jobs.iter().filter(|job| job.0 == i).count() as f64;
            self.list.iter().zip(&law).map(|(s, p)| number(s) * p).sum()
        })
    }
}

fn stationary(inflows: &[Vec<(usize, f64)>], outflow: &[f64]) -> Vec<f64> {
    let mut law = vec![1.0 / outflow.len() as f64; outflow.len()];
    for _ in 0..3000 {
        let mut change = 0.0;
        for (state, inflow) in inflows.iter().enumerate() {
            let value = inflow.iter().map(|(from, rate)| law[*from] * rate);
            let value = value.sum::<f64>();
            let value = value / outflow[state];
            change += (value - law[state]).abs();
            law[state] = value;
        }
        let total: f64 = law.iter().sum();
        law.iter_mut().for_each(|p| *p /= total);
        if change / total < 1e-11 {
            break;
        }
    }
    law
}

#[test]
#[ignore = "takes over five seconds; CI runs it"]
fn mean_numbers_of_truncated_chains() {
    let rules: [(&str, Serve, bool); 5] = [
        ("fcfs", fcfs, true),
        ("first-fit", first_fit, true),
        ("server-filling", server_filling, true),
        ("most-servers-first", most_servers_first, false),
        ("max-weight", max_weight, false),
    ];
    for (rule, serve, ordered) in rules {
        for needs in [[1, 2], [1, 3]] {
            let [slow, fast] = [0.4, 0.4 / needs[1] as f64];
            let chain = Chain {
                serve,
                ordered,
                most: if ordered { 14 } else { 60 },
                rates: [slow, fast],
                ends: [1.0, 0.8],
                needs,
                states: HashMap::new(),
                list: Vec::new(),
            };
            let exact = chain.mean_numbers();
            let text = format!(
                "kind: multiresource\ntime_unit: s\nserver: {{capacity: {{cpu: 3}}}}\njobs:
  - {{name: small, demand: {{cpu: 1}}, arrival_rate: {slow}, mean_size: 1}}
  - {{name: large, demand: {{cpu: {}}}, arrival_rate: {fast}, mean_size: 1.25}}\n",
                needs[1]
            );
            let workload = Workload::parse(&text, "three").unwrap().workload;
            let contender = self::rule(rule);
            let run = contender.simulate(&workload, &events(3_000_000), quiet);
            let run = run.unwrap();
            for (job_type, exact) in run.types.iter().zip(exact) {
                let line = format!("{rule}, {}", job_type.name);
                agrees(job_type.mean_number, exact, 0.02, &line);
            }
        }
    }
}
