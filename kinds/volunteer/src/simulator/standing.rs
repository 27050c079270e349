use crate::policy::{History, UNKNOWN, ceiling, percentiles};
use crate::workload::{Campaign, Processor};

const SAMPLE: usize = 10_000;

/// An application is new until this number of pairs, or all of them, have a valid result.
const KNOWN: usize = 10;

#[derive(Clone, Default)]
pub(super) struct Application {
    pub ceiling: f64,
    pub current: [Option<usize>; Processor::ALL.len()],
    /// A ring buffer of the last turnarounds, their total number, and a sorted copy.
    recent: Vec<f64>,
    count: usize,
    pub sorted: Vec<f64>,
}

pub(super) struct Percentiles {
    versions: usize,
    histories: Vec<History>,
    /// P by host and version \[%\].
    standing: Vec<f64>,
    pub applications: Vec<Application>,
}

impl Percentiles {
    pub(super) fn new(campaign: &Campaign, hosts: usize) -> Self {
        let versions = campaign.versions.len();
        let applications = campaign.record.applications.len();
        Percentiles {
            versions,
            histories: vec![History::default(); hosts * versions],
            standing: vec![0.0; hosts * versions],
            applications: vec![Application::default(); applications],
        }
    }

    pub(super) fn history(&mut self, host: u32, version: u16) -> &mut History {
        &mut self.histories[host as usize * self.versions + version as usize]
    }

    pub(super) fn percentile(&self, host: usize, version: usize) -> f64 {
        self.standing[host * self.versions + version]
    }

    /// Activates the versions that have been released, with a copy of the history of the last one.
    pub(super) fn release(&mut self, campaign: &Campaign, now: f64) {
        let all = &campaign.versions;
        for (v, version) in all.iter().enumerate() {
            let application = &mut self.applications[version.application];
            let place = &mut application.current[version.processor as usize];
            let before = *place;
            let is_newer = before.is_none_or(|old| {
                (version.released, version.efficiency) > (all[old].released, all[old].efficiency)
            });
            if version.released > now || !is_newer {
                continue;
            }
            *place = Some(v);
            let Some(old) = before.filter(|old| all[*old].released < version.released) else {
                continue;
            };
            let histories = self.histories.chunks_mut(self.versions);
            histories.for_each(|own| own[v] = own[old].copied());
            let standing = self.standing.chunks_mut(self.versions);
            standing.for_each(|own| own[v] = own[old]);
        }
    }

    pub(super) fn took(&mut self, application: usize, turnaround: f64) {
        let own = &mut self.applications[application];
        match own.recent.get_mut(own.count % SAMPLE) {
            Some(oldest) => *oldest = turnaround,
            None => own.recent.push(turnaround),
        }
        own.count += 1;
    }

    /// Computes the percentiles of all hosts with results, for all versions of an application
    /// together, and sorts the turnarounds. A host can run a version if `able` returns `true`.
    pub(super) fn refresh(&mut self, able: impl Fn(usize, usize) -> bool) {
        let hosts = self.histories.len() / self.versions.max(1);
        let mut new = Vec::new();
        let mut known: Vec<(f64, u32)> = vec![(0.0, 0); hosts];
        for application in &mut self.applications {
            application.sorted.clone_from(&application.recent);
            application.sorted.sort_by(f64::total_cmp);
            let current = application.current.iter().flatten();
            let pairs = (0..hosts).flat_map(|host| current.clone().map(move |v| (host, *v)));
            let places = pairs.filter(|(host, v)| able(*host, *v));
            let places: Vec<usize> = places.map(|(host, v)| host * self.versions + v).collect();
            let mut active = places.clone();
            active.retain(|place| self.histories[*place].results > 0);
            let pairs: Vec<_> = active.iter().map(|p| self.histories[*p]).collect();
            let known_pairs = pairs.iter().filter(|own| own.known).count();
            if known_pairs < KNOWN.min(places.len()).max(1) {
                new.push((application, places));
                continue;
            }
            let found = percentiles(&pairs);
            places.iter().for_each(|place| self.standing[*place] = 0.0);
            for (place, percentile) in active.iter().zip(&found) {
                self.standing[*place] = *percentile;
                let (sum, count) = &mut known[place / self.versions];
                (*sum, *count) = (*sum + percentile, *count + 1);
            }
            application.ceiling = ceiling(&found);
        }
        // A new application uses the mean percentile of the host in the other applications.
        for (application, places) in new {
            for place in &places {
                let (sum, count) = known[place / self.versions];
                let mean = sum / f64::from(count);
                self.standing[*place] = if count == 0 { UNKNOWN } else { mean };
            }
            let own = places.iter().map(|place| self.standing[*place]);
            application.ceiling = ceiling(&own.collect::<Vec<f64>>());
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::workload::CampaignDocument;
    use synth_core::document::WorkloadDocument as _;

    fn with_two_versions() -> Campaign {
        let text = "kind: volunteer\ntime_unit: h\nhorizon: 500
hosts: [{name: a, count: 40, cores: 1, speed: 1, buffer: 6}]
applications: [{name: x, versions: [{name: old, processor: cpu}, {name: new, processor: cpu, released: 100}]}]
batches: [{name: s, application: x, size: 2, quality: throughput, bound: 150}]\n";
        CampaignDocument::parse(text, "here").unwrap().workload
    }

    fn standings(campaign: &Campaign) -> Percentiles {
        let mut standings = Percentiles::new(campaign, 40);
        standings.release(campaign, 0.0);
        for host in 0..40 {
            for _ in 0..host {
                let history = standings.history(host, 0);
                history.add_turnaround(100.0 - f64::from(host));
                history.add_validation(true);
            }
        }
        standings.refresh(|_, _| true);
        standings
    }

    #[test]
    fn new_versions_inherit_histories_and_percentiles() {
        let campaign = with_two_versions();
        let mut standings = standings(&campaign);
        for now in [100.0, 100.0] {
            standings.release(&campaign, now);
            assert_eq!(standings.applications[0].current[0], Some(1));
            for host in 0..40 {
                let old = *standings.history(host, 0);
                let new = *standings.history(host, 1);
                assert_eq!(new.results, host.min(10));
                assert_eq!((new.turnaround, new.valid), (old.turnaround, old.valid));
                let host = host as usize;
                assert_eq!(standings.percentile(host, 1), standings.percentile(host, 0));
            }
        }
        let before: Vec<f64> = (0..40).map(|host| standings.percentile(host, 0)).collect();
        standings.refresh(|_, _| true);
        let after: Vec<f64> = (0..40).map(|host| standings.percentile(host, 1)).collect();
        assert_eq!(after, before);
        assert!(before.iter().any(|p| *p > 90.0));
    }

    #[test]
    fn versions_are_not_sent_before_their_release() {
        let campaign = with_two_versions();
        let mut standings = standings(&campaign);
        standings.release(&campaign, 99.9);
        assert_eq!(standings.applications[0].current[0], Some(0));
        assert_eq!(standings.history(39, 1).results, 0);
    }
}
