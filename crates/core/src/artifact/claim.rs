use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Findings, Of, Quantity};

/// A number reported about the policy, with the method that derived it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound = "")]
#[schemars(rename = "Claim", bound = "")]
pub struct Claim<Q: Quantity> {
    /// The quantity.
    pub quantity: Q,
    /// The server shape, if the claim is about a single server of that shape.
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
    /// The number of jobs in the event whose probability this is, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
    /// The threshold time in the event whose probability this is, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longer_than: Option<f64>,
    /// The value.
    pub value: f64,
    /// Half the width of the 95 % confidence interval, for simulated values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_width: Option<f64>,
    /// The unit of the value; `1` for a pure number.
    pub unit: String,
    /// The method that derived the value.
    pub method: Q::Method,
    /// The conditions under which the value holds.
    pub holds_for: HoldsFor<Q::Conditions>,
}

impl<Q: Quantity> Claim<Q> {
    /// Creates a claim without a confidence interval, for a quantity that is not a probability.
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

    /// Returns the bits of `longer_than`, usable as a hash key.
    pub fn time(&self) -> Option<u64> {
        self.longer_than.map(f64::to_bits)
    }

    /// Returns the subject.
    pub fn subject(&self) -> Subject<'_> {
        Subject {
            server: self.server.as_deref(),
            job_type: self.job_type.as_deref(),
            job: self.job.as_deref(),
            batch: self.batch.as_deref(),
        }
    }

    /// Checks subject, unit and uniqueness of a claim that is no probability; returns whether it
    /// passed.
    pub fn is_plain<'a>(
        &'a self,
        path: &str,
        known: &KnownNames<'_>,
        time: &str,
        seen: &mut HashSet<(Q, Subject<'a>)>,
        findings: &mut Findings,
    ) -> bool {
        findings.within(path, |f| {
            self.has_subject(known, f);
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

    /// Checks that the subject is known and allowed for the quantity; returns whether it passed.
    pub fn has_subject(&self, known: &KnownNames<'_>, findings: &mut Findings) -> bool {
        let of = self.quantity.row().of;
        let subject = self.subject();
        let keys = [
            ("type", "job type", subject.job_type, known.types, Of::Type),
            ("job", "job", subject.job, known.jobs, Of::Job),
            ("batch", "batch", subject.batch, known.batches, Of::Batch),
        ];
        let named = keys.iter().filter(|(_, _, name, ..)| name.is_some());
        if named.count() > 1 {
            findings.add(
                "",
                "names more than one of type, job and batch, expected one",
            );
        }
        for (key, what, name, names, about) in keys {
            match name {
                Some(name) if !of.contains(&about) => {
                    let expected = format!("none: the quantity is not defined for a {what}");
                    findings.differs(key, format!("`{name}`"), expected);
                }
                Some(name) if !names.contains(&name) => {
                    findings.differs(key, format!("`{name}`"), format!("the name of a {what}"));
                }
                None if of == [about] => {
                    findings.differs(key, "absent", format!("the name of a {what}"));
                }
                _ => {}
            }
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

/// Returns the claim about a quantity and subject.
pub fn find<'a, Q: Quantity>(
    claims: impl IntoIterator<Item = &'a Claim<Q>>,
    quantity: Q,
    subject: Subject<'_>,
) -> Option<&'a Claim<Q>> {
    let is_it = |claim: &&Claim<Q>| claim.quantity == quantity && claim.subject() == subject;
    claims.into_iter().find(is_it)
}

/// The subject of a claim: the whole policy or a part, on all servers or on one of a shape.
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

    /// Creates the subject of one job type, or of all job types if `None`.
    pub fn of_type(name: impl Into<Option<&'a str>>) -> Self {
        Subject {
            job_type: name.into(),
            ..Subject::ALL
        }
    }

    /// Restricts the subject to one server of a shape, or to all servers if `None`.
    pub fn on(self, server: Option<&'a str>) -> Self {
        Subject { server, ..self }
    }
}

/// The names that subjects may have.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnownNames<'a> {
    /// Server shapes; empty if there is only one server.
    pub servers: &'a [&'a str],
    /// Job types.
    pub types: &'a [&'a str],
    /// Jobs.
    pub jobs: &'a [&'a str],
    /// Batches.
    pub batches: &'a [&'a str],
}

/// The assumptions of a claim. An absent assumption is not needed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "HoldsFor")]
pub struct HoldsFor<C> {
    /// The size distribution; means are those of the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<SizeLaw>,
    /// The arrival process; rates are those of the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<ArrivalLaw>,
    /// Conditions specific to the kind of workload.
    #[serde(flatten)]
    pub own: C,
}

/// Size distributions that a claim may assume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SizeLaw {
    /// Exponential.
    Exponential,
    /// As in the workload if phase-type there, otherwise exponential.
    PhaseType,
}

/// Arrival processes that a claim may assume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ArrivalLaw {
    /// Poisson.
    Poisson,
}

/// The properties of a workload's distributions that claims depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Laws {
    /// Whether all sizes are exponential.
    pub exponential: bool,
    /// Whether all sizes are phase-type; exponential sizes have one phase.
    pub phase_type: bool,
    /// Whether all sizes are independent.
    pub independent: bool,
    /// Whether all arrivals are Poisson.
    pub poisson: bool,
}

/// The violated assumptions of a claim, which is then only an approximation for the workload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unmet {
    /// The size distribution.
    pub sizes: bool,
    /// Independence of sizes.
    pub independence: bool,
    /// The arrival process.
    pub arrivals: bool,
}

impl<C> HoldsFor<C> {
    /// Returns the assumptions that these properties violate.
    pub fn unmet(&self, laws: Laws) -> Unmet {
        Unmet {
            sizes: match self.sizes {
                Some(SizeLaw::Exponential) => !laws.exponential,
                Some(SizeLaw::PhaseType) => !laws.phase_type,
                None => false,
            },
            independence: self.sizes.is_some() && !laws.independent,
            arrivals: self.arrivals.is_some() && !laws.poisson,
        }
    }
}

impl Unmet {
    /// Returns whether any assumption is violated.
    pub fn any(self) -> bool {
        self.sizes || self.independence || self.arrivals
    }

    /// Describes the assumption that was made instead, to follow "as if" or "if".
    pub fn words(self) -> Option<&'static str> {
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
