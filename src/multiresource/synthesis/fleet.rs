//! From a fleet to its policy: one program for all shapes, then each shape as one server.

use super::balance::{self, Solved};
use super::exact::Settled;
use super::{Options, Synthesis, SynthesisError, check_options, of_solution};
use crate::multiresource::artifact::{
    Artifact, Backfill, Claim, Conditions, EmptySlots, FleetArtifact, FleetCertificateRecord,
    FleetKind, FleetPolicy, FleetProvenance, Format, Method, Quantity, Routing, ShapePolicy,
    ShapeWorth, SizeLaw, VERSION,
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
    pub artifact: FleetArtifact,
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
    let (policies, shapes) = servers(fleet, &solution, options)?;
    let artifact = FleetArtifact {
        format: Format::SynthPolicy,
        version: VERSION,
        kind: FleetKind::Fleet,
        workload: fleet.record(),
        claims: claims(fleet, &certificate, &policies),
        policy: FleetPolicy { shapes: policies },
        certificate,
        provenance: FleetProvenance {
            tool: format!("synth {}", env!("CARGO_PKG_VERSION")),
            solver: "HiGHS simplex".into(),
            rounds: solution.rounds,
            columns: solution.columns,
        },
    };
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

/// The policy of one server of each shape; and how it came about, beside what is sent there.
#[expect(clippy::type_complexity, reason = "two lists of the same length")]
fn servers(
    fleet: &Fleet,
    solution: &FleetSolution,
    options: &Options,
) -> Result<(Vec<ShapePolicy>, Vec<(Workload, Synthesis)>), SynthesisError> {
    let (mut policies, mut shapes) = (Vec::new(), Vec::new());
    for (h, routing) in solution.routing(fleet).into_iter().enumerate() {
        let workload = fleet.routed(h, &routing)?;
        let own = of_shape(fleet, h, &routing, &workload, solution, options)?;
        let (made, _) = of_solution(&workload, options, Solved::plain(own))?;
        policies.push(ShapePolicy {
            name: fleet.shapes()[h].name().into(),
            count: fleet.shapes()[h].count(),
            routing,
            policy: made.artifact.clone(),
        });
        shapes.push((workload, made));
    }
    Ok((policies, shapes))
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
        shapes: shapes.collect(),
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
    policies: &[ShapePolicy],
) -> Vec<Claim> {
    let claim = |quantity: Quantity, value| Claim {
        quantity,
        job_type: None,
        at: None,
        value,
        half_width: None,
        unit: quantity.unit(fleet.time_unit()),
        method: Method::ExactProgram,
        holds_for: Conditions::default(),
    };
    let mut claims = Vec::new();
    if certificate.proven {
        claims.push(claim(Quantity::Load, certificate.load));
    }
    let means: Option<Vec<Mean>> = (0..fleet.types().len())
        .map(|i| Mean::of_type(fleet, i, policies))
        .collect();
    let Some(means) = means else { return claims };
    let mut both = |job_type: Option<&str>, mean: &Mean, rate: f64| {
        for (quantity, value) in [
            (Quantity::MeanNumber, mean.number),
            (Quantity::MeanResponse, mean.number / rate),
        ] {
            claims.push(Claim {
                job_type: job_type.map(Into::into),
                method: mean.method,
                holds_for: mean.conditions(),
                ..claim(quantity, value)
            });
        }
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
    fn of_type(fleet: &Fleet, i: usize, policies: &[ShapePolicy]) -> Option<Self> {
        let name = fleet.types()[i].name();
        let serving = policies.iter().filter(|p| p.routing[i] > 0.0);
        let of_shape = |shape: &ShapePolicy| {
            let claim = mean_number(&shape.policy, name)?;
            Some(Mean {
                number: f64::from(shape.count) * claim.value,
                method: claim.method,
                sizes: claim.holds_for.sizes.unwrap_or(SizeLaw::Exponential),
            })
        };
        let parts: Option<Vec<Mean>> = serving.map(of_shape).collect();
        Some(Mean::together(&parts?))
    }

    /// The sum, by the least exact of the methods.
    fn together(parts: &[Mean]) -> Self {
        let least_exact = parts.iter().map(|m| m.method).max_by_key(|m| match m {
            Method::ExactQbd => 0,
            Method::ApproximationExponentialSizes => 1,
            _ => 2,
        });
        let of_phases = parts.iter().any(|m| m.sizes == SizeLaw::PhaseType);
        Mean {
            number: parts.iter().map(|m| m.number).sum(),
            method: least_exact.unwrap_or(Method::ExactQbd),
            sizes: match of_phases {
                true => SizeLaw::PhaseType,
                false => SizeLaw::Exponential,
            },
        }
    }

    fn conditions(&self) -> Conditions {
        Conditions {
            empty_slots: Some(EmptySlots::Phantom),
            backfill: Some(Backfill::None),
            sizes: self.method.is_exact().then_some(self.sizes),
            routing: Some(Routing::Probabilistic),
        }
    }
}

/// What a server's policy says of the mean number of a type.
fn mean_number<'a>(policy: &'a Artifact, name: &str) -> Option<&'a Claim> {
    let of_type = |c: &&Claim| c.job_type.as_deref() == Some(name);
    let mut claims = policy.claims.iter().filter(of_type);
    claims.find(|c| c.quantity == Quantity::MeanNumber)
}
