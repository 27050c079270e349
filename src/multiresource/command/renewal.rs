//! A policy made anew from an earlier one: `--from`.

use std::path::Path;

use super::names::{Family, Preemption};
use super::wishes::Wishes;
use crate::artifact::Changes;
use crate::multiresource::artifact::{self, Artifact, ArtifactError, Family as Made};

/// The earlier policy, as it was written. It is not checked: the program only starts from its
/// schedules, and ignores those that do not fit.
pub struct Earlier {
    pub artifact: Artifact,
}

impl Earlier {
    pub fn read(path: &Path, changes: Changes) -> Result<Self, ArtifactError> {
        let name = path.display().to_string();
        let text = crate::document::text_of(path).map_err(|source| ArtifactError::Io {
            path: name.clone(),
            source,
        })?;
        let artifact: Artifact = artifact::parse(&text, &name)?;
        if let (Changes::Refused, Err(finding)) = (changes, artifact.intact()) {
            return Err(ArtifactError::Refused {
                path: name,
                findings: vec![finding],
            });
        }
        artifact.expect_one_server(&name)?;
        Ok(Earlier { artifact })
    }

    /// Fills in options that were not given from this policy: preemption and family; and where the
    /// preemption is the same, an MSR policy's setup rate, route, backfilling and empty slots.
    pub fn complete(&self, mut typed: Wishes) -> Wishes {
        let rule = &self.artifact.the_server().policy.rule;
        let msr = rule.msr();
        let preemption = match msr {
            Some(policy) => policy.preemption,
            None if rule.setup_rate().is_some() => artifact::Preemption::Setup,
            None if rule.preempts() => artifact::Preemption::Full,
            None => artifact::Preemption::None,
        };
        let preemption = Preemption::from(preemption);
        if *typed.preemption.get_or_insert(preemption) != preemption {
            return typed;
        }
        let family = *typed.family.get_or_insert(match rule.followed() {
            Made::Msr(_) => Family::Msr,
            Made::StaticQuickswap(_) | Made::AdaptiveQuickswap(_) => Family::Quickswap,
            Made::AdaptiveMsr(_) => Family::AdaptiveMsr,
            Made::Tdc(_) => Family::Tdc,
            Made::Reserving(_) => Family::Reserving,
            Made::FirstFit(_)
            | Made::MostServersFirst(_)
            | Made::LeastServersFirst(_)
            | Made::EasyByMean(_)
            | Made::EasyBackfill(_)
            | Made::Pooled(_)
            | Made::PooledEasy(_)
            | Made::ServerFilling(_)
            | Made::Partition(_) => Family::Auto,
            Made::MaxWeight(_) | Made::MaxWeightSetup(_) => Family::MaxWeight,
            Made::Guarded(_) => Family::Auto,
        });
        typed.setup_rate = typed.setup_rate.or(rule.setup_rate());
        if let (Some(policy), Family::Msr) = (msr, family) {
            if policy.preemption != artifact::Preemption::Full {
                typed.route.get_or_insert(policy.route);
            }
            typed.backfill.get_or_insert(policy.backfill.into());
            typed.empty_slots.get_or_insert(policy.empty_slots.into());
        }
        typed
    }
}
