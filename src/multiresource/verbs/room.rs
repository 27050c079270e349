//! Why a policy, or any policy, cannot carry more load.

use super::Stability;
use super::fleet::demand;
use super::synthesize::stability;
use crate::artifact::Subject;
use crate::multiresource::artifact::{Artifact, Family, Quantity, Server};
use crate::multiresource::policy::time_of_turns;
use crate::multiresource::schedule::Fluid;
use crate::multiresource::workload::{Fleet, Workload};

/// How much more could arrive, all types alike: factors on all arrival rates.
#[derive(Clone, Debug, PartialEq)]
pub struct Room {
    /// Below this some policy keeps up, 1/ρ; with gangs it is a bound.
    pub of_any: f64,
    /// From this on none does: the same where the load is proven best.
    pub of_none: f64,
    /// As [`Room::of_any`] if jobs could be cut into pieces: what is more is lost since jobs do not pack.
    pub in_pieces: f64,
    /// Below this the policy is stable, under what is assumed of sizes and arrivals there; none where that is not known.
    pub of_this: Option<f64>,
    /// Whether that is proved of all its servers; else it is what their loads say.
    pub is_proved: bool,
    /// What binds: shares of resources of shapes (shape, resource) in the price of all servers, the largest first; at
    /// these prices the proof is.
    pub binding: Vec<(String, String, f64)>,
}

/// What an artifact that passed the checker says of that; `sent` is what arrives at one server of each shape, none
/// where jobs wait in one place.
pub fn room(artifact: &Artifact, fleet: &Fleet, sent: &[Workload]) -> Option<Room> {
    let (load, bound, prices) = proof(artifact)?;
    Some(Room {
        of_any: 1.0 / load,
        of_none: 1.0 / bound,
        in_pieces: 1.0 / in_pieces(fleet),
        of_this: of_this(artifact, fleet, sent),
        is_proved: is_proved(artifact, fleet, sent),
        binding: binding(fleet, &prices),
    })
}

/// Load, bound, and prices of the resources of each shape.
fn proof(artifact: &Artifact) -> Option<(f64, f64, Vec<&[f64]>)> {
    if let Some(all) = &artifact.evidence.fleet {
        let prices = all.servers.iter().map(|own| &*own.resource_prices);
        return Some((all.load, all.bound, prices.collect()));
    }
    let own = artifact.evidence.servers.first()?;
    Some((own.load, own.bound, vec![&own.resource_prices]))
}

fn in_pieces(fleet: &Fleet) -> f64 {
    if fleet.is_one_server() {
        Fluid::new(fleet.envelope()).bound()
    } else {
        demand(fleet).into_iter().fold(0.0, f64::max)
    }
}

fn binding(fleet: &Fleet, prices: &[&[f64]]) -> Vec<(String, String, f64)> {
    let mut all = Vec::new();
    for (shape, prices) in fleet.shapes().iter().zip(prices) {
        for (resource, price) in shape.server().resources().iter().zip(*prices) {
            let price = f64::from(shape.count()) * resource.units() as f64 * price;
            all.push((shape.name().to_owned(), resource.name().to_owned(), price));
        }
    }
    let total: f64 = all.iter().map(|(_, _, price)| price).sum();
    all.iter_mut().for_each(|(_, _, price)| *price /= total);
    all.retain(|(_, _, share)| *share > 1e-9);
    all.sort_by(|a, b| b.2.total_cmp(&a.2));
    all
}

fn is_proved(artifact: &Artifact, fleet: &Fleet, sent: &[Workload]) -> bool {
    let rules = artifact.policy.servers.iter().map(|server| &server.rule);
    let mut own = rules.zip(sent);
    let mut queue = artifact.policy.queue.iter();
    let proved = |rule: &Family, workload| stability(workload, rule) != Stability::Seen;
    own.all(|(rule, sent)| proved(rule, sent)) && queue.all(|rule| proved(rule, fleet.envelope()))
}

/// Loads scale with the arrivals: the largest of them is 1 at the factor sought.
fn of_this(artifact: &Artifact, fleet: &Fleet, sent: &[Workload]) -> Option<f64> {
    let load = match &artifact.policy.queue {
        Some(Family::Partition(policy)) => {
            let nodes: Vec<u32> = fleet.types().iter().map(|kind| kind.nodes()).collect();
            let slots = policy.jobs(0, &nodes);
            let pairs = fleet.types().iter().zip(slots);
            let loads = pairs.map(|(kind, slots)| kind.offered_load() / slots as f64);
            (policy.assignments.len() == 1).then(|| loads.fold(0.0, f64::max))
        }
        Some(_) => largest(artifact, Quantity::LoadUnderGuard, None),
        None => {
            let names = artifact.servers().zip(sent);
            let loads = names.map(|(server, sent)| of_server(artifact, server, fleet, sent));
            let loads: Option<Vec<f64>> = loads.collect();
            loads.map(|loads| loads.into_iter().fold(0.0, f64::max))
        }
    };
    load.map(|load| 1.0 / load)
}

/// The load at which a server's rule is at its end, if it is 1 there.
fn of_server(
    artifact: &Artifact,
    server: Server<'_>,
    fleet: &Fleet,
    sent: &Workload,
) -> Option<f64> {
    let name = (!fleet.is_one_server()).then_some(&*server.policy.name);
    let rule = &server.policy.rule;
    match stability(sent, rule) {
        Stability::Seen if rule.msr().is_some() => largest(artifact, Quantity::Load, name),
        Stability::Loads => largest(artifact, Quantity::Load, name),
        Stability::Guard(_) => largest(artifact, Quantity::LoadUnderGuard, name),
        Stability::Turns(_) => Some(time_of_turns(sent)),
        Stability::Weights | Stability::Fills => Some(server.certificate.load),
        Stability::Partition(_) | Stability::Seen => None,
    }
}

/// The largest load of a type that is claimed.
fn largest(artifact: &Artifact, quantity: Quantity, server: Option<&str>) -> Option<f64> {
    let types = artifact.workload.types.iter();
    let loads = types.filter_map(|kind| {
        let subject = Subject::of_type(Some(kind.name.as_str())).on(server);
        Some(artifact.find(quantity, subject)?.value)
    });
    loads.reduce(f64::max)
}
