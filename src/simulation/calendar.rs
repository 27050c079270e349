use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Ends of jobs that are known in advance, in the order of time.
///
/// An end that is no longer due (the job was stopped) stays behind, and is dropped when it comes up,
/// or when such ends outnumber those that are due. Whoever keeps the jobs tells which are due. So the
/// memory is in proportion to the jobs that run.
#[derive(Default)]
pub(crate) struct Calendar {
    /// Time as bits, which order doubles ≥ 0, and slot.
    ends: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Calendar {
    /// The job in this slot ends at this time.
    pub fn push(&mut self, end: f64, slot: u32) {
        self.ends.push(Reverse((end.to_bits(), slot)));
    }

    /// The time of the next end that is due; infinity where there is none.
    pub fn next(&mut self, is_due: impl Fn(f64, u32) -> bool) -> f64 {
        while let Some(Reverse((end, slot))) = self.ends.peek() {
            let end = f64::from_bits(*end);
            if is_due(end, *slot) {
                return end;
            }
            self.ends.pop();
        }
        f64::INFINITY
    }

    /// Takes the slot of the end that [`Calendar::next`] told.
    pub fn take(&mut self) -> Option<u32> {
        self.ends.pop().map(|Reverse((_, slot))| slot)
    }

    /// Drops ends that are not due where they outnumber the jobs that run.
    pub fn tidy(&mut self, running: u64, is_due: impl Fn(f64, u32) -> bool) {
        if self.ends.len() as u64 > 64 + 2 * running {
            self.ends
                .retain(|Reverse((end, slot))| is_due(f64::from_bits(*end), *slot));
        }
    }

    /// All ends, in no order, whether they are due or not; some may stand there twice.
    pub fn ends(&self) -> impl Iterator<Item = (f64, u32)> {
        let ends = self.ends.iter();
        ends.map(|Reverse((end, slot))| (f64::from_bits(*end), *slot))
    }
}
