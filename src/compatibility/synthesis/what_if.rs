//! What changes of a cluster would do, each by the load and the exact means after it.

use std::sync::atomic::AtomicBool;

use super::{additions, is_set};
use crate::compatibility::analysis::{self, Means};
use crate::compatibility::artifact::{OneMore, WhatIf};
use crate::compatibility::workload::{Class, Cluster, Server};
use crate::number::Decimal;

/// Changes of a sort that are told.
const TOLD: usize = 5;

/// Additions for the changes of one sort, of which the likeliest are looked at first: some three seconds.
const WORK: f64 = 3e8;

/// One percent more.
const MORE: f64 = 1.01;

/// Servers of which one more is looked at by the load alone.
const SERVERS: usize = 200;

/// The best changes of each sort; by the load alone, and of servers only, where there are no means.
pub(super) fn what_if(
    cluster: &Cluster,
    means: Option<&Means>,
    interrupt: &AtomicBool,
) -> Option<WhatIf> {
    if cluster.classes().is_empty() {
        return means.map(|_| WhatIf::default());
    }
    Some(match means {
        Some(means) => by_means(cluster, means, interrupt),
        None => WhatIf {
            servers: by_load(cluster, interrupt),
            ..WhatIf::default()
        },
    })
}

/// One more of each of the first servers, by the load after it.
fn by_load(cluster: &Cluster, interrupt: &AtomicBool) -> Vec<OneMore> {
    let places = 0..cluster.servers().len().min(SERVERS);
    let places = places.take_while(|_| !is_set(interrupt));
    let one = |s: usize| {
        Some(OneMore {
            class: None,
            server: Some(cluster.servers()[s].name.clone()),
            load: analysis::load(&twice_as_fast(cluster, s)?).load,
            response: None,
        })
    };
    let mut found: Vec<OneMore> = places.filter_map(one).collect();
    found.sort_by(|a, b| a.load.total_cmp(&b.load));
    found.truncate(TOLD);
    found
}

/// Twice as fast is as one more of the same: servers of the same classes are one. None where it is of no use.
fn twice_as_fast(cluster: &Cluster, s: usize) -> Option<Cluster> {
    let mut servers: Vec<Server> = cluster.servers().to_vec();
    servers[s].rate = Decimal::new(2.0 * servers[s].rate.value())?;
    (servers[s].rate > Decimal::ZERO).then(|| cluster.with_servers(servers))
}

fn by_means(cluster: &Cluster, means: &Means, interrupt: &AtomicBool) -> WhatIf {
    let response = |one: &OneMore| one.response.unwrap_or(f64::INFINITY);
    let by = |a: &OneMore, b: &OneMore| response(a).total_cmp(&response(b));
    let best = |changes: Vec<Change>| {
        let mut found = evaluated(cluster, changes, interrupt);
        found.sort_by(by);
        found.truncate(TOLD);
        found
    };
    let mut arrivals = evaluated(cluster, arrivals(cluster, means), interrupt);
    arrivals.sort_by(|a, b| by(b, a));
    arrivals.truncate(TOLD);
    WhatIf {
        servers: best(servers(cluster, means)),
        replicas: best(replicas(cluster, means)),
        arrivals,
    }
}

/// A change, and the cluster after it.
struct Change {
    class: Option<usize>,
    server: Option<usize>,
    after: Cluster,
}

fn evaluated(cluster: &Cluster, changes: Vec<Change>, interrupt: &AtomicBool) -> Vec<OneMore> {
    let most = (WORK / additions(cluster)).max(TOLD as f64) as usize;
    let changes = changes.into_iter().take(most);
    let changes = changes.take_while(|_| !is_set(interrupt));
    let one = |change: Change| {
        let load = analysis::load(&change.after).load;
        let means = (load < 1.0).then(|| analysis::means(&change.after).ok());
        Some(OneMore {
            class: change.class.map(|i| cluster.classes()[i].name.clone()),
            server: change.server.map(|s| cluster.servers()[s].name.clone()),
            load,
            response: Some(means.flatten()?.response(&change.after)),
        })
    };
    changes.filter_map(one).collect()
}

/// One more of each server, the busiest first.
fn servers(cluster: &Cluster, means: &Means) -> Vec<Change> {
    let mut order: Vec<usize> = (0..cluster.servers().len()).collect();
    order.retain(|s| means.busy[*s] > 0.0);
    order.sort_by(|a, b| means.busy[*b].total_cmp(&means.busy[*a]));
    let change = |s: usize| {
        Some(Change {
            class: None,
            server: Some(s),
            after: twice_as_fast(cluster, s)?,
        })
    };
    order.into_iter().filter_map(change).collect()
}

/// For each class the server with the most idle capacity that it may not use yet; the slowest classes first.
fn replicas(cluster: &Cluster, means: &Means) -> Vec<Change> {
    let idle = |s: &usize| cluster.servers()[*s].rate.value() * (1.0 - means.busy[*s]);
    let change = |i: usize| {
        let own = &cluster.classes()[i].servers;
        let others = (0..cluster.servers().len()).filter(|s| !own.contains(s));
        let server = others.max_by(|a, b| idle(a).total_cmp(&idle(b)))?;
        let servers = own.iter().copied().chain([server]).collect();
        (cluster.servers()[server].rate > Decimal::ZERO).then(|| Change {
            class: Some(i),
            server: Some(server),
            after: with_class(cluster, i, |class| Class { servers, ..class }),
        })
    };
    slowest(cluster, means)
        .into_iter()
        .filter_map(change)
        .collect()
}

fn arrivals(cluster: &Cluster, means: &Means) -> Vec<Change> {
    let change = |i: usize| {
        let rate = Decimal::new(MORE * cluster.classes()[i].arrival_rate.value())?;
        let more = |class| Class {
            arrival_rate: rate,
            ..class
        };
        Some(Change {
            class: Some(i),
            server: None,
            after: with_class(cluster, i, more),
        })
    };
    slowest(cluster, means)
        .into_iter()
        .filter_map(change)
        .collect()
}

/// Classes with the most jobs in the system first.
fn slowest(cluster: &Cluster, means: &Means) -> Vec<usize> {
    let mut order: Vec<usize> = (0..cluster.classes().len()).collect();
    order.sort_by(|a, b| means.numbers[*b].total_cmp(&means.numbers[*a]));
    order
}

fn with_class(cluster: &Cluster, i: usize, changed: impl FnOnce(Class) -> Class) -> Cluster {
    let mut classes = cluster.classes().to_vec();
    let class = changed(classes[i].clone());
    let mut servers = class.servers.clone();
    servers.sort_unstable();
    classes[i] = Class { servers, ..class };
    cluster.with_classes(classes)
}
