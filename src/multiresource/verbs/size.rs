//! How much must be bought for a promise: the least count of servers of a shape, or amount of a resource of one server,
//! with which a policy is found that keeps it.
//!
//! At each size a policy is sought as `--slo` alone would there, with the same seed and budget. Upwards from what there
//! is the steps double until one is kept; then the gap between the largest size that is not kept and the least that is is
//! halved. That is by simulation, and so need not be monotone: both neighbours of the answer are looked at.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use itertools::Itertools as _;

use super::solve::{SolveRequest, Solved, solve};
use crate::document::{DocumentError, suggest};
use crate::kind::{SynthesisAnswer, VerbResult};
use crate::multiresource::artifact::{Delay, Multiresource, Promise};
use crate::multiresource::report::{Looked, SizeVerdict, Sizing, Synthesized};
use crate::multiresource::schedule::{size_step, steps};
use crate::multiresource::synthesis::SynthesisLog;
use crate::multiresource::workload::Fleet;
use crate::number::Decimal;
use crate::report::Report;

/// So many times the first size that carries the load is the largest that is looked at.
const MOST: u64 = 16;

/// The first step upwards is this part of what there is.
const FIRST: u64 = 8;

/// Servers of a shape, at most.
const SERVERS: u64 = 100_000;

/// What is bought, and of what.
pub(super) struct Sizes<'a> {
    fleet: &'a Fleet,
    name: &'a str,
    /// The shape.
    h: usize,
    /// The resource with its step, where it is one.
    amount: Option<(usize, Decimal)>,
}

/// The fleet with the least size, its policy, and what was found of the sizes; else the answer that there is none.
pub(super) type SizeAnswer = Result<
    (Fleet, Box<(Synthesized, SynthesisLog)>, Option<Report>),
    SynthesisAnswer<Multiresource>,
>;

/// What was found at a size, with the policy where one keeps all.
type Look = (Looked, Option<Box<(Synthesized, SynthesisLog)>>);
type Tries = BTreeMap<u64, Look>;

impl<'a> Sizes<'a> {
    /// Finds what is meant by a name.
    ///
    /// # Errors
    /// With the names that there are.
    pub(super) fn named(name: &'a str, fleet: &'a Fleet) -> Result<Self, String> {
        let of = |h, amount| Sizes {
            fleet,
            name,
            h,
            amount,
        };
        let resources = fleet.envelope().resources().iter().enumerate();
        let demanded =
            resources.filter_map(|(j, own)| Some((own.name(), j, size_step(fleet, 0, j)?)));
        let (what, all): (_, Vec<(&str, Self)>) = if fleet.is_one_server() {
            let all = demanded.map(|(name, j, step)| (name, of(0, Some((j, step)))));
            ("the resources of the server are", all.collect())
        } else {
            let shapes = fleet.shapes().iter().enumerate();
            let all = shapes.map(|(h, shape)| (shape.name(), of(h, None)));
            ("the shapes of servers are", all.collect())
        };
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        let unknown = || format!("--shape {name}: {}", suggest(name, what, &names));
        let found = all.into_iter().find(|(own, _)| *own == name);
        found.map(|(_, sizes)| sizes).ok_or_else(unknown)
    }

    /// Returns the size that there is.
    fn present(&self) -> u64 {
        let shape = &self.fleet.shapes()[self.h];
        match self.amount {
            Some((j, step)) => (shape.capacity()[j].value() / step.value() + 1e-9) as u64,
            None => shape.count().into(),
        }
    }

    /// Returns the least size: what is a fleet stays one.
    fn least_of_all(&self) -> u64 {
        let is_alone = self.amount.is_none() && self.fleet.shapes().len() == 1;
        1 + u64::from(is_alone)
    }

    fn amount(&self, size: u64) -> Option<Decimal> {
        let (_, step) = self.amount?;
        steps(step, size)
    }

    /// Returns a size in words: `48 a100-node`.
    fn words(&self, size: u64) -> String {
        let amount = self.amount(size).map(|own| own.to_string());
        format!("{} {}", amount.unwrap_or(size.to_string()), self.name)
    }

    /// Returns the fleet of a size, or why there is none.
    fn of(&self, size: u64) -> Result<Fleet, String> {
        let (fleet, h) = (self.fleet, self.h);
        let fleet = match (self.amount, self.amount(size)) {
            (Some((j, _)), Some(amount)) => fleet.with_amount(h, j, amount),
            _ => fleet.with_servers(h, size.try_into().unwrap_or(u32::MAX)),
        };
        fleet.map_err(|why| match why {
            DocumentError::Faults { faults, .. } => {
                faults.into_iter().map(|own| own.message).join("; ")
            }
            other => other.to_string(),
        })
    }

    /// Finds the least size.
    ///
    /// # Errors
    /// When the request does not fit the fleet, and when the solver fails.
    pub(super) fn least(
        &self,
        request: &SolveRequest,
        listener: &mut dyn FnMut(&str),
    ) -> VerbResult<SizeAnswer> {
        let promises = &request.choice.promises;
        if let Some(why) = promises.iter().find_map(|own| alone(self.fleet, own)) {
            let why = why.into();
            return Ok(Err(SynthesisAnswer::Refused { why, decided: true }));
        }
        let mut tries = Tries::new();
        let is_over = || request.choice.interrupt.load(Ordering::Relaxed);
        while let Some(size) = self.next(&tries) {
            let words = self.words(size);
            let mut listener = |text: &str| listener(&format!("{words}: {text}"));
            let solved = match self.of(size) {
                Ok(fleet) => Ok(solve(&fleet, request, &mut listener)?),
                Err(why) => Err(why),
            };
            // What was cut short says nothing.
            if solved.is_ok() && is_over() {
                break;
            }
            tries.insert(size, looked(words, solved, request, self.fleet));
        }
        self.concluded(tries, request)
    }

    /// Returns what follows of all sizes that were looked at; not of all that would be where it was interrupted.
    fn concluded(&self, mut tries: Tries, request: &SolveRequest) -> VerbResult<SizeAnswer> {
        let interrupted = request.choice.interrupt.load(Ordering::Relaxed);
        let found = least(&tries);
        let taken = found.and_then(|size| Some((size, tries.get_mut(&size)?.1.take()?)));
        let Some((least, policy)) = taken else {
            return Ok(Err(match tries.last_key_value() {
                Some((_, (last, _))) if !interrupted => SynthesisAnswer::Refused {
                    why: format!(
                        "no size up to {} was found that keeps --slo (there: {}). Nothing is written: relax the target, or raise --work",
                        last.words,
                        last.verdict.words()
                    )
                    .into(),
                    decided: true,
                },
                _ => SynthesisAnswer::Interrupted,
            }));
        };
        let sizing = Sizing {
            promises: &request.choice.promises,
            budget: request.choice.budget,
            workload: self.fleet.envelope(),
            what: self.name,
            present: self.present(),
            least,
            looked: tries.into_iter().map(|(size, own)| (size, own.0)).collect(),
            interrupted,
        };
        Ok(Ok((self.of(least)?, policy, Some(sizing.report()))))
    }

    /// Returns the size that is looked at next; `None` where the answer and its neighbours are known, or there is none.
    fn next(&self, tries: &Tries) -> Option<u64> {
        let Some(kept) = least(tries) else {
            return self.upwards(tries);
        };
        let below = tries.range(..kept).next_back();
        let below = below.map_or(self.least_of_all() - 1, |(size, _)| *size);
        if below + 1 < kept {
            return Some(u64::midpoint(below, kept));
        }
        let more = kept + 1;
        let has_more = self.amount.is_some() || more <= SERVERS;
        (has_more && !tries.contains_key(&more)).then_some(more)
    }

    /// Returns the next size upwards, where none is kept yet.
    fn upwards(&self, tries: &Tries) -> Option<u64> {
        let present = self.present();
        let Some((last, _)) = tries.last_key_value() else {
            return Some(present.max(self.least_of_all()));
        };
        let carrying = tries.iter().find(|(_, (own, _))| own.verdict.carries());
        let most = carrying.map_or(SERVERS, |(size, _)| MOST * size);
        let most = most.min(SERVERS);
        let doubled = 2 * last.saturating_sub(present);
        let next = present + doubled.max((present / FIRST).max(1));
        (*last < most).then_some(next.max(last + 1).min(most))
    }
}

/// Returns the least size at which all was kept.
fn least(tries: &Tries) -> Option<u64> {
    let kept = tries.iter().find(|(_, (own, _))| own.verdict.is_kept());
    kept.map(|(size, _)| *size)
}

/// Returns what was found at a size, or that there is none and why.
fn looked(
    words: String,
    solved: Result<Solved, String>,
    request: &SolveRequest,
    fleet: &Fleet,
) -> Look {
    let without = |verdict| (None, verdict, None, None);
    let (policy, verdict, run, found) = match solved {
        Ok(Solved::Policy(found)) => {
            let (policy, run) = match &found.0 {
                Synthesized::Chosen(own) => {
                    (own.artifact.policy.followed().called(), own.run.clone())
                }
                Synthesized::Analysed(_) => ("msr", None),
            };
            let promises = &request.choice.promises;
            let verdict = SizeVerdict::kept(run.as_ref(), promises, fleet.envelope());
            (Some(policy), verdict, run, Some(found))
        }
        Ok(Solved::Unkept(nearest)) => {
            let verdict = match nearest.surely {
                true => SizeVerdict::Broken,
                false => SizeVerdict::NotFound,
            };
            (Some(nearest.policy), verdict, nearest.run, None)
        }
        Ok(Solved::Overloaded(overload)) => without(SizeVerdict::Overloaded(overload.decided)),
        Ok(Solved::Broken(_)) => without(SizeVerdict::RunsAway),
        Err(why) => without(SizeVerdict::NoRoom(why)),
    };
    let looked = Looked {
        words,
        verdict,
        policy,
        run,
    };
    (looked, found)
}

/// Says that a promise of a response time cannot be kept since jobs alone run longer, where that is known exactly.
fn alone(fleet: &Fleet, promise: &Promise) -> Option<String> {
    let mut types = fleet.types().iter();
    let kind = types.find(|kind| kind.name() == promise.job_type)?;
    let (held, within) = (kind.holding(), promise.within);
    let longer = match held.scv() {
        _ if promise.delay == Delay::Waiting => return None,
        _ if held.is_exponential() => (-within / held.mean()).exp(),
        0.0 => f64::from(u8::from(held.mean() > within)),
        _ => return None,
    };
    (longer > promise.allowed()).then(|| {
        format!(
            "{} cannot be kept by any size: {:.1} % of these jobs run longer than that by themselves",
            promise.words(fleet.time_unit()),
            100.0 * longer
        )
    })
}
