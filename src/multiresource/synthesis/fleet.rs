//! From a fleet to its policy: one program for all shapes, then each shape as one server.

use super::balance::{self, Solved};
use super::exact::Settled;
use super::{Options, Synthesis, SynthesisError, check_options, of_solution};
use crate::artifact::{ArrivalLaw, SizeLaw, Subject, find};
use crate::multiresource::artifact::{
    Artifact, Claim, Conditions, Evidence, FleetCertificateRecord, HoldsFor, Method, Policy,
    Provenance, Quantity, Routing, ServerPolicy, ShapeWorth,
};
use crate::multiresource::program::{
    self, Certificate, FleetCertificate, FleetSolution, LOAD_MARGIN, Mix, Solution,
};
use crate::multiresource::workload::{Fleet, Workload};

/// Nodes for the proof of one server's mix by the fleet's prices; its own program has better means.
const FIRST_LOOK: u64 = 20_000;

/// What came of it. All of these are answers; none is an error.
#[derive(Debug)]
pub enum FleetOutcome {
    /// A policy that stabilizes the fleet.
    Policy(Box<FleetSynthesis>),
    /// No policy can stabilize the fleet, and why.
    Overloaded(FleetOverload),
    /// The limits ended the search before the load was known to be below or above 1.
    Undecided(FleetOverload),
}

/// A policy of a fleet with what was learned on the way.
#[derive(Debug)]
pub struct FleetSynthesis {
    /// The product.
    pub artifact: Artifact,
    /// The program's solution.
    pub solution: FleetSolution,
    /// For each shape (H) one of its servers, with what is sent there.
    pub shapes: Vec<(Workload, Synthesis)>,
}

/// A fleet at or beyond capacity.
#[derive(Debug)]
pub struct FleetOverload {
    /// The load, and the prices that prove it.
    pub certificate: program::FleetCertificate,
}

/// Synthesizes an MSR policy for each shape of a fleet, and where jobs are sent.
///
/// # Errors
/// When options contradict each other or the given switching rate is unstable; when the solver
/// fails.
pub fn synthesize_fleet(fleet: &Fleet, options: &Options) -> Result<FleetOutcome, SynthesisError> {
    check_options(fleet.envelope(), options)?;
    let solution = program::solve_fleet(fleet, &options.limits)?;
    let certificate = &solution.certificate;
    if certificate.load >= 1.0 - LOAD_MARGIN {
        let decided = certificate.bound >= 1.0 - 2.0 * LOAD_MARGIN;
        let overload = FleetOverload {
            certificate: solution.certificate,
        };
        return Ok(match decided {
            true => FleetOutcome::Overloaded(overload),
            false => FleetOutcome::Undecided(overload),
        });
    }
    let solution = settled(fleet, solution, options)?;
    let certificate = certificate_record(&solution.certificate);
    let shapes = servers(fleet, &solution, options)?;
    let artifact = together(fleet, certificate, &solution, &shapes);
    Ok(FleetOutcome::Policy(Box::new(FleetSynthesis {
        artifact,
        solution,
        shapes,
    })))
}

/// With the mix of each shape that has little to drain, among those that serve what is sent there as
/// well; where jobs are sent then follows from what these serve.
fn settled(
    fleet: &Fleet,
    mut solution: FleetSolution,
    options: &Options,
) -> Result<FleetSolution, SynthesisError> {
    let load = solution.certificate.load;
    for (h, routing) in solution.routing(fleet).into_iter().enumerate() {
        let types = fleet.shapes()[h].types();
        let server = fleet.routed(h, &routing)?;
        let sent: Vec<bool> = types.iter().map(|&i| routing[i] > 0.0).collect();
        let known = solution.mixes[h].schedules.iter();
        let known = known.map(|u| narrowed(u, &sent));
        let options = Options {
            known: known.collect(),
            ..options.clone()
        };
        let own = Settled::in_doubles(&server, &options)?.solution;
        if own.certificate.load <= load * (1.0 + 1e-12) {
            solution.mixes[h] = Mix {
                schedules: own
                    .mix
                    .schedules
                    .iter()
                    .map(|u| widened(u, &sent))
                    .collect(),
                weights: own.mix.weights,
            };
        }
    }
    solution.certificate.load = solution.load(fleet);
    Ok(solution)
}

/// A schedule of the types that are sent, over all that fit.
fn widened(schedule: &[u32], sent: &[bool]) -> Vec<u32> {
    let mut counts = schedule.iter().copied();
    let of = |sent: &bool| sent.then(|| counts.next()).flatten();
    sent.iter().map(of).map(Option::unwrap_or_default).collect()
}

/// A schedule of all types that fit, over those that are sent.
fn narrowed(schedule: &[u32], sent: &[bool]) -> Vec<u32> {
    let kept = schedule.iter().zip(sent).filter(|(_, sent)| **sent);
    kept.map(|(count, _)| *count).collect()
}

/// For each shape what is sent to one of its servers, and the policy of that.
fn servers(
    fleet: &Fleet,
    solution: &FleetSolution,
    options: &Options,
) -> Result<Vec<(Workload, Synthesis)>, SynthesisError> {
    let routing = solution.routing(fleet).into_iter().enumerate();
    let of_shape = |(h, routing): (usize, Vec<f64>)| {
        let workload = fleet.routed(h, &routing)?;
        let own = of_shape(fleet, h, &routing, &workload, solution, options)?;
        let (made, _) = of_solution(&workload, options, Solved::plain(own))?;
        Ok((workload, made))
    };
    routing.map(of_shape).collect()
}

/// The artifact of the fleet, from those of one server of each shape.
fn together(
    fleet: &Fleet,
    certificate: FleetCertificateRecord,
    solution: &FleetSolution,
    shapes: &[(Workload, Synthesis)],
) -> Artifact {
    let (mut policies, mut proofs, mut makings, mut own) = (vec![], vec![], vec![], vec![]);
    let routing = solution.routing(fleet).into_iter();
    let pairs = shapes.iter().map(|(_, made)| made).zip(fleet.shapes());
    for ((made, shape), routing) in pairs.zip(routing) {
        let server = made.server();
        policies.push(ServerPolicy {
            name: shape.name().into(),
            count: shape.count(),
            routing,
            rule: server.policy.rule.clone(),
        });
        proofs.push(server.certificate.clone());
        makings.push(server.making.clone());
        // Of the whole, where there is one server.
        let name = (!fleet.is_one_server()).then(|| shape.name().to_owned());
        own.extend(made.artifact.claims.iter().map(|claim| Claim {
            server: name.clone(),
            ..claim.clone()
        }));
    }
    let options = shapes
        .first()
        .map(|(_, made)| &made.artifact.provenance.options);
    let provenance = Provenance {
        tool: format!("synth {}", env!("CARGO_PKG_VERSION")),
        options: options.cloned().unwrap_or_default(),
        solver: "HiGHS simplex".into(),
        rounds: solution.rounds,
        columns: solution.columns,
        servers: makings,
    };
    let whole = match fleet.is_one_server() {
        true => Vec::new(),
        false => claims(fleet, &certificate, &policies, &own),
    };
    let evidence = Evidence {
        servers: proofs,
        fleet: (!fleet.is_one_server()).then_some(certificate),
    };
    let claims = whole.into_iter().chain(own).collect();
    let policy = Policy { servers: policies };
    Artifact::new(fleet.record(), policy, claims, evidence, provenance)
}

/// The fleet's certificate, with what a server of each shape is worth.
fn certificate_record(certificate: &FleetCertificate) -> FleetCertificateRecord {
    let shapes = certificate.servers.iter().map(|server| ShapeWorth {
        resource_prices: server.resource_prices.clone(),
        worth: server.worth,
        relaxed: server.relaxed.as_ref().map(balance::relaxed_record),
    });
    FleetCertificateRecord {
        load: certificate.load,
        prices: certificate.prices.clone(),
        servers: shapes.collect(),
        bound: certificate.bound,
        gap: certificate.gap(),
        proven: certificate.proven(),
    }
}

/// The program's solution for one server of shape h, to which these fractions of the types are
/// sent: the fleet's mix, and `y_i b^h_i / b_i` as its prices. Where these prove nothing, since the
/// shape is not scarce, prices of its own tell how far its mix is from the best.
fn of_shape(
    fleet: &Fleet,
    h: usize,
    routing: &[f64],
    workload: &Workload,
    solution: &FleetSolution,
    options: &Options,
) -> Result<Solution, SynthesisError> {
    let types = fleet.shapes()[h].types();
    let sent: Vec<bool> = types.iter().map(|&i| routing[i] > 0.0).collect();
    let mix = &solution.mixes[h];
    let mix = Mix {
        schedules: mix.schedules.iter().map(|u| narrowed(u, &sent)).collect(),
        weights: mix.weights.clone(),
    };
    let types = types.iter().filter(|&&i| routing[i] > 0.0);
    let prices = types.zip(workload.types()).map(|(&i, kind)| {
        solution.certificate.prices[i] * kind.offered_load() / fleet.types()[i].offered_load()
    });
    let prices: Vec<f64> = prices.collect();
    let by_fleet = match prices.iter().any(|y| *y > 0.0) {
        true => Some(Certificate::of_mix(workload, &mix, &prices, FIRST_LOOK)?),
        false => None,
    };
    let certificate = match by_fleet.filter(Certificate::proven) {
        Some(certificate) => certificate,
        None => Certificate {
            load: mix.loads(workload).into_iter().fold(0.0, f64::max),
            ..program::solve(workload, &options.limits)?.certificate
        },
    };
    Ok(Solution {
        certificate,
        mix,
        face: Vec::new(),
        rounds: solution.rounds,
        columns: solution.columns,
    })
}

/// The load where it is proven; means of each type that is known on all servers, and of all.
fn claims(
    fleet: &Fleet,
    certificate: &FleetCertificateRecord,
    policies: &[ServerPolicy],
    own: &[Claim],
) -> Vec<Claim> {
    let claim = |quantity: Quantity, job_type: Option<&str>, value: f64, mean: &Mean| {
        let (subject, value) = (Subject::of_type(job_type), (value, fleet.time_unit()));
        Claim::new(quantity, subject, value, mean.method, mean.holds_for())
    };
    let mut claims = Vec::new();
    if certificate.proven {
        let (load, method) = ((certificate.load, fleet.time_unit()), Method::ExactProgram);
        let (all, none) = (Subject::ALL, HoldsFor::default());
        claims.push(Claim::new(Quantity::Load, all, load, method, none));
    }
    let types = fleet.types().iter().enumerate();
    let means = types.map(|(i, kind)| Mean::of_type((i, kind.name()), policies, own));
    let Some(means) = means.collect::<Option<Vec<Mean>>>() else {
        return claims;
    };
    let mut both = |job_type: Option<&str>, mean: &Mean, rate: f64| {
        let response = mean.number / rate;
        claims.push(claim(Quantity::MeanNumber, job_type, mean.number, mean));
        claims.push(claim(Quantity::MeanResponse, job_type, response, mean));
    };
    for (kind, mean) in fleet.types().iter().zip(&means) {
        both(Some(kind.name()), mean, kind.arrival_rate());
    }
    let rate = fleet.envelope().total_arrival_rate();
    both(None, &Mean::together(&means), rate);
    claims
}

/// A mean number in system of the whole fleet.
#[derive(Clone, Copy)]
struct Mean {
    number: f64,
    method: Method,
    /// The law of sizes that it is exact for.
    sizes: SizeLaw,
}

impl Mean {
    /// `Σ_h n_h E[Q^h_i]`; none where some server's is not known.
    fn of_type((i, name): (usize, &str), policies: &[ServerPolicy], own: &[Claim]) -> Option<Self> {
        let serving = policies.iter().filter(|p| p.routing[i] > 0.0);
        let of_shape = |server: &ServerPolicy| {
            let subject = Subject::of_type(name).on(Some(&server.name));
            let claim = find(own, Quantity::MeanNumber, subject)?;
            Some(Mean {
                number: f64::from(server.count) * claim.value,
                method: claim.method,
                sizes: claim.holds_for.sizes.unwrap_or(SizeLaw::Exponential),
            })
        };
        let parts: Option<Vec<Mean>> = serving.map(of_shape).collect();
        Some(Mean::together(&parts?))
    }

    /// The sum, by the least exact of the methods.
    fn together(parts: &[Mean]) -> Self {
        let is_exact = parts.iter().all(|m| m.method == Method::ExactQbd);
        let of_phases = parts.iter().any(|m| m.sizes == SizeLaw::PhaseType);
        Mean {
            number: parts.iter().map(|m| m.number).sum(),
            method: match is_exact {
                true => Method::ExactQbd,
                false => Method::ApproximationQueueLength,
            },
            sizes: match of_phases {
                true => SizeLaw::PhaseType,
                false => SizeLaw::Exponential,
            },
        }
    }

    fn holds_for(&self) -> HoldsFor {
        let is_exact = self.method == Method::ExactQbd;
        HoldsFor {
            sizes: is_exact.then_some(self.sizes),
            arrivals: is_exact.then_some(ArrivalLaw::Poisson),
            own: Conditions {
                routing: Some(Routing::Probabilistic),
                ..Conditions::analysed()
            },
        }
    }
}
