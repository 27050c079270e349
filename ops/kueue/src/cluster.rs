use std::collections::HashMap;

use crate::view::{Owner, Uid, View, Work};
use synth_operator::Amounts;

#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    pub capacity: Amounts,
    pub is_open: bool,
}

/// A pod that has a node and has not ended.
#[derive(Clone, Debug)]
pub struct Placed {
    pub node: String,
    pub demand: Amounts,
    pub parent: Option<Uid>,
    /// The namespace and the name of the Workload, if the pod has the annotation.
    pub workload: Option<(String, String)>,
}

#[derive(Clone, Debug, Default)]
pub struct Cluster {
    pub works: HashMap<Uid, Work>,
    pub owners: HashMap<Uid, Owner>,
    pub machines: HashMap<Uid, Machine>,
    pub pods: HashMap<Uid, Placed>,
}

impl Cluster {
    pub fn views(&self, gate: &str) -> Vec<View<'_>> {
        let works = self.works.values();
        let views = works.map(|work| View::new(work, &self.owners, gate));
        let mut views: Vec<View<'_>> = views.collect();
        views.sort_unstable_by_key(|view| {
            let own = &view.work.itself.own;
            (view.work.created, own.key(), &own.uid)
        });
        views
    }

    pub fn placed(&self) -> Vec<(&Placed, Option<&Uid>)> {
        let (mut by_name, mut by_owner) = (HashMap::new(), HashMap::new());
        for work in self.works.values() {
            by_name.insert(work.itself.own.key(), work.uid());
            for own in work.owners.iter().chain([&work.itself.own]) {
                by_owner.insert(&own.uid, work.uid());
            }
        }
        let of_pod = |(uid, pod): (&Uid, &Placed)| {
            let named = pod.workload.as_ref();
            let named = named.and_then(|(space, name)| by_name.get(&(&**space, &**name)));
            named.copied().or_else(|| {
                // If a Job belongs to a JobSet, its pods are three steps away.
                let mut next = Some(uid);
                for _ in 0..4 {
                    let uid = next?;
                    if let Some(work) = by_owner.get(uid) {
                        return Some(*work);
                    }
                    let parent = self.owners.get(uid).and_then(|own| own.parent.as_ref());
                    next = parent.or(pod.parent.as_ref().filter(|parent| *parent != uid));
                }
                None
            })
        };
        let pods = self.pods.iter();
        pods.map(|own| (own.1, of_pod(own))).collect()
    }
}
