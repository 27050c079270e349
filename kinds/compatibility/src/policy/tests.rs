#![allow(clippy::unwrap_used)]

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

#[derive(Default)]
struct Literal {
    queue: Vec<(usize, Vec<u32>)>,
    working: Vec<Option<usize>>,
}

impl Literal {
    fn arrive(&mut self, name: usize, servers: &[u32]) {
        for s in servers {
            let working = &mut self.working[*s as usize];
            *working = working.or(Some(name));
        }
        self.queue.push((name, servers.to_vec()));
    }

    fn end(&mut self, name: usize, returns: bool) {
        let place = self.queue.iter().position(|job| job.0 == name).unwrap();
        let job = self.queue.remove(place);
        if returns {
            self.queue.push(job);
        }
        for (s, working) in self.working.iter_mut().enumerate() {
            if *working == Some(name) {
                let mut rest = self.queue[place..].iter();
                let next = rest.find(|(_, own)| own.contains(&(s as u32)));
                *working = next.map(|job| job.0);
            }
        }
    }
}

#[test]
fn matches_algorithm_1_of_the_paper() {
    for seed in 0..300 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut queue = FairQueue::new(5);
        let mut literal = Literal {
            working: vec![None; 5],
            ..Literal::default()
        };
        let mut there: Vec<(Job, usize)> = Vec::new();
        let mut known = [None; 5];
        for name in 0..200 {
            let draw = random.random_range(0..11);
            if draw < 4 || there.is_empty() {
                let set = random.random_range(1..32);
                let servers: Vec<u32> = (0..5).filter(|s| set & 1 << s != 0).collect();
                there.push((queue.arrive(&servers), name));
                literal.arrive(name, &servers);
            } else {
                let place = random.random_range(0..there.len());
                let (job, name) = there[place];
                if draw < 7 {
                    there.swap_remove(place);
                    queue.leave(job);
                } else {
                    queue.interrupt(job);
                }
                literal.end(name, draw >= 7);
            }
            assert_eq!(queue.audit(), Ok(()));
            for change in queue.changes() {
                assert_ne!(known[change.server as usize], change.job);
                known[change.server as usize] = change.job;
            }
            for (s, known) in known.iter().enumerate() {
                let name = |job: Job| there.iter().find(|own| own.0 == job).unwrap().1;
                assert_eq!(queue.current(s), *known);
                assert_eq!(queue.current(s).map(name), literal.working[s], "{seed}");
            }
        }
    }
}

#[test]
fn drops_stale_entries() {
    let mut queue = FairQueue::new(2);
    let first = queue.arrive(&[0]);
    let jobs: Vec<Job> = (0..10).map(|_| queue.arrive(&[0, 1])).collect();
    for n in 0..100_000 {
        queue.interrupt(jobs[n % 10]);
    }
    assert_eq!(queue.current(0), Some(first));
    assert!(queue.servers[0].waiting.len() < 100);
}
