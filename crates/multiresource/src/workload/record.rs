//! The workload as an artifact carries it: a fleet, or one server, which is a fleet of one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Draft, DraftJob, DraftShape};
use super::{Fleet, JobType, KnownSize, Workload, WorkloadHeader};
use synth_core::document::{Fault, Place, Step, place};
use synth_core::number::Decimal;
use synth_queues::law::{ArrivalProcess, CommonModulation, Size};

/// A workload as it stands in an artifact: the checked values, the integers that decide what fits
/// together, and the digest. It says nothing until it is checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Where the figures come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The one unit of time of all rates and sizes.
    pub time_unit: String,
    /// What is known of a job's size when it comes, beside its type; absent where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<KnownSize>,
    /// What modulates the arrivals of all types; absent where nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modulation: Option<CommonModulation>,
    /// The law of the time between the decision to start a job and its first instruction, in which it holds its
    /// room; absent where jobs start at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_latency: Option<Size>,
    /// Names of the R ≥ 1 resources that some server has.
    pub resources: Vec<String>,
    /// Names of the resources that consist of devices; no policy file has any.
    #[serde(skip)]
    pub devices: Vec<String>,
    /// The H ≥ 1 shapes of servers.
    pub servers: Vec<RecordServer>,
    /// The K ≥ 1 job types that arrive; schedules and routing count jobs in this order.
    pub types: Vec<RecordType>,
    /// Names of the types that are not served because their arrival rate is 0.
    pub unserved: Vec<String>,
    /// `sha256:` and 64 hexadecimal digits over time unit, what is known, modulation, start latency,
    /// resources, servers and types.
    pub digest: String,
}

/// One shape of servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordServer {
    /// Its name, unique among the shapes.
    pub name: String,
    /// How many servers have it, 1 to 100 000.
    pub count: u32,
    /// Capacity of one of them for each of the R resources, ≥ 0, not all 0.
    pub capacity: Vec<Decimal>,
    /// Capacity in whole units: multiples, rounded down, of the greatest common divisor of the
    /// types' demands. 0 if no type demands the resource.
    pub units: Vec<u64>,
}

/// One type of job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordType {
    /// Its name, unique among the types.
    pub name: String,
    /// Servers that a job takes at once; absent where that is 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1))]
    pub nodes: u32,
    /// Demand for each of the R resources, ≥ 0, not all 0; on each of these servers.
    pub demand: Vec<Decimal>,
    /// The same in whole units.
    pub units: Vec<u64>,
    /// Mean number of arrivals per unit of time, > 0.
    pub arrival_rate: Decimal,
    /// How they arrive; absent where arrivals are given by their rate, as a Poisson process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<ArrivalProcess>,
    /// The law of job sizes.
    pub size: Size,
    /// A time that its jobs promise not to run longer than, > 0; absent where none is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Decimal>,
    /// How important its jobs are: a larger number is more important. Absent where that is 0.
    #[serde(default, skip_serializing_if = "Decimal::is_zero")]
    pub priority: Decimal,
}

impl Workload {
    /// Returns the workload as an artifact carries it: a fleet of one server.
    pub fn record(&self) -> Record {
        Fleet::from(self.clone()).record()
    }
}

impl Fleet {
    /// Returns the fleet as an artifact carries it.
    pub fn record(&self) -> Record {
        let envelope = self.envelope();
        let header = envelope.header.clone();
        let shapes = self.shapes().iter().enumerate();
        let servers = shapes.map(|(h, shape)| RecordServer {
            name: shape.name.clone(),
            count: shape.count,
            capacity: shape.capacity.clone(),
            units: self.units(h),
        });
        let resources = envelope.resources.iter();
        Record {
            source: header.source,
            time_unit: header.time_unit,
            known: header.known,
            modulation: header.modulation,
            start_latency: header.start_latency,
            resources: resources.map(|r| r.name.clone()).collect(),
            devices: self.devices(),
            servers: servers.collect(),
            types: envelope.types.iter().map(RecordType::of).collect(),
            unserved: envelope.unserved.clone(),
            digest: self.digest(),
        }
    }
}

impl Record {
    /// Returns whether it is of one server.
    pub fn is_of_one_server(&self) -> bool {
        matches!(&self.servers[..], [server] if server.count == 1)
    }

    /// Derives the fleet anew from capacities, demands, rates and sizes, with the checks that a
    /// document goes through, and compares units and digest with those found.
    ///
    /// # Errors
    /// Every fault, each at its place within the record.
    pub fn check(&self) -> Result<Fleet, Vec<Fault>> {
        let mut faults = self.faults_of_servers();
        faults.extend(self.faults_of_types());
        if !faults.is_empty() {
            return Err(faults);
        }
        let located = |fault| recorded(fault, &self.resources);
        let (fleet, _) = self.draft().check().map_err(|faults| {
            let faults = faults.into_iter();
            faults.map(located).collect::<Vec<_>>()
        })?;
        let faults = self.differences(&fleet.record());
        if faults.is_empty() {
            Ok(fleet)
        } else {
            Err(faults)
        }
    }

    /// Returns what a document cannot say but a record can: a resource that no server has, or one twice.
    fn faults_of_servers(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        let count = self.resources.len();
        for (h, server) in self.servers.iter().enumerate() {
            let at = |list| place!("servers", h, list);
            check_length(at("capacity"), server.capacity.len(), count, &mut faults);
            check_length(at("units"), server.units.len(), count, &mut faults);
        }
        for (j, name) in self.resources.iter().enumerate() {
            let twice = self.resources[..j].contains(name);
            let mut amounts = self.servers.iter().filter_map(|s| s.capacity.get(j));
            if twice || amounts.all(Decimal::is_zero) {
                let message =
                    format!("`{name}`, expected a resource of its own that some server has");
                faults.push(fault(place!("resources", j), message));
            }
        }
        faults
    }

    /// Returns what a document cannot say but a record can: vectors of a wrong length, a rate of 0, a
    /// type both served and not.
    fn faults_of_types(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        let count = self.resources.len();
        for (i, job) in self.types.iter().enumerate() {
            let at = |list| place!("types", i, list);
            check_length(at("demand"), job.demand.len(), count, &mut faults);
            check_length(at("units"), job.units.len(), count, &mut faults);
            if job.arrival_rate == Decimal::ZERO {
                let name = &job.name;
                let message = format!("type `{name}` has arrival rate 0, expected a number > 0");
                faults.push(fault(place!("types", i, "arrival_rate"), message));
            }
        }
        for (i, name) in self.unserved.iter().enumerate() {
            let twice = self.unserved[..i].contains(name);
            if twice || self.types.iter().any(|job| job.name == *name) {
                let message = format!("type `{name}` stands twice");
                faults.push(fault(place!("unserved", i), message));
            }
        }
        faults
    }

    /// Returns the plain values, to be checked again.
    pub(super) fn draft(&self) -> Draft {
        let shapes = self.servers.iter().map(|server| DraftShape {
            name: server.name.clone(),
            count: Some(server.count),
            capacity: named(&self.resources, &server.capacity),
        });
        let jobs = self.types.iter().map(|job| DraftJob {
            name: job.name.clone(),
            nodes: Some(job.nodes),
            demand: named(&self.resources, &job.demand),
            arrivals: Some(job.process()),
            size: Some(job.size.clone()),
            limit: job.limit,
            priority: job.priority,
        });
        Draft {
            header: WorkloadHeader {
                source: self.source.clone(),
                time_unit: self.time_unit.clone(),
                known: self.known.clone(),
                modulation: self.modulation.clone(),
                start_latency: self.start_latency.clone(),
            },
            shapes: shapes.collect(),
            devices: self.devices.clone(),
            jobs: jobs.collect(),
            unserved: self.unserved.clone(),
        }
    }

    /// Units and digest that are not those of `derived`.
    fn differences(&self, derived: &Self) -> Vec<Fault> {
        let mut faults = Vec::new();
        for (h, (found, expected)) in self.servers.iter().zip(&derived.servers).enumerate() {
            let (at, name) = (place!("servers", h, "units"), &found.name);
            faults.extend(other_units(at, name, &found.units, &expected.units));
        }
        for (i, (found, expected)) in self.types.iter().zip(&derived.types).enumerate() {
            faults.extend(found.other_arrivals(i, expected));
            let (at, name) = (place!("types", i, "units"), &found.name);
            faults.extend(other_units(at, name, &found.units, &expected.units));
        }
        if self.start_latency != derived.start_latency {
            let message = "a start latency of 0, expected none: it is left out".to_owned();
            faults.push(fault(place!("start_latency"), message));
        }
        if self.digest != derived.digest {
            let message = format!("digest {}, expected {}", self.digest, derived.digest);
            faults.push(fault(place!("digest"), message));
        }
        faults
    }
}

/// Returns the same fault, at its place in a record with the resources in this order.
fn recorded(fault: Fault, resources: &[String]) -> Fault {
    let mut steps = fault.place.steps().to_vec();
    if steps.first() == Some(&Step::from("jobs")) {
        steps[0] = Step::from("types");
    }
    if let [_, _, Step::Key(list), resource] = &mut steps[..]
        && ["demand", "capacity"].contains(&list.as_str())
        && let Some(j) = resources.iter().position(|r| *resource == Step::from(r))
    {
        *resource = Step::Index(j);
    }
    fault.at(steps.into_iter().collect())
}

/// Amounts of the resources by name.
fn named(resources: &[String], amounts: &[Decimal]) -> Vec<(String, Option<Decimal>)> {
    let amounts = amounts.iter().map(|amount| Some(*amount));
    resources.iter().cloned().zip(amounts).collect()
}

/// Checks that a list has an entry for each resource.
fn check_length(at: Place, found: usize, resources: usize, faults: &mut Vec<Fault>) {
    if found != resources {
        let expected = format!("one for each of the {resources} resources");
        faults.push(fault(at, format!("{found} entries, expected {expected}")));
    }
}

fn other_units(at: Place, name: &str, found: &[u64], expected: &[u64]) -> Option<Fault> {
    let message = || format!("units {found:?} of `{name}`, expected {expected:?}");
    (found != expected).then(|| fault(at, message()))
}

fn one() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_one(nodes: &u32) -> bool {
    *nodes == 1
}

impl RecordType {
    fn of(job: &JobType) -> Self {
        let mean = || Decimal::new(job.arrival_rate).expect("rates are checked to be finite");
        let (arrival_rate, arrivals) = match &job.arrivals {
            ArrivalProcess::Poisson { rate } => (*rate, None),
            process => (mean(), Some(process.clone())),
        };
        RecordType {
            name: job.name.clone(),
            nodes: job.nodes,
            demand: job.demand.clone(),
            units: job.units.clone(),
            arrival_rate,
            arrivals,
            size: job.size().clone(),
            limit: job.limit,
            priority: job.priority,
        }
    }

    fn process(&self) -> ArrivalProcess {
        let rate = self.arrival_rate;
        let arrivals = self.arrivals.clone();
        arrivals.unwrap_or(ArrivalProcess::Poisson { rate })
    }

    /// Arrivals that are not written as they are derived: a mean rate that is not the process's,
    /// but for rounding, or a Poisson process written as others are.
    fn other_arrivals(&self, i: usize, derived: &Self) -> Option<Fault> {
        /// Functions of other machines may round otherwise.
        const ROUNDING: f64 = 1e-12;
        let (found, expected) = (self.arrival_rate, derived.arrival_rate);
        if (found.value() / expected.value() - 1.0).abs() > ROUNDING {
            let message = format!(
                "arrival rate {found} of type `{}`, expected {expected}, that of its arrivals",
                self.name
            );
            return Some(fault(place!("types", i, "arrival_rate"), message));
        }
        (self.arrivals != derived.arrivals).then(|| {
            let message = format!(
                "Poisson arrivals of type `{}`, expected none: its arrival rate says as much",
                self.name
            );
            fault(place!("types", i, "arrivals"), message)
        })
    }
}

fn fault(place: Place, message: String) -> Fault {
    Fault::new(
        place,
        message,
        "an artifact is not edited by hand: synthesize it again from its workload",
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const TEXT: &str = "kind: multiresource\ntime_unit: s\nserver: {capacity: {cpu: .3, disk: 5}}\njobs:\n  \
        - {name: a, demand: {cpu: .1}, arrival_rate: 4, mean_size: 1}\n  \
        - {name: b, demand: {cpu: .2, disk: 1}, arrival_rate: .1, size: {law: exponential, mean: 3}}\n  \
        - {name: c, demand: {cpu: 9}, arrival_rate: 0, mean_size: 1}\n";

    fn record() -> Record {
        Fleet::parse(TEXT, "t.yaml").unwrap().workload.record()
    }

    /// Returns the one fault after a change, as text.
    fn fault_after(change: impl FnOnce(&mut Record)) -> String {
        let mut record = record();
        change(&mut record);
        let faults = record.check().unwrap_err();
        assert_eq!(faults.len(), 1, "{faults:?}");
        faults[0].to_string()
    }

    #[test]
    fn a_record_goes_through_json_and_back_to_the_same_workload() {
        let fleet = Fleet::parse(TEXT, "t.yaml").unwrap().workload;
        let json = serde_json::to_string(&fleet.record()).unwrap();
        let back: Record = serde_json::from_str(&json).unwrap();
        assert_eq!(back.check().unwrap(), fleet);
        assert_eq!(fleet.envelope().unserved(), ["c"]);
    }

    #[test]
    fn json_with_an_unknown_field_or_law_is_refused() {
        let json = serde_json::to_string(&record()).unwrap();
        for (found, replaced) in [
            ("\"time_unit\"", "\"x\":1,\"time_unit\""),
            ("exponential", "zipf"),
            ("\"mean\":3", "\"mean\":3,\"x\":1"),
        ] {
            assert!(json.contains(found));
            assert!(
                serde_json::from_str::<Record>(&json.replace(found, replaced)).is_err(),
                "{replaced}"
            );
        }
    }

    #[test]
    fn forged_integers_are_refused() {
        let fault = fault_after(|r| r.servers[0].units[0] = 4);
        assert!(
            fault.starts_with("servers[0].units: units [4, 5] of `server`, expected [3, 5]"),
            "{fault}"
        );
        let fault = fault_after(|r| r.types[1].units[0] = 1);
        assert!(
            fault.starts_with("types[1].units: units [1, 1] of `b`, expected [2, 1]"),
            "{fault}"
        );
    }

    #[test]
    fn any_change_of_a_number_is_seen_in_the_digest() {
        for change in [
            (|r: &mut Record| {
                r.types[0].arrival_rate = Decimal::parse("4.000000000000001").unwrap()
            }) as fn(&mut Record),
            |r| {
                r.types[1].size = Size::Exponential {
                    mean: Decimal::parse("2").unwrap(),
                }
            },
            |r| r.types[1].name = "B".to_owned(),
            |r| r.types[1].priority = Decimal::ONE,
            |r| r.time_unit = "h".to_owned(),
            |r| r.servers[0].capacity[1] = Decimal::parse("5.5").unwrap(),
            |r| r.digest = r.digest.replace("sha256:", ""),
        ] {
            let fault = fault_after(change);
            assert!(fault.starts_with("digest: "), "{fault}");
        }
    }

    #[test]
    fn the_source_and_what_is_not_served_leave_the_digest_alone() {
        let mut record = record();
        record.source = Some("elsewhere".to_owned());
        record.unserved.clear();
        record.check().unwrap();
    }

    #[test]
    fn checks_of_the_document_hold_for_a_record_with_its_own_paths() {
        let fault = fault_after(|r| r.types[1].demand[1] = Decimal::parse("6").unwrap());
        assert!(
            fault.starts_with("types[1].demand[1]: type `b` does not fit"),
            "{fault}"
        );
        let fault = fault_after(|r| r.types[0].arrival_rate = Decimal::ZERO);
        assert!(fault.starts_with("types[0].arrival_rate"), "{fault}");
        let fault = fault_after(|r| {
            r.types[0].size = Size::Erlang {
                stages: 0,
                mean: Decimal::parse("1").unwrap(),
            }
        });
        assert!(fault.starts_with("types[0].size.stages: stages"), "{fault}");
        let fault = fault_after(|r| {
            r.types[0].size = Size::Coxian {
                means: vec![Decimal::ZERO],
                onward: vec![],
            }
        });
        assert!(fault.starts_with("types[0].size.means[0]"), "{fault}");
        let fault = fault_after(|r| r.types[0].demand = vec![]);
        assert!(fault.starts_with("types[0].demand: 0 entries"), "{fault}");
        let fault = fault_after(|r| r.unserved.push("a".to_owned()));
        assert!(fault.starts_with("unserved[1]"), "{fault}");
    }
}
