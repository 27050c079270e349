//! Which replica acts: the holder of a Lease.
//!
//! As in client-go, a replica trusts only its own clock: a Lease has expired when it has not seen it change for the whole
//! duration. So clocks that differ between replicas do not matter.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client};
use tokio::time::timeout;

use crate::watch::refusal;

/// What a Lease says, as far as it counts: who holds it, and when it was renewed, on the holder's clock.
type Record = (Option<String>, Option<MicroTime>, Option<i32>);

/// What is known of the Lease.
struct Election {
    identity: String,
    duration: Duration,
    /// What it said when it was last seen to change, and when that was.
    seen: Option<(Record, Instant)>,
}

impl Election {
    /// Returns whether this replica may write itself into the Lease, as it is found now.
    fn may_take(&mut self, spec: &LeaseSpec, now: Instant) -> bool {
        let record = (
            spec.holder_identity.clone(),
            spec.renew_time.clone(),
            spec.lease_transitions,
        );
        if self.seen.as_ref().is_none_or(|(seen, _)| *seen != record) {
            self.seen = Some((record, now));
        }
        let holder = spec.holder_identity.as_deref().unwrap_or_default();
        // What its holder goes by counts, where that is longer.
        let promised = Duration::from_secs(
            spec.lease_duration_seconds
                .unwrap_or(0)
                .try_into()
                .unwrap_or(0),
        );
        let since = self.seen.as_ref().map_or(now, |(_, since)| *since);
        holder.is_empty() || holder == self.identity || now - since >= self.duration.max(promised)
    }
}

/// Whether this replica acts, for all who ask.
#[derive(Clone)]
pub struct Leadership {
    begin: Instant,
    /// Until when, in milliseconds since the beginning.
    until: Arc<AtomicU64>,
}

impl Leadership {
    /// Returns whether it acts now: the Lease was renewed within the deadline.
    pub fn is_valid(&self) -> bool {
        self.begin.elapsed().as_millis() < u128::from(self.until.load(Ordering::SeqCst))
    }

    fn set(&self, until: Option<Instant>) {
        let until = until.map_or(0, |until| (until - self.begin).as_millis() as u64);
        self.until.store(until, Ordering::SeqCst);
    }
}

/// The Lease, and this replica's part in it.
pub struct Elector {
    api: Api<Lease>,
    name: String,
    election: Election,
    pub leadership: Leadership,
}

impl Elector {
    /// Returns the part of a replica that has not looked yet; the Lease is named NAMESPACE/NAME.
    ///
    /// # Errors
    /// When it is not.
    pub fn new(
        client: Client,
        lease: &str,
        identity: String,
        duration: Duration,
    ) -> Result<Self, String> {
        let (namespace, name) = lease
            .split_once('/')
            .ok_or_else(|| format!("--lease {lease}: write NAMESPACE/NAME"))?;
        if duration < Duration::from_secs(3) {
            return Err(format!(
                "--lease-duration {duration:?}: 3 s or more, since the API server may be slow"
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
            leadership: Leadership {
                begin: Instant::now(),
                until: Arc::default(),
            },
        })
    }

    /// Returns the time between two looks.
    pub fn period(&self) -> Duration {
        self.election.duration / 8
    }

    /// Takes or renews the Lease where that can be; says why not where the API server did not answer.
    ///
    /// # Errors
    /// When it did not, or refuses.
    pub async fn step(&mut self) -> Result<(), String> {
        let begin = Instant::now();
        // A renewal counts from when it was sent. After two thirds without one this replica does not act any more: the last
        // third is for requests that are on their way.
        let until = begin + self.election.duration * 2 / 3;
        let wait = self.election.duration / 5;
        let answer = timeout(wait, self.renew(begin)).await;
        match answer.unwrap_or_else(|_| Err(format!("no answer within {wait:?}")))? {
            true => self.leadership.set(Some(until)),
            false => self.leadership.set(None),
        }
        Ok(())
    }

    /// Returns whether this replica holds the Lease now.
    async fn renew(&mut self, now: Instant) -> Result<bool, String> {
        let found = self
            .api
            .get_opt(&self.name)
            .await
            .map_err(|why| refusal(&why))?;
        let Some(mut lease) = found else {
            let metadata = ObjectMeta {
                name: Some(self.name.clone()),
                ..ObjectMeta::default()
            };
            let lease = Lease {
                metadata,
                spec: Some(self.spec(&LeaseSpec::default())),
            };
            return written(self.api.create(&PostParams::default(), &lease).await);
        };
        let spec = lease.spec.take().unwrap_or_default();
        if !self.election.may_take(&spec, now) {
            return Ok(false);
        }
        lease.spec = Some(self.spec(&spec));
        // Its resourceVersion is that which was read: of two replicas one is refused.
        written(
            self.api
                .replace(&self.name, &PostParams::default(), &lease)
                .await,
        )
    }

    fn spec(&self, before: &LeaseSpec) -> LeaseSpec {
        let now = MicroTime(Timestamp::now());
        let is_new = before.holder_identity.as_ref() != Some(&self.election.identity);
        LeaseSpec {
            holder_identity: Some(self.election.identity.clone()),
            lease_duration_seconds: i32::try_from(self.election.duration.as_secs()).ok(),
            acquire_time: if is_new {
                Some(now.clone())
            } else {
                before.acquire_time.clone()
            },
            lease_transitions: Some(before.lease_transitions.unwrap_or(0) + i32::from(is_new)),
            renew_time: Some(now),
            ..before.clone()
        }
    }

    /// Gives the Lease back, so that another replica takes over at once.
    pub async fn give_back(&mut self) {
        if !self.leadership.is_valid() {
            return;
        }
        self.leadership.set(None);
        let back = async {
            let mut lease = self.api.get(&self.name).await.ok()?;
            let spec = lease.spec.as_mut()?;
            if spec.holder_identity.take()? == self.election.identity {
                self.api
                    .replace(&self.name, &PostParams::default(), &lease)
                    .await
                    .ok()?;
            }
            Some(())
        };
        let _ = timeout(Duration::from_secs(2), back).await;
    }
}

/// Returns whether a Lease was written: not where another replica was first.
fn written(answer: kube::Result<Lease>) -> Result<bool, String> {
    match answer {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(false),
        Err(why) => Err(refusal(&why)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(holder: &str, renewed: i64) -> LeaseSpec {
        LeaseSpec {
            holder_identity: Some(holder.into()),
            lease_duration_seconds: Some(15),
            renew_time: Some(MicroTime(
                Timestamp::from_second(renewed).unwrap_or_default(),
            )),
            ..LeaseSpec::default()
        }
    }

    #[test]
    fn only_the_own_clock_says_when_a_lease_has_expired() {
        let begin = Instant::now();
        let at = |s: u64| begin + Duration::from_secs(s);
        let mut own = Election {
            identity: "b".into(),
            duration: Duration::from_secs(15),
            seen: None,
        };
        // The holder's clock is years behind, and it renews: it stays the holder.
        assert!(!own.may_take(&held("a", 0), at(0)));
        assert!(!own.may_take(&held("a", 2), at(14)));
        assert!(!own.may_take(&held("a", 4), at(28)));
        assert!(!own.may_take(&held("a", 4), at(42)));
        // It renews no more.
        assert!(own.may_take(&held("a", 4), at(43)));
    }

    #[test]
    fn a_lease_that_is_free_or_the_own_is_taken_at_once() {
        let now = Instant::now();
        let mut own = Election {
            identity: "b".into(),
            duration: Duration::from_secs(15),
            seen: None,
        };
        assert!(own.may_take(&LeaseSpec::default(), now));
        assert!(own.may_take(&held("b", 0), now));
        assert!(!own.may_take(&held("a", 0), now));
        let long = LeaseSpec {
            lease_duration_seconds: Some(60),
            ..held("a", 0)
        };
        assert!(!own.may_take(&long, now + Duration::from_secs(59)));
        assert!(own.may_take(&long, now + Duration::from_secs(119)));
    }
}
