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

/// The best changes of each sort.
pub(super) fn what_if(cluster: &Cluster, means: &Means, interrupt: &AtomicBool) -> WhatIf {
    if cluster.classes().is_empty() {
        return WhatIf::default();
    }
    let by = |a: &OneMore, b: &OneMore| a.response.total_cmp(&b.response);
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
            response: means.flatten()?.response(&change.after),
        })
    };
    changes.filter_map(one).collect()
}

/// Twice as fast is as one more of the same: servers of the same classes are one. The busiest first.
fn servers(cluster: &Cluster, means: &Means) -> Vec<Change> {
    let mut order: Vec<usize> = (0..cluster.servers().len()).collect();
    order.retain(|s| means.busy[*s] > 0.0);
    order.sort_by(|a, b| means.busy[*b].total_cmp(&means.busy[*a]));
    let change = |s: usize| {
        let mut servers: Vec<Server> = cluster.servers().to_vec();
        servers[s].rate = Decimal::new(2.0 * servers[s].rate.value())?;
        Some(Change {
            class: None,
            server: Some(s),
            after: cluster.with_servers(servers),
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
