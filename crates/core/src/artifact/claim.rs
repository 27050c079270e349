use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Findings, Of, Quantity};

/// A number about the policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound = "")]
#[schemars(rename = "Claim", bound = "")]
pub struct Claim<Q: Quantity> {
    /// What it is about.
    pub quantity: Q,
    /// The shape of servers of which one is meant, if it is not about all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The job type that it is about, if it is about one.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub job_type: Option<String>,
    /// The job that it is about, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// The batch of jobs that it is about, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
    /// The number of jobs that the probability is about, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
    /// The time that the probability is about, if it is one of a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longer_than: Option<f64>,
    /// The number.
    pub value: f64,
    /// Half the width of its 95 % interval, where it was simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_width: Option<f64>,
    /// Its unit; `1` for a pure number.
    pub unit: String,
    /// How it was derived.
    pub method: Q::Method,
    /// What it holds for.
    pub holds_for: HoldsFor<Q::Conditions>,
}

impl<Q: Quantity> Claim<Q> {
    /// Returns a claim about one subject, for a workload with this unit of time; it has no interval, and is no
    /// probability.
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

    /// Returns the time that its probability is about, as a key.
    pub fn time(&self) -> Option<u64> {
        self.longer_than.map(f64::to_bits)
    }

    /// Returns what it is about.
    pub fn subject(&self) -> Subject<'_> {
        Subject {
            server: self.server.as_deref(),
            job_type: self.job_type.as_deref(),
            job: self.job.as_deref(),
            batch: self.batch.as_deref(),
        }
    }

    /// Checks that it is one number about a known subject, in its unit, no probability, and claimed once; `seen` are
    /// the claims before it. Returns whether it is.
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
                f.add("", "a second claim about the same");
            }
            let unit = self.quantity.unit(time);
            if self.unit != unit {
                f.differs("", format!("unit `{}`", self.unit), format!("`{unit}`"));
            }
            if self.at.is_some() || self.longer_than.is_some() {
                let message = "it is no probability: neither `at` nor `longer_than` go with it";
                f.add("", message);
            }
            f.is_clear("")
        })
    }

    /// Checks that the subject is one that the quantity may be claimed of, and is known. Returns whether it is.
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
            findings.add("", "about several of type, job and batch, expected one");
        }
        for (key, what, name, names, about) in keys {
            match name {
                Some(name) if !of.contains(&about) => {
                    let expected = format!("none: the quantity is not one of a {what}");
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
                [] => "none: it is about all servers",
                _ => "the name of a server",
            };
            findings.differs("server", format!("`{name}`"), expected);
        }
        findings.is_clear("")
    }
}

/// Returns the claim about this quantity of this subject, if there is one.
pub fn find<'a, Q: Quantity>(
    claims: impl IntoIterator<Item = &'a Claim<Q>>,
    quantity: Q,
    subject: Subject<'_>,
) -> Option<&'a Claim<Q>> {
    let is_it = |claim: &&Claim<Q>| claim.quantity == quantity && claim.subject() == subject;
    claims.into_iter().find(is_it)
}

/// What a claim is about: the whole policy, or one of its types, jobs or batches; on all servers, or
/// on one of a shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Subject<'a> {
    /// The shape of servers.
    pub server: Option<&'a str>,
    /// The type of jobs.
    pub job_type: Option<&'a str>,
    /// The job.
    pub job: Option<&'a str>,
    /// The batch of jobs.
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

    /// Returns a type of jobs, or all where none is named.
    pub fn of_type(name: impl Into<Option<&'a str>>) -> Self {
        Subject {
            job_type: name.into(),
            ..Subject::ALL
        }
    }

    /// Returns the same on one server of a shape, or on all where none is named.
    pub fn on(self, server: Option<&'a str>) -> Self {
        Subject { server, ..self }
    }
}

/// The names that subjects may have.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnownNames<'a> {
    /// Shapes of servers; empty where there is one server.
    pub servers: &'a [&'a str],
    /// Types of jobs.
    pub types: &'a [&'a str],
    /// Jobs.
    pub jobs: &'a [&'a str],
    /// Batches of jobs.
    pub batches: &'a [&'a str],
}

/// What a claim assumes; what is absent does not matter to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "HoldsFor")]
pub struct HoldsFor<C> {
    /// The law of job sizes, with the workload's means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<SizeLaw>,
    /// The process of arrivals, with the workload's rates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<ArrivalLaw>,
    /// Conditions of the kind's own.
    #[serde(flatten)]
    pub own: C,
}

/// Laws of job sizes that a claim may assume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SizeLaw {
    /// Exponential.
    Exponential,
    /// Of stages, as the workload says; exponential where the workload's law has none.
    PhaseType,
}

/// Processes of arrivals that a claim may assume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ArrivalLaw {
    /// Poisson.
    Poisson,
}

/// The laws of a workload as far as claims depend on them: of one type of jobs, or of several
/// together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Laws {
    /// Whether all sizes are exponential.
    pub exponential: bool,
    /// Whether all sizes have stages; exponential ones have one.
    pub phase_type: bool,
    /// Whether all sizes are independent of each other.
    pub independent: bool,
    /// Whether all arrivals are Poisson.
    pub poisson: bool,
}

/// What a claim assumes and the workload does not meet. The claim is then no more than an
/// approximation for this workload, however it was derived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unmet {
    /// The law of sizes.
    pub sizes: bool,
    /// That sizes are independent of each other.
    pub independence: bool,
    /// The process of arrivals.
    pub arrivals: bool,
}

impl<C> HoldsFor<C> {
    /// Returns what is assumed and not met by these laws.
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
    /// Returns whether something is not met.
    pub fn any(self) -> bool {
        self.sizes || self.independence || self.arrivals
    }

    /// Returns what was taken instead of the workload as it is, in words that follow "as if" or "if".
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
