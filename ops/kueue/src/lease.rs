//! A Lease is used to elect a leader. As in client-go, a replica only uses its own clock: a Lease
//! has expired if it has not changed for its duration, so the clocks do not need to agree.
//! (kube-lease-manager 0.13 and kube-leader-election 0.44 compare the timestamp of the holder with
//! their own clock.)

use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::api::PostParams;
use kube::{Api, Client};
use tokio::sync::watch;
use tracing::warn;

use crate::server::answer;
use crate::setup::Setup;

struct Election {
    identity: String,
    duration: Duration,
    seen: Option<(LeaseSpec, Instant)>,
}

impl Election {
    /// Returns the new Lease, or `None` if another replica holds it. The time `wall` is only
    /// written and never compared.
    fn next(&mut self, found: &LeaseSpec, now: Instant, wall: Timestamp) -> Option<LeaseSpec> {
        if self.seen.as_ref().is_none_or(|(seen, _)| seen != found) {
            self.seen = Some((found.clone(), now));
        }
        let holder = found.holder_identity.as_deref().unwrap_or_default();
        // If the duration of the holder is longer, it is used.
        let promised = u64::try_from(found.lease_duration_seconds.unwrap_or(0)).unwrap_or(0);
        let lasts = self.duration.max(Duration::from_secs(promised));
        let has_expired = self.seen.as_ref().is_some_and(|own| now - own.1 >= lasts);
        let is_own = holder == self.identity;
        (holder.is_empty() || is_own || has_expired).then(|| LeaseSpec {
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: i32::try_from(self.duration.as_secs()).ok(),
            acquire_time: match is_own {
                true => found.acquire_time.clone(),
                false => Some(MicroTime(wall)),
            },
            lease_transitions: Some(found.lease_transitions.unwrap_or(0) + i32::from(!is_own)),
            renew_time: Some(MicroTime(wall)),
            ..found.clone()
        })
    }

    /// Returns the time until which a replica acts after a renewal was sent. The last third of the
    /// duration is left for requests that have been sent.
    fn until(&self, sent: Instant) -> Instant {
        sent + self.duration * 2 / 3
    }
}

/// The time until which this replica can act, or `None` if it is not the leader.
#[derive(Clone)]
pub struct Leadership(watch::Receiver<Option<Instant>>);

impl Leadership {
    pub fn is_valid(&self) -> bool {
        self.0.borrow().is_some_and(|until| Instant::now() < until)
    }

    pub async fn begin(&mut self) {
        let is_valid = |until: &Option<Instant>| until.is_some_and(|until| Instant::now() < until);
        if self.0.wait_for(is_valid).await.is_err() {
            std::future::pending().await
        }
    }
}

pub struct Elector {
    api: Api<Lease>,
    name: String,
    election: Election,
    until: watch::Sender<Option<Instant>>,
}

impl Elector {
    pub fn new(client: Client, setup: &Setup, identity: String) -> Result<Self, String> {
        let (lease, duration) = (&setup.lease, setup.lease_duration);
        let parts = lease.split_once('/');
        let (namespace, name) =
            parts.ok_or_else(|| format!("--lease {lease}: write NAMESPACE/NAME"))?;
        if duration < Duration::from_secs(3) {
            return Err(format!(
                "--lease-duration {duration:?}: must be at least 3 s, because the API server may be slow"
            ));
        }
        Ok(Elector {
            api: Api::namespaced(client, namespace),
            name: name.into(),
            election: Election {
                identity,
                duration,
                seen: None,
            },
            until: watch::Sender::new(None),
        })
    }

    pub fn leadership(&self) -> Leadership {
        Leadership(self.until.subscribe())
    }

    pub fn period(&self) -> Duration {
        self.election.duration / 6
    }

    pub async fn step(&mut self) {
        let begin = Instant::now();
        let until = match answer(self.election.duration / 5, self.renew(begin)).await {
            // A renewal is valid from the time at which it was sent.
            Ok(is_holder) => is_holder.then(|| self.election.until(begin)),
            // Of two simultaneous updates, one fails because of the resourceVersion.
            Err(why) if why.code == 409 => None,
            Err(why) => return warn!(why = why.text, "lease"),
        };
        self.until.send_replace(until);
    }

    async fn renew(&mut self, now: Instant) -> kube::Result<bool> {
        let found = self.api.get_opt(&self.name).await?;
        let mut lease = found.unwrap_or_default();
        let spec = lease.spec.take().unwrap_or_default();
        lease.spec = self.election.next(&spec, now, Timestamp::now());
        if lease.spec.is_none() {
            return Ok(false);
        }
        let params = PostParams::default();
        match lease.metadata.name.replace(self.name.clone()) {
            Some(_) => self.api.replace(&self.name, &params, &lease).await?,
            None => self.api.create(&params, &lease).await?,
        };
        Ok(true)
    }

    pub async fn give_back(&mut self) {
        if !self.leadership().is_valid() {
            return;
        }
        self.until.send_replace(None);
        let back = async {
            let mut lease = self.api.get(&self.name).await?;
            let spec = lease.spec.as_mut();
            let holder = spec.and_then(|own| own.holder_identity.take());
            if holder.as_ref() == Some(&self.election.identity) {
                let params = PostParams::default();
                self.api.replace(&self.name, &params, &lease).await?;
            }
            Ok(())
        };
        let _ = answer(Duration::from_secs(2), back).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DURATION: Duration = Duration::from_secs(6);

    fn replica(name: &str) -> Election {
        Election {
            identity: name.into(),
            duration: DURATION,
            seen: None,
        }
    }

    fn held(holder: &str, renewed: i64) -> LeaseSpec {
        LeaseSpec {
            holder_identity: Some(holder.into()),
            lease_duration_seconds: Some(6),
            renew_time: Some(MicroTime(
                Timestamp::from_second(renewed).unwrap_or_default(),
            )),
            ..LeaseSpec::default()
        }
    }

    #[test]
    fn acquires_free_own_and_expired_leases() {
        let (now, wall) = (Instant::now(), Timestamp::UNIX_EPOCH);
        let mut own = replica("b");
        let mut takes =
            |spec: &LeaseSpec, s: u64| own.next(spec, now + Duration::from_secs(s), wall).is_some();
        assert!(takes(&LeaseSpec::default(), 0));
        assert!(takes(&held("b", 0), 0));
        assert!(!takes(&held("a", 0), 0));
        assert!(!takes(&held("a", 0), 5));
        assert!(takes(&held("a", 0), 6));
        let long = LeaseSpec {
            lease_duration_seconds: Some(60),
            ..held("a", 0)
        };
        assert!(!takes(&long, 10), "the holder's duration counts");
        assert!(!takes(&long, 69));
        assert!(takes(&long, 70));
    }

    /// Returns the time at which the second replica acts \[s\]. The first one ends at 60 s.
    fn takeover(skew: i64) -> f64 {
        let begin = Instant::now();
        let mut lease = LeaseSpec::default();
        let mut replicas = [(replica("a"), 0, None), (replica("b"), skew, None)];
        for tenth in 0..1200_u64 {
            let now = begin + Duration::from_millis(100 * tenth);
            for (n, (own, skew, until)) in replicas.iter_mut().enumerate() {
                if tenth % 10 == 3 * n as u64 && (n == 1 || tenth < 600) {
                    let wall = Timestamp::from_second(1_767_225_600 + *skew + tenth as i64 / 10);
                    let next = own.next(&lease, now, wall.unwrap_or_default());
                    *until = next.as_ref().map(|_| own.until(now));
                    lease = next.unwrap_or(lease);
                }
            }
            let acts = replicas
                .each_ref()
                .map(|own| own.2.is_some_and(|until| now < until));
            assert_ne!(acts, [true, true], "at {tenth}");
            if acts[1] {
                return tenth as f64 / 10.0;
            }
            assert!(acts[0] || tenth >= 600, "no replica acts at {tenth}");
        }
        f64::INFINITY
    }

    #[test]
    fn clock_skew_does_not_matter() {
        // The Lease was renewed at 59.0 and observed at 59.3. At 65.3 it has expired.
        for skew in [0, 3600, -3600, 100_000_000] {
            assert_eq!(takeover(skew), 65.3, "{skew}");
        }
    }
}
