//! The checks that turn a record into a [`Cluster`].

use std::collections::{HashMap, HashSet};

use super::{AssignmentRecord, Class, ClassRecord, Cluster, Record, Server};
use synth_core::document::{
    CheckedOrFaults, Fault, check_names, check_unit, place, suggest, within,
};
use synth_core::number::Decimal;
use synth_queues::law::Part;

/// Mean sizes of which multiples, and squares, are in the range of numbers.
const MEANS: std::ops::Range<f64> = 1e-150..1e150;

/// More servers than this are no cluster that one queue is for.
const MOST_SERVERS: u32 = 100_000;

impl Record {
    /// Returns the workload, and what to warn of; or all faults, those found so far and its own.
    pub(super) fn checked(&self, mut faults: Vec<Fault>) -> CheckedOrFaults<Cluster> {
        check_unit(&self.time_unit, &mut faults);
        self.check_size(&mut faults);
        self.check_servers(&mut faults);
        self.check_classes(&mut faults);
        self.check_assignment(&mut faults);
        if !faults.is_empty() {
            return Err(faults);
        }
        self.build()
    }

    fn check_size(&self, faults: &mut Vec<Fault>) {
        let unsound = self.size.faults(Part::Size, "the workload", "work");
        let sound = || self.size.in_range() && MEANS.contains(&self.size.mean());
        if unsound.is_empty() && !sound() {
            let message = "the law of sizes is out of the range of numbers";
            let help = "check its numbers, or choose another unit of work";
            faults.push(Fault::new(place!("size"), message, help));
        }
        faults.extend(within(unsound, &place!("size")));
    }

    fn check_servers(&self, faults: &mut Vec<Fault>) {
        let names = self.servers.iter().map(|server| &server.name);
        check_names("servers", "server", names, faults);
        for (s, Server { name, rate }) in self.servers.iter().enumerate() {
            if *rate < Decimal::ZERO {
                let message =
                    format!("the rate of server `{name}` is {rate}, expected a number ≥ 0");
                let help = "write how much work it does in a unit of time";
                faults.push(Fault::new(place!("servers", s, "rate"), message, help));
            }
        }
    }

    fn check_classes(&self, faults: &mut Vec<Fault>) {
        let rates = self.servers.iter().map(|s| (&*s.name, s.rate));
        let rates: HashMap<&str, Decimal> = rates.collect();
        let names = self.classes.iter().map(|class| &class.name);
        check_names("classes", "class", names, faults);
        for (i, class) in self.classes.iter().enumerate() {
            let (name, rate) = (&class.name, class.arrival_rate);
            if rate < Decimal::ZERO {
                let message =
                    format!("the arrival rate of class `{name}` is {rate}, expected a number > 0");
                let help =
                    "write how many of its jobs arrive in a unit of time; 0 leaves the class out";
                let place = place!("classes", i, "arrival_rate");
                faults.push(Fault::new(place, message, help));
            }
            self.check_servers_of(i, &rates, faults);
        }
        let mut classes = self.classes.iter();
        if !self.classes.is_empty() && classes.all(|class| class.arrival_rate == Decimal::ZERO) {
            let message = "every arrival rate is 0, so nothing arrives";
            let help = "give at least one class an arrival_rate > 0";
            faults.push(Fault::new(place!("classes"), message, help));
        }
    }

    fn check_servers_of(&self, i: usize, rates: &HashMap<&str, Decimal>, faults: &mut Vec<Fault>) {
        let ClassRecord { name, servers, .. } = &self.classes[i];
        let mut seen = HashSet::new();
        let before = faults.len();
        for (n, server) in servers.iter().enumerate() {
            let here = place!("classes", i, "servers", n);
            if !rates.contains_key(server.as_str()) {
                let known: Vec<&str> = self.servers.iter().map(|s| &*s.name).collect();
                let message =
                    format!("class `{name}` names the server `{server}`, which does not exist");
                let help = suggest(server, "the servers are", &known);
                faults.push(Fault::new(here, message, help));
            } else if !seen.insert(server) {
                let message = format!("class `{name}` names the server `{server}` twice");
                faults.push(Fault::new(here, message, "keep it once"));
            }
        }
        let (what, help) = if servers.is_empty() {
            let help = "name the servers that may run it, or leave the class out";
            ("has no server", help)
        } else if faults.len() == before && servers.iter().all(|s| rates[&**s] == Decimal::ZERO) {
            let help = "give one of its servers a rate > 0, or name another server";
            ("may only run where the rate is 0", help)
        } else {
            return;
        };
        let message = format!("class `{name}` {what}");
        faults.push(Fault::new(place!("classes", i, "servers"), message, help));
    }

    fn check_assignment(&self, faults: &mut Vec<Fault>) {
        let Some(assignment) = &self.assignment else {
            return;
        };
        let random = &assignment.random;
        let here = |key: &str| place!("assignment", "random", key);
        if !(1..=MOST_SERVERS).contains(&random.servers) {
            let message = format!("{} servers, expected 1 to {MOST_SERVERS}", random.servers);
            let help = "write how many servers there are";
            faults.push(Fault::new(here("servers"), message, help));
        }
        if !(1..=random.servers.max(1)).contains(&random.degree) {
            let (degree, servers) = (random.degree, random.servers);
            let message = format!("each job may run on {degree} of {servers} servers");
            let help = "write a number from 1 to the number of servers";
            faults.push(Fault::new(here("degree"), message, help));
        }
        let (arrivals, arrival_rate) = (
            place!("assignment", "arrival_rate"),
            assignment.arrival_rate,
        );
        for (place, what, rate) in [
            (here("rate"), "the rate of a server", random.rate),
            (arrivals, "the arrival rate", arrival_rate),
        ] {
            if rate <= Decimal::ZERO {
                let message = format!("{what} is {rate}, expected a number > 0");
                faults.push(Fault::new(place, message, "write a number > 0"));
            }
        }
    }

    /// Builds the cluster of a record without faults.
    fn build(&self) -> CheckedOrFaults<Cluster> {
        let mut warnings = Vec::new();
        let mut cluster = Cluster {
            record: self.clone(),
            servers: self.servers.clone(),
            classes: Vec::new(),
        };
        if let Some(AssignmentRecord { random, .. }) = &self.assignment {
            let (names, rate) = ((1..=random.servers).map(|n| n.to_string()), random.rate);
            cluster.servers = names.map(|name| Server { name, rate }).collect();
        } else {
            cluster.classes = self.classes_on(&mut warnings);
        }
        let served: f64 = cluster.service_rates().iter().sum();
        let arriving = cluster.arrival_rate();
        let sums = [arriving * self.size.mean(), served, arriving / served];
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
