//! How hosts stand: what is remembered of each with each version, and percentiles that are computed
//! from it now and then.

use crate::volunteer::policy::{History, UNKNOWN, ceiling, percentiles};
use crate::volunteer::workload::{Campaign, Processor};

/// Results of an application that its law of turnaround is taken from.
const SAMPLE: usize = 10_000;

/// An application is new until so many pairs have a valid result, or all where there are fewer.
const KNOWN: usize = 10;

/// Of all hosts.
pub(super) struct Standings {
    versions: usize,
    /// By host and version.
    histories: Vec<History>,
    /// P by host and version \[%\].
    standing: Vec<f64>,
    /// By application.
    pub ceilings: Vec<f64>,
    /// By application and type of processor: the version that is sent.
    pub current: Vec<[Option<usize>; 2]>,
    /// By application: what results took lately, and the same sorted.
    recent: Vec<(usize, Vec<f64>)>,
    pub sorted: Vec<Vec<f64>>,
}

impl Standings {
    pub fn new(campaign: &Campaign, hosts: usize) -> Self {
        let versions = campaign.versions().len();
        let applications = campaign.record().applications.len();
        Standings {
            versions,
            histories: vec![History::default(); hosts * versions],
            standing: vec![0.0; hosts * versions],
            ceilings: vec![-1.0; applications],
            current: vec![[None; 2]; applications],
            recent: vec![(0, Vec::new()); applications],
            sorted: vec![Vec::new(); applications],
        }
    }

    pub fn history(&mut self, host: u32, version: u16) -> &mut History {
        &mut self.histories[host as usize * self.versions + version as usize]
    }

    /// P \[%\].
    pub fn percentile(&self, host: usize, version: usize) -> f64 {
        self.standing[host * self.versions + version]
    }

    /// Versions that are there from now on take over what is known of those whose place they take.
    pub fn release(&mut self, campaign: &Campaign, now: f64) {
        for (v, version) in campaign.versions().iter().enumerate() {
            if version.released > now {
                continue;
            }
            let place = &mut self.current[version.application][version.processor as usize];
            let newer = |old: usize| {
                let old = &campaign.versions()[old];
                (version.released, version.efficiency) > (old.released, old.efficiency)
            };
            let before = *place;
            if before.is_some_and(|old| !newer(old)) {
                continue;
            }
            *place = Some(v);
            let Some(old) =
                before.filter(|old| campaign.versions()[*old].released < version.released)
            else {
                continue;
            };
            for own in self.histories.chunks_mut(self.versions) {
                own[v] = own[old].copied();
            }
            // It stands where the old one stood until percentiles are made anew.
            for own in self.standing.chunks_mut(self.versions) {
                own[v] = own[old];
            }
        }
    }

    /// A result of an application took so long.
    pub fn took(&mut self, application: usize, turnaround: f64) {
        let (next, recent) = &mut self.recent[application];
        if recent.len() < SAMPLE {
            recent.push(turnaround);
        } else {
            recent[*next % SAMPLE] = turnaround;
        }
        *next += 1;
    }

    /// What results take, sorted anew.
    pub fn sort(&mut self) {
        for ((_, recent), sorted) in self.recent.iter().zip(&mut self.sorted) {
            sorted.clone_from(recent);
            sorted.sort_by(f64::total_cmp);
        }
    }

    /// Percentiles of all hosts that have returned something, by application over its versions; `able` says
    /// whether a host can run a version.
    pub fn refresh(&mut self, applications: usize, able: impl Fn(usize, usize) -> bool) {
        let hosts = self.histories.len() / self.versions.max(1);
        let mut cold = Vec::new();
        let mut known: Vec<(f64, u32)> = vec![(0.0, 0); hosts];
        for application in 0..applications {
            let own: Vec<usize> = self.current[application]
                .iter()
                .flatten()
                .copied()
                .collect();
            let mut places = Vec::new();
            for host in 0..hosts {
                let own = own.iter().filter(|v| able(host, **v));
                places.extend(own.map(|v| host * self.versions + v));
            }
            let active: Vec<usize> = places
                .iter()
                .copied()
                .filter(|place| self.histories[*place].results > 0)
                .collect();
            let known_pairs = active.iter().filter(|place| self.histories[**place].known);
            if known_pairs.count() < KNOWN.min(places.len()).max(1) {
                cold.push((application, places));
                continue;
            }
            let pairs: Vec<_> = active.iter().map(|p| self.histories[*p].pair()).collect();
            let found = percentiles(&pairs);
            places.iter().for_each(|place| self.standing[*place] = 0.0);
            for (place, percentile) in active.iter().zip(&found) {
                self.standing[*place] = *percentile;
                let (sum, count) = &mut known[place / self.versions];
                *sum += percentile;
                *count += 1;
            }
            self.ceilings[application] = ceiling(&found);
        }
        // Nothing is known of an application: what hosts are with others.
        for (application, places) in cold {
            for place in &places {
                let (sum, count) = known[place / self.versions];
                self.standing[*place] = match count {
                    0 => UNKNOWN,
                    _ => sum / f64::from(count),
                };
            }
            let own: Vec<f64> = places.iter().map(|place| self.standing[*place]).collect();
            self.ceilings[application] = ceiling(&own);
        }
    }

    /// The version of an application that is sent for a type of processor.
    pub fn version(&self, application: usize, processor: Processor) -> Option<usize> {
        self.current[application][processor as usize]
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::volunteer::policy::MOST_COPIED;

    fn with_two_versions() -> Campaign {
        let text = "kind: volunteer\ntime_unit: h\nhorizon: 500
hosts: [{name: a, count: 40, cores: 1, speed: 1, buffer: 6}]
applications: [{name: x, versions: [{name: old, processor: cpu}, {name: new, processor: cpu, released: 100}]}]
batches: [{name: s, application: x, size: 2, quality: throughput, bound: 150}]\n";
        Campaign::parse(text, "here").unwrap().workload
    }

    /// Host h has returned h results that took 100 − h hours each.
    fn standings(campaign: &Campaign) -> Standings {
        let mut standings = Standings::new(campaign, 40);
        standings.release(campaign, 0.0);
        for host in 0..40 {
            for _ in 0..host {
                let history = standings.history(host, 0);
                history.took(100.0 - f64::from(host));
                history.was_valid();
            }
        }
        standings.refresh(1, |_, _| true);
        standings
    }

    /// A version that takes the place of another takes over what is known of it, with the count cut to
    /// ten, and where hosts stand; once more changes nothing.
    #[test]
    fn a_new_version_inherits_standing() {
        let campaign = with_two_versions();
        let mut standings = standings(&campaign);
        for now in [100.0, 100.0] {
            standings.release(&campaign, now);
            assert_eq!(standings.version(0, Processor::Cpu), Some(1));
            for host in 0..40 {
                let old = *standings.history(host, 0);
                let new = *standings.history(host, 1);
                assert_eq!(new.results, host.min(MOST_COPIED));
                assert_eq!((new.turnaround, new.valid), (old.turnaround, old.valid));
                let host = host as usize;
                assert_eq!(standings.percentile(host, 1), standings.percentile(host, 0));
            }
        }
        // Made anew from what was taken over, percentiles are the same.
        let before: Vec<f64> = (0..40).map(|host| standings.percentile(host, 0)).collect();
        standings.refresh(1, |_, _| true);
        let after: Vec<f64> = (0..40).map(|host| standings.percentile(host, 1)).collect();
        assert_eq!(after, before);
        assert!(before.iter().any(|p| *p > 90.0));
    }

    /// Until then the old one is, and nothing is taken over.
    #[test]
    fn before_its_release_a_version_is_not_sent() {
        let campaign = with_two_versions();
        let mut standings = standings(&campaign);
        standings.release(&campaign, 99.9);
        assert_eq!(standings.version(0, Processor::Cpu), Some(0));
        assert_eq!(standings.history(39, 1).results, 0);
    }
}
