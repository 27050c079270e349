use super::HUGE;

/// A row of a band matrix: the entries from column `first` on, where all others are 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    pub first: isize,
    pub values: Vec<f64>,
}

impl Row {
    pub(super) fn unit(at: isize) -> Self {
        Row {
            first: at,
            values: vec![1.0],
        }
    }

    pub(super) fn end(&self) -> isize {
        self.first + self.values.len() as isize
    }

    pub(super) fn at(&self, place: usize) -> f64 {
        let index = usize::try_from(place as isize - self.first).ok();
        let value = index.and_then(|index| self.values.get(index));
        value.copied().unwrap_or(0.0)
    }

    pub(super) fn shifted(&self, by: isize) -> Self {
        Row {
            first: self.first + by,
            values: self.values.clone(),
        }
    }

    pub(super) fn sum(parts: &[(f64, &Row)]) -> Self {
        let has_any = |(factor, row): &&(f64, &Row)| *factor > 0.0 && !row.values.is_empty();
        let there = || parts.iter().filter(has_any);
        let first = there().map(|(_, row)| row.first).min().unwrap_or(0);
        let end = there().map(|(_, row)| row.end()).max().unwrap_or(0);
        let mut values = vec![0.0; (end - first) as usize];
        for (factor, row) in there() {
            let into = values[(row.first - first) as usize..].iter_mut();
            into.zip(&row.values).for_each(|(v, r)| *v += factor * r);
        }
        Row { first, values }
    }

    /// Removes the entries at both ends that are less than `least`.
    pub(super) fn trimmed(mut self, least: f64) -> Self {
        let last = self.values.iter().rposition(|v| *v >= least);
        self.values.truncate(last.map_or(0, |last| last + 1));
        let tiny = self.values.iter().take_while(|v| **v < least).count();
        self.values.drain(..tiny);
        self.first += tiny as isize;
        self
    }
}

/// Returns the stationary distribution of a chain up to a factor, or `None` if it is not finite.
pub(super) fn eliminated(mut rows: Vec<Row>) -> Option<Vec<f64>> {
    let levels = rows.len();
    let from = widened(&mut rows);
    let mut onward = vec![0.0; levels];
    let mut lowest = 0;
    for k in (1..levels).rev() {
        let (before, row) = rows.split_at_mut(k);
        let row = &row[0];
        let until = (k as isize - row.first).max(0) as usize;
        let below = &row.values[..until.min(row.values.len())];
        onward[k] = below.iter().sum();
        // The levels below can only be reached with a probability that has been trimmed.
        if onward[k] <= 0.0 {
            lowest = k;
            break;
        }
        for into in &mut before[from[k]..] {
            let enters = into.at(k);
            if enters > 0.0 {
                let share = enters / onward[k];
                let there = into.values[(row.first - into.first) as usize..].iter_mut();
                there.zip(below).for_each(|(v, p)| *v += share * p);
            }
        }
    }
    let mut law = vec![0.0; levels];
    law[lowest] = 1.0;
    for k in lowest + 1..levels {
        let entering = (from[k].max(lowest)..k).map(|i| law[i] * rows[i].at(k));
        law[k] = entering.sum::<f64>() / onward[k];
        if law[k] > HUGE {
            let most = law[k];
            law[..=k].iter_mut().for_each(|p| *p /= most);
        }
    }
    law.iter().all(|p| p.is_finite()).then_some(law)
}

fn widened(rows: &mut [Row]) -> Vec<usize> {
    let levels = rows.len();
    let mut from: Vec<usize> = (0..levels).collect();
    let mut first = levels as isize;
    let mut end = 0;
    for (i, row) in rows.iter().enumerate() {
        let (start, until) = (end.max(i), row.end() as usize);
        if let Some(reached) = from.get_mut(start..until) {
            reached.fill(i);
        }
        end = end.max(until);
    }
    for row in rows.iter_mut().rev() {
        first = first.min(row.first);
        let more = (row.first - first).max(0) as usize;
        row.values.splice(..0, std::iter::repeat_n(0.0, more));
        row.first = first;
    }
    from
}
