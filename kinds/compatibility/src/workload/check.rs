//! The checks that turn a document into a [`Cluster`].

use std::collections::{HashMap, HashSet};

use super::{AssignmentRecord, Class, ClassRecord, Cluster, ClusterDocument, Server};
use synth_core::document::{CheckedOrFaults, Fault, FaultsAt, place, suggest};
use synth_core::number::Decimal;
use synth_queues::law::{Part, Size};

/// Mean sizes of which multiples, and squares, are in the range of numbers.
const MEANS: std::ops::Range<f64> = 1e-150..1e150;

/// More servers than this are no cluster that one queue is for.
const MOST_SERVERS: u32 = 100_000;

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
        self.check_size(&mut at);
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

    fn check_size(&self, at: &mut FaultsAt<'_>) {
        let Some(size) = &self.size else { return };
        let unsound = size.faults(Part::Size, "the workload", "work");
        if unsound.is_empty() && !(size.in_range() && MEANS.contains(&size.mean())) {
            let message = "the law of sizes is out of the range of numbers";
            at.add(
                "size",
                message,
                "check its numbers, or choose another unit of work",
            );
        }
        at.below("size").extend(unsound);
    }

    fn check_servers(&self, at: &mut FaultsAt<'_>) {
        at.names(
            "servers",
            "server",
            self.servers.iter().map(|server| &server.name),
        );
        for (s, Server { name, rate }) in self.servers.iter().enumerate() {
            if *rate < Decimal::ZERO {
                let message =
                    format!("the rate of server `{name}` is {rate}, expected a number ≥ 0");
                let help = "write how much work it does in a unit of time";
                at.entry("servers", s).add("rate", message, help);
            }
        }
    }

    fn check_classes(&self, at: &mut FaultsAt<'_>) {
        let rates = self.servers.iter().map(|s| (&*s.name, s.rate));
        let rates: HashMap<&str, Decimal> = rates.collect();
        at.names(
            "classes",
            "class",
            self.classes.iter().map(|class| &class.name),
        );
        for (i, class) in self.classes.iter().enumerate() {
            let (name, rate) = (&class.name, class.arrival_rate);
            let mut at = at.entry("classes", i);
            if rate < Decimal::ZERO {
                let message =
                    format!("the arrival rate of class `{name}` is {rate}, expected a number > 0");
                let help =
                    "write how many of its jobs arrive in a unit of time; 0 leaves the class out";
                at.add("arrival_rate", message, help);
            }
            self.check_servers_of(class, &rates, &mut at);
        }
        let mut classes = self.classes.iter();
        if !self.classes.is_empty() && classes.all(|class| class.arrival_rate == Decimal::ZERO) {
            let help = "give at least one class an arrival_rate > 0";
            at.add(
                "classes",
                "every arrival rate is 0, so nothing arrives",
                help,
            );
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
        if servers.is_empty() {
            let help = "name the servers that may run it, or leave the class out";
            at.add("servers", format!("class `{name}` has no server"), help);
        } else if servers
            .iter()
            .all(|s| rates.get(&**s) == Some(&Decimal::ZERO))
        {
            let help = "give one of its servers a rate > 0, or name another server";
            let message = format!("class `{name}` may only run where the rate is 0");
            at.add("servers", message, help);
        }
    }

    fn check_assignment(&self, at: &mut FaultsAt<'_>) {
        let Some(AssignmentRecord {
            random,
            arrival_rate,
        }) = &self.assignment
        else {
            return;
        };
        let mut at = at.below("assignment");
        if *arrival_rate <= Decimal::ZERO {
            let message = format!("the arrival rate is {arrival_rate}, expected a number > 0");
            at.add("arrival_rate", message, "write a number > 0");
        }
        let mut at = at.below("random");
        if random.rate <= Decimal::ZERO {
            let rate = random.rate;
            let message = format!("the rate of a server is {rate}, expected a number > 0");
            at.add("rate", message, "write a number > 0");
        }
        let (degree, servers) = (random.degree, random.servers);
        if !(1..=MOST_SERVERS).contains(&servers) {
            let message = format!("{servers} servers, expected 1 to {MOST_SERVERS}");
            at.add("servers", message, "write how many servers there are");
        }
        if !(1..=servers.max(1)).contains(&degree) {
            let message = format!("each job may run on {degree} of {servers} servers");
            at.add(
                "degree",
                message,
                "write a number from 1 to the number of servers",
            );
        }
    }

    /// Builds the cluster of a document without faults.
    fn build(self, size: Size) -> CheckedOrFaults<Cluster> {
        let mut warnings = Vec::new();
        let (servers, classes) = match &self.assignment {
            Some(AssignmentRecord { random, .. }) => {
                let (names, rate) = ((1..=random.servers).map(|n| n.to_string()), random.rate);
                (
                    names.map(|name| Server { name, rate }).collect(),
                    Vec::new(),
                )
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
        let unused = servers
            .iter()
            .enumerate()
            .filter(|(s, _)| !used.contains(s));
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
