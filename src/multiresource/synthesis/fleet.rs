//! From a fleet to its policy: one program for all shapes, then each shape as one server.

use super::exact::{Settled, search_record};
use super::growth;
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
pub enum FleetOutcome<T = FleetSynthesis> {
    /// A policy that stabilizes the fleet.
    Policy(Box<T>),
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
    /// For each shape (H) what is sent to one of its servers, and the policy of that.
    pub shapes: Vec<(Workload, Artifact)>,
}

/// One server of a shape, which stands for all of them.
#[derive(Clone, Copy, Debug)]
pub struct OneOf<'a> {
    /// The name of the shape.
    pub shape: &'a str,
    /// The place of the shape in the fleet.
    pub place: usize,
    /// What is sent to the server.
    pub workload: &'a Workload,
    /// The part of all work that is worth spending on it, of sum 1 over the shapes: half of it in
    /// equal parts, half by the jobs that run on the shape's servers on average.
    pub part: f64,
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
    choose_fleet(fleet, options, |_, made| Ok(made.artifact))
}

/// The same, with for each shape the policy that `choose` makes of the MSR policy of one server: of
/// the same schedules, each for the same fraction of time in its certificate.
///
/// # Errors
/// As [`synthesize_fleet`]; and those of `choose`.
pub fn choose_fleet<E: From<SynthesisError>>(
    fleet: &Fleet,
    options: &Options,
    choose: impl FnMut(OneOf<'_>, Box<Synthesis>) -> Result<Artifact, E>,
) -> Result<FleetOutcome, E> {
    let solution = match solved(fleet, options)? {
        FleetOutcome::Policy(solution) => *solution,
        FleetOutcome::Overloaded(overload) => return Ok(FleetOutcome::Overloaded(overload)),
        FleetOutcome::Undecided(overload) => return Ok(FleetOutcome::Undecided(overload)),
    };
    let solution = settled(fleet, solution, options)?;
    let certificate = certificate_record(&solution.certificate);
    // Before the choice, which takes all the time that there is.
    let growth = growth::of_fleet(fleet, &solution, options, |_, _| None);
    let made = servers(fleet, &solution, options)?;
    let told = made
        .first()
        .map(|(_, made)| &made.artifact.provenance.options);
    let told = told.cloned().unwrap_or_default();
    let shapes = chosen(fleet, made, choose)?;
    let mut artifact = together(fleet, certificate, &solution, &shapes, told);
    artifact.provenance.growth = Some(growth);
    Ok(FleetOutcome::Policy(Box::new(FleetSynthesis {
        artifact,
        solution,
        shapes,
    })))
}

/// The program's solution, if the fleet can be stabilized.
pub(super) fn solved(
    fleet: &Fleet,
    options: &Options,
) -> Result<FleetOutcome<FleetSolution>, SynthesisError> {
    check_options(fleet.envelope(), options)?;
    let solution = program::solve_fleet(fleet, &options.limits_now())?;
    let certificate = &solution.certificate;
    if certificate.load < 1.0 - LOAD_MARGIN {
        return Ok(FleetOutcome::Policy(Box::new(solution)));
    }
    let decided = certificate.bound >= 1.0 - 2.0 * LOAD_MARGIN;
    let overload = FleetOverload {
        certificate: solution.certificate,
    };
    Ok(match decided {
        true => FleetOutcome::Overloaded(overload),
        false => FleetOutcome::Undecided(overload),
    })
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
        let settled = Settled {
            solution: of_shape(fleet, h, &routing, &workload, solution, options)?,
            exact: None,
        };
        let (made, _) = of_solution(&workload, options, settled)?;
        Ok((workload, made))
    };
    routing.map(of_shape).collect()
}

/// For each shape what is sent to one of its servers, and the policy that is chosen for that.
fn chosen<E>(
    fleet: &Fleet,
    made: Vec<(Workload, Synthesis)>,
    mut choose: impl FnMut(OneOf<'_>, Box<Synthesis>) -> Result<Artifact, E>,
) -> Result<Vec<(Workload, Artifact)>, E> {
    let shapes = fleet.shapes();
    let running = |(workload, count): (&Workload, u32)| -> f64 {
        let types = workload.types().iter();
        f64::from(count) * types.map(|kind| kind.offered_load()).sum::<f64>()
    };
    let counts = shapes.iter().map(|shape| shape.count());
    let weights = made.iter().map(|(workload, _)| workload).zip(counts);
    let weights: Vec<f64> = weights.map(running).collect();
    let (all, equal) = (weights.iter().sum::<f64>(), 1.0 / shapes.len() as f64);
    let each = made.into_iter().zip(shapes).zip(&weights).enumerate();
    let each = each.map(|(place, (((workload, made), shape), weight))| {
        let server = OneOf {
            shape: shape.name(),
            place,
            workload: &workload,
            part: (equal + weight / all) / 2.0,
        };
        let artifact = choose(server, Box::new(made))?;
        Ok((workload, artifact))
    });
    each.collect()
}

/// The artifact of the fleet, from those of one server of each shape.
fn together(
    fleet: &Fleet,
    certificate: FleetCertificateRecord,
    solution: &FleetSolution,
    shapes: &[(Workload, Artifact)],
    options: Vec<String>,
) -> Artifact {
    let (mut policies, mut proofs, mut makings, mut own) = (vec![], vec![], vec![], vec![]);
    let routing = solution.routing(fleet).into_iter();
    let pairs = shapes.iter().map(|(_, one)| one).zip(fleet.shapes());
    for ((one, shape), routing) in pairs.zip(routing) {
        let server = one.the_server();
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
        own.extend(one.claims.iter().map(|claim| Claim {
            server: name.clone(),
            ..claim.clone()
        }));
    }
    let provenance = Provenance {
        tool: format!("synth {}", env!("CARGO_PKG_VERSION")),
        options,
        solver: "HiGHS simplex".into(),
        rounds: solution.rounds,
        columns: solution.columns,
        servers: makings,
        choice: None,
        growth: None,
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
    let policy = Policy {
        servers: policies,
        queue: None,
    };
    Artifact::new(fleet.record(), policy, claims, evidence, provenance)
}

/// The fleet's certificate, with what a server of each shape is worth.
pub(super) fn certificate_record(certificate: &FleetCertificate) -> FleetCertificateRecord {
    let shapes = certificate.servers.iter().map(|server| ShapeWorth {
        resource_prices: server.resource_prices.clone(),
        worth: server.worth,
        mix: None,
        search: server.tree.as_ref().map(search_record),
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
        true => Some(Certificate::of_mix(workload, &mix, &prices, FIRST_LOOK)),
        false => None,
    };
    let certificate = match by_fleet.filter(Certificate::proven) {
        Some(certificate) => certificate,
        None => Certificate {
            load: mix.loads(workload).into_iter().fold(0.0, f64::max),
            ..program::solve(workload, &options.limits_now())?.certificate
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

/// The load where it is proven; means of each type that is known on all its servers, and of all.
fn claims(
    fleet: &Fleet,
    certificate: &FleetCertificateRecord,
    policies: &[ServerPolicy],
    own: &[Claim],
) -> Vec<Claim> {
    let mut claims = Vec::new();
    if certificate.proven {
        let (load, method) = ((certificate.load, fleet.time_unit()), Method::ExactProgram);
        let (all, none) = (Subject::ALL, HoldsFor::default());
        claims.push(Claim::new(Quantity::Load, all, load, method, none));
    }
    let mut both = |job_type: Option<&str>, mean: Mean, rate: f64| {
        for (quantity, per) in [(Quantity::MeanNumber, 1.0), (Quantity::MeanResponse, rate)] {
            let (subject, unit) = (Subject::of_type(job_type), fleet.time_unit());
            let value = (mean.number / per, unit);
            claims.push(Claim {
                half_width: mean.half_width().map(|width| width / per),
                ..Claim::new(quantity, subject, value, mean.method, mean.holds_for())
            });
        }
    };
    for (i, kind) in fleet.types().iter().enumerate() {
        if let Some(mean) = Mean::of_type((i, kind.name()), policies, own) {
            both(Some(kind.name()), mean, kind.arrival_rate());
        }
    }
    if let Some(mean) = Mean::of_all(fleet, policies, own) {
        both(None, mean, fleet.envelope().total_arrival_rate());
    }
    claims
}

/// A mean number in system of the whole fleet.
#[derive(Clone, Copy)]
struct Mean {
    number: f64,
    /// The square of the half width of its interval.
    square: f64,
    method: Method,
    /// The law of sizes that is assumed where servers are analysed; none where all are simulated.
    sizes: Option<SizeLaw>,
}

impl Mean {
    /// `n_h E[Q^h_i]`, or of all types on the servers of a shape; none where it is not known.
    /// The servers of a shape share one estimate, so that its error counts n_h times.
    fn of_shape(server: &ServerPolicy, job_type: Option<&str>, own: &[Claim]) -> Option<Self> {
        let subject = Subject::of_type(job_type).on(Some(&server.name));
        let claim = find(own, Quantity::MeanNumber, subject)?;
        let count = f64::from(server.count);
        let analysed = claim.method != Method::Simulated;
        let sizes = claim.holds_for.sizes.unwrap_or(SizeLaw::Exponential);
        Some(Mean {
            number: count * claim.value,
            square: (count * claim.half_width.unwrap_or(0.0)).powi(2),
            method: claim.method,
            sizes: analysed.then_some(sizes),
        })
    }

    /// `Σ_h n_h E[Q^h_i]`; none where some server's is not known.
    fn of_type((i, name): (usize, &str), policies: &[ServerPolicy], own: &[Claim]) -> Option<Self> {
        let serving = policies.iter().filter(|p| p.routing[i] > 0.0);
        let parts = serving.map(|server| Mean::of_shape(server, Some(name), own));
        Some(Mean::together(&parts.collect::<Option<Vec<_>>>()?))
    }

    /// Over all types: of servers that are analysed, the sum over their types; of those that are
    /// simulated what was measured of all, since the errors of types in one run are not independent.
    fn of_all(fleet: &Fleet, policies: &[ServerPolicy], own: &[Claim]) -> Option<Self> {
        let (analysed, simulated): (Vec<&ServerPolicy>, Vec<&ServerPolicy>) =
            policies.iter().partition(|p| p.rule.msr().is_some());
        let mut parts = Vec::new();
        for (i, kind) in fleet.types().iter().enumerate() {
            let serving = analysed.iter().filter(|p| p.routing[i] > 0.0);
            let each = serving.map(|server| Mean::of_shape(server, Some(kind.name()), own));
            let each = each.collect::<Option<Vec<Mean>>>()?;
            if !each.is_empty() {
                parts.push(Mean::together(&each));
            }
        }
        for server in simulated {
            parts.push(Mean::of_shape(server, None, own)?);
        }
        Some(Mean::together(&parts))
    }

    /// The sum, by the least exact of the methods; the errors of its parts are independent.
    fn together(parts: &[Mean]) -> Self {
        let by = |method: Method| parts.iter().any(|m| m.method == method);
        let assumed = |law: SizeLaw| parts.iter().any(|m| m.sizes == Some(law));
        Mean {
            number: parts.iter().map(|m| m.number).sum(),
            square: parts.iter().map(|m| m.square).sum(),
            method: [Method::ApproximationQueueLength, Method::Simulated]
                .into_iter()
                .find(|method| by(*method))
                .unwrap_or(Method::ExactQbd),
            sizes: [SizeLaw::PhaseType, SizeLaw::Exponential]
                .into_iter()
                .find(|law| assumed(*law)),
        }
    }

    /// Of the 95 % interval, where it is an estimate.
    fn half_width(&self) -> Option<f64> {
        (self.method == Method::Simulated).then(|| self.square.sqrt())
    }

    fn holds_for(&self) -> HoldsFor {
        let told = self.method != Method::ApproximationQueueLength;
        let sizes = self.sizes.filter(|_| told);
        let analysed = self.sizes.map(|_| Conditions::analysed());
        HoldsFor {
            sizes,
            arrivals: sizes.map(|_| ArrivalLaw::Poisson),
            own: Conditions {
                routing: Some(Routing::Probabilistic),
                ..analysed.unwrap_or_default()
            },
        }
    }
}
