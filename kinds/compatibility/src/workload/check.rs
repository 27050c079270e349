use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

use super::{AssignmentRecord, Class, ClassRecord, Cluster, ClusterDocument, Server};
use synth_core::document::{
    CheckedOrFaults, Fault, FaultsAt, Spelling, Spellings, WorkloadDocument, place, suggest,
};
use synth_core::number::Decimal;
use synth_queues::distribution::{Part, SizeDistribution};

/// The mean sizes for which multiples and squares are valid floating-point numbers.
const MEANS: RangeInclusive<f64> = 1e-150..=1e150;

const MOST_SERVERS: f64 = 1e5;

/// The expected values, and the help text after the colon.
const SERVER_RATE: &str = "a number ≥ 0: write the amount of work that it can do per unit of time";
const CLASS_RATE: &str = "a number ≥ 0: write the number of its jobs that arrive per unit of time, or 0 to ignore the class";
const SERVERS: &str = "1 to 100000: write the number of servers";
const DEGREE: &str =
    "1 to the number of servers: write the number of servers that each job can use";

impl WorkloadDocument for ClusterDocument {
    const KIND: &'static str = "compatibility";
    const EXAMPLE: &'static str = include_str!("example.txt").trim_ascii_end();
    const SHORT: &'static [(&'static str, &'static str)] = &[("size", "mean_size")];
    const SPELLINGS: &'static Spellings = &[("size", Spelling::Law)];

    type Checked = Cluster;

    fn checked(mut self, mut faults: Vec<Fault>) -> CheckedOrFaults<Cluster> {
        let mut at = FaultsAt::document(&mut faults);
        at.unit(&self.time_unit);
        let help = "add `mean_size: 1`, or a distribution: `size: {law: hyperexponential, mean: 1, scv: 4}`; it is used for all classes";
        let (mean, size) = (("mean_size", &mut self.mean_size), ("size", &mut self.size));
        let exponential = |mean| SizeDistribution::Exponential { mean };
        at.one_of("the document", mean, size, exponential, help);
        self.check_keys(&mut at);
        if let Some(size) = &self.size {
            let own = ("work", MEANS);
            size.check(Part::Size, "the workload", own, &mut at.below("size"));
        }
        self.check_servers(&mut at);
        self.check_classes(&mut at);
        self.check_assignment(&mut at);
        match self.size.clone().filter(|_| at.is_empty()) {
            Some(size) => self.build(size),
            None => Err(faults),
        }
    }

    fn record(cluster: &Cluster) -> Self {
        cluster.record.clone()
    }
}

impl ClusterDocument {
    fn check_keys(&self, at: &mut FaultsAt<'_>) {
        let is_drawn = self.assignment.is_some() || at.has_fault("assignment");
        let servers = "list them: `servers: [{name: a, rate: 1}, {name: b, rate: 1}]`";
        let classes = "list them: `classes: [{name: x, servers: [a, b], arrival_rate: .6}]`";
        for (key, has, example) in [
            ("servers", !self.servers.is_empty(), servers),
            ("classes", !self.classes.is_empty(), classes),
        ] {
            if is_drawn && has {
                let message = format!("the document has both `{key}` and `assignment`");
                let help = "use either `servers` and `classes`, or `assignment` if the servers should be drawn for each job";
                at.add(key, message, help);
            } else if !is_drawn && !has {
                at.add(key, format!("there are no {key}"), example);
            }
        }
    }

    fn check_servers(&self, at: &mut FaultsAt<'_>) {
        at.names("servers", "server", self.servers.iter().map(|s| &s.name));
        for (s, server) in self.servers.iter().enumerate() {
            let mut at = at.entry("servers", s);
            at.number("rate", server.rate.value(), 0.0..=f64::MAX, SERVER_RATE);
        }
    }

    fn check_classes(&self, at: &mut FaultsAt<'_>) {
        let rates = self.servers.iter().map(|s| (&*s.name, s.rate));
        let rates: HashMap<&str, Decimal> = rates.collect();
        at.names("classes", "class", self.classes.iter().map(|own| &own.name));
        for (i, class) in self.classes.iter().enumerate() {
            let (rate, mut at) = (class.arrival_rate.value(), at.entry("classes", i));
            at.number("arrival_rate", rate, 0.0..=f64::MAX, CLASS_RATE);
            self.check_class(class, &rates, &mut at);
        }
        let mut classes = self.classes.iter();
        if !self.classes.is_empty() && classes.all(|class| class.arrival_rate == Decimal::ZERO) {
            let message = "there are no jobs, because all arrival rates are 0";
            let help = "the arrival_rate of at least one class must be greater than 0";
            at.add("classes", message, help);
        }
    }

    fn check_class(
        &self,
        own: &ClassRecord,
        rates: &HashMap<&str, Decimal>,
        at: &mut FaultsAt<'_>,
    ) {
        let ClassRecord { name, servers, .. } = own;
        let mut seen = HashSet::new();
        for (n, server) in servers.iter().enumerate() {
            let mut at = at.entry("servers", n);
            if !rates.contains_key(server.as_str()) {
                let known: Vec<&str> = self.servers.iter().map(|s| &*s.name).collect();
                let message =
                    format!("class `{name}` names the server `{server}`, which does not exist");
                at.refuse(message, suggest(server, "the servers are", &known));
            } else if !seen.insert(server) {
                let message = format!("class `{name}` names the server `{server}` twice");
                at.refuse(message, "list it once");
            }
        }
        let is_idle = |server: &String| rates.get(&**server) == Some(&Decimal::ZERO);
        if servers.is_empty() {
            let help = "add a list of the servers that it can use, or remove the class";
            at.add("servers", format!("class `{name}` has no server"), help);
        } else if servers.iter().all(is_idle) {
            let help = "set the rate of one of its servers to a number that is greater than 0, or add another server";
            let message = format!("class `{name}` can only use servers whose rate is 0");
            at.add("servers", message, help);
        }
    }

    fn check_assignment(&self, at: &mut FaultsAt<'_>) {
        let Some(assignment) = &self.assignment else {
            return;
        };
        let mut at = at.below("assignment");
        let help = "write the number of jobs that arrive per unit of time";
        at.positive("arrival_rate", assignment.arrival_rate, help);
        let (random, mut at) = (&assignment.random, at.below("random"));
        let help = "write the amount of work that a server can do per unit of time";
        at.positive("rate", random.rate, help);
        let [servers, degree] = [random.servers, random.degree].map(f64::from);
        at.number("servers", servers, 1.0..=MOST_SERVERS, SERVERS);
        at.number("degree", degree, 1.0..=servers.max(1.0), DEGREE);
    }

    fn build(self, size: SizeDistribution) -> CheckedOrFaults<Cluster> {
        let mut warnings = Vec::new();
        let (servers, classes) = match &self.assignment {
            Some(AssignmentRecord { random, .. }) => {
                let (names, rate) = ((1..=random.servers).map(|n| n.to_string()), random.rate);
                let servers = names.map(|name| Server { name, rate });
                (servers.collect(), Vec::new())
            }
            None => (self.servers.clone(), self.classes_on(&mut warnings)),
        };
        let cluster = Cluster {
            record: self,
            size,
            servers,
            classes,
        };
        let served: f64 = cluster.service_rates().iter().sum();
        let arriving = cluster.arrival_rate();
        let sums = [arriving * cluster.size.mean(), served, arriving / served];
        if sums.iter().all(|sum| sum.is_normal()) {
            return Ok((cluster, warnings));
        }
        let message = "the rates and sizes together are out of the range of floating-point numbers";
        let help = "use a different unit of time or of work";
        Err(vec![Fault::new(place!("size"), message, help)])
    }

    fn classes_on(&self, warnings: &mut Vec<Fault>) -> Vec<Class> {
        let servers = &self.servers;
        let places = servers.iter().enumerate();
        let places: HashMap<&str, usize> = places.map(|(s, server)| (&*server.name, s)).collect();
        let mut classes = Vec::new();
        let mut used = HashSet::new();
        for (i, class) in self.classes.iter().enumerate() {
            let (name, arrival_rate) = (&class.name, class.arrival_rate);
            if arrival_rate == Decimal::ZERO {
                let message = format!("class `{name}` is ignored, because its arrival rate is 0");
                let help = "set its arrival_rate to a number that is greater than 0 if it should not be ignored";
                let place = place!("classes", i, "arrival_rate");
                warnings.push(Fault::new(place, message, help));
                continue;
            }
            let own = class.servers.iter().map(|name| places[name.as_str()]);
            let mut own: Vec<usize> = own.filter(|s| servers[*s].rate > Decimal::ZERO).collect();
            own.sort_unstable();
            used.extend(own.iter().copied());
            classes.push(Class {
                name: name.clone(),
                servers: own,
                arrival_rate,
            });
        }
        let unused = servers.iter().enumerate();
        let unused = unused.filter(|(s, _)| !used.contains(s));
        warnings.extend(unused.map(|(s, Server { name, rate })| {
            let message = if *rate > Decimal::ZERO {
                format!("there is no class that can use server `{name}`")
            } else {
                format!("server `{name}` cannot run any jobs, because its rate is 0")
            };
            let help = "add it to the classes that should be able to use it, or remove it";
            Fault::new(place!("servers", s), message, help)
        }));
        classes
    }
}
