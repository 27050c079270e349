//! EASY backfilling: the head of the queue alone has a reservation.

use super::choices::Backfilling;
use super::estimator::LearnedRuntimes;
use super::queue::Queue;
use super::reservations::Reservations;
use super::running::Waiting;
use crate::policy::hosts::Placement;
use crate::policy::room::{covers, reduce};
use crate::policy::{Event, Job, Knows, Policy, System};

/// EASY backfilling: jobs start in the order of the queue until its head does not fit. The head's
/// *shadow time* is the earliest estimated completion at which it will fit, in every resource.
/// Then, in order, each fitting job starts that ends by the shadow time or takes only
/// what the head will leave over there, of every resource.
///
/// Source: Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995; as Mu'alem and Feitelson state it,
/// IEEE TPDS 12(6), 2001, section 2, for one resource and in order of arrival. With several, what is left over is counted
/// for each: ours. Jobs that are estimated to end at the shadow time itself count as gone. No job is
/// killed, and one that runs over its estimate may end at any moment.
///
/// Over a fleet, whose jobs wait in one place, the server is reserved where by the estimates the head fits first, or as
/// many as it takes. Others start, in order, on the other servers, and those that take one server on a reserved one,
/// too, by the rule above.
///
/// An arrival behind a blocked head is O(R + log n). A completion finds the shadow time in
/// O(R · running), and each start costs O(K log n): no queue is scanned. The reserved servers are looked for among all,
/// O(N log N), where another job has become the head; then only servers where a job has ended can be better ones.
#[derive(Clone, Debug)]
pub(super) struct Easy<Q> {
    queue: Q,
    reservations_of: Reservations,
    placement: Placement,
    servers: usize,
    /// The type and the number of the head of the queue, while servers are reserved for it.
    head: Option<(usize, u64)>,
    /// When all of these have room for it, by the estimates.
    shadow: f64,
    /// The servers that are reserved for the head, and behind them those that are not, so that nothing is allocated.
    reservations: Vec<Reservation>,
    /// How many are reserved.
    reserved: usize,
    /// Servers where jobs have ended since the last decision.
    freed: Vec<usize>,
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

impl<Q: Queue> Easy<Q> {
    pub(super) fn new(choices: &Backfilling, queue: Q, servers: usize) -> Self {
        Easy {
            queue,
            reservations_of: choices.reservations,
            placement: choices.placement,
            servers,
            head: None,
            shadow: 0.0,
            reservations: vec![Reservation::default(); servers],
            reserved: 0,
            freed: Vec::new(),
            team: Vec::new(),
        }
    }

    /// Starts jobs in order, then others behind the head that does not fit.
    fn go_on(&mut self, system: &mut System) {
        self.queue.settle(system);
        while let Some(head) = self.queue.first(system) {
            // Where another job has become the head, it may start on servers that were kept for the one before.
            if self.servers > 1 && self.head.is_some_and(|(own, _)| own != head) {
                self.release(system);
            }
            if !self.has_room_for_head(head, system) {
                match self.reservations_of {
                    Reservations::None if !self.queue.is_overdue(head) => self.release(system),
                    _ => self.reserve(head, system),
                }
                if self.reservations_of != Reservations::Strict {
                    self.backfill(None, system);
                }
                return;
            }
            self.release(system);
            self.start_first(head, system);
        }
        self.release(system);
    }

    /// Starts the first job of type i where there is room for it.
    fn start_first(&mut self, i: usize, system: &mut System) {
        let first = self.queue.first_within(i, f64::MAX);
        let first = first.expect("a job of the type waits");
        self.queue.start(first, &self.team, system);
    }

    /// Whether the head may start now, and where: on servers that are reserved for it first.
    fn has_room_for_head(&mut self, head: usize, system: &System) -> bool {
        let (team, nodes) = (&mut self.team, system.nodes(head));
        team.clear();
        if self.servers == 1 {
            team.push(0);
            return system.fits_on(head, 0);
        }
        if self.head.is_some_and(|(own, _)| own == head) {
            let own = self.reservations[..self.reserved].iter();
            let servers = own.map(|own| own.server);
            team.extend(servers.filter(|n| system.fits_on(head, *n)));
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
        for own in &self.reservations[..self.reserved] {
            system.lock(own.server, false);
        }
        self.reserved = 0;
    }

    /// Reserves servers for the head, or better ones, where a job has ended.
    fn reserve(&mut self, head: usize, system: &mut System) {
        let Some(number) = self.queue.number(head, system) else {
            return;
        };
        self.team.clear();
        if self.servers > 1 && self.head.is_some_and(|(_, own)| own == number) {
            let own = self.reservations[..self.reserved].iter();
            self.team.extend(own.map(|own| own.server));
            self.team.extend(&self.freed);
            self.team.sort_unstable();
            self.team.dedup();
        } else {
            self.team.extend(0..self.servers);
        }
        self.release(system);
        let mut found = 0;
        for &server in &self.team {
            let own = &mut self.reservations[found];
            own.server = server;
            let running = self.queue.running();
            let from = running.room_for(head, server, &mut own.extra, system);
            own.from = from.max(system.now());
            found += usize::from(own.from.is_finite());
        }
        let nodes = system.nodes(head);
        if found < nodes {
            return;
        }
        let found = &mut self.reservations[..found];
        found.sort_by(|a, b| a.from.total_cmp(&b.from).then(a.server.cmp(&b.server)));
        self.shadow = found[nodes - 1].from;
        self.reserved = nodes;
        self.head = Some((head, number));
        for own in &mut found[..nodes] {
            for (extra, d) in own.extra.iter_mut().zip(system.demand(head)) {
                // Less only where others use the room that the head will need.
                *extra = extra.saturating_sub(*d);
            }
            system.lock(own.server, true);
        }
    }

    /// Starts those that may pass the head, of all types or of one: elsewhere, and on its servers.
    fn backfill(&mut self, only: Option<usize>, system: &mut System) {
        // Nothing starts elsewhere than on the one server.
        let is_elsewhere = self.reserved == 0 || self.servers > 1;
        while is_elsewhere
            && let Some(i) = self.queue.first_fitting(system)
            && system.find_team(i, &mut self.team)
        {
            self.start_first(i, system);
        }
        while let Some((next, k)) = self.next_on_reserved(only, system) {
            let own = &mut self.reservations[k];
            self.queue.start(next, &[own.server], system);
            if next.estimate > self.shadow - system.now() {
                reduce(&mut own.extra, system.demand(next.job_type));
            }
            // Behind the newcomer of a type none has come to fit.
            if only.is_some() {
                return;
            }
        }
    }

    /// The next job that may start on a reserved server, and which of them.
    fn next_on_reserved(&self, only: Option<usize>, system: &System) -> Option<(Waiting, usize)> {
        let mut next: Option<((Q::Rank, u64), Waiting, usize)> = None;
        for (k, own) in self.reservations[..self.reserved].iter().enumerate() {
            let mut types = system.queued();
            // One place where they are looked at, so that it is compiled into the loop.
            while let Some(i) = only.or_else(|| types.next()) {
                if system.fits_on(i, own.server) && system.nodes(i) == 1 {
                    let first = self.queue.first_key(i, system);
                    // No job of this type is before its first.
                    if next.is_none_or(|(key, ..)| first < key)
                        && let Some(waiting) =
                            self.queue.first_within(i, self.limit(i, own, system))
                        && let key = self.queue.key(&waiting)
                        && next.is_none_or(|(least, ..)| key < least)
                    {
                        next = Some((key, waiting, k));
                    }
                }
                if only.is_some() {
                    break;
                }
            }
        }
        next.map(|(_, waiting, k)| (waiting, k))
    }

    /// How long a job of type i may take on this reserved server.
    #[inline]
    fn limit(&self, i: usize, own: &Reservation, system: &System) -> f64 {
        if covers(&own.extra, system.demand(i)) {
            f64::MAX
        } else {
            self.shadow - system.now()
        }
    }
}

impl<Q: Queue> Policy for Easy<Q> {
    fn knows(&self) -> Knows {
        self.queue.knows()
    }

    fn begin(&mut self, system: &mut System) {
        system.place_by(self.placement);
    }

    fn react(&mut self, event: Event, system: &mut System) {
        self.note(event, system);
        match (event, self.head) {
            // Behind the head an arrival changes neither the room nor the shadow time: no other job has come to fit.
            (Event::Arrival(i), Some(head)) if self.queue.keeps_head(i, head, system) => {
                if self.reservations_of != Reservations::Strict {
                    self.backfill(Some(i), system);
                }
            }
            (Event::Arrival(_) | Event::Completion(_), _) => self.decide(system),
            (Event::Clock(_), _) => {}
        }
    }

    fn decides_on_state(&self) -> bool {
        self.servers == 1 || Q::DECIDES_ONCE
    }

    fn note(&mut self, event: Event, system: &mut System) {
        if self.servers > 1 && matches!(event, Event::Completion(_)) {
            self.freed.extend(system.freed());
        }
        self.queue.look(event, system);
    }

    fn decide(&mut self, system: &mut System) {
        self.go_on(system);
        self.freed.clear();
    }

    fn ahead(&self, i: usize, job: Job) -> Option<usize> {
        self.queue.ahead(i, job)
    }

    fn learned(&self) -> Option<LearnedRuntimes> {
        self.queue.learned()
    }

    fn let_go(&mut self, system: &mut System) {
        self.release(system);
    }

    fn take_over(&mut self, system: &mut System) {
        self.begin(system);
        self.queue.running().forget();
        self.changed(system);
    }

    fn changed(&mut self, system: &mut System) {
        self.release(system);
        self.queue.look_anew(system);
        self.decide(system);
    }
}
