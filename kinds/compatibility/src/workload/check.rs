//! The checks that turn a document into a [`Cluster`].

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

use super::{AssignmentRecord, Class, ClassRecord, Cluster, ClusterDocument, Server};
use synth_core::document::{CheckedOrFaults, Fault, FaultsAt, place, suggest};
use synth_core::number::Decimal;
use synth_queues::law::{Part, Size};

/// Mean sizes of which multiples, and squares, are in the range of numbers.
const MEANS: RangeInclusive<f64> = 1e-150..=1e150;

/// More servers than this are no cluster that one queue is for.
const MOST_SERVERS: f64 = 1e5;

/// What numbers are expected to be, and behind a colon what to write.
const SERVER_RATE: &str = "a number ≥ 0: write how much work it does in a unit of time";
const CLASS_RATE: &str =
    "a number ≥ 0: write how many of its jobs arrive in a unit of time; 0 leaves the class out";
const SERVERS: &str = "1 to 100000: write how many servers there are";
const DEGREE: &str = "1 to the number of servers: write on how many servers each job may run";

impl ClusterDocument {
    /// Returns the workload, and what to warn of; or all faults, those found so far and its own.
    pub(super) fn cluster(mut self, mut faults: Vec<Fault>) -> CheckedOrFaults<Cluster> {
        let mut at = FaultsAt::document(&mut faults);
        at.unit(&self.time_unit);
        let help = "add `mean_size: 1`, or a law: `size: {law: hyperexponential, mean: 1, scv: 4}`; it is of all classes";
        let (mean, size) = (("mean_size", &mut self.mean_size), ("size", &mut self.size));
        let exponential = |mean| Size::Exponential { mean };
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

    /// Checks that there are servers and classes, or what is in their place.
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
                let help = "keep `servers` and `classes`, or `assignment` for servers that are drawn for each job";
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
            self.check_servers_of(class, &rates, &mut at);
        }
        let mut classes = self.classes.iter();
        if !self.classes.is_empty() && classes.all(|class| class.arrival_rate == Decimal::ZERO) {
            let message = "every arrival rate is 0, so nothing arrives";
            let help = "give at least one class an arrival_rate > 0";
            at.add("classes", message, help);
        }
    }

    fn check_servers_of(
        &self,
        class: &ClassRecord,
        rates: &HashMap<&str, Decimal>,
        at: &mut FaultsAt<'_>,
    ) {
        let ClassRecord { name, servers, .. } = class;
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
                at.refuse(message, "keep it once");
            }
        }
        let is_idle = |server: &String| rates.get(&**server) == Some(&Decimal::ZERO);
        if servers.is_empty() {
            let help = "name the servers that may run it, or leave the class out";
            at.add("servers", format!("class `{name}` has no server"), help);
        } else if servers.iter().all(is_idle) {
            let help = "give one of its servers a rate > 0, or name another server";
            let message = format!("class `{name}` may only run where the rate is 0");
            at.add("servers", message, help);
        }
    }

    fn check_assignment(&self, at: &mut FaultsAt<'_>) {
        let Some(assignment) = &self.assignment else {
            return;
        };
        let mut at = at.below("assignment");
        let help = "write how many jobs arrive in a unit of time";
        at.positive("arrival_rate", assignment.arrival_rate, help);
        let (random, mut at) = (&assignment.random, at.below("random"));
        let help = "write how much work a server does in a unit of time";
        at.positive("rate", random.rate, help);
        let [servers, degree] = [random.servers, random.degree].map(f64::from);
        at.number("servers", servers, 1.0..=MOST_SERVERS, SERVERS);
        at.number("degree", degree, 1.0..=servers.max(1.0), DEGREE);
    }

    /// Builds the cluster of a document without faults.
    fn build(self, size: Size) -> CheckedOrFaults<Cluster> {
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
        let message = "rates and sizes together are out of the range of numbers";
        let help = "choose other units of time and work";
        Err(vec![Fault::new(place!("size"), message, help)])
    }

    fn classes_on(&self, warnings: &mut Vec<Fault>) -> Vec<Class> {
        let servers = &self.servers;
        let places = servers.iter().enumerate();
        let places: HashMap<&str, usize> = places.map(|(s, server)| (&*server.name, s)).collect();
        let mut classes = Vec::new();
        let mut used = HashSet::new();
        for (i, class) in self.classes.iter().enumerate() {
            if class.arrival_rate == Decimal::ZERO {
                let message = format!("class `{}` has arrival rate 0: it is left out", class.name);
                let help = "give it an arrival_rate > 0 if it should be served";
                let place = place!("classes", i, "arrival_rate");
                warnings.push(Fault::new(place, message, help));
                continue;
            }
            let own = class.servers.iter().map(|name| places[name.as_str()]);
            let mut own: Vec<usize> = own.filter(|s| servers[*s].rate > Decimal::ZERO).collect();
            own.sort_unstable();
            used.extend(own.iter().copied());
            classes.push(Class {
                name: class.name.clone(),
                servers: own,
                arrival_rate: class.arrival_rate,
            });
        }
        let unused = servers.iter().enumerate();
        let unused = unused.filter(|(s, _)| !used.contains(s));
        warnings.extend(unused.map(|(s, Server { name, rate })| {
            let message = if *rate > Decimal::ZERO {
                format!("no class may use server `{name}`")
            } else {
                format!("server `{name}` has rate 0: it serves nobody")
            };
            let help = "name it with the classes that it may serve, or leave it out";
            Fault::new(place!("servers", s), message, help)
        }));
        classes
    }
}
