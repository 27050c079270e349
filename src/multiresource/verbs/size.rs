//! This module finds the smallest number of servers of a shape, or the smallest amount of a
//! resource, with which a policy can meet all targets. The step size is doubled until a size is
//! large enough, and then bisection is used. Since the results of a simulation may not be
//! monotone, both neighbours of the result are also tested.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use itertools::Itertools as _;

use super::solve::{SolveRequest, Solved, solve};
use crate::document::{DocumentError, suggest};
use crate::kind::{SynthesisAnswer, VerbResult};
use crate::multiresource::artifact::{Delay, Guarantee, Multiresource};
use crate::multiresource::report::{ExaminedSize, SizeVerdict, Sizing, Synthesized};
use crate::multiresource::schedule::{size_step, steps};
use crate::multiresource::synthesis::SynthesisLog;
use crate::multiresource::workload::Fleet;
use crate::number::Decimal;
use crate::report::{Report, plural};

/// The maximum size to test, as a multiple of the first size that can sustain the load.
const MOST: u64 = 16;

const FIRST_STEP_DIVISOR: u64 = 8;

const SERVERS: u64 = 100_000;

pub(crate) struct Sizes<'a> {
    fleet: &'a Fleet,
    name: &'a str,
    h: usize,
    /// The resource and the size of a step, if this is for a resource.
    amount: Option<(usize, Decimal)>,
}

/// The fleet with the smallest size, its policy and its report, or the reason why there is none.
pub(super) type SizeAnswer = Result<
    (Fleet, Box<(Synthesized, SynthesisLog)>, Option<Report>),
    SynthesisAnswer<Multiresource>,
>;

type Tries = BTreeMap<u64, ExaminedSize>;

impl<'a> Sizes<'a> {
    pub(super) fn named(option: &str, name: &'a str, fleet: &'a Fleet) -> Result<Self, String> {
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
            ("the shapes of the servers are", all.collect())
        };
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        let unknown = || format!("{option} {name}: {}", suggest(name, what, &names));
        let found = all.into_iter().find(|(own, _)| *own == name);
        found.map(|(_, sizes)| sizes).ok_or_else(unknown)
    }

    /// Returns a fleet for each of the sizes in a text such as `node=12,13,14`.
    pub(crate) fn listed(text: &str, fleet: &'a Fleet) -> VerbResult<Vec<(String, Fleet)>> {
        let form = || format!("--set {text}: expected the form NAME=N,N,…, such as node=12,13,14");
        let (name, listed) = text.split_once('=').ok_or_else(form)?;
        let sizes = Sizes::named("--set", name, fleet)?;
        let one = |size: &str| {
            let count = match sizes.amount {
                None => size.parse().ok(),
                // More than a multiple of the step carries no other sets of jobs.
                Some((_, step)) => size
                    .parse()
                    .ok()
                    .map(|size: f64| (size / step.value() + 1e-9) as u64),
            };
            let count = count.filter(|count| *count > 0).ok_or_else(form)?;
            Ok((format!("{name}={size}"), sizes.of(count)?))
        };
        listed.split(',').map(one).collect()
    }

    fn present(&self) -> u64 {
        let shape = &self.fleet.shapes()[self.h];
        match self.amount {
            Some((j, step)) => (shape.capacity()[j].value() / step.value() + 1e-9) as u64,
            None => shape.count().into(),
        }
    }

    fn minimum_size(&self) -> u64 {
        let is_alone = self.amount.is_none() && self.fleet.shapes().len() == 1;
        1 + u64::from(is_alone)
    }

    fn amount(&self, size: u64) -> Option<Decimal> {
        let (_, step) = self.amount?;
        steps(step, size)
    }

    fn words(&self, size: u64) -> String {
        match self.amount(size) {
            Some(amount) => format!("{amount} {}", self.name),
            None if size == 1 => format!("1 {}", self.name),
            None => format!("{size} {}", plural(self.name)),
        }
    }

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
            if solved.is_ok() && is_over() {
                break;
            }
            tries.insert(size, looked(words, solved, request, self.fleet));
        }
        self.concluded(tries, request)
    }

    fn concluded(&self, mut tries: Tries, request: &SolveRequest) -> VerbResult<SizeAnswer> {
        let interrupted = request.choice.interrupt.load(Ordering::Relaxed);
        let found = least(&tries);
        let selected = found.and_then(|size| Some((size, tries.get_mut(&size)?.found.take()?)));
        let Some((least, policy)) = selected else {
            return Ok(Err(match tries.last_key_value() {
                Some((_, last)) if !interrupted => SynthesisAnswer::Refused {
                    why: format!(
                        "no size up to {} was found that meets `--slo` (at this size: {}). No file has been written; use a less strict target or a larger value for `--work`",
                        last.words,
                        last.verdict.describe()
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
            looked: &tries,
            interrupted,
        };
        Ok(Ok((self.of(least)?, policy, Some(sizing.report()))))
    }

    /// Returns the next size to test, or `None` if the result and its neighbours are already known.
    fn next(&self, tries: &Tries) -> Option<u64> {
        let Some(kept) = least(tries) else {
            return self.upwards(tries);
        };
        let below = tries.range(..kept).next_back();
        let below = below.map_or(self.minimum_size() - 1, |(size, _)| *size);
        if below + 1 < kept {
            return Some(u64::midpoint(below, kept));
        }
        let more = kept + 1;
        let has_more = self.amount.is_some() || more <= SERVERS;
        (has_more && !tries.contains_key(&more)).then_some(more)
    }

    fn upwards(&self, tries: &Tries) -> Option<u64> {
        let present = self.present();
        let Some((last, _)) = tries.last_key_value() else {
            return Some(present.max(self.minimum_size()));
        };
        let mut sizes = tries.iter();
        let carrying = sizes.find(|(_, own)| own.verdict.sustains_load());
        let most = carrying.map_or(SERVERS, |(size, _)| MOST * size);
        let most = most.min(SERVERS);
        let doubled = 2 * last.saturating_sub(present);
        let next = present + doubled.max((present / FIRST_STEP_DIVISOR).max(1));
        (*last < most).then_some(next.max(last + 1).min(most))
    }
}

fn least(tries: &Tries) -> Option<u64> {
    let kept = tries.iter().find(|(_, own)| own.verdict.is_kept());
    kept.map(|(size, _)| *size)
}

fn looked(
    words: String,
    solved: Result<Solved, String>,
    request: &SolveRequest,
    fleet: &Fleet,
) -> ExaminedSize {
    let mut looked = ExaminedSize {
        words,
        verdict: SizeVerdict::Unstable,
        policy: None,
        run: None,
        found: None,
    };
    match solved {
        Ok(Solved::Policy(found)) => {
            looked.policy = Some("msr");
            if let Synthesized::Selected(own) = &found.0 {
                looked.policy = Some(own.artifact.policy.followed().called());
                looked.run = own.run.clone();
            }
            let (run, promises) = (looked.run.as_ref(), &request.choice.promises);
            looked.verdict = SizeVerdict::kept(run, promises, fleet.envelope());
            looked.found = Some(found);
        }
        Ok(Solved::GuaranteesMissed(nearest)) => {
            looked.verdict = match nearest.surely {
                true => SizeVerdict::Broken,
                false => SizeVerdict::BorderlineMissed,
            };
            (looked.policy, looked.run) = (Some(nearest.policy), nearest.run);
        }
        Ok(Solved::Overloaded(overload)) => {
            looked.verdict = SizeVerdict::Overloaded(overload.is_proven);
        }
        Ok(Solved::NoPolicy(_)) => {}
        Err(why) => looked.verdict = SizeVerdict::DoesNotFit(why),
    }
    looked
}

/// Returns the reason why a response time cannot be met: the jobs run for too long even if alone.
fn alone(fleet: &Fleet, promise: &Guarantee) -> Option<String> {
    let mut types = fleet.types().iter();
    let kind = types.find(|kind| kind.name() == promise.job_type)?;
    let (held, within) = (kind.holding_time(), promise.within);
    let longer = match held.scv() {
        _ if promise.delay == Delay::Waiting => return None,
        _ if held.is_exponential() => (-within / held.mean()).exp(),
        0.0 => f64::from(u8::from(held.mean() > within)),
        _ => return None,
    };
    (longer > promise.allowed()).then(|| {
        format!(
            "{} cannot be met with any size, because the run time of {:.1} % of these jobs is longer than this",
            promise.describe(fleet.time_unit()),
            100.0 * longer
        )
    })
}
