use std::ops::Range;

use super::estimates::{Estimated, Estimates, covers, reduce};
use super::hosts::Placement;
use super::{Event, Knows, Policy, System};
use crate::workload::{Fleet, Workload};

/// EASY backfilling: first come, first served, until the head of the queue does not fit. Its
/// *shadow time* is the earliest estimated completion at which it will fit, in every resource.
/// Then, in order of arrival, each fitting job starts that ends by the shadow time or takes only
/// what the head will leave over there, of every resource.
///
/// Source: Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995; as Mu'alem and Feitelson state it,
/// IEEE TPDS 12(6), 2001, section 2, for one resource. With several, what is left over is counted
/// for each: ours. Jobs that are estimated to end at the shadow time itself count as gone. Sizes
/// are known exactly, or inflated, or limited as the workload says ([`Estimates`]); no job is
/// killed, and one that runs over its estimate may end at any moment.
///
/// Over a fleet, whose jobs wait in one place, the server is reserved where by the estimates the head fits first, or as
/// many as it takes. Others start, oldest first, on the other servers, and those that take one server on a reserved one,
/// too, by the rule above. Of the servers with room the one with the least is taken.
///
/// An arrival behind a blocked head is O(R + log n). A completion finds the shadow time in
/// O(R · running), and each start costs O(K log n): no queue is scanned. The reserved servers are looked for among all,
/// O(N log N), where another job has become the head; then only servers where a job has ended can be better ones.
#[derive(Clone, Debug)]
pub struct EasyBackfill {
    jobs: Estimated,
    /// The type and the number of the head of the queue, while servers are reserved for it.
    head: Option<(usize, u64)>,
    /// When all of these have room for it, by the estimates.
    shadow: f64,
    reserved: Vec<Reservation>,
    /// Reservations to be made again, so that nothing is allocated.
    spare: Vec<Reservation>,
    /// Where the next job starts.
    team: Vec<usize>,
}

/// A server with room for the head from some time on.
#[derive(Clone, Debug, Default)]
struct Reservation {
    from: f64,
    server: usize,
    /// What the head leaves over there, of each resource.
    extra: Vec<u64>,
}

impl EasyBackfill {
    /// The rule for this workload, with what is known of jobs.
    pub fn new(workload: &Workload, estimates: Estimates) -> Self {
        EasyBackfill::on_servers(1, workload, estimates)
    }

    /// The rule over all servers of a fleet: by limits, which are sizes where nothing is said, or by the types' means.
    pub fn over(fleet: &Fleet, by_limits: bool) -> Self {
        let workload = fleet.envelope();
        let estimates = match by_limits {
            false => Estimates::by_mean(workload),
            true if workload.has_limits() => Estimates::Limits,
            true => Estimates::Inflated(1.0),
        };
        EasyBackfill::on_servers(fleet.servers(), workload, estimates)
    }

    fn on_servers(servers: usize, workload: &Workload, estimates: Estimates) -> Self {
        EasyBackfill {
            jobs: Estimated::new(estimates, workload.types().len(), servers),
            head: None,
            shadow: 0.0,
            reserved: Vec::new(),
            spare: Vec::new(),
            team: Vec::new(),
        }
    }

    /// First come, first served, then backfilling behind the head.
    fn go_on(&mut self, system: &mut System) {
        while let Some(head) = system.oldest_type() {
            if !self.has_room_for_head(head, system) {
                self.reserve(head, system);
                return self.backfill(0..system.types(), system);
            }
            self.release(system);
            self.jobs.start(head, f64::MAX, &self.team, system);
        }
        self.release(system);
    }

    /// Whether the head may start now, and where: on servers that are reserved for it first.
    fn has_room_for_head(&mut self, head: usize, system: &System) -> bool {
        let (team, nodes) = (&mut self.team, system.nodes(head));
        team.clear();
        if self.head.is_some_and(|(own, _)| own == head) {
            let reserved = self.reserved.iter().map(|own| own.server);
            team.extend(reserved.filter(|n| system.fits_on(head, *n)));
        }
        let own = team.len();
        let is_last = |n| {
            team.push(n);
            team.len() == nodes
        };
        let found = own == nodes || system.any_server(head, is_last);
        self.team.rotate_left(own);
        found
    }

    fn release(&mut self, system: &mut System) {
        self.head = None;
        for own in self.reserved.drain(..) {
            system.lock(own.server, false);
            self.spare.push(own);
        }
    }

    /// Reserves servers for the head, or better ones, where a job has ended.
    fn reserve(&mut self, head: usize, system: &mut System) {
        let Some(number) = system.nth_number(head, 0) else {
            return;
        };
        self.team.clear();
        if self.head.is_some_and(|(_, own)| own == number) {
            self.team.extend(self.reserved.iter().map(|own| own.server));
            self.team.extend(system.freed());
            self.team.sort_unstable();
            self.team.dedup();
        } else {
            self.team.extend(0..system.servers());
        }
        self.release(system);
        for &server in &self.team {
            let extra = self.spare.pop().unwrap_or_default().extra;
            let own = self.reservation(head, server, extra, system);
            if own.from.is_finite() {
                self.reserved.push(own);
            } else {
                self.spare.push(own);
            }
        }
        let servers = &mut self.reserved;
        servers.sort_by(|a, b| a.from.total_cmp(&b.from).then(a.server.cmp(&b.server)));
        let nodes = system.nodes(head);
        if servers.len() < nodes {
            return self.spare.append(servers);
        }
        self.spare.extend(servers.drain(nodes..));
        self.shadow = servers[nodes - 1].from;
        servers.iter().for_each(|own| system.lock(own.server, true));
        self.head = Some((head, number));
    }

    /// When a server has room for one more job of type i, by the estimates, and what is left over then.
    fn reservation(
        &self,
        i: usize,
        server: usize,
        mut extra: Vec<u64>,
        system: &System,
    ) -> Reservation {
        let from = self.jobs.room_for(i, server, &mut extra, system);
        for (extra, d) in extra.iter_mut().zip(system.demand(i)) {
            // Less only where others use the room that the head will need.
            *extra = extra.saturating_sub(*d);
        }
        Reservation {
            from: from.max(system.now()),
            server,
            extra,
        }
    }

    /// Starts what may pass the head of these types: elsewhere, and on its servers.
    fn backfill(&mut self, types: Range<usize>, system: &mut System) {
        // Nothing starts elsewhere than on the one server.
        let is_elsewhere = self.head.is_none() || system.servers() > 1;
        while is_elsewhere
            && let Some(i) = system.oldest_fitting_type()
            && system.find_team(i, &mut self.team)
        {
            self.jobs.start(i, f64::MAX, &self.team, system);
        }
        while let Some((i, limit, k)) = self.next_on_reserved(types.clone(), system) {
            let own = &mut self.reserved[k];
            let estimate = self.jobs.start(i, limit, &[own.server], system);
            if estimate > self.shadow - system.now() {
                reduce(&mut own.extra, system.demand(i));
            }
        }
    }

    /// The type of the oldest job that may start on a reserved server, how long it may take, and which of the servers.
    fn next_on_reserved(
        &self,
        types: Range<usize>,
        system: &System,
    ) -> Option<(usize, f64, usize)> {
        let jobs = self.reserved.iter().enumerate().flat_map(|(k, own)| {
            let single = |i: &usize| types.contains(i) && system.nodes(*i) == 1;
            let fitting = system
                .queued()
                .filter(move |i| single(i) && system.fits_on(*i, own.server));
            fitting.filter_map(move |i| {
                let limit = if covers(&own.extra, system.demand(i)) {
                    f64::MAX
                } else {
                    self.shadow - system.now()
                };
                Some((self.jobs.oldest_within(i, limit)?, i, limit, k))
            })
        });
        let oldest = jobs.min_by_key(|(number, .., k)| (*number, *k));
        oldest.map(|(_, i, limit, k)| (i, limit, k))
    }
}

impl Policy for EasyBackfill {
    fn knows(&self) -> Knows {
        self.jobs.estimates.knows()
    }

    fn begin(&mut self, system: &mut System) {
        system.place_by(Placement::Best);
    }

    fn react(&mut self, event: Event, system: &mut System) {
        self.note(event, system);
        match event {
            // An arrival changes neither the room nor the shadow time: no other job has come to fit.
            Event::Arrival(i) if self.head.is_some() => self.backfill(i..i + 1, system),
            Event::Arrival(_) | Event::Completion(_) => self.go_on(system),
            Event::Clock(_) => {}
        }
    }

    fn decides_on_state(&self) -> bool {
        self.jobs.is_of_one_server()
    }

    fn note(&mut self, event: Event, system: &mut System) {
        self.jobs.look(event, system);
    }

    fn decide(&mut self, system: &mut System) {
        self.go_on(system);
    }

    fn let_go(&mut self, system: &mut System) {
        self.release(system);
    }

    fn take_over(&mut self, system: &mut System) {
        self.begin(system);
        self.jobs.forget_running();
        self.changed(system);
    }

    fn changed(&mut self, system: &mut System) {
        self.release(system);
        self.jobs.look_anew(system);
        self.go_on(system);
    }
}
