//! Which step to buy: the program anew for servers that have one step more of something.

use std::time::Instant;

use super::exact::search_record;
use super::fleet::certificate_record;
use super::{Options, SynthesisError};
use crate::multiresource::artifact::{FleetCertificateRecord, Growth, Mix, ShapeWorth, Step};
use crate::multiresource::program::{self, FleetSolution, Limits, Solution};
use crate::multiresource::schedule::{Schedule, smallest_step};
use crate::multiresource::workload::Fleet;

/// The part of the time, where it is limited, and of the work of the program that goes into these answers.
const PART: u32 = 10;

/// A program for larger servers is an answer beside others: its load need not be proven.
const LONGER: usize = 1;

/// Numbers that the mixes of a step may have.
const NUMBERS: usize = 50_000;

/// What is found for larger servers: the load with its proof, and the mean response time, where that is known.
pub(super) type Found = (FleetCertificateRecord, Option<f64>);

/// Something that can be bought.
struct Purchase {
    shape: usize,
    /// The resource; none where it is a server.
    resource: Option<usize>,
    more: f64,
    larger: Fleet,
}

/// What each step brings, as `solve` finds it within the options that it is given; what helps most first. A step that
/// cannot be solved, or for which no time is left, is counted only.
pub(super) fn growth(
    fleet: &Fleet,
    options: &Options,
    mut solve: impl FnMut(&Fleet, &Options) -> Result<Found, SynthesisError>,
) -> Growth {
    let purchases = purchases(fleet);
    let work = options.limits.work / u64::from(PART) / purchases.len().max(1) as u64;
    let options = &Options {
        limits: Limits {
            longer: LONGER,
            work,
            ..options.limits.clone()
        },
        end: options.end.map(|_| Instant::now() + options.left() / PART),
        ..options.clone()
    };
    let mut growth = Growth::default();
    for purchase in purchases {
        let found = match options.left().is_zero() {
            true => None,
            false => solve(&purchase.larger, options).ok(),
        };
        let Some((mut proof, mean_response)) = found else {
            growth.skipped += 1;
            continue;
        };
        shorten(&mut proof);
        let resources = fleet.envelope().resources();
        growth.steps.push(Step {
            shape: fleet.shapes()[purchase.shape].name().into(),
            resource: purchase.resource.map(|j| resources[j].name().into()),
            more: purchase.more,
            proof,
            mean_response,
        });
    }
    let load = |step: &Step| step.proof.load;
    growth.steps.sort_by(|a, b| load(a).total_cmp(&load(b)));
    growth
}

/// Mixes that are too long for a file are left out.
fn shorten(proof: &mut FleetCertificateRecord) {
    let mixes = proof.servers.iter().filter_map(|own| own.mix.as_ref());
    let numbers: usize = mixes
        .map(|mix| mix.schedules.iter().map(Vec::len).sum::<usize>())
        .sum();
    if numbers > NUMBERS {
        proof.servers.iter_mut().for_each(|own| own.mix = None);
    }
}

/// One step of each resource that a shape has and some type demands; where there are several servers, also one more of
/// each shape.
fn purchases(fleet: &Fleet) -> Vec<Purchase> {
    let resources = fleet.envelope().resources().len();
    let mut all = Vec::new();
    for h in 0..fleet.shapes().len() {
        let amounts = (0..resources).filter_map(|j| {
            let more = smallest_step(fleet, h, j)?;
            Some(Purchase {
                shape: h,
                resource: Some(j),
                more: more.value(),
                larger: fleet.with_more(h, j, more)?,
            })
        });
        all.extend(amounts);
        let one_more = || fleet.with_one_more_server(h);
        let server = (!fleet.is_one_server()).then(one_more).flatten();
        all.extend(server.map(|larger| Purchase {
            shape: h,
            resource: None,
            more: 1.0,
            larger,
        }));
    }
    all
}

/// What each step brings to a fleet, of which `mean` knows the mean response time where it can be told.
pub(super) fn of_fleet(
    fleet: &Fleet,
    solution: &FleetSolution,
    options: &Options,
    mean: impl Fn(&Fleet, &FleetSolution) -> Option<f64>,
) -> Growth {
    let known = known(fleet, solution);
    growth(fleet, options, |larger, options| {
        let solution = program::solve_fleet_from(larger, &options.limits_now(), &known)?;
        Ok((with_mixes(&solution), mean(larger, &solution)))
    })
}

/// What each step would bring to a fleet whose load is too much.
pub fn growth_of_overloaded(fleet: &Fleet, options: &Options) -> Growth {
    growth(fleet, options, |larger, options| {
        let solution = program::solve_fleet(larger, &options.limits_now())?;
        Ok((with_mixes(&solution), None))
    })
}

/// The schedules of the mixes of each shape (H), over all types: what fits now fits then.
fn known(fleet: &Fleet, solution: &FleetSolution) -> Vec<Vec<Schedule>> {
    let wide = |own: &Schedule, types: &[usize]| {
        let mut all = vec![0; fleet.types().len()];
        types.iter().zip(own).for_each(|(&i, u)| all[i] = *u);
        all
    };
    let shapes = fleet.shapes().iter().zip(&solution.mixes);
    let of_shape = shapes.map(|(shape, mix)| {
        let own = mix.schedules.iter();
        own.map(|u| wide(u, shape.types())).collect()
    });
    of_shape.collect()
}

/// The fleet's certificate with the mixes that have its load.
pub(super) fn with_mixes(solution: &FleetSolution) -> FleetCertificateRecord {
    let mut proof = certificate_record(&solution.certificate);
    for (server, mix) in proof.servers.iter_mut().zip(&solution.mixes) {
        server.mix = Some(Mix {
            schedules: mix.schedules.clone(),
            weights: mix.weights.clone(),
        });
    }
    proof
}

/// The certificate of one server, as that of a fleet of one.
pub(super) fn of_one(solution: &Solution) -> FleetCertificateRecord {
    let certificate = &solution.certificate;
    FleetCertificateRecord {
        load: certificate.load,
        prices: certificate.prices.clone(),
        servers: vec![ShapeWorth {
            resource_prices: certificate.resource_prices.clone(),
            worth: 1.0 / certificate.bound,
            mix: Some(Mix {
                schedules: solution.mix.schedules.clone(),
                weights: solution.mix.weights.clone(),
            }),
            search: certificate.tree.as_ref().map(search_record),
        }],
        bound: certificate.bound,
        gap: certificate.gap(),
        proven: certificate.proven(),
    }
}

/// Without the means, which are those of another policy.
pub(super) fn without_means(growth: &mut Growth) {
    for step in &mut growth.steps {
        step.mean_response = None;
    }
}
