use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Findings, Quantity, SubjectKind};

/// A number that is reported about the policy, and the method that was used to derive it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound = "")]
#[schemars(rename = "Claim", bound = "")]
pub struct Claim<Q: Quantity> {
    /// The quantity.
    pub quantity: Q,
    /// The server shape, if the claim is about a single server of this shape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The job type, if the claim is about one job type.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub job_type: Option<String>,
    /// The job, if the claim is about one job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// The batch, if the claim is about one batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
    /// If this is the probability of an event about a number of jobs, that number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
    /// If this is the probability that a time is exceeded, that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longer_than: Option<f64>,
    /// The value.
    pub value: f64,
    /// Half of the width of the 95 % confidence interval, if the value was simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_width: Option<f64>,
    /// The unit of the value, or `1` if it has no unit.
    pub unit: String,
    /// The method that was used to derive the value.
    pub method: Q::Method,
    /// The conditions under which the value holds.
    pub holds_for: HoldsFor<Q::Conditions>,
}

impl<Q: Quantity> Claim<Q> {
    /// Creates a claim with a value and a unit of time, without an interval or a probability.
    pub fn new(
        quantity: Q,
        subject: Subject<'_>,
        (value, time): (f64, &str),
        method: Q::Method,
        holds_for: HoldsFor<Q::Conditions>,
    ) -> Self {
        let owned = |name: Option<&str>| name.map(Into::into);
        Claim {
            quantity,
            server: owned(subject.server),
            job_type: owned(subject.job_type),
            job: owned(subject.job),
            batch: owned(subject.batch),
            at: None,
            longer_than: None,
            value,
            half_width: None,
            unit: quantity.unit(time),
            method,
            holds_for,
        }
    }

    /// Returns the bits of `longer_than` as the key of a hash map.
    pub fn time(&self) -> Option<u64> {
        self.longer_than.map(f64::to_bits)
    }

    /// Returns the subject of the claim.
    pub fn subject(&self) -> Subject<'_> {
        Subject {
            server: self.server.as_deref(),
            job_type: self.job_type.as_deref(),
            job: self.job.as_deref(),
            batch: self.batch.as_deref(),
        }
    }

    /// Returns `true` if a claim has a known subject and the right unit, is not a probability, and
    /// is not in `seen`, which contains the claims before it.
    pub fn check_plain<'a>(
        &'a self,
        path: &str,
        known: &KnownNames<'_>,
        time: &str,
        seen: &mut HashSet<(Q, Subject<'a>)>,
        findings: &mut Findings,
    ) -> bool {
        findings.within(path, |f| {
            self.check_subject(known, f);
            if !seen.insert((self.quantity, self.subject())) {
                f.add("", "duplicate claim, expected one per quantity and subject");
            }
            let unit = self.quantity.unit(time);
            if self.unit != unit {
                f.differs("", format!("unit `{}`", self.unit), format!("`{unit}`"));
            }
            if self.at.is_some() || self.longer_than.is_some() {
                let message = "not a probability, so `at` and `longer_than` must be absent";
                f.add("", message);
            }
            f.is_clear("")
        })
    }

    /// Checks that the subject exists and is allowed for the quantity, and returns `true` if it is.
    pub fn check_subject(&self, known: &KnownNames<'_>, findings: &mut Findings) -> bool {
        let (defined, subject) = (self.quantity.row().subjects, self.subject());
        use SubjectKind::{Batch, Job, Type};
        let keys = [
            ("type", "job type", subject.job_type, known.types, Type),
            ("job", "job", subject.job, known.jobs, Job),
            ("batch", "batch", subject.batch, known.batches, Batch),
        ];
        let named = keys.iter().filter(|(_, _, name, ..)| name.is_some());
        if named.count() > 1 {
            let message = "names more than one of type, job and batch, expected one";
            findings.add("", message);
        }
        for (key, what, name, names, kind) in keys {
            let expected = match name {
                Some(_) if !defined.contains(&kind) => {
                    format!("none: the quantity is not defined for a {what}")
                }
                Some(name) if names.contains(&name) => continue,
                None if defined != [kind] => continue,
                _ => format!("the name of a {what}"),
            };
            let found = name.map_or("absent".into(), |name| format!("`{name}`"));
            findings.differs(key, found, expected);
        }
        if let Some(name) = subject.server.filter(|name| !known.servers.contains(name)) {
            let expected = match known.servers {
                [] => "none: the claim is about all servers",
                _ => "the name of a server",
            };
            findings.differs("server", format!("`{name}`"), expected);
        }
        findings.is_clear("")
    }
}

/// Returns the claim about a quantity and a subject.
pub fn find<'a, Q: Quantity>(
    claims: impl IntoIterator<Item = &'a Claim<Q>>,
    quantity: Q,
    subject: Subject<'_>,
) -> Option<&'a Claim<Q>> {
    let is_it = |claim: &&Claim<Q>| claim.quantity == quantity && claim.subject() == subject;
    claims.into_iter().find(is_it)
}

/// The subject of a claim: the policy or a part of it, on all servers or on one server of a shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Subject<'a> {
    /// The server shape.
    pub server: Option<&'a str>,
    /// The job type.
    pub job_type: Option<&'a str>,
    /// The job.
    pub job: Option<&'a str>,
    /// The batch.
    pub batch: Option<&'a str>,
}

impl<'a> Subject<'a> {
    /// The whole policy.
    pub const ALL: Subject<'static> = Subject {
        server: None,
        job_type: None,
        job: None,
        batch: None,
    };

    /// Creates the subject of one job type, or of all if it is `None`.
    pub fn of_type(name: impl Into<Option<&'a str>>) -> Self {
        Subject {
            job_type: name.into(),
            ..Subject::ALL
        }
    }

    /// Restricts the subject to one server of a shape, or to all servers if it is `None`.
    pub fn on(self, server: Option<&'a str>) -> Self {
        Subject { server, ..self }
    }
}

/// The names that are allowed in a subject.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnownNames<'a> {
    /// The server shapes, or none if there is only one server.
    pub servers: &'a [&'a str],
    /// The job types.
    pub types: &'a [&'a str],
    /// The jobs.
    pub jobs: &'a [&'a str],
    /// The batches.
    pub batches: &'a [&'a str],
}

/// The assumptions of a claim. If an assumption is not given, it is not needed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "HoldsFor")]
pub struct HoldsFor<C> {
    /// The size distribution. The means are the means of the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<SizeAssumption>,
    /// The arrival process. The rates are the rates of the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<ArrivalAssumption>,
    /// The conditions that are specific to the kind of workload.
    #[serde(flatten)]
    pub own: C,
}

/// The size distribution that is assumed by a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SizeAssumption {
    /// An exponential distribution.
    Exponential,
    /// The distribution of the workload if it is phase-type, or an exponential distribution if not.
    PhaseType,
}

/// The arrival process that is assumed by a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ArrivalAssumption {
    /// A Poisson process.
    Poisson,
}

/// The assumptions of a claim that are not met, so that it is only an approximation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ViolatedAssumptions {
    /// The size distribution.
    pub sizes: bool,
    /// The independence of the sizes.
    pub independence: bool,
    /// The arrival process.
    pub arrivals: bool,
}

impl<C> HoldsFor<C> {
    /// Returns the assumptions that are not met. `is_met` checks the size distributions, and the
    /// others are `true` if all sizes are independent and if all arrivals are Poisson.
    pub fn unmet(
        &self,
        is_met: impl FnOnce(SizeAssumption) -> bool,
        (are_independent, are_poisson): (bool, bool),
    ) -> ViolatedAssumptions {
        ViolatedAssumptions {
            sizes: self.sizes.is_some_and(|assumed| !is_met(assumed)),
            independence: self.sizes.is_some() && !are_independent,
            arrivals: self.arrivals.is_some() && !are_poisson,
        }
    }
}

impl ViolatedAssumptions {
    /// Returns `true` if at least one assumption is not met.
    pub fn any(self) -> bool {
        self.sizes || self.independence || self.arrivals
    }

    /// Describes the assumption that was made instead. The text follows "as if" or "if".
    pub fn describe(self) -> Option<&'static str> {
        match (self.sizes, self.independence, self.arrivals) {
            (false, false, false) => None,
            (true, _, false) => Some("sizes were exponential"),
            (false, true, false) => Some("sizes were independent"),
            (false, false, true) => Some("arrivals were Poisson"),
            (true, _, true) => Some("arrivals were Poisson and sizes exponential"),
            (false, true, true) => Some("arrivals were Poisson and sizes independent"),
        }
    }
}
