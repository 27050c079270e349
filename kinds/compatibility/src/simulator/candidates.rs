//! The servers that a job which arrives may use.

use crate::workload::{Class, Cluster};
use synth_simulation::Stream;

/// The servers that a job which arrives may use.
pub(super) struct Candidates {
    /// Those of each class; none where they are drawn.
    of_class: Vec<Vec<u32>>,
    /// How many there are.
    all: u32,
    drawn: Vec<u32>,
    routing: Stream,
}

impl Candidates {
    pub fn of(cluster: &Cluster, routing: Stream) -> Self {
        let own = |class: &Class| class.servers.iter().map(|s| *s as u32).collect();
        Candidates {
            of_class: cluster.classes().iter().map(own).collect(),
            all: cluster.servers().len() as u32,
            drawn: vec![0; cluster.degree() as usize],
            routing,
        }
    }

    pub fn next(&mut self, class: u32) -> &[u32] {
        let degree = self.drawn.len();
        if degree == 0 {
            return &self.of_class[class as usize];
        }
        // R. W. Floyd's sample: each set of so many is as probable as any other.
        for n in 0..degree {
            let last = self.all - (degree - n) as u32;
            let server = (self.routing.uniform() * f64::from(last + 1)) as u32;
            let taken = self.drawn[..n].contains(&server);
            self.drawn[n] = if taken { last } else { server };
        }
        &self.drawn
    }
}
