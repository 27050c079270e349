use super::oldest::Oldest;
use super::unsuitable::one_resource;
use super::{Event, FamilyRule, Job, Policy, System, Unsuitable};
use crate::multiresource::artifact::DivisorFillingPolicy;
use crate::multiresource::workload::{JobType, Workload};

/// DivisorFilling: of the k oldest jobs in the system, a subset that needs all k servers together.
/// Preempts. Each need must divide k.
///
/// Source: Grosof, Harchol-Balter, Scheller-Wolf, "WCFS: a new framework for analyzing multiserver
/// systems", Queueing Systems 102, 2022: among k jobs whose needs divide k there always is such a
/// subset, so the rule is throughput-optimal. Which one is ours: by dynamic programming, of those
/// that need most together (k, if there are k jobs) the one with the oldest jobs, that is, going
/// from the oldest on, each that some such subset holds with those already in it. The paper builds
/// one recursively from the prime factors of k, and does not say what happens to fewer than k jobs.
///
/// O(k²/64 + k) a decision; O(1) for an arrival behind k others.
#[derive(Clone, Debug)]
pub struct DivisorFilling {
    servers: usize,
    /// By type.
    needs: Vec<usize>,
    oldest: Oldest,
    /// The oldest jobs, at most k of them.
    jobs: Vec<Served>,
    /// Sums that the jobs from each place on can have: k + 1 sets of k + 1 bits.
    sums: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Served {
    job_type: usize,
    job: Job,
    runs: bool,
    /// Whether it shall run.
    chosen: bool,
}

/// Servers for which the sets of sums take two megabytes.
const MOST_SERVERS: u64 = 4096;

impl DivisorFilling {
    /// The rule for this workload.
    ///
    /// # Errors
    /// With more than one resource, or where a need does not divide the number of servers.
    pub fn new(workload: &Workload) -> Result<Self, Unsuitable> {
        let (servers, needs) = one_resource(workload)?;
        if servers > MOST_SERVERS {
            return Err(Unsuitable::Servers(servers, MOST_SERVERS));
        }
        if let Some(i) = needs.iter().position(|need| servers % need != 0) {
            let name = workload.types()[i].name().to_owned();
            return Err(Unsuitable::Divisor(name, needs[i], servers));
        }
        let servers = servers as usize;
        Ok(DivisorFilling {
            servers,
            oldest: Oldest::new(needs.len()),
            needs: needs.iter().map(|need| *need as usize).collect(),
            jobs: Vec::with_capacity(servers),
            sums: vec![0; (servers + 1) * (servers / 64 + 1)],
        })
    }

    fn leave(&mut self, i: usize, number: u64) {
        let place = self.jobs.partition_point(|own| own.job.number < number);
        self.jobs.remove(place);
        self.oldest.leave(i);
    }

    fn extend(&mut self, system: &System) {
        while self.jobs.len() < self.servers
            && let Some((job_type, job)) = self.oldest.take(system)
        {
            self.jobs.push(Served {
                job_type,
                job,
                runs: false,
                chosen: false,
            });
        }
    }

    /// Words of a set of sums.
    fn words(&self) -> usize {
        self.servers / 64 + 1
    }

    /// Whether the jobs from this place on can have this sum.
    fn can_have(&self, place: usize, sum: usize) -> bool {
        self.sums[place * self.words() + sum / 64] >> (sum % 64) & 1 == 1
    }

    /// The sums of the jobs from each place on, from the youngest to the oldest: with the job, or
    /// without it.
    fn add_up(&mut self) {
        let words = self.words();
        let none = self.jobs.len() * words;
        self.sums[none..none + words].fill(0);
        self.sums[none] = 1;
        for place in (0..self.jobs.len()).rev() {
            let need = self.needs[self.jobs[place].job_type];
            let (before, after) = self.sums.split_at_mut((place + 1) * words);
            let (own, after) = (&mut before[place * words..], &after[..words]);
            or_shifted(own, after, need);
        }
    }

    fn choose(&mut self, system: &System) {
        self.add_up();
        let mut sums = (0..=system.left(0) as usize).rev();
        let most = sums.find(|&sum| self.can_have(0, sum));
        let mut left = most.expect("no jobs have the sum 0");
        for place in 0..self.jobs.len() {
            let need = self.needs[self.jobs[place].job_type];
            let chosen = need <= left && self.can_have(place + 1, left - need);
            self.jobs[place].chosen = chosen;
            left -= if chosen { need } else { 0 };
        }
    }

    /// Stops what shall not run, then starts what shall.
    fn serve(&mut self, system: &mut System) {
        for own in self.jobs.iter().filter(|own| own.runs && !own.chosen) {
            system.stop_job(own.job_type, own.job);
        }
        for own in &mut self.jobs {
            if own.chosen && !own.runs {
                system.start_job(own.job_type, own.job);
            }
            own.runs = own.chosen;
        }
    }
}

/// `to = from | from << by`, in sets of as many bits; what is shifted out is lost.
fn or_shifted(to: &mut [u64], from: &[u64], by: usize) {
    let (words, bits) = (by / 64, by % 64);
    for (w, word) in to.iter_mut().enumerate() {
        let at = |w: usize| from.get(w).copied().unwrap_or(0);
        let low = w.checked_sub(words).map_or(0, |w| at(w) << bits);
        let carry = match (w.checked_sub(words + 1), bits) {
            (None, _) | (_, 0) => 0,
            (Some(w), bits) => at(w) >> (64 - bits),
        };
        *word = at(w) | low | carry;
    }
}

impl Policy for DivisorFilling {
    fn preempts(&self) -> bool {
        true
    }

    fn react(&mut self, event: Event, system: &mut System) {
        match event {
            Event::Completion(i) => self.leave(i, system.ended()),
            _ if self.jobs.len() == self.servers => return,
            _ => {}
        }
        self.extend(system);
        self.choose(system);
        self.serve(system);
    }

    /// From the beginning: nothing runs.
    fn take_over(&mut self, system: &mut System) {
        system.stop_all();
        self.jobs.clear();
        self.oldest = Oldest::new(self.needs.len());
        self.extend(system);
        self.choose(system);
        self.serve(system);
    }
}

impl FamilyRule for DivisorFillingPolicy {
    type Rule = DivisorFilling;

    fn rule(&self, workload: &Workload) -> DivisorFilling {
        DivisorFilling::new(workload).expect("the policy was checked: each need divides k")
    }

    /// Among k jobs there always are some that need all servers.
    fn is_proved_stable(&self, workload: &Workload) -> bool {
        let memoryless = workload.types().iter().all(JobType::is_memoryless);
        memoryless && workload.is_poisson()
    }

    fn work(&self, workload: &Workload) -> f64 {
        let servers = workload.resources()[0].units() as f64;
        (servers * servers / 64.0 + servers) / 100.0
    }

    fn words(&self, _: &Workload) -> String {
        "DivisorFilling, with preemption: of as many of the oldest jobs as there are servers, some run that need all servers together, the oldest such ones.".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_shifted_across_words() {
        for by in [0, 1, 63, 64, 65, 130] {
            let from = [1_u64 << 63 | 5, 1 << 40, 0, 0];
            let mut to = [0; 4];
            or_shifted(&mut to, &from, by);
            let holds = |set: &[u64], bit: usize| set[bit / 64] >> (bit % 64) & 1 == 1;
            for bit in 0..256 {
                let expected = holds(&from, bit) || bit >= by && holds(&from, bit - by);
                assert_eq!(holds(&to, bit), expected, "{bit} by {by}");
            }
        }
    }
}
