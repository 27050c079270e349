//! What is known of a policy, each number with its method and the conditions it holds under.

use super::tuning::Tuned;
use crate::artifact::{ArrivalLaw, SizeLaw, Subject};
use crate::compatibility::analysis::{Load, Means, Sum};
use crate::compatibility::artifact::{Claim, HoldsFor, Method, Quantity};
use crate::compatibility::simulator::Run;
use crate::compatibility::workload::{Cluster, Jobs};
use crate::simulation::Estimate;

pub(super) fn claims(
    cluster: &Cluster,
    load: &Load,
    means: Option<&Means>,
    tuned: &Tuned,
) -> Vec<Claim> {
    let mut claims = Claims {
        cluster,
        all: Vec::new(),
    };
    let always = HoldsFor::default();
    claims.push(
        Quantity::Load,
        Subject::ALL,
        load.load,
        Method::ExactFlow,
        &always,
    );
    if let Some(means) = means {
        claims.exact(means);
    } else if let Some(run) = &tuned.fair {
        claims.simulated(run, [Quantity::FairResponse, Quantity::FairNumber]);
        if cluster.size().is_exponential() {
            claims.simulated(run, [Quantity::MeanResponse, Quantity::MeanNumber]);
        }
    }
    if let Some(run) = &tuned.own {
        claims.simulated(run, [Quantity::MeanResponse, Quantity::MeanNumber]);
    }
    claims.all
}

struct Claims<'a> {
    cluster: &'a Cluster,
    all: Vec<Claim>,
}

impl Claims<'_> {
    fn push(
        &mut self,
        quantity: Quantity,
        subject: Subject<'_>,
        value: f64,
        method: Method,
        holds_for: &HoldsFor,
    ) {
        let value = (value, self.cluster.time_unit());
        let claim = Claim::new(quantity, subject, value, method, holds_for.clone());
        self.all.push(claim);
    }

    /// All jobs, and each class.
    fn subjects(&self) -> Vec<(Subject<'_>, Vec<usize>)> {
        let names = self.cluster.names();
        let all = (Subject::ALL, (0..names.len()).collect());
        let each = names.into_iter().enumerate();
        let each = each.map(|(i, name)| (Subject::of_type(name), vec![i]));
        match self.cluster.jobs() {
            Jobs::Classes(_) => [all].into_iter().chain(each).collect(),
            Jobs::Random(_) => vec![all],
        }
    }

    fn exact(&mut self, means: &Means) {
        let cluster = self.cluster;
        let method = match means.by {
            Sum::Servers => Method::ExactIdleServers,
            Sum::Classes => Method::ExactActiveClasses,
            Sum::Counts => Method::ExactSymmetry,
        };
        let poisson = HoldsFor {
            arrivals: Some(ArrivalLaw::Poisson),
            ..HoldsFor::default()
        };
        let own = HoldsFor {
            sizes: Some(SizeLaw::Exponential),
            ..poisson.clone()
        };
        let exponential = cluster.size().is_exponential();
        let mut all = Vec::new();
        for (subject, places) in self.subjects() {
            let number: f64 = places.iter().map(|i| means.numbers[*i]).sum();
            let rates = cluster.arrival_rates();
            let response = number / places.iter().map(|i| rates[*i]).sum::<f64>();
            let rate = cluster.size().mean() / response;
            let fair = [
                (Quantity::FairResponse, response, &poisson),
                (Quantity::FairNumber, number, &poisson),
                (Quantity::FairRate, rate, &poisson),
            ];
            let same = [
                (Quantity::MeanResponse, response, &own),
                (Quantity::MeanNumber, number, &own),
            ];
            let same = same.into_iter().filter(|_| exponential);
            for (quantity, value, holds_for) in fair.into_iter().chain(same) {
                let value = (value, cluster.time_unit());
                all.push(Claim::new(
                    quantity,
                    subject,
                    value,
                    method,
                    holds_for.clone(),
                ));
            }
        }
        self.all.extend(all);
        if let Jobs::Classes(_) = cluster.jobs() {
            for (server, busy) in cluster.servers().iter().zip(&means.busy) {
                let subject = Subject::ALL.on(Some(&server.name));
                self.push(Quantity::Utilization, subject, *busy, method, &own);
            }
        }
    }

    /// What a run measured, of all jobs and of each class.
    fn simulated(&mut self, run: &Run, [response, number]: [Quantity; 2]) {
        let cluster = self.cluster;
        let apart = matches!(cluster.jobs(), Jobs::Classes(_)) && cluster.are_told_apart();
        let each = run.types.iter().filter(|_| apart);
        let each = each.map(|class| {
            let subject = Subject::of_type(class.name.as_str());
            (subject, class.mean_response, class.mean_number)
        });
        let all = (Subject::ALL, run.mean_response, run.mean_number);
        for (subject, responses, numbers) in [all].into_iter().chain(each) {
            for (quantity, measured) in [(response, responses), (number, numbers)] {
                if let Some(Estimate {
                    mean, half_width, ..
                }) = measured
                {
                    let holds_for = HoldsFor::default();
                    self.push(quantity, subject, mean, Method::Simulated, &holds_for);
                    let claim = self.all.last_mut().expect("it was just made");
                    claim.half_width = Some(half_width);
                }
            }
        }
    }
}
